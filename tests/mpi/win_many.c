/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Many operations before each synchronization: more than one message takes, short and
 * long ones in turns, of all kinds. All are done, in their order, and an error among
 * the first of them is not lost.
 */
#include "check.h"

#define BYTES (1 << 20)
#define MANY 5000
#define LONG_ONE 300 /* bytes: not a short operation any more */

static MPI_Win win;
static char *memory, *from, *got;
static MPI_Aint at; /* of rank 0's memory in the window */
static long want[MANY], was[MANY];

static void flush(void)
{
	OK(MPI_Win_flush(0, win));
}

static int length(int i)
{
	return i % 17 == 0 ? LONG_ONE : 1 + i * 7 % 140;
}

/* Pieces of all lengths, side by side. */
static void put_and_get(void)
{
	int off = 0;

	for (int i = 0; i < BYTES; i++)
		from[i] = (char)(i * 31 + i / 256);
	for (int i = 0; off + LONG_ONE < BYTES; off += length(i++))
		OK(MPI_Put(from + off, length(i), MPI_CHAR, 0, at + off,
			   length(i), MPI_CHAR, win));
	flush();
	off = 0;
	memset(got, 0, BYTES);
	for (int i = 0; off + LONG_ONE < BYTES; off += length(i++))
		OK(MPI_Get(got + off, length(i), MPI_CHAR, 0, at + off,
			   length(i), MPI_CHAR, win));
	flush();
	EQUAL(memcmp(got, from, (size_t)off), 0);
}

/* A cell that is replaced again and again, and a row around it now and then. */
static void keep_order(void)
{
	long row[64], last = 0, seen = -1;

	for (long i = 1; i <= MANY; i++) {
		last = i;
		for (int k = 0; k < 64; k++)
			row[k] = i;
		if (i % 50 == 0)
			OK(MPI_Accumulate(row, 64, MPI_LONG, 0, at, 64,
					  MPI_LONG, MPI_REPLACE, win));
		else
			OK(MPI_Accumulate(&last, 1, MPI_LONG, 0, at + 64, 1,
					  MPI_LONG, MPI_REPLACE, win));
	}
	OK(MPI_Get_accumulate(NULL, 0, MPI_LONG, &seen, 1, MPI_LONG, 0, at + 64,
			      1, MPI_LONG, MPI_NO_OP, win));
	flush();
	EQUAL(seen, MANY);
}

/* Each kind by turns, on one cell: all see what the one before has left. */
static void fetch_in_order(void)
{
	long value = 1000, operand[MANY], compare[MANY];

	OK(MPI_Put(&value, 1, MPI_LONG, 0, at + 128, 1, MPI_LONG, win));
	flush();
	for (int i = 0; i < MANY; i++) {
		want[i] = value;
		operand[i] = i;
		compare[i] = i % 2 ? value : -1;
		switch (i % 4) {
		case 0:
			OK(MPI_Fetch_and_op(&operand[i], &was[i], MPI_LONG, 0,
					    at + 128, MPI_SUM, win));
			value += i;
			break;
		case 1:
			OK(MPI_Compare_and_swap(&operand[i], &compare[i],
						&was[i], MPI_LONG, 0, at + 128,
						win));
			value = i;
			break;
		case 2:
			OK(MPI_Fetch_and_op(NULL, &was[i], MPI_LONG, 0,
					    at + 128, MPI_NO_OP, win));
			break;
		default:
			OK(MPI_Get_accumulate(&operand[i], 1, MPI_LONG, &was[i],
					      1, MPI_LONG, 0, at + 128, 1,
					      MPI_LONG, MPI_MAX, win));
			value = value > i ? value : i;
		}
	}
	flush();
	for (int i = 0; i < MANY; i++)
		EQUAL(was[i], want[i]);
}

/* Elements that no instruction updates: too long, or not aligned. */
static void odd_elements(void)
{
	long double x = 0.5L, sum = 0;
	int one = 1, total = 0;

	OK(MPI_Put(&sum, 1, MPI_LONG_DOUBLE, 0, at + 256, 1, MPI_LONG_DOUBLE,
		   win));
	OK(MPI_Put(&total, 1, MPI_INT, 0, at + 301, 1, MPI_INT, win));
	flush();
	for (int i = 0; i < MANY; i++) {
		OK(MPI_Accumulate(&x, 1, MPI_LONG_DOUBLE, 0, at + 256, 1,
				  MPI_LONG_DOUBLE, MPI_SUM, win));
		OK(MPI_Accumulate(&one, 1, MPI_INT, 0, at + 301, 1, MPI_INT,
				  MPI_SUM, win));
	}
	OK(MPI_Get_accumulate(NULL, 0, MPI_LONG_DOUBLE, &sum, 1,
			      MPI_LONG_DOUBLE, 0, at + 256, 1, MPI_LONG_DOUBLE,
			      MPI_NO_OP, win));
	OK(MPI_Get_accumulate(NULL, 0, MPI_INT, &total, 1, MPI_INT, 0, at + 301,
			      1, MPI_INT, MPI_NO_OP, win));
	flush();
	CHECK(sum == MANY * x);
	EQUAL(total, MANY);
}

/* The first is refused; thousands that are right follow, and hide nothing. */
static void refused_at_first(void)
{
	long value = 0, seen = 0;

	OK(MPI_Put(&value, 1, MPI_LONG, 0, at + BYTES, 1, MPI_LONG, win));
	for (long i = 0; i < MANY; i++) {
		value = i;
		OK(MPI_Put(&value, 1, MPI_LONG, 0, at, 1, MPI_LONG, win));
	}
	FAILS(MPI_Win_flush(0, win), MPI_ERR_RMA_RANGE);
	OK(MPI_Get(&seen, 1, MPI_LONG, 0, at, 1, MPI_LONG, win));
	flush();
	EQUAL(seen, MANY - 1);
}

static void try_all(int dynamic)
{
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	OK(MPI_Bcast(&at, 1, MPI_AINT, 0, WORLD));
	if (rank == 1) {
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win));
		put_and_get();
		keep_order();
		fetch_in_order();
		odd_elements();
		if (dynamic)
			refused_at_first();
		OK(MPI_Win_unlock(0, win));
	}
	OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	memory = calloc(1, BYTES + 64);
	from = malloc(BYTES);
	got = malloc(BYTES);
	CHECK(memory && from && got);
	OK(MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, WORLD, &win));
	try_all(0);
	OK(MPI_Win_free(&win));
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win));
	OK(MPI_Win_attach(win, memory, BYTES));
	OK(MPI_Get_address(memory, &at));
	try_all(1);
	OK(MPI_Win_detach(win, memory));
	OK(MPI_Win_free(&win));
	free(memory);
	free(from);
	free(got);
	return finish();
}
