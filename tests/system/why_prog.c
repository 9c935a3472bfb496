// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Programs that hang, for tests/system/why.sh: why_prog CASE. Before each line where a
 * rank gets stuck stands a comment with the name of the case, by which the script finds
 * its number. Three ranks. Cases that end with "ok" do not hang.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static int rank, size;
static char big[1 << 20];
static MPI_Comm solver;
#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + t.tv_nsec / 1e9;
}

static void compute(double seconds)
{
	double end = now() + seconds;

	while (now() < end)
		;
}

static void circle(void)
{
	int x;

	/* circle */
	MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 3, WORLD, IGNORE);
}

static void missing(void)
{
	if (rank == 1)
		compute(60);
	/* missing */
	MPI_Barrier(WORLD);
}

static void order(void)
{
	int x = rank, all[3];

	if (rank == 1)
		/* order-gather */
		MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 1, WORLD);
	else
		/* order */
		MPI_Bcast(&x, 1, MPI_INT, 1, WORLD);
}

/* The same collective, but of two communicators, in different order. */
static void order_comms(void)
{
	/* order-comms */
	MPI_Barrier(rank ? WORLD : solver);
	MPI_Barrier(rank ? solver : WORLD);
}

static void root(void)
{
	int x = rank, all[3];

	/* root */
	MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, rank == 1, WORLD);
}

static void tag(void)
{
	int x = 0;

	if (rank == 0)
		MPI_Send(&x, 1, MPI_INT, 1, 7, WORLD);
	if (rank == 1)
		/* tag */
		MPI_Recv(&x, 1, MPI_INT, 0, 8, WORLD, IGNORE);
}

static void comm(void)
{
	int x = 0;

	if (rank == 0)
		MPI_Send(&x, 1, MPI_INT, 1, 7, solver);
	if (rank == 1)
		/* comm */
		MPI_Recv(&x, 1, MPI_INT, 0, 7, WORLD, IGNORE);
}

static void send(void)
{
	int other = rank ^ 1;

	if (rank < 2)
		/* send */
		MPI_Send(big, sizeof(big), MPI_CHAR, other, 1, WORLD);
}

static void ssend(void)
{
	int x = 0;

	if (rank == 0)
		/* ssend */
		MPI_Ssend(&x, 1, MPI_INT, 1, 9, WORLD);
	if (rank == 1)
		MPI_Recv(&x, 1, MPI_INT, 2, 9, WORLD, IGNORE);
	if (rank == 2)
		compute(60);
}

/* More than the receiver has memory for (O2G_UNEXPECTED), while it waits. */
static void memory(void)
{
	int x = 0;

	for (int i = 0; rank == 0 && i < 100000; i++)
		/* memory */
		MPI_Send(big, 4096, MPI_CHAR, 1, 2, WORLD);
	if (rank == 1)
		MPI_Recv(&x, 1, MPI_INT, 2, 2, WORLD, IGNORE);
	if (rank == 2)
		compute(60);
}

/* A rank is killed; mpiexec -disable-auto-cleanup lets the others be. They are told,
 * and do not care. */
static void ended(void)
{
	int x;

	MPI_Comm_set_errhandler(solver, MPI_ERRORS_RETURN);
	if (rank == 1)
		raise(SIGKILL);
	/* ended */
	while (MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 4, solver, IGNORE))
		;
}

static void any(void)
{
	int x;

	/* any */
	MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, IGNORE);
}

static void probe(void)
{
	int flag = 0;

	while (rank == 0 && !flag)
		/* probe */
		MPI_Iprobe(1, 5, WORLD, &flag, IGNORE);
	/* probe-barrier */
	MPI_Barrier(WORLD);
}

static void test(void)
{
	int flag = 0, x;
	MPI_Request r;

	if (rank == 0) {
		MPI_Irecv(&x, 1, MPI_INT, 2, 6, WORLD, &r);
		while (!flag) {
			/* test */
			MPI_Test(&r, &flag, IGNORE);
			usleep(100);
		}
	}
	MPI_Barrier(WORLD);
}

static void stop(void)
{
	if (rank == 1)
		raise(SIGSTOP);
	/* stop */
	MPI_Barrier(WORLD);
}

/* Ranks know each other; then one is stopped, and is sent a message. */
static void stop_late(void)
{
	int x = rank;

	if (rank == 1)
		MPI_Send(&x, 1, MPI_INT, 0, 7, WORLD);
	if (rank == 0)
		MPI_Recv(&x, 1, MPI_INT, 1, 7, WORLD, IGNORE);
	if (rank == 1)
		raise(SIGSTOP);
	if (rank == 0) {
		sleep(1);
		MPI_Send(&x, 1, MPI_INT, 1, 7, WORLD);
	}
	/* stop-late */
	MPI_Barrier(WORLD);
}

static void waitall(void)
{
	MPI_Request r[2];
	int x[2];

	MPI_Irecv(&x[0], 1, MPI_INT, (rank + 1) % size, 1, WORLD, &r[0]);
	MPI_Irecv(&x[1], 1, MPI_INT, (rank + 1) % size, 2, WORLD, &r[1]);
	MPI_Send(&rank, 1, MPI_INT, (rank + size - 1) % size, 1, WORLD);
	/* waitall */
	MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
}

static void later(void)
{
	MPI_Request r;

	if (rank == 2)
		compute(60);
	MPI_Ibarrier(solver, &r);
	/* later */
	MPI_Wait(&r, IGNORE);
}

/* Rank 1 wants a lock that rank 0 holds while it waits for rank 1. Between hosts a lock
 * is asked for with the first operation. */
static void lock(void)
{
	MPI_Win win;
	int x = 0, *memory;

	MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, WORLD, &memory, &win);
	if (rank == 0) {
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Get(&x, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		MPI_Win_flush(2, win);
	}
	MPI_Barrier(WORLD);
	if (rank == 0)
		/* lock-recv */
		MPI_Recv(&x, 1, MPI_INT, 1, 1, WORLD, IGNORE);
	if (rank == 1) {
		/* lock */
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, win);
		MPI_Get(&x, 1, MPI_INT, 2, 0, 1, MPI_INT, win);
		/* lock-flush */
		MPI_Win_flush(2, win);
	}
	MPI_Barrier(WORLD);
}

static void split(void)
{
	MPI_Comm part;

	if (rank == 1)
		compute(60);
	/* split */
	MPI_Comm_split(WORLD, 0, rank, &part);
}

/* --- those that run --- */

/* One computes, for longer than mpiexec is patient; the others wait for it. */
static void slow(void)
{
	for (int i = 0; i < 2; i++) {
		if (rank == i)
			compute(4);
		MPI_Barrier(WORLD);
	}
}

/* A message now and then, around the ring. */
static void trickle(void)
{
	int x = 0;

	for (int i = 0; i < 8; i++) {
		if (rank == 0) {
			usleep(700000);
			MPI_Send(&x, 1, MPI_INT, 1, 0, WORLD);
		}
		if (rank == 1)
			MPI_Recv(&x, 1, MPI_INT, 0, 0, WORLD, IGNORE);
	}
	MPI_Barrier(WORLD);
}

/* Work, and looks whether there is more, as a master does. */
static void looks(void)
{
	double end = now() + 5;
	int flag;

	while (rank == 0 && now() < end) {
		compute(0.01);
		MPI_Iprobe(MPI_ANY_SOURCE, 1, WORLD, &flag, IGNORE);
	}
	MPI_Barrier(WORLD);
}

static MPI_Win make_win(MPI_Group *first, int other)
{
	static int memory;
	MPI_Group all;
	MPI_Win win;

	MPI_Win_create(&memory, sizeof(memory), 1, MPI_INFO_NULL, WORLD, &win);
	MPI_Comm_group(WORLD, &all);
	MPI_Group_incl(all, 1, &other, first);
	return win;
}

/* Rank 0 has started an epoch for rank 1, which waits for a message of rank 0. */
static void post(void)
{
	MPI_Group one;
	MPI_Win win = make_win(&one, 1);
	int x;

	if (rank == 0) {
		MPI_Win_start(one, 0, win);
		/* post */
		MPI_Win_complete(win);
	}
	/* post-recv */
	MPI_Recv(&x, 1, MPI_INT, 0, 9, WORLD, IGNORE);
}

/* The same from the other side. */
static void complete(void)
{
	MPI_Group one;
	MPI_Win win = make_win(&one, 1);
	int x;

	if (rank == 0) {
		MPI_Win_post(one, 0, win);
		/* complete */
		MPI_Win_wait(win);
	}
	MPI_Recv(&x, 1, MPI_INT, 0, 9, WORLD, IGNORE);
}

/* One partition of four is marked. */
static void partitions(void)
{
	MPI_Request r;

	if (rank == 0) {
		MPI_Psend_init(big, 4, 1, MPI_INT, 1, 5, WORLD, MPI_INFO_NULL,
			       &r);
		MPI_Start(&r);
		MPI_Pready(0, r);
		/* partitions */
		MPI_Wait(&r, IGNORE);
	}
	if (rank == 1) {
		MPI_Precv_init(big, 4, 1, MPI_INT, 0, 5, WORLD, MPI_INFO_NULL,
			       &r);
		MPI_Start(&r);
		MPI_Wait(&r, IGNORE);
	}
}

/* Nobody calls. */
static void accept_job(void)
{
	char port[MPI_MAX_PORT_NAME];
	MPI_Comm other;
	int x;

	if (rank == 0) {
		MPI_Open_port(MPI_INFO_NULL, port);
		/* accept */
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
	}
	MPI_Recv(&x, 1, MPI_INT, 0, 3, WORLD, IGNORE);
}

static const struct {
	const char *name;
	void (*fn)(void);
} cases[] = {
	{ "circle", circle },
	{ "missing", missing },
	{ "order", order },
	{ "order-comms", order_comms },
	{ "root", root },
	{ "tag", tag },
	{ "comm", comm },
	{ "send", send },
	{ "ssend", ssend },
	{ "memory", memory },
	{ "ended", ended },
	{ "any", any },
	{ "probe", probe },
	{ "test", test },
	{ "stop", stop },
	{ "stop-late", stop_late },
	{ "waitall", waitall },
	{ "later", later },
	{ "split", split },
	{ "lock", lock },
	{ "post", post },
	{ "complete", complete },
	{ "partitions", partitions },
	{ "accept", accept_job },
	{ "slow-ok", slow },
	{ "trickle-ok", trickle },
	{ "looks-ok", looks },
};

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	MPI_Comm_dup(WORLD, &solver);
	MPI_Comm_set_name(solver, "solver");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		if (argc > 1 && !strcmp(argv[1], cases[i].name))
			cases[i].fn();
	/* finalize */
	MPI_Finalize();
	return 0;
}
