/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls of the 2004 driver, and nothing else of libo2g: four
 * processes, a TCP connection between every two of them, and
 *
 *   - a token that goes round a ring,
 *   - a message that nobody has asked for yet, taken from the dump area,
 *   - receives from any source,
 *   - the race that EAGAIN is for: a message arrives between the look at the
 *     dump area and the posting of the receive.
 *
 * Receiving is what the library does; sending is the program's own write(2).
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <o2g.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 4
#define CONTEXT 7
#define DUMP_SIZE (1 << 20)
#define ROUNDS 1000

enum { TAG_TOKEN = 1, TAG_EARLY, TAG_GO, TAG_HELLO, TAG_RACE };

static int me;
static int sock[RANKS];
static void *dump_area;

static void die(const char *what, int err)
{
	fprintf(stderr, "rank %d: %s: %s\n", me, what, strerror(err));
	exit(1);
}

static void check(const char *what, int rc)
{
	if (rc)
		die(what, rc);
}

/* --- sending: a header, then the data --- */

static void write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t did = write(fd, data, n);

		if (did < 0 && errno != EINTR)
			die("write", errno);
		if (did > 0) {
			data += did;
			n -= did;
		}
	}
}

static void send_to(int rank, int tag, const void *data, size_t n)
{
	char header[O2G_MESSAGE_HEADER_SIZE];

	o2g_message_header(header, me, rank, CONTEXT, tag, n);
	write_all(sock[rank], header, sizeof(header));
	write_all(sock[rank], data, n);
}

/* --- receiving, as the MPI library of the paper did --- */

static struct queue_entry *find_unexpected(int rank, int tag)
{
	struct queue_entry *e = o2g_dump_first(dump_area);

	while (e && (e->context != CONTEXT || (tag != -1 && e->tag != tag) ||
		     (rank != O2G_ANY_SOURCE && e->rank != rank)))
		e = e->next;
	return e;
}

static void wait_done(struct queue_entry *e)
{
	while (!e->done)
		check("o2g_poll", o2g_poll());
	if (e->error)
		die("receive",
		    e->error == O2G_ERR_PEER ? ECONNRESET : EMSGSIZE);
}

static int take_unexpected(struct queue_entry *e, void *buf, size_t size)
{
	int from = e->rank;

	wait_done(e);
	memcpy(buf, e->buf, e->received < size ? e->received : size);
	check("o2g_free_entry", o2g_free_entry(e));
	return from;
}

/* Returns the rank it came from. */
static int receive(int rank, int tag, void *buf, size_t size)
{
	struct queue_entry e = { .rank = rank,
				 .context = CONTEXT,
				 .tag = tag,
				 .buf = buf,
				 .size = size };

	for (;;) {
		struct queue_entry *u = find_unexpected(rank, tag);
		int rc;

		if (u)
			return take_unexpected(u, buf, size);
		rc = o2g_put_entry(&e);
		if (!rc)
			break;
		if (rc != EAGAIN)
			die("o2g_put_entry", rc);
		/* It came just now: look again. */
	}
	wait_done(&e);
	return e.rank;
}

/* --- the four scenes --- */

static void token_ring(void)
{
	int token = 0;

	for (int i = 0; i < ROUNDS; i++) {
		if (me == 0) {
			token++;
			send_to(1, TAG_TOKEN, &token, sizeof(token));
		}
		receive((me + RANKS - 1) % RANKS, TAG_TOKEN, &token,
			sizeof(token));
		if (me != 0) {
			token++;
			send_to((me + 1) % RANKS, TAG_TOKEN, &token,
				sizeof(token));
		}
	}
	if (me == 0)
		printf("ring: %d rounds, the token counts %d\n", ROUNDS, token);
	if (me == 0 && token != ROUNDS * RANKS)
		die("the token is wrong", EPROTO);
}

/* Rank 1 sends before rank 0 asks: it lies in the dump area meanwhile. */
static void unexpected_message(void)
{
	char text[64] = "", go;

	if (me == 1) {
		send_to(0, TAG_EARLY, "you did not expect me", 22);
		send_to(0, TAG_GO, "!", 1);
	}
	if (me != 0)
		return;
	/* In order on one connection: when GO is here, EARLY is as well. */
	receive(1, TAG_GO, &go, 1);
	if (!find_unexpected(1, TAG_EARLY))
		die("the early message is not in the dump area", EPROTO);
	receive(1, TAG_EARLY, text, sizeof(text));
	printf("unexpected: rank 1 said \"%s\"\n", text);
	if (strcmp(text, "you did not expect me"))
		die("it says something else", EPROTO);
}

static void any_source(void)
{
	int seen = 0, id;

	if (me != 0) {
		send_to(0, TAG_HELLO, &me, sizeof(me));
		return;
	}
	for (int i = 1; i < RANKS; i++) {
		int from = receive(O2G_ANY_SOURCE, TAG_HELLO, &id, sizeof(id));

		if (from != id)
			die("a message from somebody else", EPROTO);
		seen |= 1 << from;
	}
	printf("any source: heard from ranks%s%s%s\n", seen & 2 ? " 1" : "",
	       seen & 4 ? " 2" : "", seen & 8 ? " 3" : "");
	if (seen != 14)
		die("somebody is missing", EPROTO);
}

/*
 * The message is surely here, and put_entry is called all the same: EAGAIN.
 * A receive that nothing will match can be cancelled.
 */
static void race(void)
{
	int number = 42;
	struct queue_entry e = { .rank = 0,
				 .context = CONTEXT,
				 .tag = TAG_RACE,
				 .buf = &number,
				 .size = sizeof(number) };

	if (me == 0) {
		for (int i = 1; i < RANKS; i++)
			send_to(i, TAG_RACE, &number, sizeof(number));
		for (int i = 1; i < RANKS; i++) /* stay until all are done */
			receive(i, TAG_GO, &number, sizeof(number));
		return;
	}
	while (!find_unexpected(0, TAG_RACE))
		check("o2g_poll", o2g_poll());
	if (o2g_put_entry(&e) != EAGAIN)
		die("EAGAIN was expected", EPROTO);
	receive(0, TAG_RACE, &number, sizeof(number));
	if (number != 42)
		die("a wrong number", EPROTO);
	check("o2g_put_entry", o2g_put_entry(&e));
	check("o2g_cancel_entry", o2g_cancel_entry(&e));
	send_to(0, TAG_GO, &number, sizeof(number));
	if (me == 1)
		printf("race: EAGAIN, looked again, found it; cancelled another\n");
}

/* --- four processes, connected --- */

static void connect_pair(int *a, int *b)
{
	struct sockaddr_in addr = { .sin_family = AF_INET,
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	*b = socket(AF_INET, SOCK_STREAM, 0);
	if (listener < 0 || *b < 0 ||
	    bind(listener, (struct sockaddr *)&addr, sizeof(addr)) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&addr, &len) ||
	    connect(*b, (struct sockaddr *)&addr, len))
		die("socket", errno);
	*a = accept(listener, NULL, NULL);
	if (*a < 0)
		die("accept", errno);
	close(listener);
}

static int run(int rank, int fd[RANKS][RANKS])
{
	me = rank;
	check("o2g_init", o2g_init(RANKS - 1));
	dump_area = malloc(DUMP_SIZE);
	if (!dump_area)
		die("malloc", ENOMEM);
	check("o2g_set_dump_area", o2g_set_dump_area(dump_area, DUMP_SIZE));
	check("o2g_start_dumper_thread", o2g_start_dumper_thread(1));
	for (int i = 0; i < RANKS; i++) {
		for (int j = 0; i != me && j < RANKS; j++)
			if (i != j)
				close(fd[i][j]); /* another rank's end */
		if (i == me)
			continue;
		sock[i] = fd[me][i];
		check("o2g_register_socket", o2g_register_socket(sock[i], i));
	}
	token_ring();
	unexpected_message();
	any_source();
	race();
	fflush(stdout);
	return 0;
}

int main(void)
{
	int fd[RANKS][RANKS], status, bad = 0;
	pid_t pid[RANKS];

	for (int i = 0; i < RANKS; i++)
		for (int j = 0; j < i; j++)
			connect_pair(&fd[i][j], &fd[j][i]);
	for (int i = 0; i < RANKS; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			die("fork", errno);
		if (pid[i] == 0)
			return run(i, fd);
	}
	for (int i = 0; i < RANKS; i++)
		for (int j = 0; j < RANKS; j++)
			if (i != j)
				close(fd[i][j]);
	for (int i = 0; i < RANKS; i++) {
		waitpid(pid[i], &status, 0);
		bad |= status;
	}
	puts(bad ? "something went wrong" : "all four ranks are content");
	return bad ? 1 : 0;
}
