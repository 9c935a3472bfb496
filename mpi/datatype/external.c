/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Pack_external and its family: the representation "external32", big-endian
 * with fixed sizes, in which data can be kept or given to another machine.
 *
 * A message is packed as usual first, which leaves the values of the type map
 * one after another; then each value is converted. So all that is needed of a
 * datatype is the sequence of its basic types: see walk().
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "datatype/contents.h"
#include "datatype/external.h"
#include "datatype/kinds.h"
#include "datatype/packed.h"
#include "env/errors.h"
#include "float_types.h"

/* What is done to a value on its way out. */
enum how { INTEGER, UNSIGNED, FLOATING, LONG_DOUBLE };

/* One basic type, or one part of a complex or a pair. */
struct value {
	enum how how;
	int native, external; /* bytes */
};

/* The values in a row that one basic element is. */
struct basic {
	int n;
	struct value value[2];
};

static struct value integer(int native)
{
	return (struct value){ INTEGER, native, native };
}

static struct value floating(int bytes)
{
	return (struct value){ FLOATING, bytes, bytes };
}

static const struct value long_double = { LONG_DOUBLE, sizeof(long double),
					  16 };

/* Types whose size differs from the one they have here. */
static struct value sized(MPI_Datatype h, int native)
{
	if (h == MPI_LONG)
		return (struct value){ INTEGER, native, 4 };
	if (h == MPI_UNSIGNED_LONG)
		return (struct value){ UNSIGNED, native, 4 };
	if (h == MPI_WCHAR)
		return (struct value){ UNSIGNED, native, 2 };
	return integer(native);
}

static struct basic pair(struct value a, struct value b)
{
	return (struct basic){ 2, { a, b } };
}

static struct basic basic_of(const struct mpii_type *t)
{
	switch (t->kind) {
	case MPII_K_F16:
	case MPII_K_F32:
	case MPII_K_F64:
	case MPII_K_F128:
		return (struct basic){ 1, { floating(t->size) } };
	case MPII_K_LD:
		return (struct basic){ 1, { long_double } };
	case MPII_K_C16:
	case MPII_K_C32:
	case MPII_K_C64:
	case MPII_K_C128:
	case MPII_K_2FLOAT:
	case MPII_K_2DOUBLE:
		return pair(floating(t->size / 2), floating(t->size / 2));
	case MPII_K_CLD:
		return pair(long_double, long_double);
	case MPII_K_FLOAT_INT:
	case MPII_K_DOUBLE_INT:
		return pair(floating(t->size - 4), integer(4));
	case MPII_K_LONG_DOUBLE_INT:
		return pair(long_double, integer(4));
	case MPII_K_LONG_INT:
		return pair(sized(MPI_LONG, sizeof(long)), integer(4));
	case MPII_K_PAIR:
		return pair(basic_of(t->made->types[0]).value[0],
			    basic_of(t->made->types[1]).value[0]);
	case MPII_K_2INT:
	case MPII_K_SHORT_INT:
		return pair(integer(t->size - 4), integer(4));
	default:
		return (struct basic){ 1, { sized(t->handle, t->size) } };
	}
}

static int external_size(const struct basic *b)
{
	return b->value[0].external + (b->n == 2 ? b->value[1].external : 0);
}

/* --- one value --- */

static void reverse(unsigned char *to, const unsigned char *from, int n)
{
	for (int i = 0; i < n; i++)
		to[i] = from[n - 1 - i];
}

/* Little-endian integers of different lengths: cut, or extended by its sign. */
static void resize(unsigned char *to, int to_len, const unsigned char *from,
		   int from_len, bool has_sign)
{
	int n = to_len < from_len ? to_len : from_len;
	int fill = has_sign && (from[from_len - 1] & 0x80) ? 0xff : 0;

	memcpy(to, from, n);
	memset(to + n, fill, to_len - n);
}

static void value_out(const struct value *v, const unsigned char *native,
		      unsigned char *external)
{
	unsigned char wide[16];
	long double ld;
	MPII_FLOAT128 quad;

	if (v->how == LONG_DOUBLE) {
		memcpy(&ld, native, sizeof(ld));
		quad = ld;
		reverse(external, (unsigned char *)&quad, sizeof(quad));
		return;
	}
	resize(wide, v->external, native, v->native, v->how == INTEGER);
	reverse(external, wide, v->external);
}

static void value_in(const struct value *v, const unsigned char *external,
		     unsigned char *native)
{
	unsigned char wide[16];
	long double ld;
	MPII_FLOAT128 quad;

	reverse(wide, external, v->external);
	if (v->how == LONG_DOUBLE) {
		memcpy(&quad, wide, sizeof(quad));
		ld = quad;
		memcpy(native, &ld, sizeof(ld));
		return;
	}
	resize(native, v->native, wide, v->external, v->how == INTEGER);
}

/* --- all values of a message --- */

/* Both forms of the message, and how far they have been converted. */
struct stream {
	bool out;
	unsigned char *native, *external;
};

static void convert(struct stream *s, const struct basic *b, MPI_Count n)
{
	for (MPI_Count i = 0; i < n * b->n; i++) {
		const struct value *v = &b->value[i % b->n];

		if (s->out)
			value_out(v, s->native, s->external);
		else
			value_in(v, s->external, s->native);
		s->native += v->native;
		s->external += v->external;
	}
}

/*
 * The basic types of n instances of t in the order of the packed form:
 * converted by @s, or only counted where that is NULL. Returns external bytes.
 */
static MPI_Count walk(struct stream *s, const struct mpii_type *t, MPI_Count n)
{
	const struct mpii_type *inner;
	const struct mpii_made *m;
	MPI_Count bytes = 0, bl;
	struct basic b;

	if (t->size == 0 || n == 0)
		return 0;
	if (t->basic) {
		inner = mpii_type_get(t->basic);
		b = basic_of(inner);
		n *= t->size / inner->size;
		if (s)
			convert(s, &b, n);
		return n * external_size(&b);
	}
	m = t->made;
	if (m->combiner != MPI_COMBINER_STRUCT)
		return walk(s, m->types[0], n * (t->size / m->types[0]->size));
	for (MPI_Count i = 0; i < (s ? n : 1); i++)
		for (MPI_Count k = 0; k < m->ntypes; k++) {
			bl = m->large ? m->counts[1 + k] : m->ints[1 + k];
			bytes += walk(s, m->types[k], bl);
		}
	return s ? bytes : n * bytes;
}

MPI_Count mpii_external_size(const struct mpii_type *t, MPI_Count n)
{
	return walk(NULL, t, n);
}

void mpii_external_out(const struct mpii_type *t, MPI_Count n,
		       const void *native, void *external)
{
	struct stream s = { .out = true,
			    .native = (void *)native,
			    .external = external };

	walk(&s, t, n);
}

void mpii_external_in(const struct mpii_type *t, MPI_Count n, void *native,
		      const void *external)
{
	struct stream s = { .native = native, .external = (void *)external };

	walk(&s, t, n);
}

/* --- the calls --- */

static int check(struct mpii_packing *p, const char *datarep,
		 MPI_Datatype datatype)
{
	if (!datarep)
		return mpii_bad_null(NULL, p->func, "datarep");
	if (strcmp(datarep, "external32") != 0)
		return mpii_error(NULL, MPI_ERR_ARG, p->func,
				  "datarep is \"%s\", but only \"external32\" "
				  "is known",
				  datarep);
	return mpii_packing_type(p, datatype);
}

static int move(const struct mpii_packing *p)
{
	struct stream s = { .out = !p->unpack,
			    .external = (void *)(p->packed + *p->position) };
	MPI_Count bytes = p->count * p->t->size;
	unsigned char *native = malloc(bytes ? bytes : 1);

	if (!native)
		return mpii_no_mem(NULL, p->func);
	if (!p->unpack)
		mpii_pack(p->t, p->user, p->count, 0, native, bytes);
	s.native = native;
	walk(&s, p->t, p->count);
	if (p->unpack)
		mpii_unpack(p->t, p->user, p->count, 0, native, bytes);
	free(native);
	return MPI_SUCCESS;
}

static int external(struct mpii_packing *p, const char *datarep,
		    MPI_Datatype datatype)
{
	MPI_Count bytes;
	int err = check(p, datarep, datatype);

	if (err)
		return err;
	bytes = walk(NULL, p->t, p->count);
	err = mpii_packing_room(p, bytes);
	if (!err)
		err = move(p);
	if (!err)
		*p->position += bytes;
	return err;
}

/* The forms whose positions are addresses. */
static int external_narrow(struct mpii_packing *p, const char *datarep,
			   MPI_Datatype datatype, MPI_Aint *position)
{
	MPI_Count at = position ? *position : 0;
	int err;

	p->position = position ? &at : NULL;
	err = external(p, datarep, datatype);
	if (!err)
		*position = at;
	return err;
}

int PMPI_Pack_external(const char *datarep, const void *inbuf, int incount,
		       MPI_Datatype datatype, void *outbuf, MPI_Aint outsize,
		       MPI_Aint *position)
{
	struct mpii_packing p = { .func = "MPI_Pack_external",
				  .user = (void *)inbuf,
				  .count = incount,
				  .packed = outbuf,
				  .size = outsize };

	return external_narrow(&p, datarep, datatype, position);
}
MPII_ALIAS(Pack_external);

int PMPI_Pack_external_c(const char *datarep, const void *inbuf,
			 MPI_Count incount, MPI_Datatype datatype, void *outbuf,
			 MPI_Count outsize, MPI_Count *position)
{
	struct mpii_packing p = { .func = "MPI_Pack_external_c",
				  .user = (void *)inbuf,
				  .count = incount,
				  .packed = outbuf,
				  .size = outsize,
				  .position = position };

	return external(&p, datarep, datatype);
}
MPII_ALIAS(Pack_external_c);

int PMPI_Unpack_external(const char *datarep, const void *inbuf,
			 MPI_Aint insize, MPI_Aint *position, void *outbuf,
			 int outcount, MPI_Datatype datatype)
{
	struct mpii_packing p = { .func = "MPI_Unpack_external",
				  .unpack = true,
				  .user = outbuf,
				  .count = outcount,
				  .packed = (char *)inbuf,
				  .size = insize };

	return external_narrow(&p, datarep, datatype, position);
}
MPII_ALIAS(Unpack_external);

int PMPI_Unpack_external_c(const char *datarep, const void *inbuf,
			   MPI_Count insize, MPI_Count *position, void *outbuf,
			   MPI_Count outcount, MPI_Datatype datatype)
{
	struct mpii_packing p = { .func = "MPI_Unpack_external_c",
				  .unpack = true,
				  .user = outbuf,
				  .count = outcount,
				  .packed = (char *)inbuf,
				  .size = insize,
				  .position = position };

	return external(&p, datarep, datatype);
}
MPII_ALIAS(Unpack_external_c);

static int size_of(const char *func, const char *datarep, MPI_Count incount,
		   MPI_Datatype datatype, const void *size, MPI_Count *bytes)
{
	struct mpii_packing p = { .func = func, .count = incount };
	int err = check(&p, datarep, datatype);

	if (err)
		return err;
	if (!size)
		return mpii_bad_null(NULL, func, "size");
	*bytes = walk(NULL, p.t, incount);
	return MPI_SUCCESS;
}

int PMPI_Pack_external_size(const char *datarep, int incount,
			    MPI_Datatype datatype, MPI_Aint *size)
{
	MPI_Count bytes = 0;
	int err = size_of("MPI_Pack_external_size", datarep, incount, datatype,
			  size, &bytes);

	if (!err)
		*size = bytes;
	return err;
}
MPII_ALIAS(Pack_external_size);

int PMPI_Pack_external_size_c(const char *datarep, MPI_Count incount,
			      MPI_Datatype datatype, MPI_Count *size)
{
	MPI_Count bytes = 0;
	int err = size_of("MPI_Pack_external_size_c", datarep, incount,
			  datatype, size, &bytes);

	if (!err)
		*size = bytes;
	return err;
}
MPII_ALIAS(Pack_external_size_c);
