/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: engine/eight.c engine/paper.c engine/paper_kernel.c engine/paper_rx.c engine/dump.c engine/choose.c core/match.c core/wild.c core/stream.c core/wire.c base/log.c base/nearest.c base/settings.c */
/*
 * The eight calls over connections of this host, twice: with threads that
 * receive in the background, and with O2G_PROGRESS_THREAD=0, where o2g_poll
 * receives. Where the driver is, they are its calls (lab/tests/drv_paper.sh).
 */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>
#include <o2g.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define CONTEXT 3
#define DUMP_SIZE (256 * 1024)
#define SOCKS 32
#define LIMIT 60 /* seconds for all tests together */

static void *area;
static int next_rank;

static void tcp_pair(int fd[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int l = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(bind(l, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(l, 1), 0);
	assert_int_equal(getsockname(l, (struct sockaddr *)&a, &len), 0);
	fd[0] = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(connect(fd[0], (struct sockaddr *)&a, len), 0);
	fd[1] = accept(l, NULL, NULL);
	assert_true(fd[1] >= 0);
	close(l);
}

/* A new rank; returns the end that the peer writes to. */
static int new_peer(int *rank)
{
	int fd[2];

	*rank = next_rank++;
	tcp_pair(fd);
	assert_int_equal(o2g_register_socket(fd[0], *rank), 0);
	return fd[1];
}

static void put_all(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t did = send(fd, p, n, MSG_NOSIGNAL);

		assert_true(did > 0);
		p += did;
		n -= did;
	}
}

static void put_header(int fd, int tag, size_t len)
{
	char h[O2G_MESSAGE_HEADER_SIZE];

	o2g_message_header(h, 0, 0, CONTEXT, tag, len);
	put_all(fd, h, sizeof(h));
}

static void put_message(int fd, int tag, const void *data, size_t len)
{
	put_header(fd, tag, len);
	put_all(fd, data, len);
}

static struct queue_entry entry(int rank, int tag, void *buf, size_t size)
{
	return (struct queue_entry){ .rank = rank,
				     .context = CONTEXT,
				     .tag = tag,
				     .buf = buf,
				     .size = size };
}

static void wait_done(struct queue_entry *e)
{
	while (!__atomic_load_n(&e->done, __ATOMIC_ACQUIRE))
		o2g_poll();
}

static struct queue_entry *find(int rank, int tag)
{
	struct queue_entry *e = o2g_dump_first(area);

	while (e && (e->rank != rank || e->tag != tag))
		e = e->next;
	return e;
}

static struct queue_entry *wait_unexpected(int rank, int tag)
{
	struct queue_entry *e;

	while (!(e = find(rank, tag)))
		assert_int_equal(o2g_poll(), 0);
	return e;
}

/* The answer of put_entry to a message that is known to be there. */
static void take(int rank, int tag, void *buf, size_t size)
{
	struct queue_entry e = entry(rank, tag, buf, size), *u;
	int rc;

	for (;;) {
		u = find(rank, tag);
		if (u) {
			wait_done(u);
			memcpy(buf, u->buf, u->received);
			assert_int_equal(o2g_free_entry(u), 0);
			return;
		}
		rc = o2g_put_entry(&e);
		if (!rc)
			break;
		assert_int_equal(rc, EAGAIN);
	}
	wait_done(&e);
	assert_int_equal(e.error, 0);
}

/* --- o2g_init, o2g_register_socket --- */

static void init__only_once(void **state)
{
	assert_int_equal(o2g_init(1), EBUSY);
	assert_int_equal(o2g_init(0), EINVAL);
}

static void register__refuses(void **state)
{
	int rank, fd = new_peer(&rank), pair[2], udp;

	assert_int_equal(o2g_register_socket(fd, rank), EEXIST);
	assert_int_equal(o2g_register_socket(fd, -1), EINVAL);
	assert_int_equal(o2g_register_socket(-1, 999), EBADF);
	assert_int_equal(pipe(pair), 0);
	assert_int_equal(o2g_register_socket(pair[0], 999), ENOTSOCK);
	udp = socket(AF_UNIX, SOCK_DGRAM, 0);
	assert_int_equal(o2g_register_socket(udp, 999), EPROTOTYPE);
	close(udp);
	close(pair[0]);
	close(pair[1]);
}

/* --- o2g_set_dump_area, o2g_free_entry --- */

static void dump_area__refuses(void **state)
{
	char other[4096];

	assert_int_equal(o2g_set_dump_area(other, sizeof(other)), EBUSY);
	assert_int_equal(o2g_set_dump_area(NULL, 4096), EINVAL);
}

static void free_entry__refuses(void **state)
{
	struct queue_entry mine = entry(0, 0, NULL, 0);
	int rank, fd = new_peer(&rank);
	struct queue_entry *u;

	assert_int_equal(o2g_free_entry(NULL), EINVAL);
	assert_int_equal(o2g_free_entry(&mine), EINVAL);
	put_header(fd, 1, 4);
	u = wait_unexpected(rank, 1);
	assert_int_equal(o2g_free_entry(u), EBUSY);
	put_all(fd, "data", 4);
	wait_done(u);
	assert_int_equal(o2g_free_entry(u), 0);
	assert_int_equal(o2g_free_entry(u), EINVAL);
}

/* Without room the sender is made to wait, and nothing is lost or turned. */
struct flood {
	int fd, n;
	size_t len;
};

static void *flood(void *arg)
{
	struct flood *f = arg;
	char *data = calloc(1, f->len);

	for (int i = 0; i < f->n; i++) {
		memcpy(data, &i, sizeof(i));
		put_message(f->fd, 5, data, f->len);
	}
	free(data);
	return NULL;
}

static void dump_area__full(void **state)
{
	struct flood f = { .n = 300, .len = 9000 }; /* ten times the area */
	char *buf = malloc(f.len);
	pthread_t t;
	int rank, i;

	f.fd = new_peer(&rank);
	pthread_create(&t, NULL, flood, &f);
	usleep(100000);
	for (int k = 0; k < f.n; k++) {
		take(rank, 5, buf, f.len);
		memcpy(&i, buf, sizeof(i));
		assert_int_equal(i, k);
	}
	pthread_join(t, NULL);
	assert_null(o2g_dump_first(area));
	free(buf);
}

static void dump_area__message_larger_than_it(void **state)
{
	struct flood f = { .n = 1, .len = 2 * DUMP_SIZE };
	char *buf = malloc(f.len);
	struct queue_entry e;
	pthread_t t;
	int rank;

	f.fd = new_peer(&rank);
	pthread_create(&t, NULL, flood, &f);
	usleep(50000);
	e = entry(rank, 5, buf, f.len);
	assert_int_equal(o2g_put_entry(&e), 0);
	wait_done(&e);
	assert_int_equal(e.error, 0);
	assert_int_equal(e.received, f.len);
	pthread_join(t, NULL);
	free(buf);
}

/* --- o2g_put_entry --- */

static void put_entry__before_message(void **state)
{
	char buf[16] = "";
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, 1, buf, sizeof(buf));

	assert_int_equal(o2g_put_entry(&e), 0);
	assert_int_equal(e.done, 0);
	put_message(fd, 1, "hello", 6);
	wait_done(&e);
	assert_int_equal(e.error, 0);
	assert_int_equal(e.received, 6);
	assert_string_equal(buf, "hello");
}

static void put_entry__wildcards(void **state)
{
	char buf[16] = "";
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(O2G_ANY_SOURCE, -1, buf, sizeof(buf));

	assert_int_equal(o2g_put_entry(&e), 0);
	put_message(fd, 77, "x", 1);
	wait_done(&e);
	assert_int_equal(e.rank, rank);
	assert_int_equal(e.tag, 77);
	assert_int_equal(e.context, CONTEXT);
}

static void put_entry__other_context_is_another(void **state)
{
	char buf[16] = "";
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, -1, buf, sizeof(buf)), *u;

	e.context = CONTEXT + 1;
	assert_int_equal(o2g_put_entry(&e), 0);
	put_message(fd, 1, "x", 1);
	u = wait_unexpected(rank, 1);
	wait_done(u);
	assert_int_equal(o2g_free_entry(u), 0);
	assert_int_equal(e.done, 0);
	assert_int_equal(o2g_cancel_entry(&e), 0);
}

static void put_entry__eagain_while_arriving(void **state)
{
	char buf[16] = "";
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, 1, buf, sizeof(buf)), *u;

	put_header(fd, 1, 8);
	u = wait_unexpected(rank, 1);
	assert_int_equal(u->size, 8);
	assert_int_equal(u->done, 0);
	assert_int_equal(o2g_put_entry(&e), EAGAIN);
	put_all(fd, "abcdefgh", 8);
	wait_done(u);
	assert_int_equal(u->received, 8);
	assert_memory_equal(u->buf, "abcdefgh", 8);
	assert_int_equal(o2g_put_entry(&e), EAGAIN);
	assert_int_equal(o2g_free_entry(u), 0);
	assert_int_equal(o2g_put_entry(&e), 0);
	assert_int_equal(o2g_cancel_entry(&e), 0);
}

static void put_entry__truncates(void **state)
{
	char buf[9] = "........";
	char *large = calloc(1, 100000);
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, 1, buf, 4);

	memcpy(large, "abcdefgh", 8);
	assert_int_equal(o2g_put_entry(&e), 0);
	put_message(fd, 1, large, 100000);
	wait_done(&e);
	assert_int_equal(e.error, O2G_ERR_TRUNCATED);
	assert_int_equal(e.received, 4);
	assert_string_equal(buf, "abcd....");
	/* What follows is in step. */
	put_message(fd, 2, "ok", 3);
	take(rank, 2, buf, sizeof(buf));
	assert_string_equal(buf, "ok");
	free(large);
}

static void put_entry__large_buffer_small_message(void **state)
{
	char *buf = malloc(100000);
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, 1, buf, 100000);

	assert_int_equal(o2g_put_entry(&e), 0);
	put_message(fd, 1, "short", 6);
	put_message(fd, 1, "other", 6);
	wait_done(&e);
	assert_int_equal(e.received, 6);
	assert_string_equal(buf, "short");
	take(rank, 1, buf, 100000);
	assert_string_equal(buf, "other");
	free(buf);
}

static void put_entry__refuses(void **state)
{
	struct queue_entry e = entry(-2, 0, NULL, 0);

	assert_int_equal(o2g_put_entry(NULL), EINVAL);
	assert_int_equal(o2g_put_entry(&e), EINVAL);
	e = entry(0, -2, NULL, 0);
	assert_int_equal(o2g_put_entry(&e), EINVAL);
	e = entry(0, 0, NULL, 10);
	assert_int_equal(o2g_put_entry(&e), EINVAL);
	e = entry(12345, 0, NULL, 0);
	assert_int_equal(o2g_put_entry(&e), ENOTCONN);
}

static void put_entry__empty_messages(void **state)
{
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, 1, NULL, 0), *u;

	assert_int_equal(o2g_put_entry(&e), 0);
	put_header(fd, 1, 0);
	put_header(fd, 2, 0);
	wait_done(&e);
	u = wait_unexpected(rank, 2);
	wait_done(u);
	assert_int_equal(u->size, 0);
	assert_int_equal(o2g_free_entry(u), 0);
}

/* --- o2g_cancel_entry --- */

static void cancel_entry__too_late(void **state)
{
	char buf[16] = "";
	int rank, fd = new_peer(&rank), rank2, fd2 = new_peer(&rank2);
	struct queue_entry e = entry(rank, 1, buf, sizeof(buf)), *u;

	assert_int_equal(o2g_put_entry(&e), 0);
	put_header(fd, 1, 4);
	put_all(fd, "12", 2);
	/* One thread serves them in turn: after this, the half is in. */
	put_message(fd2, 0, "a", 1);
	u = wait_unexpected(rank2, 0);
	wait_done(u);
	assert_int_equal(o2g_free_entry(u), 0);
	assert_int_equal(e.received, 2);
	assert_int_equal(o2g_cancel_entry(&e), EAGAIN);
	put_all(fd, "34", 2);
	wait_done(&e);
	assert_memory_equal(buf, "1234", 4);
	assert_int_equal(o2g_cancel_entry(&e), EAGAIN);
}

static void cancel_entry__message_goes_to_the_next(void **state)
{
	char a[4] = "", b[4] = "";
	int rank, fd = new_peer(&rank);
	struct queue_entry e1 = entry(rank, 1, a, sizeof(a)),
			   e2 = entry(rank, 1, b, sizeof(b));

	assert_int_equal(o2g_put_entry(&e1), 0);
	assert_int_equal(o2g_put_entry(&e2), 0);
	assert_int_equal(o2g_cancel_entry(&e1), 0);
	put_message(fd, 1, "x", 2);
	wait_done(&e2);
	assert_int_equal(e1.done, 0);
	assert_string_equal(b, "x");
}

/* --- what goes wrong --- */

static void lost__inside_a_message(void **state)
{
	char buf[16];
	int rank, fd = new_peer(&rank);
	struct queue_entry any = entry(O2G_ANY_SOURCE, 9999, buf, sizeof(buf)),
			   exact = entry(rank, 1, buf, sizeof(buf)), *u;

	assert_int_equal(o2g_put_entry(&any), 0);
	assert_int_equal(o2g_put_entry(&exact), 0);
	put_header(fd, 2, 10);
	put_all(fd, "12345", 5);
	u = wait_unexpected(rank, 2);
	close(fd);
	wait_done(u);
	assert_int_equal(u->error, O2G_ERR_PEER);
	wait_done(&exact);
	assert_int_equal(exact.error, O2G_ERR_PEER);
	wait_done(&any);
	assert_int_equal(any.error, O2G_ERR_PEER);
	assert_int_equal(o2g_free_entry(u), 0);
	assert_int_equal(o2g_put_entry(&exact), ENOTCONN);
}

static void lost__between_messages(void **state)
{
	char buf[16];
	int rank, fd = new_peer(&rank);
	struct queue_entry any = entry(O2G_ANY_SOURCE, 9999, buf, sizeof(buf)),
			   exact = entry(rank, 1, buf, sizeof(buf));

	assert_int_equal(o2g_put_entry(&any), 0);
	assert_int_equal(o2g_put_entry(&exact), 0);
	put_message(fd, 3, "last words", 11);
	close(fd);
	wait_done(&exact);
	assert_int_equal(exact.error, O2G_ERR_PEER);
	assert_int_equal(any.done, 0);
	assert_int_equal(o2g_cancel_entry(&any), 0);
	/* What it said before is still there. */
	take(rank, 3, buf, sizeof(buf));
	assert_string_equal(buf, "last words");
}

static void lost__garbage(void **state)
{
	char buf[16];
	int rank, fd = new_peer(&rank), other, fd2 = new_peer(&other);
	struct queue_entry e = entry(rank, 1, buf, sizeof(buf)),
			   ok = entry(other, 1, buf, sizeof(buf));

	assert_int_equal(o2g_put_entry(&e), 0);
	assert_int_equal(o2g_put_entry(&ok), 0);
	put_all(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n0123456789012345",
		48);
	wait_done(&e);
	assert_int_equal(e.error, O2G_ERR_PEER);
	put_message(fd2, 1, "fine", 5);
	wait_done(&ok);
	assert_int_equal(ok.error, 0);
}

static void lost__a_packet_that_is_no_message(void **state)
{
	unsigned char h[O2G_MESSAGE_HEADER_SIZE];
	char buf[16];
	int rank, fd = new_peer(&rank);
	struct queue_entry e = entry(rank, 1, buf, sizeof(buf));

	assert_int_equal(o2g_put_entry(&e), 0);
	o2g_message_header(h, 0, 0, CONTEXT, 1, 8);
	h[1] = 2; /* RTS */
	put_all(fd, h, sizeof(h));
	wait_done(&e);
	assert_int_equal(e.error, O2G_ERR_PEER);
}

/* --- all at once --- */

#define SENDERS 3
#define MESSAGES 2000

static void *send_many(void *arg)
{
	int fd = *(int *)arg;
	unsigned seed = fd;
	char *data = malloc(40000);

	for (int i = 0; i < MESSAGES; i++) {
		size_t len = rand_r(&seed) % (i % 50 ? 300 : 40000);

		memset(data, i, len);
		put_message(fd, i % 3, data, len);
	}
	free(data);
	return NULL;
}

/* Each tag of each sender in its order, whatever the order between them. */
static void stress__order_and_content(void **state)
{
	char *buf = malloc(40000);
	int rank[SENDERS], fd[SENDERS];
	pthread_t t[SENDERS];

	for (int i = 0; i < SENDERS; i++) {
		fd[i] = new_peer(&rank[i]);
		pthread_create(&t[i], NULL, send_many, &fd[i]);
	}
	for (int k = 0; k < MESSAGES; k++) {
		for (int i = 0; i < SENDERS; i++) {
			memset(buf, ~k, 1);
			take(rank[i], k % 3, buf, 40000);
			assert_true(buf[0] == (char)k || buf[0] == (char)~k);
		}
	}
	for (int i = 0; i < SENDERS; i++)
		pthread_join(t[i], NULL);
	assert_null(o2g_dump_first(area));
	free(buf);
}

static int setup(void **state)
{
	area = malloc(DUMP_SIZE);
	return o2g_poll() != ENXIO || o2g_init(SOCKS) ||
	       o2g_set_dump_area(area, DUMP_SIZE);
}

static int more_threads(void **state)
{
	return getenv("O2G_PROGRESS_THREAD") ? 0 : o2g_start_dumper_thread(3);
}

static int run(void)
{
	const struct CMUnitTest tests[] = {
		T(init__only_once),
		T(register__refuses),
		T(dump_area__refuses),
		T(free_entry__refuses),
		T(dump_area__full),
		T(dump_area__message_larger_than_it),
		T(put_entry__before_message),
		T(put_entry__wildcards),
		T(put_entry__other_context_is_another),
		T(put_entry__eagain_while_arriving),
		T(put_entry__truncates),
		T(put_entry__large_buffer_small_message),
		T(put_entry__refuses),
		T(put_entry__empty_messages),
		T(cancel_entry__too_late),
		T(cancel_entry__message_goes_to_the_next),
		T(lost__inside_a_message),
		T(lost__between_messages),
		T(lost__garbage),
		T(lost__a_packet_that_is_no_message),
		cmocka_unit_test_setup(stress__order_and_content, more_threads),
	};

	alarm(LIMIT);
	return cmocka_run_group_tests(tests, setup, NULL);
}

int main(void)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		setenv("O2G_PROGRESS_THREAD", "0", 1);
		return run();
	}
	waitpid(child, &status, 0);
	return run() || status ? 1 : 0;
}
