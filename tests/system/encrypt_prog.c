/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * encrypt_prog ROUNDS: all that ranks do to each other over the network, with memory
 * that is full of words which a reader of the cable would know again: messages of
 * many sizes, also of strided data, a window, a reduction.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS "these words are not for the cable "
#define LEN (1 << 20)

static char *text(void)
{
	char *p = malloc(LEN);

	for (int i = 0; i < LEN; i++)
		p[i] = WORDS[i % (sizeof(WORDS) - 1)];
	return p;
}

/* To the other half of the ranks, and back. */
static int talk(int peer, char *out, char *in)
{
	MPI_Datatype every_other;
	int bad = 0;

	for (int n = 1; n <= LEN; n = n * 5 + 3) {
		memset(in, 0, n);
		MPI_Sendrecv(out, n, MPI_CHAR, peer, 1, in, n, MPI_CHAR, peer,
			     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		bad += memcmp(in, out, n) != 0;
	}
	MPI_Type_vector(LEN / 128, 64, 128, MPI_CHAR, &every_other);
	MPI_Type_commit(&every_other);
	memset(in, 0, LEN);
	MPI_Sendrecv(out, 1, every_other, peer, 2, in, 1, every_other, peer, 2,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	for (int i = 0; i < LEN; i += 128)
		bad += memcmp(in + i, out + i, 64) != 0;
	MPI_Type_free(&every_other);
	return bad;
}

static int use_window(int peer, char *out, char *in)
{
	MPI_Win win;
	int bad;

	memset(in, 0, LEN);
	MPI_Win_create(in, LEN, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	MPI_Win_fence(0, win);
	MPI_Put(out, LEN, MPI_CHAR, peer, 0, LEN, MPI_CHAR, win);
	MPI_Win_fence(0, win);
	bad = memcmp(in, out, LEN) != 0;
	MPI_Win_free(&win);
	return bad;
}

int main(int argc, char **argv)
{
	char *out = text(), *in = malloc(LEN);
	int rounds = argc > 1 ? atoi(argv[1]) : 1, rank, size, bad = 0, all;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < rounds; i++) {
		bad += talk((rank + size / 2) % size, out, in);
		bad += use_window((rank + size / 2) % size, out, in);
	}
	MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	if (!rank)
		printf("%s\n", all ? "something came wrong" : "all came right");
	MPI_Finalize();
	return all != 0;
}
