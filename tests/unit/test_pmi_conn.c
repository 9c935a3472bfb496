/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: launch/pmi/pmi_conn.c launch/pmi/pmi_field.c base/log.c */
/* The way to the launcher, when nobody who speaks PMI is at its other end. */
#include "unit.h"

#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "clock.h"
#include "log.h"
#include "pmi_int.h"

#define PATIENCE_MS 300

static struct pmi_conn conn;
static int other; /* the launcher's end */
static uint64_t began;

static int set_up(void **state)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	memset(&conn, 0, sizeof(conn));
	conn.fd = fd[0];
	conn.patience_ms = PATIENCE_MS;
	other = fd[1];
	began = o2g_now_ns();
	return 0;
}

static int tear_down(void **state)
{
	pmi_conn_close(&conn);
	close(other);
	return 0;
}

/* When patience was at its end, and not much later. */
static void assert_in_time(void)
{
	uint64_t ms = (o2g_now_ns() - began) / 1000000;

	assert_in_range(ms, PATIENCE_MS - 10, PATIENCE_MS + 5000);
}

static void open__pipe_is_no_launcher(void **state)
{
	struct pmi_conn c = { .fd = -1, .patience_ms = PATIENCE_MS };
	char text[16];
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), "%d", fd[i]);
		setenv("PMI_FD", text, 1);
		assert_int_equal(pmi_conn_open(&c), -EBADF);
		assert_int_equal(c.fd, -1);
		close(fd[i]);
	}
	unsetenv("PMI_FD");
}

/* --- PMI_PORT --- */

#define FILL 8 /* connections, more than wait in a queue of none */

static int listener, fillers[FILL], port;

/* A port that does not answer: those who connect are left in line. */
static void listen_and_fill(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t len = sizeof(at);
	char text[32];

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listener = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listener, (void *)&at, len), 0);
	assert_int_equal(listen(listener, 0), 0);
	getsockname(listener, (void *)&at, &len);
	for (int i = 0; i < FILL; i++) {
		fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		connect(fillers[i], (void *)&at, len);
	}
	port = ntohs(at.sin_port);
	snprintf(text, sizeof(text), "127.0.0.1:%d", port);
	setenv("PMI_PORT", text, 1);
}

static int stop_listening(void **state)
{
	alarm(0);
	unsetenv("PMI_PORT");
	for (int i = 0; i < FILL; i++)
		close(fillers[i]);
	close(listener);
	return 0;
}

/* pmi_conn_open, and what it says. */
static int open_and_hear(struct pmi_conn *c, char *text, size_t size)
{
	int before = dup(2), fd[2], result;
	ssize_t n;

	assert_int_equal(pipe(fd), 0);
	dup2(fd[1], 2);
	close(fd[1]);
	result = pmi_conn_open(c);
	dup2(before, 2);
	close(before);
	n = read(fd[0], text, size - 1);
	text[n > 0 ? n : 0] = '\0';
	close(fd[0]);
	return result;
}

static void open__port_does_not_answer(void **state)
{
	struct pmi_conn c = { .fd = -1, .patience_ms = PATIENCE_MS };
	char text[1024], where[64];

	listen_and_fill();
	alarm(10); /* the kernel would take minutes */
	began = o2g_now_ns();
	assert_int_equal(open_and_hear(&c, text, sizeof(text)), -ETIMEDOUT);
	assert_in_time();
	assert_int_equal(c.fd, -1);
	snprintf(where, sizeof(where), "127.0.0.1 port %d: no answer", port);
	assert_non_null(strstr(text, where));
	assert_non_null(strstr(text, "PMI_PORT"));
}

/* One after the other is let in, the fillers first. */
static void *let_in(void *arg)
{
	int fd;

	usleep(PATIENCE_MS * 1000);
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		close(fd);
	return NULL;
}

static void open__port_answers_late(void **state)
{
	struct pmi_conn c = { .fd = -1, .patience_ms = 30000 };
	pthread_t thread;

	listen_and_fill();
	alarm(60);
	pthread_create(&thread, NULL, let_in, NULL);
	assert_int_equal(pmi_conn_open(&c), 0);
	assert_true(c.fd >= 0);
	pmi_conn_close(&c);
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
}

static void open__port_refuses(void **state)
{
	struct pmi_conn c = { .fd = -1, .patience_ms = PATIENCE_MS };

	listen_and_fill();
	shutdown(listener, SHUT_RDWR);
	assert_int_equal(pmi_conn_open(&c), -ECONNREFUSED);
	assert_int_equal(c.fd, -1);
}

/* --- questions and answers --- */

static void hello__nobody_answers(void **state)
{
	for (int version = 1; version <= 2; version++) {
		assert_int_equal(pmi_conn_hello(&conn, version), -ETIMEDOUT);
		assert_in_time();
		/* And not once more. */
		assert_int_equal(pmi_conn_send(&conn, "cmd=x\n"), -EPIPE);
		tear_down(state);
		set_up(state);
	}
}

/* A byte now and then, for longer than anybody would wait. */
static void *trickle(void *arg)
{
	for (int i = 0; i < 40; i++) {
		if (send(other, " ", 1, MSG_NOSIGNAL) < 0)
			break;
		usleep(PATIENCE_MS * 1000 / 4);
	}
	return NULL;
}

static void recv__bytes_without_an_end(void **state)
{
	pthread_t thread;
	char *line;

	pthread_create(&thread, NULL, trickle, NULL);
	assert_int_equal(pmi_conn_recv(&conn, &line), -ETIMEDOUT);
	assert_in_time();
	shutdown(conn.fd, SHUT_RDWR);
	pthread_join(thread, NULL);
}

static void recv_counted__text_is_missing(void **state)
{
	char *text;

	assert_int_equal(write(other, "    20cmd=", 10), 10);
	assert_int_equal(pmi_conn_recv_counted(&conn, &text), -ETIMEDOUT);
	assert_in_time();
}

static void send__nobody_reads(void **state)
{
	char text[65536];
	int err;

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	do {
		began = o2g_now_ns();
		err = pmi_conn_send(&conn, text);
	} while (!err);
	assert_int_equal(err, -ETIMEDOUT);
	assert_in_time();
}

/* Each answer takes its time, and all of them more than the patience for one. */
static void *answer_slowly(void *arg)
{
	for (int i = 0; i < 4; i++) {
		usleep(350000);
		if (send(other, "cmd=x\n", 6, MSG_NOSIGNAL) < 0)
			break;
	}
	return NULL;
}

static void recv__slow_launcher(void **state)
{
	pthread_t thread;
	char *line;

	conn.patience_ms = 1200;
	pthread_create(&thread, NULL, answer_slowly, NULL);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pmi_conn_recv(&conn, &line), 0);
		assert_string_equal(line, "cmd=x");
	}
	pthread_join(thread, NULL);
}

/* Once joined a barrier may take as long as it likes. */
static void recv__no_limit(void **state)
{
	pthread_t thread;
	char *line;

	conn.patience_ms = -1;
	pthread_create(&thread, NULL, answer_slowly, NULL);
	for (int i = 0; i < 4; i++)
		assert_int_equal(pmi_conn_recv(&conn, &line), 0);
	pthread_join(thread, NULL);
}

#define S(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
#define P(f) cmocka_unit_test_teardown(f, stop_listening)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(open__pipe_is_no_launcher),	  P(open__port_does_not_answer),
		P(open__port_answers_late),	  P(open__port_refuses),
		S(hello__nobody_answers),	  S(recv__bytes_without_an_end),
		S(recv_counted__text_is_missing), S(send__nobody_reads),
		S(recv__slow_launcher),		  S(recv__no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
