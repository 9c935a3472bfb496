/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * ended HOW WHAT...: the last rank ends, without ever having talked to another,
 * and the others want something of it. Each time that must be an error, within
 * seconds, that names a rank and its host. For tests/system/ended.sh. Not in
 * testlist.
 */
#include <signal.h>
#include <unistd.h>

#include "check.h"

#define BIG (1 << 20)

static char buf[BIG], other[64 * BIG / 16];
static int dead;

static int do_recv(void)
{
	return MPI_Recv(buf, 1, MPI_CHAR, dead, 0, WORLD, IGNORE);
}

static int do_irecv(void)
{
	MPI_Request r;
	int err = MPI_Irecv(buf, 1, MPI_CHAR, dead, 0, WORLD, &r);

	return err ? err : MPI_Wait(&r, IGNORE);
}

static int do_test(void)
{
	MPI_Request r;
	int done = 0, err = MPI_Irecv(buf, 1, MPI_CHAR, dead, 0, WORLD, &r);

	while (!err && !done)
		err = MPI_Test(&r, &done, IGNORE);
	return err;
}

static int do_any(void)
{
	return MPI_Recv(buf, 1, MPI_CHAR, MPI_ANY_SOURCE, 0, WORLD, IGNORE);
}

static int do_probe(void)
{
	return MPI_Probe(dead, 0, WORLD, IGNORE);
}

static int do_mprobe(void)
{
	MPI_Message m;

	return MPI_Mprobe(dead, 0, WORLD, &m, IGNORE);
}

static int do_iprobe(void)
{
	int flag = 0, err = 0;

	while (!err && !flag)
		err = MPI_Iprobe(dead, 0, WORLD, &flag, IGNORE);
	return err;
}

static int do_send(void)
{
	return MPI_Send(buf, BIG, MPI_CHAR, dead, 0, WORLD);
}

static int do_ssend(void)
{
	return MPI_Ssend(buf, 1, MPI_CHAR, dead, 0, WORLD);
}

static int do_sendrecv(void)
{
	return MPI_Sendrecv(buf, 1, MPI_CHAR, dead, 0, other, 1, MPI_CHAR, dead,
			    0, WORLD, IGNORE);
}

static int do_barrier(void)
{
	return MPI_Barrier(WORLD);
}

static int do_ibarrier(void)
{
	MPI_Request r;
	int err = MPI_Ibarrier(WORLD, &r);

	return err ? err : MPI_Wait(&r, IGNORE);
}

static int do_allreduce(void)
{
	return MPI_Allreduce(buf, other, BIG / 16, MPI_INT, MPI_SUM, WORLD);
}

static int do_bcast(void) /* from the dead one */
{
	return MPI_Bcast(buf, BIG, MPI_CHAR, dead, WORLD);
}

/* From another: whoever does not need the dead one may succeed. */
static int do_bcast_0(void)
{
	int err = MPI_Bcast(buf, BIG, MPI_CHAR, 0, WORLD);

	return err ? err : MPI_ERR_PROC_ABORTED;
}

static int do_gather(void) /* to one that does not */
{
	return MPI_Gather(buf, BIG / 16, MPI_CHAR, other, BIG / 16, MPI_CHAR,
			  dead, WORLD);
}

static int do_ialltoall(void)
{
	MPI_Request r;
	int err = MPI_Ialltoall(buf, BIG / 16, MPI_CHAR, other, BIG / 16,
				MPI_CHAR, WORLD, &r);

	return err ? err : MPI_Wait(&r, IGNORE);
}

static int do_dup(void)
{
	MPI_Comm c;

	return MPI_Comm_dup(WORLD, &c);
}

static int do_split(void)
{
	MPI_Comm c;

	return MPI_Comm_split(WORLD, rank % 2, 0, &c);
}

/* Of two receives from any source one is told, and the other serves the living. */
static int do_any_two(void)
{
	int err, which, errors = 0, next = (rank + 1) % dead;
	MPI_Request r[2];

	for (int i = 0; i < 2; i++)
		MPI_Irecv(&buf[i], 1, MPI_CHAR, MPI_ANY_SOURCE, 7, WORLD,
			  &r[i]);
	for (int i = 0; i < 2; i++) {
		err = MPI_Waitany(2, r, &which, IGNORE);
		errors += err != 0;
		if (!i)
			MPI_Send(other, 1, MPI_CHAR, next, 7, WORLD);
	}
	EQUAL(errors, 1);
	return MPI_ERR_PROC_ABORTED;
}

/* What waits for one that has finished fails as well: so nobody leaves before all are here. */
static void meet_the_living(void)
{
	char c = 0;

	for (int i = 0; i < dead; i++)
		CHECK(!MPI_Send(&c, 1, MPI_CHAR, i, 10, WORLD));
	for (int i = 0; i < dead; i++)
		CHECK(!MPI_Recv(&c, 1, MPI_CHAR, i, 10, WORLD, IGNORE));
}

/* A dead and a living one side by side, and a receive that is taken back. */
static int do_mixed(void)
{
	int flag, next = (rank + 1) % dead, prev = (rank + dead - 1) % dead;
	MPI_Status st[3];
	MPI_Request r[3];

	MPI_Irecv(buf, 1, MPI_CHAR, dead, 8, WORLD, &r[0]);
	MPI_Irecv(buf + 1, BIG - 1, MPI_CHAR, prev, 8, WORLD, &r[1]);
	MPI_Irecv(other, 1, MPI_CHAR, prev, 9, WORLD, &r[2]);
	FAILS(MPI_Wait(&r[0], IGNORE), MPI_ERR_PROC_ABORTED);
	CHECK(!MPI_Cancel(&r[2]));
	MPI_Irecv(buf, 1, MPI_CHAR, dead, 8, WORLD, &r[0]);
	MPI_Send(other + 1, BIG - 1, MPI_CHAR, next, 8, WORLD);
	FAILS(MPI_Waitall(3, r, st), MPI_ERR_IN_STATUS);
	CHECK(!st[1].MPI_ERROR && !st[2].MPI_ERROR);
	MPI_Test_cancelled(&st[2], &flag);
	CHECK(flag);
	meet_the_living();
	return st[0].MPI_ERROR;
}

static int do_persistent(void)
{
	MPI_Request r;
	int err = 0;

	MPI_Recv_init(buf, 1, MPI_CHAR, dead, 0, WORLD, &r);
	for (int i = 0; i < 2; i++) {
		err = MPI_Start(&r);
		err = err ? err : MPI_Wait(&r, IGNORE);
		FAILS(err, MPI_ERR_PROC_ABORTED);
	}
	MPI_Request_free(&r);
	return err;
}

static MPI_Comm comm_of_the_living(void)
{
	MPI_Group all, living;
	MPI_Comm c;

	MPI_Comm_group(WORLD, &all);
	MPI_Group_excl(all, 1, &dead, &living);
	CHECK(!MPI_Comm_create_group(WORLD, living, 5, &c));
	MPI_Group_free(&all);
	MPI_Group_free(&living);
	return c;
}

/* To the dead one, and from one who has nothing to send: the half that cannot be
 * ends the call. */
static int do_sendrecv_two(void)
{
	int next = (rank + 1) % dead;
	int err = MPI_Sendrecv(other, BIG, MPI_CHAR, dead, 0, buf, BIG,
			       MPI_CHAR, next, 11, WORLD, IGNORE);

	meet_the_living();
	return err;
}

/* The same with Waitall, with and without statuses: the receive stays. */
static int do_waitall(void)
{
	int next = (rank + 1) % dead, flag;
	MPI_Status st[2], *give[2] = { st, MPI_STATUSES_IGNORE };
	MPI_Request r[2];

	for (int i = 0; i < 2; i++) {
		MPI_Irecv(buf, BIG, MPI_CHAR, next, 11, WORLD, &r[0]);
		CHECK(!MPI_Isend(other, BIG, MPI_CHAR, dead, 0, WORLD, &r[1]));
		FAILS(MPI_Waitall(2, r, give[i]), MPI_ERR_IN_STATUS);
		if (!i)
			EQUAL(st[0].MPI_ERROR, MPI_ERR_PENDING);
		CHECK(r[0] != MPI_REQUEST_NULL && r[1] == MPI_REQUEST_NULL);
		CHECK(!MPI_Cancel(&r[0]) && !MPI_Wait(&r[0], &st[0]));
		MPI_Test_cancelled(&st[0], &flag);
		CHECK(flag);
	}
	meet_the_living();
	return st[1].MPI_ERROR;
}

/* The living among themselves: that works. */
static int do_others(void)
{
	int ok = 1, sum = 0;
	MPI_Comm c = comm_of_the_living();

	CHECK(!MPI_Allreduce(&ok, &sum, 1, MPI_INT, MPI_SUM, c) && sum == dead);
	CHECK(!MPI_Barrier(c));
	MPI_Comm_free(&c);
	return MPI_ERR_PROC_ABORTED;
}

/* With the dead one as the other side: all learn it from their leader. */
static int do_intercomm(void)
{
	MPI_Comm c = comm_of_the_living(), inter;
	int err = MPI_Intercomm_create(c, 0, WORLD, dead, 6, &inter);

	meet_the_living();
	MPI_Comm_free(&c);
	return err;
}

/* The same more often than there can be communicators: nothing is kept. */
#define MANY 140000
static int do_intercomms(void)
{
	MPI_Comm c, inter;
	int err = 0;

	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	for (int i = 0; i < MANY; i++) {
		err = MPI_Intercomm_create(MPI_COMM_SELF, 0, WORLD, dead, 6,
					   &inter);
		FAILS(err, MPI_ERR_PROC_ABORTED);
	}
	CHECK(!MPI_Comm_dup(MPI_COMM_SELF, &c));
	MPI_Comm_free(&c);
	return err;
}

static int do_nothing(void) /* but MPI_Finalize */
{
	return MPI_ERR_PROC_ABORTED;
}

static const struct {
	const char *name;
	int (*fn)(void);
} calls[] = {
	{ "recv", do_recv },
	{ "irecv", do_irecv },
	{ "test", do_test },
	{ "any", do_any },
	{ "probe", do_probe },
	{ "mprobe", do_mprobe },
	{ "iprobe", do_iprobe },
	{ "send", do_send },
	{ "ssend", do_ssend },
	{ "sendrecv", do_sendrecv },
	{ "barrier", do_barrier },
	{ "ibarrier", do_ibarrier },
	{ "bcast", do_bcast },
	{ "bcast0", do_bcast_0 },
	{ "allreduce", do_allreduce },
	{ "gather", do_gather },
	{ "ialltoall", do_ialltoall },
	{ "dup", do_dup },
	{ "split", do_split },
	{ "any2", do_any_two },
	{ "mixed", do_mixed },
	{ "persistent", do_persistent },
	{ "others", do_others },
	{ "finalize", do_nothing },
	{ "intercomm", do_intercomm },
	{ "intercomms", do_intercomms },
	{ "sendrecv2", do_sendrecv_two },
	{ "waitall", do_waitall },
};

static void end(const char *how)
{
	if (!strcmp(how, "abort")) {
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ABORT);
		MPI_Send(buf, 1, MPI_CHAR, 99, 0, MPI_COMM_SELF);
	}
	if (!strcmp(how, "kill"))
		kill(getpid(), SIGKILL);
	_exit(0);
}

static void try(const char *name)
{
	char text[MPI_MAX_ERROR_STRING];
	double start = MPI_Wtime();
	int err, n;

	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		if (strcmp(calls[i].name, name))
			continue;
		err = calls[i].fn();
		if (calls[i].fn == do_nothing)
			return;
		MPI_Error_string(err, text, &n);
		FAILS(err, MPI_ERR_PROC_ABORTED);
		printf("%s: rank %d after %.1f s: %s\n", name, rank,
		       MPI_Wtime() - start, text);
		return;
	}
	fprintf(stderr, "ended: there is no %s\n", name);
	MPI_Abort(WORLD, 2);
}

int main(int argc, char **argv)
{
	signal(SIGUSR1, SIG_IGN); /* Hydra tells of a death by that */
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	dead = size - 1;
	if (rank == dead)
		end(argv[1]);
	for (int i = 2; i < argc; i++)
		try(argv[i]);
	printf("rank %d goes on\n", rank);
	return finish();
}
