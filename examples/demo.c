// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What `make run` shows: who talks to whom over which channel and how fast,
 * that a message moves while both ends compute, and that waiting is free.
 *
 *	mpicc -O2 demo.c -o demo && mpiexec -n 4 ./demo
 *
 * Only MPI is used. The channel is what MPI_Comm_get_info says of
 * MPI_COMM_WORLD under o2g_channel_RANK; another MPI has no such key, and the
 * column shows a dash.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	SMALL = 8,
	LARGE = 4 << 20,
	DEPTH = 4, /* large messages under way at once */
	CHANNEL_LEN = 16,
	BAR = 20,
	TAG_DATA = 1,
	TAG_RESULT,
};

struct pair {
	int a, b;
	double latency;	  /* seconds, half a round trip of SMALL bytes */
	double bandwidth; /* bytes per second in messages of LARGE bytes */
	char channel[CHANNEL_LEN];
};

static int rank, ranks;
static char *buffer; /* LARGE bytes */

/* --- measuring one pair --- */

static void pingpong(int peer, int first, int size, int times)
{
	for (int i = 0; i < times; i++) {
		if (first)
			MPI_Send(buffer, size, MPI_BYTE, peer, TAG_DATA,
				 MPI_COMM_WORLD);
		MPI_Recv(buffer, size, MPI_BYTE, peer, TAG_DATA, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		if (!first)
			MPI_Send(buffer, size, MPI_BYTE, peer, TAG_DATA,
				 MPI_COMM_WORLD);
	}
}

/* The best of some tries: whatever else the machine does only adds. */
static double measure_latency(int peer, int first)
{
	const int times = 100;
	double best = 1, start, t;

	for (int i = 0; i < 30; i++) {
		start = MPI_Wtime();
		pingpong(peer, first, SMALL, times);
		t = (MPI_Wtime() - start) / times / 2;
		best = t < best ? t : best;
	}
	return best;
}

static void stream(int peer, int first)
{
	MPI_Request req[DEPTH];

	for (int k = 0; k < DEPTH; k++) {
		if (first)
			MPI_Isend(buffer, LARGE, MPI_BYTE, peer, TAG_DATA,
				  MPI_COMM_WORLD, &req[k]);
		else
			MPI_Irecv(buffer, LARGE, MPI_BYTE, peer, TAG_DATA,
				  MPI_COMM_WORLD, &req[k]);
	}
	MPI_Waitall(DEPTH, req, MPI_STATUSES_IGNORE);
	/* The receiver has it all when this has gone round. */
	pingpong(peer, first, 0, 1);
}

static double measure_bandwidth(int peer, int first)
{
	double best = 0, start, speed;

	for (int i = 0; i < 6; i++) {
		start = MPI_Wtime();
		stream(peer, first);
		speed = (double)LARGE * DEPTH / (MPI_Wtime() - start);
		best = speed > best ? speed : best;
	}
	return best;
}

static void find_channel(int peer, char *channel)
{
	char key[32];
	int len = CHANNEL_LEN, found = 0;
	MPI_Info info;

	strcpy(channel, "-");
	snprintf(key, sizeof(key), "o2g_channel_%d", peer);
	MPI_Comm_get_info(MPI_COMM_WORLD, &info);
	MPI_Info_get_string(info, key, &len, channel, &found);
	if (!found)
		strcpy(channel, "-");
	MPI_Info_free(&info);
}

/* --- the table --- */

static void put_hosts(const char *a, const char *b)
{
	char text[2 * MPI_MAX_PROCESSOR_NAME + 4];

	if (strcmp(a, b))
		snprintf(text, sizeof(text), "%s, %s", a, b);
	else
		snprintf(text, sizeof(text), "%s", a);
	printf("%-26.25s", text);
}

static void put_row(const struct pair *p, const char *host, double best)
{
	int bar = p->bandwidth / best * BAR + 0.5;

	printf("  %2d - %-2d  ", p->a, p->b);
	put_hosts(host + p->a * MPI_MAX_PROCESSOR_NAME,
		  host + p->b * MPI_MAX_PROCESSOR_NAME);
	printf("%-5s%8.2f us%8.2f GB/s  %.*s\n", p->channel, p->latency * 1e6,
	       p->bandwidth * 1e-9, bar > 0 ? bar : 1, "####################");
}

/* One pair at a time; the others wait, which costs them nothing. */
static void measure_pair(struct pair *p)
{
	if (rank == p->a || rank == p->b) {
		int first = rank == p->a, peer = first ? p->b : p->a;

		p->latency = measure_latency(peer, first);
		p->bandwidth = measure_bandwidth(peer, first);
		find_channel(peer, p->channel);
	}
	if (rank == p->a && rank != 0)
		MPI_Send(p, sizeof(*p), MPI_BYTE, 0, TAG_RESULT,
			 MPI_COMM_WORLD);
	if (rank == 0 && p->a != 0)
		MPI_Recv(p, sizeof(*p), MPI_BYTE, p->a, TAG_RESULT,
			 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void show_pairs(const char *host)
{
	struct pair *pairs = calloc(ranks * ranks, sizeof(*pairs));
	double best = 0;
	int n = 0;

	for (int a = 0; a < ranks; a++)
		for (int b = a + 1; b < ranks; b++) {
			pairs[n].a = a;
			pairs[n].b = b;
			measure_pair(&pairs[n]);
			if (pairs[n].bandwidth > best)
				best = pairs[n].bandwidth;
			n++;
		}
	if (rank == 0) {
		printf("\n  ranks    hosts                     over     "
		       "8 B        4 MiB\n");
		for (int i = 0; i < n; i++)
			put_row(&pairs[i], host, best);
	}
	free(pairs);
}

/* --- computing meanwhile, and waiting --- */

static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void compute(double seconds)
{
	double end = MPI_Wtime() + seconds;
	volatile double x = 1;

	while (MPI_Wtime() < end)
		for (int i = 0; i < 1000; i++)
			x = x * 0.999 + 1;
}

/* The last rank sends to rank 0; both compute and call no MPI meanwhile. */
static void show_overlap(void)
{
	const double work = 0.05;
	double start, wait;
	MPI_Request req = MPI_REQUEST_NULL;

	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Irecv(buffer, LARGE, MPI_BYTE, ranks - 1, TAG_DATA,
			  MPI_COMM_WORLD, &req);
	else if (rank == ranks - 1)
		MPI_Isend(buffer, LARGE, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD,
			  &req);
	if (rank == 0 || rank == ranks - 1)
		compute(work);
	start = MPI_Wtime();
	MPI_Wait(&req, MPI_STATUS_IGNORE);
	wait = MPI_Wtime() - start;
	if (rank == 0)
		printf("\n  computing  4 MiB from rank %d arrived while both ranks "
		       "computed for %.0f ms:\n             MPI_Wait then took "
		       "%.0f us\n",
		       ranks - 1, work * 1e3, wait * 1e6);
}

static void show_waiting(void)
{
	double start, cpu;

	MPI_Barrier(MPI_COMM_WORLD);
	start = MPI_Wtime();
	cpu = cpu_time();
	if (rank == ranks - 1) {
		usleep(500000);
		MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
	} else if (rank == 0) {
		MPI_Recv(NULL, 0, MPI_BYTE, ranks - 1, TAG_DATA, MPI_COMM_WORLD,
			 MPI_STATUS_IGNORE);
		start = MPI_Wtime() - start;
		printf("  waiting    %.1f s in MPI_Recv used %.2f %% of a "
		       "core\n\n",
		       start, (cpu_time() - cpu) / start * 100);
	}
}

int main(int argc, char **argv)
{
	char name[MPI_MAX_PROCESSOR_NAME] = "", *host;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks < 2) {
		printf("demo: one rank has nobody to talk to; "
		       "try mpiexec -n 4 %s\n",
		       argv[0]);
		MPI_Finalize();
		return 1;
	}
	MPI_Get_processor_name(name, &len);
	MPI_Get_library_version(version, &len);
	version[strcspn(version, "\n")] = '\0';
	host = calloc(ranks, sizeof(name));
	buffer = calloc(1, LARGE);
	MPI_Gather(name, sizeof(name), MPI_CHAR, host, sizeof(name), MPI_CHAR,
		   0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%d ranks, %s\n", ranks, version);
	show_pairs(host);
	show_overlap();
	show_waiting();
	free(buffer);
	free(host);
	MPI_Finalize();
	return 0;
}
