/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `liar [SEED [SESSIONS]]`: a process that speaks to the module o2g_dsm as another node
 * would, and lies: messages that make sense but for one thing, or none; then one that
 * asks and does not read the answers. Threads use the memory meanwhile. The module gives
 * the liar up, the process that it lied to can still be killed, and the kernel has nothing to
 * report. Runs in a guest of the lab.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <uapi/o2g_dsm.h>
#include <unistd.h>

#include "o2g.h"

#define DEVICE "/dev/o2g_dsm"
#define SECRET "what the liar knows as well"
#define PAGE 4096ul
#define PAGES 16u
#define REGION 5u
#define THREADS 3
#define MESSAGES 400  /* of a session, at most */
#define FLOOD 1000000 /* messages; long before the module has had enough */

enum { NONE, READ, WRITE };
enum { ASK = 1, GRANT, TAKE, GIVEN, GONE, AGAIN, TYPES };
enum { DATA = 1, ZERO = 2, HOME = 4, DIRECT = 8 };

#define CHECK(cond)                                                          \
	do {                                                                 \
		if (!(cond)) {                                               \
			fprintf(stderr, "%s:%d: %s does not hold: %s\n",     \
				__FILE__, __LINE__, #cond, strerror(errno)); \
			exit(1);                                             \
		}                                                            \
	} while (0)

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* --- the node that is lied to --- */

static _Thread_local sigjmp_buf gone;

static void on_bus(int sig)
{
	siglongjmp(gone, 1);
}

static void *use(void *at)
{
	unsigned turn = (unsigned)(uintptr_t)&turn;

	for (;;) {
		volatile char *p =
			(char *)at + (turn = turn * 33 + 7) % PAGES * PAGE;

		if (sigsetjmp(gone, 1))
			usleep(1000);
		else if (turn & 1 << 10)
			*p = (char)turn;
		else
			(void)*p;
	}
	return NULL;
}

static void be_node(int port)
{
	struct o2gs_setup s = { .size = sizeof(s),
				.version = O2GS_VERSION,
				.nodes = 2,
				.secret = SECRET,
				.job = "liar" };
	struct o2gs_region r = { .size = sizeof(r),
				 .id = REGION,
				 .bytes = PAGES * PAGE,
				 .founders = 3,
				 .hold_us = 10,
				 .move_after = 3 };
	struct sigaction bus = { .sa_handler = on_bus };
	int fd = open(DEVICE, O_RDWR);
	void *at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGBUS, &bus, NULL);
	CHECK(fd >= 0 && !ioctl(fd, O2GS_SETUP, &s));
	r.counts = (uint64_t)(uintptr_t)mmap(NULL, 2 * PAGE,
					     PROT_READ | PROT_WRITE,
					     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(!ioctl(fd, O2GS_REGION, &r));
	at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, r.fd,
		  0);
	CHECK(at != MAP_FAILED);
	CHECK(write(port, &s.port, sizeof(s.port)) == sizeof(s.port));
	for (int i = 0; i < THREADS; i++) {
		pthread_t t;

		CHECK(!pthread_create(&t, NULL, use, at));
	}
	pause();
}

static pid_t node(uint32_t *port)
{
	int ends[2];
	pid_t pid;

	CHECK(!pipe(ends));
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		be_node(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	CHECK(read(ends[0], port, sizeof(*port)) == sizeof(*port));
	close(ends[0]);
	return pid;
}

/* Whatever it was told: it can be killed, and its threads with it. */
static void end_node(pid_t pid)
{
	int status;

	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* --- the liar --- */

static struct o2g_ep *ep;
static char address[2 * O2G_ADDRESS_MAX];

static int resolve(void *arg, int rank, char *to, size_t size)
{
	snprintf(to, size, "%s", address);
	return 0;
}

static void connect_to(uint32_t port)
{
	struct o2g_attr attr = { .rank = 1,
				 .size = 2,
				 .job = "liar",
				 .secret = SECRET,
				 .resolve = resolve };
	char own[O2G_ADDRESS_MAX], *at, *rest;

	CHECK(!o2g_open(&attr, &ep));
	CHECK(!o2g_address(ep, own, sizeof(own)));
	at = strstr(own, "port=");
	rest = at ? strchr(at, ',') : NULL;
	CHECK(rest);
	*at = '\0';
	snprintf(address, sizeof(address), "%sport=%u%s", own, port, rest);
}

static uint64_t tag(unsigned type, unsigned access, unsigned flags,
		    unsigned rank, unsigned page)
{
	return (uint64_t)type << 60 | (uint64_t)access << 58 |
	       (uint64_t)flags << 54 | (uint64_t)rank << 48 |
	       (uint64_t)REGION << 32 | page;
}

static char content[PAGE];

static int tell(uint64_t what)
{
	return o2g_send(ep, 0, what, content, what >> 54 & DATA ? PAGE : 0, 0);
}

/* What a node would answer, more or less. */
static int answer(uint64_t heard)
{
	unsigned page = (unsigned)heard, access = heard >> 58 & 3;

	switch (heard >> 60) {
	case ASK:
		return tell(
			tag(GRANT, access, next() % 2 ? ZERO : DATA, 0, page));
	case TAKE:
		return tell(tag(GIVEN, access, next() % 4 ? DATA : 0, 0, page));
	default:
		return 0;
	}
}

/* Something that a node could say, or, if @wild, nearly so. */
static int say(int wild)
{
	unsigned type = next() % 4 ? ASK : 1 + next() % (TYPES - 1);
	uint64_t what = tag(type, 1 + next() % 2,
			    type == ASK ? HOME & next() : (unsigned)next() & 15,
			    type == ASK ? next() % 2 : 0, next() % PAGES);

	if (wild && !(next() % 8))
		what ^= 1ull << next() % 64;
	return tell(what);
}

static void session(int wild)
{
	struct o2g_status s;
	int err = 0;

	for (int i = 0; !err && i < MESSAGES; i++) {
		err = say(wild);
		while (!err && !o2g_iprobe(ep, 0, 0, ~0ull, &s)) {
			err = o2g_recv(ep, 0, s.tag, 0, content, PAGE, &s);
			if (!err && next() % 16)
				err = answer(s.tag);
		}
		if (err)
			printf("given up after %d messages: %s\n", i + 1,
			       o2g_strerror(err));
	}
	fflush(stdout);
}

static void lie(uint32_t port, int wild)
{
	connect_to(port);
	session(wild);
	/* Without saying goodbye. */
	_exit(0);
}

/* --- one that does not read --- */

static int socket_to(uint32_t port)
{
	for (int fd = 3; fd < 256; fd++) {
		struct sockaddr_storage to;
		socklen_t len = sizeof(to);

		if (getpeername(fd, (struct sockaddr *)&to, &len))
			continue;
		if ((to.ss_family == AF_INET &&
		     ((struct sockaddr_in *)&to)->sin_port ==
			     htons((uint16_t)port)) ||
		    (to.ss_family == AF_INET6 &&
		     ((struct sockaddr_in6 *)&to)->sin6_port ==
			     htons((uint16_t)port)))
			return fd;
	}
	return -1;
}

/* Who is the home of a page that is ours? The answers stay where they are. */
static int flood(int fd)
{
	uint64_t what = tag(ASK, READ, DIRECT, 1, 1);
	char batch[64][O2G_MESSAGE_HEADER_SIZE];
	long n;

	for (int i = 0; i < 64; i++)
		o2g_message_header(batch[i], 1, 0, what >> 32,
				   (int)(uint32_t)what, 0);
	for (n = 0; n < FLOOD; n += 64)
		if (send(fd, batch, sizeof(batch), MSG_NOSIGNAL) !=
		    (ssize_t)sizeof(batch))
			break;
	printf("given up after %ld questions\n", n);
	fflush(stdout);
	return n < FLOOD ? 0 : 2;
}

/* Its endpoint stops; a child writes to the socket by hand. */
static void ask_and_not_read(uint32_t port)
{
	struct o2g_status s;
	int fd, status;
	pid_t pid;

	connect_to(port);
	CHECK(!tell(tag(ASK, READ, DIRECT, 1, 1)));
	CHECK(!o2g_probe(ep, 0, 0, ~0ull, &s));
	fd = socket_to(port);
	CHECK(fd >= 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		pid_t parent = getppid();

		CHECK(!kill(parent, SIGSTOP));
		status = flood(fd);
		CHECK(!kill(parent, SIGCONT));
		_exit(status);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* --- */

static void play(void (*role)(uint32_t port, int wild), int wild)
{
	uint32_t port;
	pid_t victim = node(&port), pid;
	int status;

	next();
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm(100);
		role(port, wild);
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status));
	usleep(next() % 20000);
	end_node(victim);
}

static void floods(uint32_t port, int wild)
{
	ask_and_not_read(port);
}

int main(int argc, char **argv)
{
	int sessions = argc > 2 ? atoi(argv[2]) : 30;

	seed = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) *
		       0x9e3779b97f4a7c15ull |
	       1;
	for (int i = 0; i < sessions; i++)
		play(lie, i % 3);
	play(floods, 0);
	return 0;
}
