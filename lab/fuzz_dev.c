// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lab/fuzz_dev SECONDS [SEED]: bad programs and bad peers for the driver, in a
 * guest of the lab. fuzz_socks.c has what is done with connections, fuzz_around.c
 * what a process does to itself, fuzz_paper.c the eight calls, fuzz_lib.c the dice.
 *
 * Again and again two processes open endpoints, join them by TCP connections, inside
 * and between them, and do everything with them that a program can, in an order and
 * with arguments that make no sense, from several threads: calls, the mapped rings,
 * sockets that close, reset and get the wrong bytes. They are killed at random
 * moments. What is tested is that the kernel neither reports anything (lab/ktap looks)
 * nor keeps anything, and that a process ends when it is killed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"

#define WAIT_DEAD 30 /* seconds that a killed process may take to end */

struct endpoint eps[NEPS];
uint32_t first_rank;

/* --- endpoints --- */

void map_area(int i)
{
	void *p = mmap(NULL, eps[i].setup.map_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED, eps[i].fd, 0);

	if (p == MAP_FAILED)
		return;
	eps[i].area = p;
	eps[i].size = eps[i].setup.map_size;
}

void open_endpoint(int i)
{
	uint32_t slots = NSLOTS;
	struct o2gd_setup s = {
		.version = O2GD_VERSION,
		.rank = first_rank + i,
		.size = NRANKS,
		.sq_entries = 16,
		.cq_entries = 1u << (3 + below(4)),
		.dump_size = 4096u << below(6),
		.eager_max = 1024u << below(8),
		.data_chunk = 1024u << below(8),
		.peer_budget = 4096u << below(8),
	};

	if (one_in(10))
		((uint32_t *)&s)[below(sizeof(s) / 4)] = odd_number();
	eps[i].fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	if (eps[i].fd < 0 || ioctl(eps[i].fd, O2GD_SETUP, &s))
		return;
	eps[i].setup = s;
	map_area(i);
	ioctl(eps[i].fd, O2GD_GROW, &slots);
}

/* --- what threads do --- */

static void fill_sqe(struct o2gd_sqe *e)
{
	static __thread struct iovec iov[8];
	uint64_t i, n;

	memset(e, 0, sizeof(*e));
	e->op = number(8);
	e->flags = number(4);
	if (e->op == O2GD_OP_SEND && one_in(4))
		e->flags = O2GD_SERVED;
	e->slot = number(NSLOTS);
	e->peer = one_in(5) ? O2GD_ANY : number(NRANKS);
	e->tag = tag();
	e->ignore = one_in(4) ? rnd() : 0;
	e->len = length();
	e->addr = address(e->len);
	e->key = one_in(3) ? number(4) + 1 : 0;
	e->offset = one_in(4) ? odd_number() : 0;
	if (e->op == O2GD_OP_ATOMIC && !one_in(4)) {
		e->flags = one_in(2) ? O2GD_FETCH_OLD : 0;
		e->tag = O2GD_ATOMIC(below(14), below(9));
		e->len = 8 * (1 + below(one_in(4) ? 100 : 2));
		e->offset = one_in(4) ? below(64) : 8 * below(8);
		e->addr = address(e->len);
	}
	if (!one_in(4))
		return;
	n = 1 + below(8);
	for (i = 0; i < n; i++) {
		iov[i].iov_len = length();
		iov[i].iov_base = (void *)(uintptr_t)address(iov[i].iov_len);
	}
	e->nsegs = number(n + 1);
	e->addr = one_in(8) ? odd_number() : (uint64_t)(uintptr_t)iov;
	e->len = one_in(3) ? odd_number() : e->len;
}

/* A call with a struct as another version of the library would have it, or as is. */
static int call_sized(int fd, unsigned int cmd, const void *arg)
{
	static _Thread_local unsigned char longer[256];
	unsigned int size = _IOC_SIZE(cmd);

	memcpy(longer, arg, size);
	if (one_in(10))
		size = below(sizeof(longer));
	return ioctl(fd,
		     _IOC(_IOC_DIR(cmd), _IOC_TYPE(cmd), _IOC_NR(cmd), size),
		     longer);
}

static void submit(int fd)
{
	struct o2gd_sqe e;

	fill_sqe(&e);
	call_sized(fd, O2GD_SUBMIT, &e);
}

static void inject(int fd)
{
	struct o2gd_inject i = { .peer = number(NRANKS),
				 .len = length(),
				 .tag = tag() };

	i.addr = address(i.len);
	ioctl(fd, O2GD_INJECT, &i);
}

/* Small messages one behind the other, as the library lays them; or almost. */
static void burst(int fd)
{
	static _Thread_local _Alignas(8) char packed[4096];
	struct o2gd_burst b = { .addr = (uintptr_t)packed };
	uint64_t n = 1 + below(20);

	while (n-- && b.len < sizeof(packed) - 600) {
		struct o2gd_small *s = (void *)(packed + b.len);

		*s = (struct o2gd_small){ .peer = number(NRANKS),
					  .len = below(500),
					  .tag = tag() };
		b.len += sizeof(*s) + (s->len + O2GD_BURST_ALIGN - 1) /
					      O2GD_BURST_ALIGN *
					      O2GD_BURST_ALIGN;
		if (one_in(30))
			s->len = odd_number();
	}
	if (one_in(10))
		b.len = odd_number();
	if (one_in(20))
		b.addr = address(4096);
	if (one_in(20))
		b.pad = rnd();
	ioctl(fd, O2GD_BURST, &b);
}

static void probe(int fd)
{
	struct o2gd_probe p = { .source = one_in(2) ? O2GD_ANY : number(NRANKS),
				.take = below(5) % 4,
				.tag = tag(),
				.ignore = one_in(2) ? UINT64_MAX : 0 };
	struct o2gd_sqe e;

	if (one_in(10)) {
		call_sized(fd, O2GD_PROBE, &p);
		return;
	}
	if (ioctl(fd, O2GD_PROBE, &p) || !p.take)
		return;
	fill_sqe(&e);
	e.op = O2GD_OP_MRECV;
	e.key = one_in(10) ? odd_number() : p.handle;
	ioctl(fd, O2GD_SUBMIT, &e);
}

static void memory_calls(int fd)
{
	struct o2gd_mem m = { .access = number(4), .key = number(4) + 1 };
	uint64_t key = number(4) + 1;

	m.len = length();
	m.addr = address(m.len);
	if (one_in(2))
		call_sized(fd, O2GD_MEM_ADD, &m);
	else
		ioctl(fd, O2GD_MEM_DROP, &key);
}

/* Ranks and peers of other jobs are given up, forgotten, and come again. */
static void peer_calls(int fd)
{
	uint32_t other = O2GD_OTHERS + (uint32_t)below(3);
	struct o2gd_peer add = { .peer = one_in(20) ? odd_number() : other,
				 .wire_rank = number(NRANKS) };
	uint32_t rank = number(NRANKS), which = one_in(3) ? rank : other;

	switch (below(20)) {
	case 0:
		ioctl(fd, O2GD_PEER_DOWN, &which);
		break;
	case 1:
		ioctl(fd, O2GD_PEER_FORGET, &rank);
		break;
	case 2 ... 4:
		ioctl(fd, O2GD_PEER_FORGET, &other);
		break;
	default:
		call_sized(fd, O2GD_PEER_ADD, &add);
	}
}

void small_calls(int fd)
{
	struct o2gd_wait w = { .seen = odd_number(), .timeout_ms = below(20) };
	struct o2gd_fetch f = { .slot = number(NSLOTS), .len = length() };
	struct o2gd_peer_info pi = { .peer = number(NRANKS) };
	static _Thread_local struct o2gd_counter all[64];
	struct o2gd_counters c = {
		.id = one_in(4) ? odd_number() : 0,
		.peer = one_in(2) ? O2GD_ANY : number(NRANKS),
		.entry = one_in(8) ? odd_number() : sizeof(all[0]),
		.max = below(64),
		.addr = (uintptr_t)all
	};
	struct pollfd p = { fd, POLLIN, 0 };
	uint32_t n = number(NSLOTS), ms = below(10);

	switch (below(10)) {
	case 0:
		ioctl(fd, O2GD_WAIT, &w);
		break;
	case 1:
		f.addr = address(f.len);
		ioctl(fd, O2GD_FETCH, &f);
		break;
	case 2:
		ioctl(fd, O2GD_PEER_INFO, &pi);
		break;
	case 3:
		if (c.entry != sizeof(all[0]) || one_in(8))
			c.addr = address(MEMORY / 2);
		ioctl(fd, O2GD_COUNTERS, &c);
		break;
	case 4:
		poll(&p, 1, below(5));
		break;
	case 5:
		ioctl(fd, O2GD_CANCEL, &n);
		break;
	case 6:
		if (one_in(30))
			ioctl(fd, O2GD_BYE, &ms);
		break;
	case 7:
		n = one_in(50) ? odd_number() : below(4 * NSLOTS);
		ioctl(fd, O2GD_GROW, &n);
		break;
	case 8:
		peer_calls(fd);
		break;
	default:
		ioctl(fd, O2GD_KICK);
	}
}

/* From outside, at endpoints that others are just using or closing. */
static void look(int fd)
{
	static _Thread_local struct o2gd_list_entry entries[8];
	struct o2gd_list l = { .max = below(9),
			       .addr = (uintptr_t)entries,
			       .entry = sizeof(entries[0]) };
	struct o2gd_look q = { .max = number(20),
			       .entry = one_in(8) ? odd_number() : 64 };

	if (one_in(8)) { /* the driver may well write as much as it is told */
		l.max = odd_number();
		l.entry = odd_number();
		l.addr = address(MEMORY / 2);
	}
	if (ioctl(fd, O2GD_LIST, &l))
		return;
	q.id = one_in(8) ? odd_number() : entries[below(8)].id;
	q.addr = address(q.max * 64ul);
	ioctl(fd, one_in(2) ? O2GD_QUEUES : O2GD_PAPER_SOCKS, &q);
}

/* Take completions as a library would, or spoil the mapped memory. */
static void rings(int i)
{
	struct o2gd_shared *sh = eps[i].area;
	struct o2gd_setup *s = &eps[i].setup;
	struct o2gd_sqe *sq;

	if (!sh || !eps[i].size)
		return;
	switch (below(8)) {
	case 0:
		((uint32_t *)sh)[below(sizeof(*sh) / 4)] = odd_number();
		break;
	case 1:
		((volatile unsigned char *)sh)[below(eps[i].size)] = rnd();
		break;
	case 2:
	case 3:
		sq = (void *)((char *)sh + s->sq_off);
		fill_sqe(&sq[sh->sq_tail & (s->sq_entries - 1)]);
		sq[sh->sq_tail & (s->sq_entries - 1)].op = O2GD_OP_RECV;
		__atomic_add_fetch(&sh->sq_tail, 1, __ATOMIC_SEQ_CST);
		ioctl(eps[i].fd, O2GD_KICK);
		break;
	default:
		__atomic_add_fetch(&sh->cq_head, below(4), __ATOMIC_SEQ_CST);
	}
}

/* As the driver names a request: how often its slot was used before, and which it is. */
static uint64_t request(void)
{
	return (1 + below(one_in(4) ? 200 : 8)) << 32 | (1 + below(NSLOTS));
}

/* Packets as a peer sends them, with some fields that it would not. */
static void wire_packet(int i)
{
	struct o2g_hdr h = { .type = 1 + below(O2G_PKT_MAX - 1),
			     .flags = one_in(3) ? below(16) :
				      one_in(4) ? 16u << below(3) :
						  0,
			     .credit = one_in(3) ? number(65536) : 0,
			     .src = RAW_RANK,
			     .dst = first_rank + i,
			     .tag = tag(),
			     .cookie = one_in(2) ? number(8) : request(),
			     .aux = number(4096) };

	if (h.type == O2G_PKT_ATOMIC && !one_in(4)) {
		h.tag = number(4) + 1;
		h.aux = o2g_wire_atomic(number(4096), below(14), below(11));
	}
	if (one_in(20))
		h.src = odd_number();
	fuzz_send(raws[i], &h);
}

/* Any descriptor of the device: of both kinds, or of none. */
static int any_endpoint(void)
{
	return one_in(2) ? eps[below(NEPS)].fd : paper_fd();
}

static void one_thing(void)
{
	int i = below(NEPS);

	if (one_in(3)) {
		paper_thing(eps[i].fd, socks[below(NSOCKS)]);
		return;
	}
	switch (below(16)) {
	case 0 ... 4:
		submit(eps[i].fd);
		break;
	case 5:
	case 6:
		if (one_in(2))
			inject(eps[i].fd);
		else
			burst(eps[i].fd);
		break;
	case 7:
		probe(eps[i].fd);
		break;
	case 8:
		memory_calls(eps[i].fd);
		break;
	case 9:
		rings(i);
		break;
	case 10:
	case 11:
		wire_packet(i);
		break;
	case 12:
		if (one_in(4))
			socket_calls(i);
		break;
	case 13:
		if (one_in(8))
			surroundings(i);
		break;
	case 14:
		look(any_endpoint());
		break;
	default:
		small_calls(one_in(20) ? paper_fd() : eps[i].fd);
	}
}

/* Where the kernel can make allocations fail for a thread, let it. */
static void let_fail(void)
{
	int fd = open("/proc/thread-self/make-it-fail", O_WRONLY);

	if (fd < 0)
		return;
	if (write(fd, "1", 1) < 0)
		perror("make-it-fail");
	close(fd);
}

/* Its own memory is not always there. Then something else. */
static _Thread_local sigjmp_buf next_thing;

static void on_fault(int sig)
{
	(void)sig;
	siglongjmp(next_thing, 1);
}

static void many_things(void)
{
	sigsetjmp(next_thing, 1);
	for (;;)
		one_thing();
}

static void *thread(void *arg)
{
	fuzz_seed((uintptr_t)arg);
	if (one_in(2))
		let_fail();
	many_things();
	return NULL;
}

static void live(uint64_t seed, uint32_t rank, const int between[NEPS])
{
	pthread_t t;
	int i;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGURG, SIG_IGN);
	fuzz_seed(seed);
	first_rank = rank;
	around_begin();
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* another user has none */
	for (i = 0; i < NEPS; i++)
		open_endpoint(i);
	join(between);
	paper_begin();
	for (i = 0; i < 2; i++)
		pthread_create(&t, NULL, thread,
			       (void *)(uintptr_t)(rnd() | 1));
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	many_things();
}

/* It may die of its own mistakes; SIGQUIT is what it says of the driver's. */
static int is_bad_end(int how)
{
	if (!WIFSIGNALED(how) || WTERMSIG(how) != SIGQUIT)
		return 0;
	fprintf(stderr, "fuzz_dev: the driver did what it must not\n");
	return 1;
}

/* Kill a process; it must be gone soon. */
static int end_of(pid_t pid)
{
	int i, how;

	kill(pid, SIGKILL);
	for (i = 0; i < WAIT_DEAD * 100; i++) {
		if (waitpid(pid, &how, WNOHANG) == pid)
			return is_bad_end(how);
		usleep(10000);
	}
	fprintf(stderr, "fuzz_dev: process %d does not die\n", pid);
	return 1;
}

/* Two processes with connections between them, which are killed one by one. */
static int two_lives(void)
{
	int between[2][NEPS], pair[2], i, bad = 0;
	pid_t pid[2];

	for (i = 0; i < NEPS; i++) {
		if (tcp_pair(pair))
			return 1;
		between[0][i] = pair[0];
		between[1][i] = pair[1];
	}
	for (i = 0; i < 2; i++) {
		uint64_t seed = rnd() | 1;

		pid[i] = fork();
		if (pid[i] < 0)
			return 1;
		if (!pid[i])
			live(seed, i ? NEPS : 0, between[i]);
	}
	for (i = 0; i < NEPS; i++)
		close(between[0][i]), close(between[1][i]);
	for (i = 0; i < 2; i++) {
		usleep(below(one_in(4) ? 1500000 : 300000));
		bad |= end_of(pid[i]);
	}
	return bad;
}

int main(int argc, char **argv)
{
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) :
				   (uint64_t)time(NULL);
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
	unsigned long lives = 0;

	if (argc > 1 && !strcmp(argv[1], AFTER_EXEC))
		return around_after_exec();
	printf("fuzz_dev: seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	fuzz_seed(seed * 2654435761u + 88172645463325252ull);
	while (time(NULL) < end) {
		if (two_lives())
			return 1;
		lives += 2;
	}
	around_end();
	printf("fuzz_dev: %lu processes\n", lives);
	return 0;
}
