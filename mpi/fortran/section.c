/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sections of arrays as buffers: see section.h. */
#include "section.h"

#include <stdlib.h>
#include <string.h>

/* --- looking at a descriptor --- */

/* Also of an assumed-size array, whose last extent is -1. */
static bool is_contiguous(const CFI_cdesc_t *d)
{
	CFI_index_t step = (CFI_index_t)d->elem_len;

	for (int i = 0; i < d->rank; i++) {
		if (d->dim[i].extent == 0)
			return true; /* nothing to move */
		if (d->dim[i].extent != 1 && d->dim[i].sm != step)
			return false;
		step *= d->dim[i].extent;
	}
	return true;
}

/* Elements in the first @dims dimensions. */
static MPI_Count elements(const CFI_cdesc_t *d, int dims)
{
	MPI_Count n = 1;

	for (int i = 0; i < dims; i++)
		n *= d->dim[i].extent;
	return n;
}

/* --- a datatype that visits the elements --- */

/* Replaces *t by @n of it, @stride bytes apart. */
static int repeat(MPI_Datatype *t, MPI_Count n, MPI_Aint stride)
{
	MPI_Datatype old = *t;
	int err = PMPI_Type_create_hvector_c(n, 1, stride, old, t);

	PMPI_Type_free(&old);
	return err;
}

/* All elements in the first @dims dimensions. */
static int full(const CFI_cdesc_t *d, int dims, MPI_Datatype elem,
		MPI_Datatype *t)
{
	int err = PMPI_Type_dup(elem, t);

	for (int i = 0; !err && i < dims; i++)
		err = repeat(t, d->dim[i].extent, d->dim[i].sm);
	return err;
}

/*
 * The first @n elements: as many whole slices of the last dimension as there
 * are, then what is left, in the slice after those, dimension by dimension.
 */
static int first(const CFI_cdesc_t *d, MPI_Count n, MPI_Datatype elem,
		 MPI_Datatype *t)
{
	MPI_Datatype parts[CFI_MAX_RANK + 1] = { 0 };
	MPI_Count ones[CFI_MAX_RANK + 1] = { 0 };
	MPI_Count disps[CFI_MAX_RANK + 1] = { 0 };
	MPI_Count slice, at = 0;
	int k = 0, err = MPI_SUCCESS;

	for (int dims = d->rank; !err && n > 0 && dims > 0; dims--) {
		slice = elements(d, dims - 1);
		if (n / slice == 0)
			continue;
		err = full(d, dims - 1, elem, &parts[k]);
		if (err)
			break;
		err = repeat(&parts[k], n / slice, d->dim[dims - 1].sm);
		disps[k] = at;
		ones[k++] = 1;
		at += n / slice * d->dim[dims - 1].sm;
		n %= slice;
	}
	if (!err)
		err = PMPI_Type_create_struct_c(k, ones, disps, parts, t);
	while (k-- > 0)
		PMPI_Type_free(&parts[k]);
	return err;
}

/* Does the type have no gaps and lie at the start of the buffer? */
static bool is_dense(MPI_Datatype type, MPI_Count *size)
{
	MPI_Count lb, extent, true_lb, true_extent;

	return !PMPI_Type_size_c(type, size) &&
	       !PMPI_Type_get_extent_c(type, &lb, &extent) &&
	       !PMPI_Type_get_true_extent_c(type, &true_lb, &true_extent) &&
	       *size > 0 && lb == 0 && true_lb == 0 && extent == *size &&
	       true_extent == *size;
}

/* The type of one element of the section, when values of @type fill it: made of
 * them if they are no larger than it, of bytes if they are. */
static int element_type(const CFI_cdesc_t *d, MPI_Datatype type, MPI_Count size,
			MPI_Datatype *elem)
{
	if (d->elem_len % size == 0)
		return PMPI_Type_contiguous_c(d->elem_len / size, type, elem);
	return PMPI_Type_contiguous_c(d->elem_len, MPI_BYTE, elem);
}

/* Sets buf, count and type. False: it takes a copy. */
static bool in_place(struct mpif_section *s, const CFI_cdesc_t *d,
		     MPI_Count count, MPI_Datatype type)
{
	MPI_Count size, bytes, len = (MPI_Count)d->elem_len;
	MPI_Datatype elem, all;
	int err;

	if (count <= 0 || !is_dense(type, &size))
		return false;
	bytes = count * size;
	if (bytes % len || bytes / len > elements(d, d->rank))
		return false;
	if (element_type(d, type, size, &elem))
		return false;
	err = first(d, bytes / len, elem, &all);
	PMPI_Type_free(&elem);
	if (err || PMPI_Type_commit(&all))
		return false;
	s->count = 1;
	s->type = all;
	s->own_type = true;
	return true;
}

/* --- a contiguous copy --- */

struct mpif_copy {
	struct o2g_mpi_hook hook; /* first: what the request gets */
	enum mpif_use use;
	char *data;
	CFI_CDESC_T(CFI_MAX_RANK) desc;
};

static void move(char *packed, char *elem, size_t len, bool out)
{
	if (out)
		memcpy(elem, packed, len);
	else
		memcpy(packed, elem, len);
}

/* Between the section and the copy, element by element. */
static void copy(const struct mpif_copy *c, bool out)
{
	const CFI_cdesc_t *d = (const CFI_cdesc_t *)&c->desc;
	CFI_index_t at[CFI_MAX_RANK] = { 0 };
	char *elem = d->base_addr, *packed = c->data;
	int i;

	for (MPI_Count n = elements(d, d->rank); n > 0; n--) {
		move(packed, elem, d->elem_len, out);
		packed += d->elem_len;
		for (i = 0; i < d->rank; i++) {
			elem += d->dim[i].sm;
			if (++at[i] < d->dim[i].extent)
				break;
			elem -= at[i] * d->dim[i].sm;
			at[i] = 0;
		}
	}
}

static void copy_start(struct o2g_mpi_hook *h)
{
	copy((struct mpif_copy *)h, false);
}

static void copy_done(struct o2g_mpi_hook *h)
{
	struct mpif_copy *c = (struct mpif_copy *)h;

	if (c->use & MPIF_OUT)
		copy(c, true);
}

static void copy_end(struct o2g_mpi_hook *h)
{
	free(((struct mpif_copy *)h)->data);
}

/* Also of what is only received: not all of it may be. */
static int make_copy(struct mpif_section *s, const CFI_cdesc_t *d,
		     enum mpif_use use)
{
	struct mpif_copy *c;
	size_t bytes = elements(d, d->rank) * d->elem_len;

	if (use & MPIF_LATER)
		return mpif_bad_buffer();
	c = calloc(1, sizeof(*c));
	if (c)
		c->data = malloc(bytes);
	if (!c || !c->data) {
		free(c);
		return mpif_no_memory();
	}
	c->hook.start = copy_start;
	c->hook.done = copy_done;
	c->hook.end = copy_end;
	c->use = use;
	memcpy(&c->desc, d, sizeof(*d) + d->rank * sizeof(d->dim[0]));
	copy(c, false);
	s->buf = c->data;
	s->copy = c;
	return MPI_SUCCESS;
}

/* --- what the bindings call --- */

int mpif_typed(struct mpif_section *s, const CFI_cdesc_t *d, MPI_Count count,
	       MPI_Datatype type, enum mpif_use use)
{
	*s = (struct mpif_section){ .buf = mpif_buffer(d->base_addr),
				    .count = count,
				    .type = type };
	if (mpii_likely(is_contiguous(d)) || in_place(s, d, count, type))
		return MPI_SUCCESS;
	return make_copy(s, d, use);
}

int mpif_whole(struct mpif_section *s, const CFI_cdesc_t *d, enum mpif_use use)
{
	*s = (struct mpif_section){ .buf = mpif_buffer(d->base_addr) };
	if (mpii_likely(is_contiguous(d)))
		return MPI_SUCCESS;
	return make_copy(s, d, use);
}

int mpif_contiguous(struct mpif_section *s, const CFI_cdesc_t *d)
{
	*s = (struct mpif_section){ .buf = mpif_buffer(d->base_addr) };
	if (mpii_likely(is_contiguous(d)))
		return MPI_SUCCESS;
	return mpif_bad_buffer();
}

void mpif_section_end(struct mpif_section *s, int err,
		      const MPI_Request *request)
{
	struct mpif_copy *c = s->copy;

	if (s->own_type)
		PMPI_Type_free(&s->type);
	if (!c)
		return;
	if (request && !err) {
		o2g_mpi_add_hook(*request, &c->hook);
		return;
	}
	if (!err)
		copy_done(&c->hook);
	copy_end(&c->hook);
	free(c);
}

/* --- arrays of handles --- */

struct kept {
	struct o2g_mpi_hook hook;
	void *handles;
};

static void kept_end(struct o2g_mpi_hook *h)
{
	free(((struct kept *)h)->handles);
}

void mpif_keep_handles(void *handles, int err, const MPI_Request *request)
{
	struct kept *k;

	if (err) {
		free(handles);
		return;
	}
	k = calloc(1, sizeof(*k));
	if (!k)
		return; /* rather lost than freed while it is in use */
	k->handles = handles;
	k->hook.end = kept_end;
	o2g_mpi_add_hook(*request, &k->hook);
}
