/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * libo2g end to end, over every channel: each test forks a small job whose
 * endpoints find each other through a shared page, and runs one function in
 * every rank.
 */
/* sources: libo2g */
/* libs: -lnettle */
#include <pthread.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "unit.h"
#include "o2g.h"

#define MAX_RANKS 4
#define LIMIT_S 40

struct shared {
	char address[MAX_RANKS][O2G_ADDRESS_MAX];
	atomic_int ready, round;
	atomic_int word[8]; /* for the tests */
};

static struct shared *shared;
static struct o2g_ep *ep;
static int me, nranks;

#define CHECK(cond)                                                         \
	do {                                                                \
		if (!(cond)) {                                              \
			fprintf(stderr, "rank %d: %s:%d: %s\n", me,         \
				__FILE__, __LINE__, #cond);                 \
			_exit(1);                                           \
		}                                                           \
	} while (0)

static int resolve(void *arg, int rank, char *address, size_t size)
{
	snprintf(address, size, "%s", shared->address[rank]);
	return 0;
}

/* Everybody has come here n times. */
static void meet(atomic_int *counter)
{
	int n = atomic_fetch_add(counter, 1) + 1;
	int want = (n + nranks - 1) / nranks * nranks;

	while (atomic_load(counter) < want)
		usleep(200);
}

static void rank_main(void (*fn)(void))
{
	struct o2g_attr attr = { .rank = me, .size = nranks, .job = "test",
				 .resolve = resolve, .secret = "not very" };

	alarm(LIMIT_S);
	CHECK(o2g_open(&attr, &ep) == 0);
	CHECK(o2g_rank(ep) == me && o2g_size(ep) == nranks);
	CHECK(o2g_address(ep, shared->address[me], O2G_ADDRESS_MAX) == 0);
	meet(&shared->ready);
	fn();
	meet(&shared->round);
	o2g_close(ep);
	exit(0);
}

/* Runs fn in n ranks; may_die names a rank whose end does not matter. */
static void job(const char *channels, int n, void (*fn)(void), int may_die)
{
	pid_t pid[MAX_RANKS];
	int failed = 0;

	setenv("O2G_CHANNELS", channels, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	nranks = n;
	for (int i = 0; i < n; i++) {
		fflush(NULL);
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			me = i;
			rank_main(fn);
		}
	}
	for (int i = 0; i < n; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		if (status && i != may_die)
			failed++;
	}
	munmap(shared, sizeof(*shared));
	assert_int_equal(failed, 0);
}

static void fill(unsigned char *b, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		b[i] = (unsigned char)(seed + i * 7 + (i >> 8));
}

static void check_bytes(const unsigned char *b, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		CHECK(b[i] == (unsigned char)(seed + i * 7 + (i >> 8)));
}

/* --- the tests, as seen by one rank --- */

static void pingpong(void)
{
	static const size_t sizes[] = { 0, 1, 8, 9, 100, 4096, 8192, 8193,
					65536, 65537, 300000, 5 << 20 };
	unsigned char *b = malloc(5 << 20);
	struct o2g_status s;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		size_t n = sizes[i];

		if (me == 0) {
			fill(b, n, 3);
			CHECK(o2g_send(ep, 1, i, b, n, 0) == 0);
			memset(b, 0, n);
		}
		CHECK(o2g_recv(ep, 1 - me, i, 0, b, 5 << 20, &s) == 0);
		CHECK(s.length == n && s.source == 1 - me && s.tag == i);
		check_bytes(b, n, 3);
		if (me == 1)
			CHECK(o2g_send(ep, 0, i, b, n, 0) == 0);
	}
	free(b);
}

/* Many sends of random sizes to random ranks, all received and checked. */
static void storm(void)
{
	enum { N = 300, MAX = 100000 };
	static struct o2g_req *reqs[MAX_RANKS * N * 2];
	static unsigned char *bufs[MAX_RANKS * N * 2];
	unsigned n = 0, nrecv;

	for (int from = 0; from < nranks; from++) {
		for (unsigned i = 0; i < N; i++, n++) {
			struct o2g_seg s = { malloc(MAX), MAX };

			bufs[n] = s.base;
			CHECK(o2g_irecv(ep, from, i, 0, &s, 1, &reqs[n]) == 0);
		}
	}
	nrecv = n;
	for (unsigned i = 0; i < N; i++) {
		for (int to = 0; to < nranks; to++, n++) {
			size_t len = (i * 7919u + me * 31u) % (i % 9 ? 600 : MAX);
			struct o2g_seg s[2] = {
				{ malloc(len + 1), len / 3 }, { 0, 0 }
			};

			bufs[n] = s[0].base;
			fill(bufs[n], len, me + i);
			s[1].base = bufs[n] + len / 3;
			s[1].len = len - len / 3;
			CHECK(o2g_isend(ep, to, i, s, 2, i % 5 ? 0 : O2G_SYNC,
					&reqs[n]) == 0);
		}
	}
	for (unsigned i = 0; i < n; i++) {
		struct o2g_status s;

		CHECK(o2g_wait(reqs[i], &s) == 0);
		if (i < nrecv)
			check_bytes(bufs[i], s.length, s.source + s.tag);
		free(bufs[i]);
	}
}

static void wildcards(void)
{
	struct o2g_status s;
	char b[16];

	if (me != 0) {
		CHECK(o2g_send(ep, 0, 0x100 + me, "xxxx", me, 0) == 0);
		CHECK(o2g_send(ep, 0, 0x200, "done", 4, 0) == 0);
		return;
	}
	for (int i = 1; i < nranks; i++) {
		CHECK(o2g_recv(ep, O2G_ANY_SOURCE, 0x100, 0xff, b, 16, &s) == 0);
		CHECK(s.tag == 0x100u + s.source &&
		      s.length == (size_t)s.source);
	}
	for (int i = 1; i < nranks; i++)
		CHECK(o2g_recv(ep, O2G_ANY_SOURCE, 0x200, 0, b, 16, &s) == 0 &&
		      s.length == 4);
}

static void probing(void)
{
	unsigned char *b = malloc(200000);
	struct o2g_seg seg = { b, 200000 };
	struct o2g_status s;
	struct o2g_msg *msg;
	struct o2g_req *r;

	if (me == 1) {
		fill(b, 200000, 1);
		CHECK(o2g_send(ep, 0, 7, b, 10, 0) == 0);
		CHECK(o2g_send(ep, 0, 8, b, 200000, 0) == 0);
	} else {
		CHECK(o2g_probe(ep, O2G_ANY_SOURCE, 8, 0, &s) == 0);
		CHECK(s.length == 200000 && s.source == 1);
		CHECK(o2g_iprobe(ep, 1, 9, 0, &s) == -EAGAIN);
		CHECK(o2g_mprobe(ep, 1, 0, ~0ull, &msg, &s) == 0);
		CHECK(s.tag == 7 && s.length == 10);
		CHECK(o2g_improbe(ep, 1, 7, 0, NULL, &s) == -EAGAIN);
		CHECK(o2g_imrecv(msg, &seg, 1, &r) == 0);
		CHECK(o2g_wait(r, &s) == 0 && s.length == 10);
		CHECK(o2g_mprobe(ep, 1, 8, 0, &msg, NULL) == 0);
		CHECK(o2g_imrecv(msg, &seg, 1, &r) == 0);
		CHECK(o2g_wait(r, &s) == 0);
		check_bytes(b, 200000, 1);
	}
	free(b);
}

static void cancelling(void)
{
	static char big[1 << 20];
	struct o2g_seg seg = { big, sizeof(big) };
	struct o2g_req *r;
	struct o2g_status s;

	if (me == 0) {
		CHECK(o2g_irecv(ep, 1, 1, 0, &seg, 1, &r) == 0);
		CHECK(o2g_cancel(r) == 0);
		CHECK(o2g_wait(r, &s) == -O2G_ERR_CANCELLED);
		/* a rendezvous send nobody has asked for */
		CHECK(o2g_isend(ep, 1, 2, &seg, 1, 0, &r) == 0);
		CHECK(o2g_cancel(r) == 0);
		CHECK(o2g_wait(r, &s) == -O2G_ERR_CANCELLED);
		CHECK(o2g_send(ep, 1, 3, "go", 2, 0) == 0);
	} else {
		CHECK(o2g_recv(ep, 0, 3, 0, big, 2, &s) == 0);
		CHECK(o2g_iprobe(ep, 0, 2, 0, &s) == -EAGAIN);
	}
}

static void truncating(void)
{
	static char b[300000];
	struct o2g_status s;

	if (me == 1) {
		CHECK(o2g_send(ep, 0, 1, b, 100, 0) == 0);
		CHECK(o2g_send(ep, 0, 2, b, 300000, 0) == 0);
		CHECK(o2g_send(ep, 0, 3, b, 300000, 0) == 0);
		return;
	}
	CHECK(o2g_recv(ep, 1, 1, 0, b, 10, &s) == -O2G_ERR_TRUNCATED);
	CHECK(s.length == 10 && s.message_length == 100);
	CHECK(o2g_recv(ep, 1, 2, 0, b, 1000, &s) == -O2G_ERR_TRUNCATED);
	CHECK(s.length == 1000 && s.message_length == 300000);
	CHECK(o2g_recv(ep, 1, 3, 0, b, 0, &s) == -O2G_ERR_TRUNCATED);
}

static void putget(void)
{
	enum { N = 3 << 20 };
	unsigned char *mine = malloc(N), *b = malloc(N);
	struct o2g_key key, bad;
	struct o2g_mem *mem;
	struct o2g_seg seg = { b, N - 100 };
	struct o2g_req *r;
	struct o2g_status s;

	memset(mine, 0, N);
	CHECK(o2g_mem_register(ep, mine, N, O2G_READ | O2G_WRITE, &mem,
			       &key) == 0);
	if (me == 1) {
		CHECK(o2g_send(ep, 0, 1, &key, sizeof(key), 0) == 0);
		CHECK(o2g_recv(ep, 0, 2, 0, b, 0, &s) == 0);
		check_bytes(mine + 100, N - 100, 5);
	} else {
		CHECK(o2g_recv(ep, 1, 1, 0, &key, sizeof(key), &s) == 0);
		fill(b, N - 100, 5);
		CHECK(o2g_put(ep, 1, &seg, 1, &key, 100, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		memset(b, 0, N);
		CHECK(o2g_get(ep, 1, &seg, 1, &key, 100, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		check_bytes(b, N - 100, 5);
		CHECK(o2g_get(ep, 1, &seg, 1, &key, 101, &r) == -ERANGE);
		bad = key;
		bad.key ^= 1ull << 40;
		bad.base = 8; /* an address nobody has */
		CHECK(o2g_put(ep, 1, &seg, 1, &bad, 0, &r) == 0);
		CHECK(o2g_wait(r, NULL) != 0);
		CHECK(o2g_send(ep, 1, 2, b, 0, 0) == 0);
	}
	o2g_mem_deregister(mem);
	free(mine);
	free(b);
}

/* What a put (or get) of 8 bytes ends with. */
static int rma_error(int peer, int put, const struct o2g_key *key, uint64_t offset)
{
	static char b[8];
	struct o2g_seg seg = { b, sizeof(b) };
	struct o2g_status s;
	struct o2g_req *r;
	int err = (put ? o2g_put : o2g_get)(ep, peer, &seg, 1, key, offset, &r);

	if (!err) {
		err = o2g_wait(r, &s);
		CHECK(s.error == err);
	}
	return err;
}

/* Keys that are wrong, allow something else or are no more; memory stays as it
 * is. @first is how many are registered before. */
static void refuse(int peer, int first)
{
	static char mine[3][64];
	struct o2g_mem *mem[3], *more[first + 1];
	struct o2g_key key[3], bad;

	for (int i = 0; i < first; i++)
		CHECK(!o2g_mem_register(ep, mine, 8, O2G_READ, &more[i], key));
	for (int i = 0; i < 3; i++)
		CHECK(!o2g_mem_register(ep, mine[i], 64, (unsigned)i + 1,
					&mem[i], &key[i]));
	CHECK(!o2g_send(ep, peer, 1, key, sizeof(key), 0));
	CHECK(!o2g_recv(ep, peer, 1, 0, key, sizeof(key), NULL));
	CHECK(rma_error(peer, 0, &key[0], 0) == 0);
	CHECK(rma_error(peer, 1, &key[0], 0) == -EACCES);
	CHECK(rma_error(peer, 0, &key[1], 0) == -EACCES);
	CHECK(rma_error(peer, 1, &key[1], 56) == 0);
	CHECK(rma_error(peer, 1, &key[2], 57) == -ERANGE);
	bad = key[2];
	bad.len = 1 << 20;
	CHECK(rma_error(peer, 1, &bad, 57) == -ERANGE);
	bad.key ^= 1ull << 40;
	CHECK(rma_error(peer, 0, &bad, 0) == -ENOENT);
	bad.key = 0;
	CHECK(rma_error(peer, 1, &bad, 0) == -ENOENT);
	CHECK(!o2g_send(ep, peer, 2, mine, 0, 0));
	CHECK(!o2g_recv(ep, peer, 2, 0, mine, 0, NULL));
	o2g_mem_deregister(mem[2]);
	CHECK(!o2g_send(ep, peer, 3, mine, 0, 0));
	CHECK(!o2g_recv(ep, peer, 3, 0, mine, 0, NULL));
	CHECK(rma_error(peer, 1, &key[2], 0) == -ENOENT);
	CHECK(rma_error(peer, 0, &key[2], 0) == -ENOENT);
	CHECK(!o2g_send(ep, peer, 4, mine, 0, 0));
	CHECK(!o2g_recv(ep, peer, 4, 0, mine, 0, NULL));
	o2g_mem_deregister(mem[0]);
	o2g_mem_deregister(mem[1]);
	for (int i = 0; i < first; i++)
		o2g_mem_deregister(more[i]);
}

static void refused(void)
{
	refuse(!me, 0);
	refuse(!me, 255);
	refuse(me, 0);
}

static void descriptor(void)
{
	static char b[1 << 20];
	struct o2g_seg seg = { b, sizeof(b) };
	struct o2g_status s;
	struct o2g_req *r;
	struct pollfd p = { .events = POLLIN };

	if (me == 1) {
		CHECK(o2g_recv(ep, 0, 0, 0, b, 1, NULL) == 0);
		usleep(50000);
		CHECK(o2g_send(ep, 0, 1, b, sizeof(b), 0) == 0);
		return;
	}
	p.fd = o2g_fd(ep);
	CHECK(p.fd >= 0);
	CHECK(o2g_irecv(ep, 1, 1, 0, &seg, 1, &r) == 0);
	CHECK(o2g_send(ep, 1, 0, b, 1, 0) == 0);
	o2g_fd_clear(ep);
	while (!o2g_is_done(r)) {
		CHECK(poll(&p, 1, 10000) == 1);
		o2g_fd_clear(ep);
	}
	CHECK(o2g_test(r, &s) == 1 && s.length == sizeof(b));
	o2g_fd_clear(ep);
	CHECK(poll(&p, 1, 0) == 0);
}

static void wait_any(void)
{
	char b[4];
	struct o2g_seg seg = { b, 1 };
	struct o2g_req *reqs[4] = { NULL };
	size_t index;

	if (me == 1) {
		CHECK(o2g_send(ep, 0, 2, "c", 1, 0) == 0);
		CHECK(o2g_recv(ep, 0, 9, 0, b, 1, NULL) == 0);
		CHECK(o2g_send(ep, 0, 0, "a", 1, 0) == 0);
		return;
	}
	CHECK(o2g_wait_any(ep, reqs, 4, &index, NULL) == -ENOENT);
	CHECK(o2g_irecv(ep, 1, 0, 0, &seg, 1, &reqs[0]) == 0);
	CHECK(o2g_irecv(ep, 1, 2, 0, &seg, 1, &reqs[2]) == 0);
	CHECK(o2g_wait_any(ep, reqs, 4, &index, NULL) == 0 && index == 2);
	reqs[2] = NULL;
	CHECK(o2g_send(ep, 1, 9, b, 1, 0) == 0);
	CHECK(o2g_wait_any(ep, reqs, 4, &index, NULL) == 0 && index == 0);
}

/* Statuses are filled when one has failed, and then all of them. */
static void wait_errors(void)
{
	static const struct o2g_status before = { .error = 77, .tag = 77 };
	struct o2g_status st[4] = { before, before, before, before };
	struct o2g_req *reqs[4] = { NULL };
	char b[3][8];

	if (me == 1) {
		for (int round = 0; round < 2; round++)
			for (int i = 0; i < 3; i++)
				CHECK(o2g_send(ep, 0, i, "12345678",
					       round && i == 1 ? 8 : 4, 0) == 0);
		return;
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 3; i++) {
			struct o2g_seg seg = { b[i], 4 };

			CHECK(o2g_irecv(ep, 1, i, 0, &seg, 1, &reqs[i]) == 0);
		}
		CHECK(o2g_wait_errors(ep, reqs, 4, st) ==
		      (round ? -O2G_ERR_TRUNCATED : 0));
		if (!round)
			for (int i = 0; i < 4; i++)
				CHECK(!memcmp(&st[i], &before, sizeof(before)));
	}
	CHECK(st[0].error == 0 && st[2].error == 0 && st[2].tag == 2);
	CHECK(st[1].error == -O2G_ERR_TRUNCATED && st[1].message_length == 8);
}

/* A word that goes to and fro; now and then somebody has to be woken. */
static int word_is_ours(void *arg)
{
	return atomic_load(&shared->word[0]) % 2 == me;
}

static void wait_shared(void)
{
	unsigned *asleep = (unsigned *)&shared->word[1];
	int other = !me;

	CHECK(o2g_nudge(ep, &other, 1) == 0); /* connects */
	for (int i = 0; i < 400; i++) {
		CHECK(o2g_wait_shared(ep, word_is_ours, NULL, asleep) == 0);
		if (i % 50 == 0)
			usleep(3000); /* the other one falls asleep */
		atomic_fetch_add(&shared->word[0], 1);
		if (__atomic_load_n(asleep, __ATOMIC_SEQ_CST)) {
			atomic_fetch_add(&shared->word[2], 1);
			CHECK(o2g_nudge(ep, &other, 1) == 0);
		}
	}
	meet(&shared->word[3]);
	CHECK(*asleep == 0 && atomic_load(&shared->word[2]) > 0);
}

/* While one rank computes, what was started with it completes. */
static void busy_peer(void)
{
	enum { N = 4 << 20 };
	unsigned char *b = malloc(N);
	struct o2g_seg seg = { b, N };
	struct o2g_req *r;

	fill(b, N, 9);
	if (me == 1) {
		uint64_t end;

		CHECK(o2g_isend(ep, 0, 1, &seg, 1, 0, &r) == 0);
		for (end = o2g_now_us() + 10000000; o2g_now_us() < end;)
			if (atomic_load(&shared->word[0]))
				break;
		CHECK(atomic_load(&shared->word[0]) == 1);
		CHECK(o2g_wait(r, NULL) == 0);
	} else {
		memset(b, 0, N);
		usleep(20000);
		CHECK(o2g_recv(ep, 1, 1, 0, b, N, NULL) == 0);
		check_bytes(b, N, 9);
		atomic_store(&shared->word[0], 1);
	}
	free(b);
}

/* Without a call that says so, which no thread may do but this test. */
__attribute__((no_sanitize("thread"))) static bool comes(const unsigned char *b)
{
	uint64_t end = o2g_now_us() + 10000000;

	while (*(const volatile unsigned char *)b != 0xa5)
		if (o2g_now_us() > end)
			return false;
	return true;
}

/* All of every message arrives while the receiver computes: the end of a long one
 * as well as what comes after it. */
static void busy_receiver(void)
{
	static const unsigned sizes[] = { 40 << 10, 512 << 10, (512 << 10) + 1,
					  8, (3 << 20) + 7, 100 << 10, 1 };
	enum { COUNT = sizeof(sizes) / sizeof(*sizes) };
	struct o2g_req *r[COUNT];
	unsigned char *b[COUNT];

	for (unsigned i = 0; i < COUNT; i++) {
		struct o2g_seg seg = { malloc(sizes[i]), sizes[i] };

		b[i] = memset(seg.base, me == 1 ? 0xa5 : 0, sizes[i]);
		if (me == 1)
			CHECK(o2g_isend(ep, 0, i, &seg, 1, 0, &r[i]) == 0);
		else
			CHECK(o2g_irecv(ep, 1, i, 0, &seg, 1, &r[i]) == 0);
	}
	for (unsigned i = 0; i < COUNT && me == 0; i++)
		CHECK(comes(b[i] + sizes[i] - 1));
	for (unsigned i = 0; i < COUNT; i++) {
		CHECK(o2g_wait(r[i], NULL) == 0);
		free(b[i]);
	}
}

static void flood(void)
{
	enum { N = 20000, LEN = 4096 };
	struct o2g_req **reqs = calloc(N, sizeof(*reqs));
	static unsigned char b[LEN];
	struct o2g_seg seg = { b, LEN };
	struct o2g_ep_info info;

	if (me == 1) {
		for (unsigned i = 0; i < N; i++)
			CHECK(o2g_isend(ep, 0, i, &seg, 1, 0, &reqs[i]) == 0);
		atomic_store(&shared->word[0], 1);
		for (unsigned i = 0; i < N; i++)
			CHECK(o2g_wait(reqs[i], NULL) == 0);
	} else {
		while (!atomic_load(&shared->word[0]))
			usleep(1000);
		/* the last first */
		CHECK(o2g_recv(ep, 1, N - 1, 0, b, LEN, NULL) == 0);
		for (unsigned i = 0; i < N - 1; i++)
			CHECK(o2g_recv(ep, 1, i, 0, b, LEN, NULL) == 0);
		CHECK(o2g_ep_info(ep, &info) == 0);
		/* payload within O2G_UNEXPECTED, envelopes beside it */
		CHECK(info.unexpected_peak < (1 << 20) + N * 320);
		CHECK(info.unexpected == 0);
	}
	free(reqs);
}

static void *thread_main(void *arg)
{
	uint64_t tag = (uintptr_t)arg;
	unsigned char b[256];

	for (int i = 0; i < 300; i++) {
		if (me == 0) {
			fill(b, 256, tag + i);
			CHECK(o2g_send(ep, 1, tag, b, 256, 0) == 0);
			CHECK(o2g_recv(ep, 1, tag, 0, b, 256, NULL) == 0);
		} else {
			CHECK(o2g_recv(ep, 0, tag, 0, b, 256, NULL) == 0);
			CHECK(o2g_send(ep, 0, tag, b, 256, 0) == 0);
		}
		check_bytes(b, 256, tag + i);
	}
	return NULL;
}

static void threads(void)
{
	pthread_t t[4];

	for (uintptr_t i = 0; i < 4; i++)
		CHECK(!pthread_create(&t[i], NULL, thread_main, (void *)i));
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
}

static void to_self(void)
{
	static char out[200000], in[200000];
	struct o2g_seg so = { out, sizeof(out) }, si = { in, sizeof(in) };
	struct o2g_req *s, *r;
	int other = 1 - me;

	memset(out, 'a' + me, sizeof(out));
	CHECK(o2g_send(ep, me, 1, out, 100, 0) == 0);
	CHECK(o2g_isend(ep, me, 2, &so, 1, O2G_SYNC, &s) == 0);
	CHECK(o2g_recv(ep, me, 1, 0, in, 100, NULL) == 0);
	CHECK(o2g_irecv(ep, O2G_ANY_SOURCE, 2, 0, &si, 1, &r) == 0);
	CHECK(o2g_wait(r, NULL) == 0 && o2g_wait(s, NULL) == 0);
	CHECK(!memcmp(in, out, sizeof(in)));
	CHECK(o2g_send(ep, other, 3, out, 1, 0) == 0);
	CHECK(o2g_recv(ep, other, 3, 0, in, 1, NULL) == 0);
	CHECK(in[0] == 'a' + other);
}

/* --- views: every byte has its place at the far end, backwards --- */

struct backwards {
	struct o2g_view view;
	unsigned char *end;
	size_t moved;
};

static void read_backwards(const struct o2g_view *v, uint64_t off, void *to,
			   size_t n)
{
	struct backwards *b = (struct backwards *)v;

	for (size_t i = 0; i < n; i++)
		((unsigned char *)to)[i] = b->end[-1 - (long)(off + i)];
	b->moved += n;
}

static void write_backwards(const struct o2g_view *v, uint64_t off,
			    const void *from, size_t n)
{
	struct backwards *b = (struct backwards *)v;

	for (size_t i = 0; i < n; i++)
		b->end[-1 - (long)(off + i)] = ((unsigned char *)from)[i];
	b->moved += n;
}

/* Send @n of @out, receive up to @room into @in, each as a view or plain. */
static void exchange(int to, unsigned char *out, bool out_view, size_t n,
		     unsigned char *in, bool in_view, size_t room)
{
	struct backwards o = { { read_backwards, NULL }, out + n, 0 };
	struct backwards i = { { NULL, write_backwards }, in + room, 0 };
	struct o2g_seg so = { out_view ? (void *)&o : out, n };
	struct o2g_seg si = { in_view ? (void *)&i : in, room };
	size_t got = n < room ? n : room;
	struct o2g_req *s, *r;
	struct o2g_status st;

	memset(in, 0, room);
	CHECK(o2g_irecv(ep, to, 5, 0, &si, in_view ? O2G_VIEW : 1, &r) == 0);
	CHECK(o2g_isend(ep, to, 5, &so, out_view ? O2G_VIEW : 1, 0, &s) == 0);
	CHECK(o2g_wait(s, NULL) == 0);
	CHECK(o2g_wait(r, &st) == (n > room ? -O2G_ERR_TRUNCATED : 0));
	CHECK(st.length == got && st.message_length == n);
	CHECK(!in_view || i.moved == got);
	CHECK(!out_view || o.moved >= got);
	for (size_t k = 0; k < got; k++)
		CHECK(out[out_view ? n - 1 - k : k] ==
		      in[in_view ? room - 1 - k : k]);
}

static void views(void)
{
	static const size_t sizes[] = { 0, 1, 8, 40, 1000, 8192, 9000, 65536,
					70000, 700001, 3 << 20 };
	unsigned char *out = malloc(3 << 20), *in = malloc(3 << 20);
	int other = 1 - me;

	fill(out, 3 << 20, 9); /* the same in both ranks */
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		for (int to = 0; to < 2; to++) {
			exchange(to, out, true, sizes[i], in, true, sizes[i]);
			exchange(to, out, true, sizes[i], in, false, sizes[i]);
			exchange(to, out, false, sizes[i], in, true, sizes[i]);
			exchange(to, out, true, sizes[i], in, true,
				 sizes[i] / 2);
			exchange(to, out, true, sizes[i], in, true,
				 sizes[i] ? 3 << 20 : 0);
		}
	}
	CHECK(o2g_put(ep, other, &(struct o2g_seg){ out, 1 }, O2G_VIEW, NULL,
		      0, NULL) == -EOPNOTSUPP);
	free(out);
	free(in);
}

/* A view whose message came before it was asked for, or never does. */
static void views_late(void)
{
	static unsigned char mem[100000];
	struct backwards v = { { read_backwards, write_backwards },
			       mem + sizeof(mem), 0 };
	struct o2g_seg seg = { &v, sizeof(mem) };
	struct o2g_req *r;
	struct o2g_msg *m;

	if (me == 0) {
		fill(mem, sizeof(mem), 1);
		seg.len = 5000;
		CHECK(o2g_isend(ep, 1, 1, &seg, O2G_VIEW, 0, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		seg.len = sizeof(mem);
		CHECK(o2g_isend(ep, 1, 2, &seg, O2G_VIEW, 0, &r) == 0);
		CHECK(o2g_wait(r, NULL) == 0);
		return;
	}
	CHECK(o2g_irecv(ep, 0, 3, 0, &seg, O2G_VIEW, &r) == 0);
	CHECK(o2g_cancel(r) == 0 && o2g_wait(r, NULL) == -O2G_ERR_CANCELLED);
	CHECK(o2g_probe(ep, 0, 1, 0, NULL) == 0);
	CHECK(o2g_irecv(ep, 0, 1, 0, &seg, O2G_VIEW, &r) == 0);
	CHECK(o2g_wait(r, NULL) == 0 && v.moved == 5000);
	for (size_t i = sizeof(mem) - 5000; i < sizeof(mem); i++)
		CHECK(mem[i] == (unsigned char)(1 + i * 7 + (i >> 8)));
	CHECK(o2g_mprobe(ep, 0, 2, 0, &m, NULL) == 0);
	CHECK(o2g_imrecv(m, &seg, O2G_VIEW, &r) == 0);
	CHECK(o2g_wait(r, NULL) == 0 && v.moved == 5000 + sizeof(mem));
	check_bytes(mem, sizeof(mem), 1);
}

/* Rank 1 dies; rank 0 learns of it in all that needs rank 1. */
static void death(void)
{
	static char b[1 << 20];
	struct o2g_seg seg = { b, sizeof(b) };
	struct o2g_req *r[3];
	struct o2g_peer_info info;
	char text[256];
	uint64_t start;

	if (me == 1) {
		CHECK(o2g_recv(ep, 0, 1, 0, b, 1, NULL) == 0);
		CHECK(o2g_send(ep, 0, 1, b, 1, 0) == 0);
		/* what close would wait for never comes */
		atomic_fetch_add(&shared->round, 1);
		usleep(100000);
		kill(getpid(), SIGKILL);
	}
	CHECK(o2g_send(ep, 1, 1, b, 1, 0) == 0);
	CHECK(o2g_recv(ep, 1, 1, 0, b, 1, NULL) == 0);
	CHECK(o2g_irecv(ep, 1, 2, 0, &seg, 1, &r[0]) == 0);
	CHECK(o2g_irecv(ep, O2G_ANY_SOURCE, 3, 0, &seg, 1, &r[1]) == 0);
	CHECK(o2g_isend(ep, 1, 4, &seg, 1, 0, &r[2]) == 0);
	start = o2g_now_us();
	for (int i = 0; i < 3; i++)
		CHECK(o2g_wait(r[i], NULL) == -O2G_ERR_PEER);
	CHECK(o2g_now_us() - start < 2000000);
	CHECK(o2g_peer_info(ep, 1, &info) == 0 && !info.alive);
	CHECK(o2g_peer_error(ep, 1, text, sizeof(text)) == 0);
	CHECK(strstr(text, "rank 1 on "));
	CHECK(o2g_send(ep, 1, 5, b, 1, 0) == -O2G_ERR_PEER);
	CHECK(o2g_recv(ep, 1, 5, 0, b, 1, NULL) == -O2G_ERR_PEER);
}

/* The last rank ends before anybody has talked to it. */
static void death_unheard(void)
{
	char b[1], text[256];
	int last = nranks - 1;

	if (me == last) {
		atomic_fetch_add(&shared->round, 1);
		_exit(0);
	}
	if (me == 0)
		CHECK(o2g_recv(ep, last, 1, 0, b, 1, NULL) == -O2G_ERR_PEER);
	if (me == 1)
		CHECK(o2g_probe(ep, last, 1, 0, NULL) == -O2G_ERR_PEER);
	if (me == 2)
		CHECK(o2g_recv(ep, O2G_ANY_SOURCE, 1, 0, b, 1, NULL) ==
		      -O2G_ERR_PEER);
	CHECK(o2g_peer_error(ep, last, text, sizeof(text)) == 0);
	CHECK(strstr(text, "rank 3 on ") && strstr(text, "has ended"));
}

/* Rounds in which both send and receive, each begun by the end of the last. */
struct relay {
	struct o2g_work work;
	struct o2g_req *reqs[2];
	char in, out;
	uint64_t tag;
	int round, rounds;
	atomic_int ended;
};

static void next_round(struct relay *r)
{
	struct o2g_seg in = { &r->in, 1 }, out = { &r->out, 1 };

	do {
		for (int i = 0; r->round && i < 2; i++)
			CHECK(o2g_wait(r->reqs[i], NULL) == 0);
		CHECK(!r->round || r->in == (char)r->round);
		if (r->round++ == r->rounds) {
			atomic_store(&r->ended, 1);
			return;
		}
		r->out = (char)r->round;
		CHECK(!o2g_irecv(ep, 1 - me, r->tag, 0, &in, 1, &r->reqs[0]));
		CHECK(!o2g_isend(ep, 1 - me, r->tag, &out, 1, O2G_SYNC,
				 &r->reqs[1]));
	} while (o2g_after(ep, r->reqs, 2, &r->work));
}

static void relay_work(struct o2g_work *w)
{
	next_round((struct relay *)w);
}

static int has_ended(void *arg)
{
	return atomic_load(&((struct relay *)arg)->ended);
}

/* Work goes on while the program computes, while it waits for something else,
 * and while it polls; and wakes those who wait for it. */
static void work(void)
{
	struct relay r[3] = { 0 };
	char c;

	for (int i = 0; i < 3; i++) {
		r[i].work.fn = relay_work;
		r[i].tag = 10 + i;
		r[i].rounds = 50;
		next_round(&r[i]);
		if (i == 0)
			while (!has_ended(&r[i]))
				usleep(1000);
		if (i == 1 && me == 0)
			CHECK(o2g_wait_until(ep, has_ended, &r[i], -1) == 0);
		if (i == 1 && me == 0)
			CHECK(o2g_send(ep, 1, 1, "x", 1, 0) == 0);
		if (i == 1 && me == 1)
			CHECK(o2g_recv(ep, 0, 1, 0, &c, 1, NULL) == 0);
		while (!has_ended(&r[i]))
			o2g_progress(ep);
	}
}

/* True when asked for the n-th time, and never again: as one that takes what it
 * finds, such as a matched probe. */
static int now_or_never(void *arg)
{
	return --*(int *)arg == 0;
}

/* Whoever asks it believes the answer: wherever waiting asks. */
static void asked_once(void)
{
	for (int at = 1; at <= 20; at++) {
		int left = at, ret;

		while ((ret = o2g_wait_until(ep, now_or_never, &left, 2000)))
			CHECK(ret == -ETIMEDOUT && left > 0);
		CHECK(left == 0);
	}
}

static void idle_costs_nothing(void)
{
	struct timespec a, z;
	char c;

	if (me == 1) {
		usleep(1500000);
		CHECK(o2g_send(ep, 0, 1, "x", 1, 0) == 0);
		return;
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	CHECK(o2g_recv(ep, 1, 1, 0, &c, 1, NULL) == 0);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &z);
	CHECK((z.tv_sec - a.tv_sec) * 1000000000L + z.tv_nsec - a.tv_nsec <
	      50000000L);
}

/* --- each over each channel --- */

#define OVER(name, ranks, fn, may_die)                       \
	static void name##__shm(void **state)                \
	{                                                    \
		job("shm", ranks, fn, may_die);              \
	}                                                    \
	static void name##__tcp(void **state)                \
	{                                                    \
		job("tcp", ranks, fn, may_die);              \
	}

OVER(pingpong, 2, pingpong, -1)
OVER(storm, 3, storm, -1)
OVER(wildcards, 4, wildcards, -1)
OVER(probing, 2, probing, -1)
OVER(cancelling, 2, cancelling, -1)
OVER(truncating, 2, truncating, -1)
OVER(putget, 2, putget, -1)
OVER(refused, 2, refused, -1)
OVER(descriptor, 2, descriptor, -1)
OVER(wait_any, 2, wait_any, -1)
OVER(wait_errors, 2, wait_errors, -1)
OVER(busy_peer, 2, busy_peer, -1)
OVER(busy_receiver, 2, busy_receiver, -1)
OVER(threads, 2, threads, -1)
OVER(to_self, 2, to_self, -1)
OVER(asked_once, 2, asked_once, -1)
OVER(work, 2, work, -1)
OVER(views, 2, views, -1)
OVER(views_late, 2, views_late, -1)
OVER(death, 2, death, 1)
OVER(death_unheard, 4, death_unheard, 3)
OVER(idle_costs_nothing, 2, idle_costs_nothing, -1)

static void flood_limited(const char *channels)
{
	setenv("O2G_UNEXPECTED", "1M", 1);
	job(channels, 2, flood, -1);
	unsetenv("O2G_UNEXPECTED");
}
static void flood__shm(void **state)
{
	flood_limited("shm");
}
static void flood__tcp(void **state)
{
	flood_limited("tcp");
}

static void wait_shared__shm(void **state)
{
	job("shm", 2, wait_shared, -1);
}

static void two_copies__shm(void **state)
{
	setenv("O2G_SHM_GET", "0", 1);
	job("shm", 2, pingpong, -1);
	job("shm", 3, storm, -1);
	job("shm", 2, putget, -1);
	job("shm", 2, refused, -1);
	unsetenv("O2G_SHM_GET");
}

/* --- a child that was forked and ends --- */

static void forked(void)
{
	char byte = (char)me, got = -1;
	int other = !me, status;
	pid_t child;

	CHECK(o2g_send(ep, other, 1, &byte, 1, 0) == 0);
	CHECK(o2g_recv(ep, other, 1, 0, &got, 1, NULL) == 0);
	child = fork();
	if (!child) {
		o2g_close(ep);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(o2g_send(ep, other, 2, &byte, 1, 0) == 0);
	CHECK(o2g_recv(ep, other, 2, 0, &got, 1, NULL) == 0 && got == other);
}

static void forked__shm(void **state)
{
	job("shm", 2, forked, -1);
}

static void forked__tcp(void **state)
{
	job("tcp", 2, forked, -1);
}

/* Nobody can say where the peer is: an error, at once. */
static void unresolved(void **state)
{
	struct o2g_attr attr = { .rank = 0, .size = 2 };
	struct o2g_seg seg = { "x", 1 };
	struct o2g_req *req;
	struct o2g_ep *alone;

	assert_int_equal(o2g_open(&attr, &alone), 0);
	assert_int_equal(o2g_isend(alone, 1, 1, &seg, 1, 0, &req),
			 -EDESTADDRREQ);
	/* Flags of a version to come are not ignored. */
	assert_int_equal(o2g_isend(alone, 0, 1, &seg, 1, 2, &req), -EINVAL);
	assert_int_equal(o2g_send(alone, 0, 1, "x", 1, 3), -EINVAL);
	o2g_close(alone);
}

#define BOTH(name) cmocka_unit_test(name##__shm), cmocka_unit_test(name##__tcp)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		BOTH(pingpong),	  BOTH(storm),	    BOTH(wildcards),
		BOTH(probing),	  BOTH(cancelling), BOTH(truncating),
		BOTH(putget),	  BOTH(refused),    BOTH(descriptor), BOTH(wait_any),
		BOTH(busy_peer),  BOTH(busy_receiver),
		BOTH(threads),	  BOTH(to_self),
		BOTH(work),	  BOTH(asked_once), BOTH(wait_errors),
		cmocka_unit_test(wait_shared__shm),
		BOTH(views),	  BOTH(views_late),
		BOTH(death),	  BOTH(death_unheard),
		BOTH(flood),	    BOTH(idle_costs_nothing),
		cmocka_unit_test(two_copies__shm),
		BOTH(forked),	    cmocka_unit_test(unresolved),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
