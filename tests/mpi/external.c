/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* "external32": known bytes, sizes, round trips, and what is refused. */
#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

#include "check.h"

static void packs_to(const void *value, MPI_Datatype t, const char *want, int n)
{
	char out[64];
	MPI_Aint at = 0, bytes = -1;

	OK(MPI_Pack_external_size("external32", 1, t, &bytes));
	EQUAL(bytes, n);
	OK(MPI_Pack_external("external32", value, 1, t, out, sizeof(out), &at));
	EQUAL(at, n);
	CHECK(memcmp(out, want, n) == 0);
}

#define PACKS(ctype, v, t, want)                          \
	do {                                              \
		ctype v_ = v;                             \
		packs_to(&v_, t, want, sizeof(want) - 1); \
	} while (0)

static void known_bytes(void)
{
	struct {
		float v;
		int i;
	} pair = { 1.0f, 2 };

	PACKS(int, 0x01020304, MPI_INT, "\1\2\3\4");
	PACKS(int, -2, MPI_INT, "\377\377\377\376");
	PACKS(short, 0x0102, MPI_SHORT, "\1\2");
	PACKS(long, -2, MPI_LONG, "\377\377\377\376");
	PACKS(unsigned long, 0xfffffffeul, MPI_UNSIGNED_LONG,
	      "\377\377\377\376");
	PACKS(long long, 1, MPI_LONG_LONG, "\0\0\0\0\0\0\0\1");
	PACKS(MPI_Aint, 258, MPI_AINT, "\0\0\0\0\0\0\1\2");
	PACKS(wchar_t, 0x20ac, MPI_WCHAR, "\x20\xac");
	/* The table of external32 sizes: both booleans have one byte, and only
	 * Fortran's MPI_LOGICAL has four. */
	PACKS(bool, true, MPI_C_BOOL, "\1");
	PACKS(bool, true, MPI_CXX_BOOL, "\1");
	PACKS(int, 1, MPI_LOGICAL, "\0\0\0\1");
	PACKS(float, 1.0f, MPI_FLOAT, "\x3f\x80\0\0");
	PACKS(double, -2.0, MPI_DOUBLE, "\xc0\0\0\0\0\0\0\0");
	PACKS(long double, 1.0L, MPI_LONG_DOUBLE,
	      "\x3f\xff\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
	packs_to(&pair, MPI_FLOAT_INT, "\x3f\x80\0\0\0\0\0\2", 8);
}

struct record {
	char name;
	double d;
	long l[2];
	long double ld;
};

static MPI_Datatype record_type(void)
{
	int bl[] = { 1, 1, 2, 1 };
	MPI_Aint disp[] = { offsetof(struct record, name),
			    offsetof(struct record, d),
			    offsetof(struct record, l),
			    offsetof(struct record, ld) };
	MPI_Datatype types[] = { MPI_CHAR, MPI_DOUBLE, MPI_LONG,
				 MPI_LONG_DOUBLE };
	MPI_Datatype s, r;

	OK(MPI_Type_create_struct(4, bl, disp, types, &s));
	OK(MPI_Type_create_resized(s, 0, sizeof(struct record), &r));
	OK(MPI_Type_free(&s));
	return r;
}

/* A vector of structs goes out and comes back; gaps are left alone. */
static void round_trip(void)
{
	MPI_Datatype r = record_type(), v;
	struct record in[6], out[6];
	char buf[1024];
	MPI_Count at = 3, size = 0;

	OK(MPI_Type_vector(3, 1, 2, r, &v));
	OK(MPI_Type_commit(&v));
	memset(out, 0x5a, sizeof(out));
	for (int i = 0; i < 6; i++)
		in[i] = (struct record){ 'a' + i,
					 1.5 * i,
					 { -i, 100 + i },
					 1e30L + i };
	OK(MPI_Pack_external_size_c("external32", 1, v, &size));
	EQUAL(size, 3 * (1 + 8 + 2 * 4 + 16));
	OK(MPI_Pack_external_c("external32", in, 1, v, buf, sizeof(buf), &at));
	EQUAL(at, 3 + size);
	at = 3;
	OK(MPI_Unpack_external_c("external32", buf, sizeof(buf), &at, out, 1,
				 v));
	EQUAL(at, 3 + size);
	for (int i = 0; i < 6; i += 2) {
		EQUAL(out[i].name, in[i].name);
		CHECK(out[i].d == in[i].d && out[i].ld == in[i].ld);
		EQUAL(out[i].l[0], in[i].l[0]);
		EQUAL(out[i].l[1], in[i].l[1]);
	}
	EQUAL(out[1].name, 0x5a);
	OK(MPI_Type_free(&v));
	OK(MPI_Type_free(&r));
}

static void refused(void)
{
	MPI_Aint at = 0, size;
	char buf[8];
	int v = 1;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	FAILS(MPI_Pack_external("native", &v, 1, MPI_INT, buf, 8, &at),
	      MPI_ERR_ARG);
	FAILS(MPI_Pack_external("external32", &v, -1, MPI_INT, buf, 8, &at),
	      MPI_ERR_COUNT);
	FAILS(MPI_Pack_external("external32", &v, 1, MPI_DATATYPE_NULL, buf, 8,
				&at),
	      MPI_ERR_TYPE);
	FAILS(MPI_Pack_external("external32", &v, 3, MPI_INT, buf, 8, &at),
	      MPI_ERR_TRUNCATE);
	FAILS(MPI_Unpack_external("external32", buf, 3, &at, &v, 1, MPI_INT),
	      MPI_ERR_TRUNCATE);
	FAILS(MPI_Pack_external_size("big", 1, MPI_INT, &size), MPI_ERR_ARG);
	EQUAL(at, 0);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	known_bytes();
	round_trip();
	refused();
	return finish();
}
