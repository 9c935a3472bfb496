/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Data representations: the four kinds, and MPI_Register_datarep. */
#include <stdlib.h>
#include <string.h>

#include "bindings/lang.h"
#include "datatype/external.h"
#include "env/errors.h"
#include "io/file.h"
#include "io/layout.h"
#include "io/rep.h"
#include "process/process.h"

struct io_rep {
	char name[MPI_MAX_DATAREP_STRING];
	enum { NATIVE, EXTERNAL32, PROGRAM } kind;
	/* of the program */
	enum mpii_language lang;
	bool large;	    /* the functions take large counts */
	void *read, *write; /* NULL: as in memory */
	MPI_Datarep_extent_function *extent;
	void *state;
	struct io_rep *next;
};

const struct io_rep io_native = { .name = "native" };
/* All ranks of a job have the same representation in memory. */
static const struct io_rep internal = { .name = "internal" };
static const struct io_rep external32 = { .name = "external32",
					  .kind = EXTERNAL32 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct io_rep *registered; /* never freed: views may have them */

const struct io_rep *io_rep_find(const char *name)
{
	static const struct io_rep *const ours[] = { &io_native, &internal,
						     &external32 };
	const struct io_rep *r;

	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (!strcmp(name, ours[i]->name))
			return ours[i];
	pthread_mutex_lock(&lock);
	for (r = registered; r && strcmp(name, r->name); r = r->next)
		;
	pthread_mutex_unlock(&lock);
	return r;
}

const char *io_rep_name(const struct io_rep *rep)
{
	return rep->name;
}

bool io_rep_converts(const struct io_rep *rep)
{
	return rep->kind != NATIVE;
}

bool io_rep_is_ours(const struct io_rep *rep)
{
	return rep->kind != PROGRAM;
}

/* --- sizes --- */

static int external_size(const struct io_sizes *s, struct mpii_type *basic,
			 MPI_Count *bytes)
{
	*bytes = mpii_external_size(basic, 1);
	return MPI_SUCCESS;
}

static int program_size(const struct io_sizes *s, struct mpii_type *basic,
			MPI_Count *bytes)
{
	const struct io_rep *rep = s->arg;
	MPI_Aint extent = basic->size;
	int err = mpii_call_datarep_extent(rep->lang, rep->extent,
					   basic->handle, &extent, rep->state);

	if (!err && extent <= 0)
		err = MPI_ERR_CONVERSION;
	*bytes = extent;
	return err ? mpii_fail(MPI_ERR_CONVERSION,
			       "the extent function of \"%s\" failed with %d",
			       rep->name, err) :
		     MPI_SUCCESS;
}

int io_rep_layout(const struct io_rep *rep, struct mpii_type *t,
		  struct mpii_type **layout)
{
	const struct io_sizes s = { rep->kind == PROGRAM ? program_size :
							   external_size,
				    rep };

	if (rep->kind != NATIVE)
		return io_layout_make(&s, t, layout);
	mpii_type_hold(t);
	*layout = t;
	return MPI_SUCCESS;
}

static int times(const struct mpii_type *t, MPI_Count count, MPI_Count *bytes)
{
	if (!__builtin_mul_overflow(t->size, count, bytes))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_COUNT,
			 "%lld elements of %lld bytes are more than can be "
			 "counted",
			 (long long)count, (long long)t->size);
}

int io_rep_size(const struct io_rep *rep, struct mpii_type *t, MPI_Count count,
		MPI_Count *bytes)
{
	struct mpii_type *layout;
	int err;

	if (mpii_likely(rep->kind == NATIVE))
		return times(t, count, bytes);
	err = io_rep_layout(rep, t, &layout);
	if (err)
		return err;
	err = times(layout, count, bytes);
	mpii_type_put(layout);
	return err;
}

/* --- converting --- */

/* The program's function, on whole instances. */
static int by_program(const struct io_rep *rep, bool write, struct mpii_type *t,
		      void *buf, MPI_Count count, void *file)
{
	void *fn = write ? rep->write : rep->read;
	int err;

	if (!fn) {
		if (write)
			mpii_pack(t, buf, count, 0, file, t->size * count);
		else
			mpii_unpack(t, buf, count, 0, file, t->size * count);
		return MPI_SUCCESS;
	}
	err = mpii_call_datarep(rep->lang, rep->large, fn, buf, t->handle,
				count, file, rep->state);
	return err ? mpii_fail(MPI_ERR_CONVERSION,
			       "the %s function of \"%s\" failed with %d",
			       write ? "write" : "read", rep->name, err) :
		     MPI_SUCCESS;
}

int io_rep_out(const struct io_rep *rep, struct mpii_type *t, const void *buf,
	       MPI_Count count, void *file)
{
	void *native;

	if (rep->kind == PROGRAM)
		return by_program(rep, true, t, (void *)buf, count, file);
	native = malloc(t->size * count + 1);
	if (!native)
		return mpii_fail(MPI_ERR_NO_MEM, "no memory to convert data");
	mpii_pack(t, buf, count, 0, native, t->size * count);
	mpii_external_out(t, count, native, file);
	free(native);
	return MPI_SUCCESS;
}

/* The packed bytes that @bytes of the file are, where only the first part of an
 * instance came; whole basic elements. */
static MPI_Count part_of(const struct mpii_type *t, MPI_Count all,
			 MPI_Count bytes)
{
	const struct mpii_type *basic = t->basic ? mpii_type_get(t->basic) :
						   NULL;

	if (all == t->size)
		return bytes;
	return basic ? bytes / mpii_external_size(basic, 1) * basic->size : 0;
}

static int external_in(struct mpii_type *t, void *buf, MPI_Count count,
		       const void *file, MPI_Count bytes, MPI_Count *native)
{
	MPI_Count each = mpii_external_size(t, 1), n = bytes / each;
	MPI_Count rest = bytes - n * each;
	char *packed = malloc(t->size * (n + 1) + 1);
	char *last = calloc(1, each + 1);

	if (!packed || !last) {
		free(packed);
		free(last);
		return mpii_fail(MPI_ERR_NO_MEM, "no memory to convert data");
	}
	mpii_external_in(t, n, packed, file);
	memcpy(last, (const char *)file + n * each, rest);
	mpii_external_in(t, 1, packed + n * t->size, last);
	*native = n * t->size + part_of(t, each, rest);
	mpii_unpack(t, buf, count, 0, packed, *native);
	free(packed);
	free(last);
	return MPI_SUCCESS;
}

int io_rep_in(const struct io_rep *rep, struct mpii_type *t, void *buf,
	      MPI_Count count, void *file, MPI_Count bytes, MPI_Count *native)
{
	MPI_Count each, n;
	int err;

	*native = 0;
	if (count == 0 || bytes == 0)
		return MPI_SUCCESS;
	if (rep->kind != PROGRAM)
		return external_in(t, buf, count, file, bytes, native);
	err = io_rep_size(rep, t, 1, &each);
	if (err)
		return err;
	n = bytes / each;
	*native = n * t->size;
	return n ? by_program(rep, false, t, buf, n, file) : MPI_SUCCESS;
}

/* --- MPI_Register_datarep --- */

static int check(const char *datarep, const void *extent)
{
	if (!mpii_running())
		return mpii_fail(MPI_ERR_OTHER, "MPI is not running");
	if (!datarep)
		return mpii_fail(MPI_ERR_ARG, "datarep is a null pointer");
	if (!extent)
		return mpii_fail(MPI_ERR_ARG,
				 "dtype_file_extent_fn is a null pointer");
	if (strlen(datarep) >= MPI_MAX_DATAREP_STRING)
		return mpii_fail(MPI_ERR_ARG,
				 "datarep has %zu characters, at most %d fit",
				 strlen(datarep), MPI_MAX_DATAREP_STRING - 1);
	if (io_rep_find(datarep))
		return mpii_fail(MPI_ERR_DUP_DATAREP,
				 "\"%s\" is defined already", datarep);
	return MPI_SUCCESS;
}

static int add(const char *datarep, bool large, void *read, void *write,
	       MPI_Datarep_extent_function *extent, void *state,
	       const char *func)
{
	struct io_rep *r;
	int err = check(datarep, extent);

	if (err)
		return io_raise(NULL, err, func);
	r = calloc(1, sizeof(*r));
	if (!r)
		return io_error(NULL, MPI_ERR_NO_MEM, func, "out of memory");
	strcpy(r->name, datarep);
	r->kind = PROGRAM;
	r->lang = mpii_language_take();
	r->large = large;
	r->read = read;
	r->write = write;
	r->extent = extent;
	r->state = state;
	pthread_mutex_lock(&lock);
	r->next = registered;
	registered = r;
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}

int PMPI_Register_datarep(const char *datarep,
			  MPI_Datarep_conversion_function *read_conversion_fn,
			  MPI_Datarep_conversion_function *write_conversion_fn,
			  MPI_Datarep_extent_function *dtype_file_extent_fn,
			  void *extra_state)
{
	return add(datarep, false, (void *)read_conversion_fn,
		   (void *)write_conversion_fn, dtype_file_extent_fn,
		   extra_state, "MPI_Register_datarep");
}
MPII_ALIAS(Register_datarep);

int PMPI_Register_datarep_c(
	const char *datarep,
	MPI_Datarep_conversion_function_c *read_conversion_fn,
	MPI_Datarep_conversion_function_c *write_conversion_fn,
	MPI_Datarep_extent_function *dtype_file_extent_fn, void *extra_state)
{
	return add(datarep, true, (void *)read_conversion_fn,
		   (void *)write_conversion_fn, dtype_file_extent_fn,
		   extra_state, "MPI_Register_datarep_c");
}
MPII_ALIAS(Register_datarep_c);
