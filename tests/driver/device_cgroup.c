/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Who pays for what the driver holds, and the limits of docs/driver.md: device_cgroup
 * [case]. As root, in a machine whose processes have no memory cgroups but ours.
 *
 * A process in a small cgroup has an endpoint, and the test is its peer, without a
 * driver of its own: it sends more than the cgroup can take.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pair.h"
#include "proto.h"
#include "wire.h"

#define CGROUPS "/sys/fs/cgroup"
#define GROUP CGROUPS "/o2g-test"
#define PARAMETERS "/sys/module/o2g/parameters/"
#define ROOM (2 * MIB)	  /* of the cgroup beyond what is used before */
#define BALLAST (8 * MIB) /* of the process, which it lets go */
#define QUIET_MS 3000	  /* so long without progress: reading has stopped */
#define FLOOD 16000
#define SOON (30 * dev_patience())

/* --- files --- */

static bool write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t len = (ssize_t)strlen(text);
	bool ok = fd >= 0 && write(fd, text, (size_t)len) == len;

	if (fd >= 0)
		close(fd);
	return ok;
}

static void write_number(const char *path, long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%ld", number);
	CHECK(write_file(path, text));
}

/* The number behind a word of a file, or its first one. */
static long read_number(const char *path, const char *word)
{
	char text[4096] = "";
	int fd = open(path, O_RDONLY);
	const char *at = text;

	CHECK(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	if (word)
		at = strstr(text, word);
	CHECK(at);
	return atol(at + (word ? strlen(word) : 0));
}

static long used(void)
{
	return read_number(GROUP "/memory.current", NULL);
}

static long events(const char *name)
{
	return read_number(GROUP "/memory.events", name);
}

static void make_group(void)
{
	for (int i = 0; rmdir(GROUP) && errno == EBUSY && i < 50; i++)
		usleep(100000); /* of a case that has failed */
	CHECK(write_file(CGROUPS "/cgroup.subtree_control", "+memory"));
	CHECK(!mkdir(GROUP, 0755));
}

/* --- the process in the cgroup --- */

static struct member {
	pid_t pid;
	int to, from; /* pipes */
	int peer;     /* the other end of its connection */
} member;

static void tell(int fd, uint64_t word)
{
	CHECK(write(fd, &word, sizeof(word)) == sizeof(word));
}

static uint64_t hear(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t word;

	CHECK(poll(&p, 1, SOON * 1000) == 1);
	CHECK(read(fd, &word, sizeof(word)) == sizeof(word));
	return word;
}

/* What the test asks it. */
enum { LET_GO, UNEXPECTED, STATE, QUEUED };

static uint64_t answer_to(uint64_t question, void *ballast)
{
	struct o2gd_peer_info p = { .peer = 1 };
	struct o2gd_info i;

	switch (question) {
	case LET_GO:
		return (uint64_t)munmap(ballast, BALLAST);
	case UNEXPECTED:
		dev_info(&a, &i);
		return i.unexpected;
	case STATE:
		CHECK(dev_call(&a, O2GD_PEER_INFO, &p) == 0);
		return p.state;
	default:
		CHECK(dev_call(&a, O2GD_PEER_INFO, &p) == 0);
		return p.queued;
	}
}

/* It takes no memory any more when it is ready, or it would be killed for it. */
static void member_process(int socket, int from, int to)
{
	static uint64_t question;
	void *ballast;

	write_number(GROUP "/cgroup.procs", getpid());
	ballast = mmap(NULL, BALLAST, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	CHECK(ballast != MAP_FAILED);
	a.s = (struct o2gd_setup){ .version = O2GD_VERSION,
				   .size = 2,
				   .sq_entries = 64,
				   .cq_entries = 64,
				   .dump_size = 8 * MIB,
				   .eager_max = 64 << 10,
				   .data_chunk = 1 << 20,
				   .peer_budget = 8 * MIB };
	dev_open_as(&a, 16);
	CHECK(dev_register(&a, 1, socket) == 0);
	close(socket);
	CHECK(!mlockall(MCL_CURRENT));
	tell(to, 0);
	while (read(from, &question, sizeof(question)) == sizeof(question))
		tell(to, answer_to(question, ballast));
	_exit(0);
}

static uint64_t ask(uint64_t question)
{
	tell(member.to, question);
	return hear(member.from);
}

static void start_member(void)
{
	int to[2], from[2], tcp[2];

	make_group();
	dev_tcp_pair(tcp); /* what TCP holds is ours to pay */
	for (int i = 0; i < 2; i++) {
		int size = 32768; /* little, or it takes long to fill */

		setsockopt(tcp[i], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
		setsockopt(tcp[i], SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	}
	CHECK(!pipe(to) && !pipe(from));
	member.pid = fork();
	if (member.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(to[1]), close(tcp[1]);
		member_process(tcp[0], to[0], from[1]);
	}
	CHECK(member.pid > 0);
	close(tcp[0]), close(to[0]), close(from[1]);
	member.to = to[1];
	member.from = from[0];
	member.peer = tcp[1];
	hear(member.from);
}

/* Nothing of it is left, and nobody was killed for want of memory. */
static void end_member(void)
{
	int status;

	CHECK(events("oom_kill ") == 0);
	close(member.to);
	CHECK(waitpid(member.pid, &status, 0) == member.pid && status == 0);
	for (int i = 0; used() > MIB; i++) {
		CHECK(i < SOON * 10);
		usleep(100000);
	}
	CHECK(!rmdir(GROUP));
}

/* --- its peer --- */

static unsigned char line[O2G_HDR_SIZE]; /* what is being sent */
static size_t left;			 /* of it */

/* False: not all of it has been taken for so long. */
static bool push(int ms)
{
	struct pollfd p = { .fd = member.peer, .events = POLLOUT };

	while (left) {
		ssize_t n = send(member.peer, line + sizeof(line) - left, left,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		CHECK(n > 0 || errno == EAGAIN);
		if (n > 0)
			left -= (size_t)n;
		else if (poll(&p, 1, ms) == 0)
			return false;
	}
	return true;
}

/* False: the one before has not been taken for so long. */
static bool put(struct o2g_hdr h, int ms)
{
	if (!push(ms))
		return false;
	h.src = 1;
	o2g_wire_encode(&h, line);
	left = sizeof(line);
	push(0);
	return true;
}

/* False: there is none for so long. */
static bool get(struct o2g_hdr *h, int ms)
{
	struct pollfd p = { .fd = member.peer, .events = POLLIN };
	unsigned char raw[O2G_HDR_SIZE];

	if (poll(&p, 1, ms) == 0)
		return false;
	CHECK(recv(member.peer, raw, sizeof(raw), MSG_WAITALL) == sizeof(raw));
	CHECK(!o2g_wire_decode(raw, h));
	return true;
}

static void others_go_on(void)
{
	time_t begin = time(NULL);

	open_pair();
	for (uint64_t len = 8; len < MIB; len *= 64) {
		dev_recv(&b, 1, 0, len, buf, len);
		send_all(&a, 2, 1, len, len);
		got(&b, 1, len, len);
	}
	close_pair();
	CHECK(time(NULL) - begin < SOON);
}

/* --- cases --- */

static struct {
	uint64_t credit, extra, sent;
} sender = { .credit = O2G_CREDIT_INIT };

/* Credit as it comes; false: there is none for long. */
static bool more_credit(bool *asked, int ms)
{
	struct o2g_hdr h;

	if (!*asked && !put((struct o2g_hdr){ .type = O2G_PKT_CREDIT,
					      .flags = O2G_PKTF_STALLED },
			    ms))
		return false;
	*asked = true;
	if (!get(&h, ms))
		return false;
	CHECK(h.type == O2G_PKT_CREDIT);
	*(h.flags & O2G_PKTF_ENVELOPE ? &sender.extra : &sender.credit) +=
		h.credit;
	*asked = false;
	return true;
}

/* Announce messages until there are so many, or nothing moves for long. */
static void announce(int ms)
{
	static bool asked;

	while (sender.sent < FLOOD) {
		bool extra = sender.credit < O2G_COST;
		struct o2g_hdr h = { .type = O2G_PKT_RTS,
				     .flags = extra ? O2G_PKTF_ENVELOPE : 0,
				     .tag = sender.sent,
				     .length = 1 << 20,
				     .cookie = sender.sent + 1 };

		if (extra && sender.extra < O2G_COST) {
			if (!more_credit(&asked, ms))
				return;
			continue;
		}
		if (!put(h, ms))
			return;
		*(extra ? &sender.extra : &sender.credit) -= O2G_COST;
		sender.sent++;
	}
}

static void cgroup__flooded(void)
{
	long limit;

	start_member();
	limit = used() + ROOM;
	write_number(GROUP "/memory.max", limit);
	announce(QUIET_MS);
	CHECK(sender.sent < FLOOD); /* or there is nothing to see here */
	CHECK(used() <= limit && events("max ") > 0);
	CHECK(ask(STATE) == O2GD_PEER_OPEN);
	others_go_on();
	CHECK(ask(UNEXPECTED) <= sender.sent);
	/* There is room again: it goes on by itself, and nothing is missing. */
	CHECK(ask(LET_GO) == 0);
	announce(SOON * 1000);
	CHECK(sender.sent == FLOOD);
	for (int i = 0; ask(UNEXPECTED) < FLOOD; i++) {
		CHECK(i < SOON * 10);
		usleep(100000);
	}
	CHECK(used() <= limit && ask(STATE) == O2GD_PEER_OPEN);
	end_member();
}

/* It asks, and does not read the answers. */
static void cgroup__answers(void)
{
	long before;
	uint64_t asked = 0, answered = 0;
	struct o2g_hdr h;

	start_member();
	before = used();
	while (asked < 10 * FLOOD &&
	       put((struct o2g_hdr){ .type = O2G_PKT_GET,
				     .tag = 99,
				     .length = 8,
				     .cookie = asked + 1 },
		   QUIET_MS))
		asked++;
	CHECK(asked < 10 * FLOOD); /* reading has stopped */
	CHECK(used() - before < ROOM);
	CHECK(ask(STATE) == O2GD_PEER_OPEN && ask(QUEUED) < 4096);
	others_go_on();
	while (answered < asked && get(&h, SOON * 1000)) {
		answered += h.type == O2G_PKT_NAK;
		push(0);
	}
	CHECK(answered == asked && ask(STATE) == O2GD_PEER_OPEN);
	end_member();
}

static int open_as_member(void)
{
	struct dev d = { .s = { .version = O2GD_VERSION,
				.size = 2,
				.sq_entries = 64,
				.cq_entries = 64,
				.dump_size = 64 * MIB,
				.data_chunk = 1 } };

	write_number(GROUP "/cgroup.procs", getpid());
	d.fd = open(O2GD_DEVICE, O_RDWR);
	return dev_call(&d, O2GD_SETUP, &d.s);
}

/* Whoever asks for more than its cgroup has does not get it, and may die of it. */
static void cgroup__setup(void)
{
	int status;
	pid_t pid;

	make_group();
	write_number(GROUP "/memory.max", 16 * MIB);
	pid = fork();
	if (pid == 0)
		_exit(open_as_member() == -ENOMEM ? 0 : 1);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : status == 0);
	for (int i = 0; used() > MIB; i++) {
		CHECK(i < SOON * 10);
		usleep(100000);
	}
	CHECK(!rmdir(GROUP));
}

/* --- limits of a user --- */

static int open_with(uint32_t dump)
{
	struct dev d = { .s = { .version = O2GD_VERSION,
				.size = 2,
				.sq_entries = 64,
				.cq_entries = 64,
				.dump_size = dump,
				.data_chunk = 1 } };

	d.fd = open(O2GD_DEVICE, O_RDWR);
	CHECK(d.fd >= 0);
	return dev_call(&d, O2GD_SETUP, &d.s);
}

/* Another process of the same user, or of another one: what it gets. */
static int open_in_child(uid_t uid, uint32_t dump)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		CHECK(!setuid(uid));
		_exit(-open_with(dump));
	}
	CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static void limits__endpoints(void)
{
	long before = read_number(PARAMETERS "user_endpoints", NULL);

	write_number(PARAMETERS "user_endpoints", 3);
	CHECK(open_with(65536) == 0 && open_with(65536) == 0);
	CHECK(open_in_child(0, 65536) == 0);
	CHECK(open_with(65536) == 0);
	CHECK(open_with(65536) == -EUSERS);
	CHECK(open_in_child(0, 65536) == -EUSERS);
	CHECK(open_in_child(65532, 65536) == 0);
	write_number(PARAMETERS "user_endpoints", before);
}

static void limits__memory(void)
{
	long before = read_number(PARAMETERS "user_mib", NULL);

	write_number(PARAMETERS "user_mib", 4);
	CHECK(open_with(8 * MIB) == -EDQUOT);
	CHECK(open_with(2 * MIB) == 0);
	CHECK(open_in_child(0, 2 * MIB) == -EDQUOT);
	CHECK(open_in_child(65532, 2 * MIB) == 0);
	CHECK(open_in_child(0, MIB) == 0);
	write_number(PARAMETERS "user_mib", before);
}

static const struct dev_case cases[] = {
	DEV_CASE(cgroup__flooded), DEV_CASE(cgroup__answers),
	DEV_CASE(cgroup__setup),   DEV_CASE(limits__endpoints),
	DEV_CASE(limits__memory),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
