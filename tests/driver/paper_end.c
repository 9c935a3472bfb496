/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls of 2004 on the driver: peers that end, what is seen from outside,
 * memory that may not be pinned, and death. paper_end [case].
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "paper_dev.h"

/* --- the ends of things --- */

static void lost__garbage(void)
{
	const struct o2gd_paper_sock *s;
	struct o2gd_paper_entry e = entry(1, 10);
	uint32_t events;
	char c;
	int fd = begin();

	s = (const void *)(shared + 1);
	events = shared->events;
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	put_header(fd, O2G_PKT_CTS, 1, 0);
	wait_done(&e);
	CHECK(e.error == O2G_ERR_PEER && shared->events != events);
	CHECK(s->state == O2GD_PAPER_LOST && s->rank == 0);
	CHECK(s->why == O2GD_LOST_PACKET || s->why == O2GD_LOST_HEADER);
	CHECK(recv(fd, &c, 1, 0) == 0); /* it is told */
	CHECK(shared->open == 0);
	CHECK(call(O2GD_PAPER_WAIT, &(uint32_t){ shared->news }) == -ENOTCONN);
}

static void lost__reset(void)
{
	struct o2gd_paper_entry any = entry(1, 10), exact = entry(2, 10);
	struct linger hard = { .l_onoff = 1 };
	int fd = begin(), other = peer(1);

	any.rank = -1;
	CHECK(call(O2GD_PAPER_PUT, &any) == 0);
	CHECK(call(O2GD_PAPER_PUT, &exact) == 0);
	put_header(fd, O2G_PKT_EAGER, 2, 10);
	put_all(fd, data, 4);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(fd);
	wait_done(&exact);
	CHECK(exact.error == O2G_ERR_PEER);
	wait_done(&any);
	CHECK(any.error == O2G_ERR_PEER);
	CHECK(shared->open == 1);
	close(other);
}

static void other_process__refused(void)
{
	struct o2gd_paper_entry e = entry(1, 10);
	int status;

	begin();
	if (fork() == 0) {
		CHECK(call(O2GD_PAPER_PUT, &e) == -EBADFD);
		CHECK(call(O2GD_PAPER_DUMP, NULL) == -EBADFD);
		_exit(0);
	}
	wait(&status);
	CHECK(!status);
}

/* --- seen from outside --- */

static void look(int fd, unsigned long request, uint64_t id, void *to,
		 uint32_t count)
{
	struct o2gd_look q = { .id = id,
			       .max = 8,
			       .addr = (uintptr_t)to,
			       .entry =
				       request == O2GD_QUEUES ?
					       sizeof(struct o2gd_queue_entry) :
					       sizeof(struct o2gd_paper_sock) };
	struct dev other = { .fd = fd };

	CHECK(dev_call(&other, request, &q) == 0);
	CHECK(q.count == count);
}

/* What the tools print of this process: the script compares. */
static void show_tools(void)
{
	char line[400];

	if (!getenv("O2G_PAPER_LOOK"))
		return;
	snprintf(line, sizeof(line), "%s %d", getenv("O2G_PAPER_LOOK"),
		 (int)getpid());
	CHECK(system(line) == 0);
}

/* A receive, a message that is there, one that arrives, one without room. */
static void look__everything(void)
{
	struct o2gd_paper_entry e = entry(-1, 500), few = entry(7, 3);
	struct o2gd_queue_entry q[8];
	struct o2gd_paper_sock s[8];
	struct o2gd_list_entry l[8];
	struct o2gd_list list = { .max = 8,
				  .addr = (uintptr_t)l,
				  .entry = sizeof(l[0]) };
	struct o2gd_info info;
	int fd = begin(), other = peer(3), full = peer(4), status;
	int outside = open(O2GD_DEVICE, O_RDWR);

	e.context = 9;
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	CHECK(call(O2GD_PAPER_PUT, &few) == 0);
	put_message(fd, 7, 10);
	wait_done(&few);
	CHECK(few.error == O2G_ERR_TRUNCATED);
	put_message(fd, 5, 1000);
	wait_done(wait_first());
	put_header(other, O2G_PKT_EAGER, 6, 2000);
	put_all(other, data, 100);
	put_header(full, O2G_PKT_EAGER, 8, AREA);
	while (!next(first()) || !shared->events)
		;

	CHECK(ioctl(outside, O2GD_LIST, &list) == 0 && list.count == 1);
	CHECK(l[0].pid == (uint32_t)getpid() && l[0].kind == O2GD_KIND_PAPER);
	CHECK(l[0].rank == O2GD_ANY && l[0].size == 3);
	CHECK(driver_info(outside, l[0].id, O2GD_ANY, &info) == 0);
	CHECK(info.posted == 1 && info.unexpected == 2);
	CHECK(info.unexpected_total == 2 && info.dump_full == 1);
	CHECK(info.unexpected_bytes >= 3000);
	CHECK(info.messages_received == 2);
	CHECK(info.drops[O2GD_DROP_EXCESS] == 7);
	CHECK(info.pinned_pages >= AREA / 4096 + 2);

	look(outside, O2GD_QUEUES, l[0].id, q, 3);
	CHECK(q[0].queue == O2GD_QUEUE_POSTED && q[0].length == 500);
	CHECK(q[0].tag == 9ull << 32 && q[0].ignore == 0xffffffff);
	for (int i = 1; i < 3; i++) {
		bool here = q[i].source == 0;

		CHECK(q[i].queue == O2GD_QUEUE_UNEXPECTED);
		CHECK(q[i].tag == (here ? 5 : 6));
		CHECK(q[i].length == (here ? 1000 : 2000));
		CHECK(q[i].body ==
		      (here ? O2GD_BODY_HERE : O2GD_BODY_ARRIVING));
	}
	look(outside, O2GD_PAPER_SOCKS, l[0].id, s, 3);
	CHECK(s[0].messages == 2 && s[0].bytes == 1010 && s[0].unexpected == 1);
	CHECK(s[1].rank == 3 && s[1].state == O2GD_PAPER_OPEN);
	CHECK(s[2].state == O2GD_PAPER_HOLDS && s[2].length == AREA);
	show_tools();
	if (fork() == 0) {
		struct o2gd_look w = { .id = l[0].id, .entry = 8 };

		CHECK(!setgid(65534) && !setuid(65534));
		CHECK(ioctl(outside, O2GD_LIST, &list) == 0 && !list.count);
		CHECK(ioctl(outside, O2GD_QUEUES, &w) && errno == ESRCH);
		CHECK(ioctl(outside, O2GD_PAPER_SOCKS, &w) && errno == ESRCH);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	close(d.fd);
	munmap((void *)(uintptr_t)shared, 4096);
	CHECK(ioctl(outside, O2GD_LIST, &list) == 0 && !list.count);
}

/* --- pinning is refused: the program's own threads copy --- */

static void little_memory(void)
{
	struct rlimit small = { .rlim_cur = 8192, .rlim_max = 8192 };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &small));
	CHECK(!setgid(65534) && !setuid(65534));
}

static void receive_both_ways(bool thread)
{
	struct o2gd_paper_entry e = entry(1, BIG), *u;
	int fd = begin();

	if (thread)
		start_dumper();
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	if (fork() == 0) {
		put_message(fd, 1, BIG);
		for (int i = 0; i < 50; i++)
			put_message(fd, 2, 20000);
		_exit(0);
	}
	wait_done(&e);
	CHECK(!e.error && e.received == BIG && !memcmp(buf, data, BIG));
	for (int i = 0; i < 50; i++) {
		u = wait_first();
		wait_done(u);
		CHECK(u->received == 20000 && u->tag == 2);
		CHECK(!memcmp((void *)(uintptr_t)u->buf, data, 20000));
		CHECK(call(O2GD_PAPER_FREE, u) == 0);
	}
	e = entry(3, 10);
	CHECK(call(O2GD_PAPER_PUT, &e) == 0);
	close(fd); /* the child's copy is closed by now */
	wait(NULL);
	wait_done(&e);
	CHECK(e.error == O2G_ERR_PEER);
}

static void limits__dumper_copies(void)
{
	little_memory();
	receive_both_ways(true);
}

static void limits__waiting_copies(void)
{
	little_memory();
	receive_both_ways(false);
}

/* --- killed at any moment --- */

static void victim(int n)
{
	struct o2gd_paper_entry e[16];
	int fd = begin();

	if (n % 2)
		start_dumper();
	if (fork() == 0) {
		for (int i = 0;; i++)
			put_message(fd, i % 20, 1 + i * 977 % 50000);
	}
	close(fd);
	for (unsigned i = 0;; i++) {
		e[i % 16] = entry(i % 20, 30000);
		if (call(O2GD_PAPER_PUT, &e[i % 16]) == -EAGAIN && first() &&
		    is_done(first()))
			call(O2GD_PAPER_FREE, first());
		if (i % 16 == 15)
			for (int k = 0; k < 16; k++)
				call(O2GD_PAPER_CANCEL, &e[k]);
	}
}

static void death__anywhere(void)
{
	struct timespec t = { .tv_nsec = 1 };

	for (int i = 0; i < 12; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			setpgid(0, 0);
			if (i % 3 == 2)
				little_memory();
			victim(i);
		}
		t.tv_nsec = 20000000 + i * 17000000;
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		kill(-pid, SIGKILL);
		CHECK(waitpid(pid, NULL, 0) == pid);
	}
}

static const struct dev_case cases[] = {
	DEV_CASE(lost__garbage),	  DEV_CASE(lost__reset),
	DEV_CASE(other_process__refused), DEV_CASE(look__everything),
	DEV_CASE(limits__dumper_copies),  DEV_CASE(limits__waiting_copies),
	DEV_CASE(death__anywhere),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
