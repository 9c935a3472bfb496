/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ports, from the standard's text: names, errors, and two halves of one job that meet
 * at one. tests/system/dyn_connect.sh has jobs that meet. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "dyn_talk.h"

static char port[MPI_MAX_PORT_NAME];

/* An error at the root is one at all. */
static void errors(void)
{
	MPI_Comm c = MPI_COMM_NULL, inter;
	MPI_Info info;
	char other[MPI_MAX_PORT_NAME], was;

	OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	FAILS(MPI_Comm_connect("nonsense", MPI_INFO_NULL, 0, WORLD, &c),
	      MPI_ERR_PORT);
	FAILS(MPI_Comm_accept("nonsense", MPI_INFO_NULL, size - 1, WORLD, &c),
	      MPI_ERR_PORT);
	FAILS(MPI_Comm_connect("", MPI_INFO_NULL, size, WORLD, &c),
	      MPI_ERR_ROOT);
	FAILS(MPI_Close_port("o2g1:00"), MPI_ERR_PORT);
	CHECK(c == MPI_COMM_NULL);
	/* one that was closed is nobody's any more */
	OK(MPI_Open_port(MPI_INFO_NULL, other));
	CHECK(strlen(other) < MPI_MAX_PORT_NAME);
	OK(MPI_Close_port(other));
	FAILS(MPI_Close_port(other), MPI_ERR_PORT);
	FAILS(MPI_Comm_connect(other, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c),
	      MPI_ERR_PORT);
	/* a time limit, at either side */
	OK(MPI_Open_port(MPI_INFO_NULL, other));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "timeout", "0.2"));
	FAILS(MPI_Comm_accept(other, info, 0, MPI_COMM_SELF, &c), MPI_ERR_PORT);
	FAILS(MPI_Comm_connect(other, info, 0, MPI_COMM_SELF, &c),
	      MPI_ERR_PORT);
	OK(MPI_Info_free(&info));
	/* the key is wrong: a stranger gets nowhere */
	was = other[10];
	other[10] = was == '0' ? '1' : '0';
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "timeout", "0.2"));
	FAILS(MPI_Comm_connect(other, info, 0, MPI_COMM_SELF, &c),
	      MPI_ERR_PORT);
	OK(MPI_Info_free(&info));
	other[10] = was;
	OK(MPI_Close_port(other));
	OK(MPI_Intercomm_create(MPI_COMM_SELF, 0, WORLD,
				size == 1 ? 0 : rank ^ 1, 1, &inter));
	FAILS(MPI_Comm_accept(port, MPI_INFO_NULL, 0, inter, &c), MPI_ERR_COMM);
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* --- threads at one port --- */

struct waiter {
	const char *timeout; /* or NULL: none */
	int class;
	double took;
};

static void *wait_there(void *arg)
{
	struct waiter *w = arg;
	MPI_Info info = MPI_INFO_NULL;
	MPI_Comm self, c;
	double then;

	OK(MPI_Comm_dup(MPI_COMM_SELF, &self));
	if (w->timeout) {
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, "timeout", w->timeout));
	}
	then = MPI_Wtime();
	MPI_Error_class(MPI_Comm_accept(port, info, 0, self, &c), &w->class);
	w->took = MPI_Wtime() - then;
	if (w->timeout)
		OK(MPI_Info_free(&info));
	OK(MPI_Comm_free(&self));
	return NULL;
}

/* One that waits for longer does not keep another one; and it is closed meanwhile. */
static void waiting(void)
{
	struct waiter w[] = { { NULL, 0, 0 }, { "0.2", 0, 0 } };
	pthread_t t[2];

	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	OK(MPI_Open_port(MPI_INFO_NULL, port));
	for (int i = 0; i < 2; i++) {
		CHECK(!pthread_create(&t[i], NULL, wait_there, &w[i]));
		usleep(100000);
	}
	CHECK(!pthread_join(t[1], NULL));
	EQUAL(w[1].class, MPI_ERR_PORT);
	CHECK(w[1].took < 10);
	OK(MPI_Close_port(port));
	CHECK(!pthread_join(t[0], NULL));
	EQUAL(w[0].class, MPI_ERR_PORT);
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* One publishes, all look it up. */
static void names(void)
{
	char service[64], found[MPI_MAX_PORT_NAME] = "", odd[300];

	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	snprintf(service, sizeof(service), "o2g test/%d", (int)getpid());
	OK(MPI_Bcast(service, sizeof(service), MPI_CHAR, 0, WORLD));
	memset(odd, 'x', sizeof(odd));
	memcpy(odd, service, strlen(service));
	odd[sizeof(odd) - 1] = '\0';
	FAILS(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
	OK(MPI_Barrier(WORLD));
	if (rank == 0) {
		OK(MPI_Open_port(MPI_INFO_NULL, port));
		OK(MPI_Publish_name(service, MPI_INFO_NULL, port));
		OK(MPI_Publish_name(odd, MPI_INFO_NULL, port));
	}
	OK(MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, WORLD));
	OK(MPI_Lookup_name(service, MPI_INFO_NULL, found));
	CHECK(!strcmp(port, found));
	OK(MPI_Lookup_name(odd, MPI_INFO_NULL, found));
	FAILS(MPI_Publish_name(service, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
	FAILS(MPI_Unpublish_name("nobody's", MPI_INFO_NULL, port),
	      MPI_ERR_SERVICE);
	OK(MPI_Barrier(WORLD));
	if (rank == 0)
		OK(MPI_Unpublish_name(service, MPI_INFO_NULL, port));
	else
		FAILS(MPI_Unpublish_name(service, MPI_INFO_NULL, port),
		      MPI_ERR_SERVICE);
	OK(MPI_Barrier(WORLD));
	FAILS(MPI_Lookup_name(service, MPI_INFO_NULL, found), MPI_ERR_NAME);
	if (rank == 0)
		OK(MPI_Close_port(port));
	/* the other one goes with its process */
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

/* Two halves of this job. */
static void halves(void)
{
	MPI_Comm half, inter;
	int server = rank % 2 == 0, me, got = -1;
	MPI_Request req[2];
	MPI_Status st[2];

	OK(MPI_Comm_split(WORLD, server, rank, &half));
	OK(MPI_Comm_rank(half, &me));
	if (rank == 0)
		OK(MPI_Open_port(MPI_INFO_NULL, port));
	OK(MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, WORLD));
	for (int i = 0; i < 3; i++) {
		if (server)
			OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, half,
					   &inter));
		else
			OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, half,
					    &inter));
		talk(inter, server);
		OK(MPI_Irecv(&got, 1, MPI_INT, me, 11, inter, &req[0]));
		OK(MPI_Issend(&me, 1, MPI_INT, me, 11, inter, &req[1]));
		/* waits until that is done, and not until we have asked */
		OK(MPI_Comm_disconnect(&inter));
		OK(MPI_Waitall(2, req, st));
		EQUAL(got, me);
		EQUAL(st[0].MPI_SOURCE, me);
	}
	if (rank == 0)
		OK(MPI_Close_port(port));
	OK(MPI_Comm_free(&half));
}

/* Two ranks that have a socket in common. The address of its listener is sent. */
static void join(void)
{
	struct sockaddr_storage at;
	socklen_t len = sizeof(at);
	MPI_Comm inter;
	int fd, pair[2], v = rank, w = -1;

	if (rank == 0) {
		int listener = socket(AF_UNIX, SOCK_STREAM, 0);

		memset(&at, 0, sizeof(at));
		at.ss_family = AF_UNIX;
		/* the kernel finds a name that is free */
		CHECK(!bind(listener, (void *)&at, sizeof(sa_family_t)));
		CHECK(!listen(listener, 1));
		CHECK(!getsockname(listener, (void *)&at, &len));
		OK(MPI_Send(&len, sizeof(len), MPI_BYTE, 1, 0, WORLD));
		OK(MPI_Send(&at, sizeof(at), MPI_BYTE, 1, 0, WORLD));
		fd = accept(listener, NULL, NULL);
		close(listener);
	} else {
		OK(MPI_Recv(&len, sizeof(len), MPI_BYTE, 0, 0, WORLD, IGNORE));
		OK(MPI_Recv(&at, sizeof(at), MPI_BYTE, 0, 0, WORLD, IGNORE));
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		CHECK(!connect(fd, (void *)&at, len));
	}
	OK(MPI_Comm_join(fd, &inter));
	OK(MPI_Sendrecv(&v, 1, MPI_INT, 0, 0, &w, 1, MPI_INT, 0, 0, inter,
			IGNORE));
	EQUAL(w, !rank);
	OK(MPI_Comm_disconnect(&inter));
	/* the socket is as it was */
	CHECK(write(fd, "x", 1) == 1);
	CHECK(read(fd, &v, 1) == 1);
	close(fd);
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	FAILS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
	/* whoever should be there is not */
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	close(pair[1]);
	FAILS(MPI_Comm_join(pair[0], &inter), MPI_ERR_PROC_ABORTED);
	close(pair[0]);
}

int main(int argc, char **argv)
{
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
	if (rank == 0)
		waiting();
	if (size > 1) {
		errors();
		names();
		halves();
	}
	if (size > 1 && rank < 2 && argc == 1)
		join();
	return finish();
}
