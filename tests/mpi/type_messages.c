/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages of derived datatypes: the examples of chapter 5 of the standard, and
 * random pairs of a sender's and a receiver's type with the same signature, of
 * sizes on both sides of every protocol's limit.
 */
#include "coll_cases.h"

static struct env e = { .comm = MPI_COMM_SELF, .what = "types" };
static int to, from; /* a ring */

static void exchange(const void *in, int scount, MPI_Datatype st, void *out,
		     int rcount, MPI_Datatype rt, MPI_Status *status)
{
	CHECK(&e, !MPI_Sendrecv(in, scount, st, to, 3, out, rcount, rt, from, 3,
				MPI_COMM_WORLD, status));
}

/* A section of a three-dimensional array. */
static void section(void)
{
	static float a[10][11][12];
	float got[9][3][2];
	MPI_Datatype one, two, three;
	MPI_Aint lb, size;

	for (int i = 0; i < 10 * 11 * 12; i++)
		(&a[0][0][0])[i] = e.rank * 10000 + i;
	MPI_Type_get_extent(MPI_FLOAT, &lb, &size);
	MPI_Type_vector(2, 1, 2, MPI_FLOAT, &one);
	MPI_Type_create_hvector(3, 1, 2 * 12 * size, one, &two);
	MPI_Type_create_hvector(9, 1, 11 * 12 * size, two, &three);
	MPI_Type_commit(&three);
	MPI_Type_free(&one);
	MPI_Type_free(&two);
	exchange(&a[1][2][3], 1, three, got, 9 * 3 * 2, MPI_FLOAT,
		 MPI_STATUS_IGNORE);
	for (int i = 0; i < 9; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 2; k++)
				CHECK(&e,
				      got[i][j][k] ==
					      from * 10000 +
						      ((i + 1) * 11 + 2 * j +
						       2) * 12 +
						      2 * k + 3);
	MPI_Type_free(&three);
}

/* The lower triangle of a matrix. */
static void triangle(void)
{
	static double a[100][100], b[100][100];
	int disp[100], len[100];
	MPI_Datatype t;

	for (int i = 0; i < 100; i++) {
		disp[i] = 100 * i;
		len[i] = i + 1;
		for (int j = 0; j < 100; j++) {
			a[i][j] = e.rank + i * 1000 + j;
			b[i][j] = -1;
		}
	}
	MPI_Type_indexed(100, len, disp, MPI_DOUBLE, &t);
	MPI_Type_commit(&t);
	exchange(a, 1, t, b, 1, t, MPI_STATUS_IGNORE);
	for (int i = 0; i < 100; i++)
		for (int j = 0; j < 100; j++)
			CHECK(&e,
			      b[i][j] == (j <= i ? from + i * 1000 + j : -1));
	MPI_Type_free(&t);
}

/* Transpose by sending rows and receiving columns. */
static void transpose(void)
{
	static double a[100][100], b[100][100];
	MPI_Datatype column, matrix;

	for (int i = 0; i < 10000; i++)
		(&a[0][0])[i] = e.rank * 1e6 + i;
	MPI_Type_vector(100, 1, 100, MPI_DOUBLE, &column);
	MPI_Type_create_hvector(100, 1, sizeof(double), column, &matrix);
	MPI_Type_commit(&matrix);
	exchange(a, 100 * 100, MPI_DOUBLE, b, 1, matrix, MPI_STATUS_IGNORE);
	for (int i = 0; i < 100; i++)
		for (int j = 0; j < 100; j++)
			CHECK(&e, b[j][i] == from * 1e6 + i * 100 + j);
	MPI_Type_free(&column);
	MPI_Type_free(&matrix);
}

struct particle {
	short type;
	double d[6];
	char b[7];
};

static MPI_Datatype particle_type(struct particle *p, int absolute)
{
	MPI_Datatype types[] = { MPI_SHORT, MPI_DOUBLE, MPI_CHAR }, t, r;
	int len[] = { 1, 6, 7 };
	MPI_Aint disp[3], base;

	MPI_Get_address(p, &base);
	MPI_Get_address(&p->type, &disp[0]);
	MPI_Get_address(&p->d, &disp[1]);
	MPI_Get_address(&p->b, &disp[2]);
	for (int i = 0; i < 3 && !absolute; i++)
		disp[i] = MPI_Aint_diff(disp[i], base);
	MPI_Type_create_struct(3, len, disp, types, &t);
	if (absolute) {
		MPI_Type_commit(&t);
		return t;
	}
	MPI_Type_create_resized(t, 0, sizeof(*p), &r);
	MPI_Type_free(&t);
	MPI_Type_commit(&r);
	return r;
}

static void particles(int n)
{
	struct particle *p = calloc(n, sizeof(*p)), *q = calloc(n, sizeof(*q));
	MPI_Datatype t = particle_type(p, 0);
	MPI_Status status;
	int count, elements;

	memset(q, 0x77, n * sizeof(*q));
	for (int i = 0; i < n; i++) {
		p[i].type = i;
		for (int k = 0; k < 6; k++)
			p[i].d[k] = e.rank * 1000 + i + k;
		memset(p[i].b, i, sizeof(p[i].b));
	}
	exchange(p, n, t, q, n, t, &status);
	for (int i = 0; i < n; i++) {
		CHECK(&e, q[i].type == (short)i);
		CHECK(&e, q[i].d[5] == from * 1000 + i + 5);
		CHECK(&e, q[i].b[6] == (char)i);
		CHECK(&e, ((char *)&q[i])[2] == 0x77); /* a gap */
	}
	MPI_Get_count(&status, t, &count);
	MPI_Get_elements(&status, t, &elements);
	CHECK(&e, count == n && elements == 14 * n);
	MPI_Type_free(&t);
	free(p);
	free(q);
}

/* Addresses in the type, MPI_BOTTOM as the buffer. */
static void absolute(void)
{
	struct particle p = { .type = 5, .d = { e.rank }, .b = "abc" }, q = p;
	MPI_Datatype in = particle_type(&p, 1), out = particle_type(&q, 1);

	exchange(MPI_BOTTOM, 1, in, MPI_BOTTOM, 1, out, MPI_STATUS_IGNORE);
	CHECK(&e, q.type == 5 && q.d[0] == from && q.b[2] == 'c');
	MPI_Type_free(&in);
	MPI_Type_free(&out);
}

/* Part of a type arrives: elements, but no whole count. */
static void partial(void)
{
	int in[3] = { 1, 2, 3 }, out[8], count, elements;
	MPI_Datatype pair;
	MPI_Status status;

	MPI_Type_contiguous(2, MPI_INT, &pair);
	MPI_Type_commit(&pair);
	exchange(in, 3, MPI_INT, out, 4, pair, &status);
	MPI_Get_count(&status, pair, &count);
	MPI_Get_elements(&status, pair, &elements);
	CHECK(&e, count == MPI_UNDEFINED && elements == 3);
	MPI_Type_free(&pair);
}

/* A type may be freed while its message is under way. */
static void free_early(void)
{
	static int in[2 << 16], out[2 << 16];
	MPI_Datatype t;
	MPI_Request r[2];

	for (int i = 0; i < 2 << 16; i++)
		in[i] = i + e.rank;
	MPI_Type_vector(1 << 16, 1, 2, MPI_INT, &t);
	MPI_Type_commit(&t);
	MPI_Irecv(out, 1, t, from, 4, MPI_COMM_WORLD, &r[0]);
	MPI_Isend(in, 1, t, to, 4, MPI_COMM_WORLD, &r[1]);
	MPI_Type_free(&t);
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
	for (int i = 0; i < 2 << 16; i++)
		CHECK(&e, out[i] == (i % 2 ? 0 : i + from));
}

static void random_pairs(void)
{
	static const long sizes[] = { 0, 6, 600, 3000, 30000, 300000 };
	struct itype types[NTYPES];

	make_types(types);
	for (int i = 0; i < 6 * NTYPES * NTYPES; i++) {
		struct itype *s = &types[i % NTYPES];
		struct itype *r = &types[i / NTYPES % NTYPES];
		long n = sizes[i / NTYPES / NTYPES];
		struct buf in = buf_new(s, n / s->k), got, want;
		int *v = data(e.rank, to, n, i), *w = data(from, e.rank, n, i);

		got = buf_new(r, n / r->k);
		want = buf_new(r, n / r->k);
		buf_put(&e, &in, s, 0, v, n / s->k);
		buf_put(&e, &want, r, 0, w, n / r->k);
		exchange(in.at, n / s->k, s->h, got.at, n / r->k, r->h,
			 MPI_STATUS_IGNORE);
		buf_compare(&e, &got, &want);
		free(in.mem);
		free(v);
		free(w);
	}
	free_types(types);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &e.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &e.size);
	to = (e.rank + 1) % e.size;
	from = (e.rank - 1 + e.size) % e.size;
	section();
	triangle();
	transpose();
	particles(1);
	particles(30);
	particles(20000);
	absolute();
	partial();
	free_early();
	random_pairs();
	MPI_Finalize();
	return 0;
}
