/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * More than 4 GiB in one message, of single characters through a vector. The
 * buffers are address space only: one piece of memory, mapped again and again.
 * What is written last stays, and tells whether every byte came to its place.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

#define N ((MPI_Count)1 << 32 | 12345) /* characters */
#define SEND_PIECE ((MPI_Count)64 << 20)
#define RECV_PIECE \
	((MPI_Count)48 << 20) /* so that pieces never fall together */

/* bytes of address space over one piece of memory */
static char *map_again_and_again(MPI_Count bytes, MPI_Count piece)
{
	MPI_Count n = (bytes + piece - 1) / piece;
	char *base = mmap(NULL, n * piece, PROT_NONE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int fd = memfd_create("large_count", 0);

	CHECK(base != MAP_FAILED && fd >= 0 && ftruncate(fd, piece) == 0);
	for (MPI_Count i = 0; i < n; i++)
		CHECK(mmap(base + i * piece, piece, PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	close(fd);
	return base;
}

/* Packing needs memory for all of it. */
static int enough_memory(void)
{
	long long kb = 0;
	char line[128];
	FILE *f = fopen("/proc/meminfo", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %lld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb > 7 << 20;
}

static void send(void)
{
	char *buf = map_again_and_again(2 * N, SEND_PIECE);
	MPI_Datatype every_second;
	MPI_Count size;

	for (MPI_Count i = 0; i < SEND_PIECE / 2; i++) {
		buf[2 * i] = pattern(1, i);
		buf[2 * i + 1] = 0;
	}
	OK(MPI_Type_vector_c(N, 1, 2, MPI_CHAR, &every_second));
	OK(MPI_Type_commit(&every_second));
	OK(MPI_Type_size_c(every_second, &size));
	EQUAL(size, N);
	OK(MPI_Send_c(buf, 1, every_second, 1, 0, WORLD));
	OK(MPI_Type_free(&every_second));
}

static void receive(void)
{
	char *buf = map_again_and_again(N, RECV_PIECE);
	MPI_Count count, last;
	MPI_Status st;
	int small;

	OK(MPI_Recv_c(buf, N, MPI_CHAR, 0, 0, WORLD, &st));
	OK(MPI_Get_count_c(&st, MPI_CHAR, &count));
	EQUAL(count, N);
	OK(MPI_Get_count(&st, MPI_CHAR, &small));
	EQUAL(small, MPI_UNDEFINED);
	for (MPI_Count i = 0; i < RECV_PIECE; i++) {
		last = (N - 1 - i) / RECV_PIECE * RECV_PIECE + i;
		if (buf[i] != (char)pattern(1, last % (SEND_PIECE / 2)))
			EQUAL(i, -1);
	}
}

int main(int argc, char **argv)
{
	int enough;

	start(&argc, &argv);
	enough = enough_memory();
	MPI_Bcast(&enough, 1, MPI_INT, 0, WORLD);
	if (!enough && rank == 0)
		fprintf(stderr, "large_count: less than 7 GiB of memory are "
				"free, nothing was tested\n");
	if (enough && rank == 0)
		send();
	if (enough && rank == 1)
		receive();
	return finish();
}
