/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages of data that is not in one piece: few large pieces, many small ones,
 * absolute addresses, different layouts on the two sides, too short and too
 * long.
 */
#include "check.h"

#define ROWS 200
#define COLS 300
static int a[ROWS][COLS], b[ROWS][COLS];

static void set(void)
{
	for (int i = 0; i < ROWS * COLS; i++) {
		(&a[0][0])[i] = rank * 1000000 + i;
		(&b[0][0])[i] = -1;
	}
}

/* A block of rows × cols at the top left. */
static MPI_Datatype block(int rows, int cols)
{
	MPI_Datatype t;

	OK(MPI_Type_vector(rows, cols, COLS, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	return t;
}

static void check_block(int rows, int cols, int from)
{
	for (int i = 0; i < ROWS; i++)
		for (int j = 0; j < COLS; j++)
			EQUAL(b[i][j], i < rows && j < cols ?
					       from * 1000000 + i * COLS + j :
					       -1);
}

/* Strided here, strided there; blocking, not, and replaced. */
static void ring(int rows, int cols)
{
	int next = (rank + 1) % size, prev = (rank + size - 1) % size;
	MPI_Datatype t = block(rows, cols);
	MPI_Request q[2];
	MPI_Status s;

	set();
	OK(MPI_Irecv(b, 1, t, prev, 1, WORLD, &q[0]));
	OK(MPI_Isend(a, 1, t, next, 1, WORLD, &q[1]));
	OK(MPI_Wait(&q[0], &s));
	OK(MPI_Wait(&q[1], IGNORE));
	check_block(rows, cols, prev);
	EQUAL(count_of(&s, t), 1);
	EQUAL(count_of(&s, MPI_INT), rows * cols);
	set();
	OK(MPI_Sendrecv(a, 1, t, next, 1, b, 1, t, prev, 1, WORLD, &s));
	check_block(rows, cols, prev);
	OK(MPI_Sendrecv_replace(a, 1, t, next, 1, prev, 1, WORLD, &s));
	EQUAL(a[rows - 1][cols - 1],
	      prev * 1000000 + (rows - 1) * COLS + cols - 1);
	OK(MPI_Type_free(&t));
}

/* Strided to contiguous and back, one of them freed while under way. */
static void mixed(int rows, int cols)
{
	MPI_Datatype t = block(rows, cols);
	static int flat[ROWS * COLS];
	MPI_Request q;

	set();
	OK(MPI_Irecv(flat, rows * cols, MPI_INT, rank, 1, WORLD, &q));
	OK(MPI_Send(a, 1, t, rank, 1, WORLD));
	OK(MPI_Wait(&q, IGNORE));
	for (int i = 0; i < rows * cols; i++)
		EQUAL(flat[i], a[i / cols][i % cols]);
	OK(MPI_Irecv(b, 1, t, rank, 1, WORLD, &q));
	OK(MPI_Type_free(&t));
	OK(MPI_Send(flat, rows * cols, MPI_INT, rank, 1, WORLD));
	OK(MPI_Wait(&q, IGNORE));
	check_block(rows, cols, rank);
}

/* A message of half the length, and one of twice. */
static void lengths(int rows, int cols)
{
	MPI_Datatype t = block(rows, cols);
	MPI_Request q;
	MPI_Status s;
	int n = rows * cols, got;

	set();
	OK(MPI_Irecv(b, 1, t, rank, 1, WORLD, &q));
	OK(MPI_Send(&a[0][0], n / 2, MPI_INT, rank, 1, WORLD));
	OK(MPI_Wait(&q, &s));
	EQUAL(count_of(&s, t), n / 2 ? MPI_UNDEFINED : 0);
	OK(MPI_Get_elements(&s, t, &got));
	EQUAL(got, n / 2);
	for (int i = 0; i < n; i++)
		EQUAL(b[i / cols][i % cols], i < n / 2 ? (&a[0][0])[i] : -1);
	set();
	OK(MPI_Irecv(b, 1, t, rank, 1, WORLD, &q));
	OK(MPI_Send(&a[0][0], n + 1, MPI_INT, rank, 1, WORLD));
	FAILS(MPI_Wait(&q, &s), MPI_ERR_TRUNCATE);
	for (int i = 0; i < n; i++)
		EQUAL(b[i / cols][i % cols], (&a[0][0])[i]);
	OK(MPI_Type_free(&t));
}

/* A struct of absolute addresses, sent from MPI_BOTTOM. */
static void bottom(void)
{
	static int x, y[3];
	static double z;
	int lens[3] = { 1, 3, 1 };
	MPI_Aint at[3];
	MPI_Datatype types[3] = { MPI_INT, MPI_INT, MPI_DOUBLE }, t;
	char packed[24];
	int i4[4];

	MPI_Get_address(&x, &at[0]);
	MPI_Get_address(y, &at[1]);
	MPI_Get_address(&z, &at[2]);
	OK(MPI_Type_create_struct(3, lens, at, types, &t));
	OK(MPI_Type_commit(&t));
	x = 1;
	y[0] = 2;
	y[1] = 3;
	y[2] = 4;
	z = 2.5;
	OK(MPI_Send(MPI_BOTTOM, 1, t, rank, 1, WORLD));
	OK(MPI_Recv(packed, 24, MPI_BYTE, rank, 1, WORLD, IGNORE));
	memcpy(i4, packed, 16);
	CHECK(i4[0] == 1 && i4[1] == 2 && i4[2] == 3 && i4[3] == 4);
	OK(MPI_Send(MPI_BOTTOM, 1, t, rank, 1, WORLD));
	x = y[0] = y[1] = y[2] = 0;
	z = 0;
	OK(MPI_Recv(MPI_BOTTOM, 1, t, rank, 1, WORLD, IGNORE));
	CHECK(x == 1 && y[0] == 2 && y[2] == 4 && z == 2.5);
	OK(MPI_Type_free(&t));
}

/* Given up while the data still has to be unpacked. */
static void given_up(void)
{
	MPI_Datatype t = block(50, 2);
	MPI_Request q;
	int flat[100];

	set();
	for (int i = 0; i < 100; i++)
		flat[i] = i;
	OK(MPI_Irecv(b, 1, t, rank, 1, WORLD, &q));
	OK(MPI_Request_free(&q));
	OK(MPI_Type_free(&t));
	OK(MPI_Send(flat, 100, MPI_INT, rank, 1, WORLD));
	for (int i = 0; i < 100; i++)
		EQUAL(b[i / 2][i % 2], i);
}

int main(int argc, char **argv)
{
	static const int shape[][2] = { { 1, 1 },    { 2, 1 },	  { 200, 1 },
					{ 3, 299 },  { 10, 299 }, { 16, 200 },
					{ 17, 299 }, { 200, 299 } };

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 8; i++) {
		ring(shape[i][0], shape[i][1]);
		mixed(shape[i][0], shape[i][1]);
		lengths(shape[i][0], shape[i][1]);
	}
	bottom();
	given_up();
	return finish();
}
