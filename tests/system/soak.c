/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * soak [seconds [ranks [seed]]]: messages of random sizes between all pairs of a
 * few processes, every byte checked, round after round; in every other round one
 * of them is killed at some moment, and the others must say so, soon, having seen
 * nothing wrong before. Over the channels of O2G_CHANNELS.
 *
 * What is sent is a function of seed, source, destination and number, so both
 * sides know it. Processes nap now and then, inside and outside the library, so
 * that the ways to be woken are used as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "o2g.h"

#define MAX_RANKS 16
#define WINDOW 4 /* steps under way */
#define LARGEST (1 << 20)
#define ROUND_MS 400
#define PATIENCE_MS 20000

enum outcome { FINE, WRONG, LOST_PEER }; /* exit codes of a rank */

static struct shared {
	char address[MAX_RANKS][O2G_ADDRESS_MAX];
	atomic_int published, ended, killed;
	atomic_ullong messages, bytes;
} * shared;

static int ranks = 3;
static uint64_t round_seed;

static uint64_t mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ull;
	return x ^ x >> 32;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void nap_us(unsigned us)
{
	struct timespec t = { us / 1000000, us % 1000000 * 1000L };

	nanosleep(&t, NULL);
}

/* --- what a message is --- */

static uint64_t key_of(int from, int to, unsigned number)
{
	return mix(round_seed ^
		   mix((uint64_t)from << 40 ^ (uint64_t)to << 32 ^ number));
}

/* Mostly small; now and then up to LARGEST. */
static size_t size_of(uint64_t key)
{
	static const size_t limits[8] = { 16,	64,    64,    1500,
					  4096, 20000, 70000, LARGEST };

	return key % (limits[key >> 61] + 1);
}

static void fill(unsigned char *p, size_t n, uint64_t key)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t v = mix(key + i);

		memcpy(p + i, &v, n - i < 8 ? n - i : 8);
	}
}

static int is_right(const unsigned char *p, size_t n, uint64_t key)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t v = mix(key + i);

		if (memcmp(p + i, &v, n - i < 8 ? n - i : 8))
			return 0;
	}
	return 1;
}

/* --- a rank --- */

struct message {
	struct o2g_req *req;
	unsigned char *data;
	size_t size;
};

struct rank {
	struct o2g_ep *ep;
	int me;
	uint64_t random;
	struct message out[WINDOW][MAX_RANKS], in[WINDOW][MAX_RANKS];
};

static int resolve(void *arg, int rank, char *address, size_t size)
{
	snprintf(address, size, "%s", shared->address[rank]);
	return 0;
}

static int start_message(struct rank *r, struct message *m, int peer,
			 unsigned number, int send)
{
	uint64_t key = send ? key_of(r->me, peer, number) :
			      key_of(peer, r->me, number);
	struct o2g_seg seg;

	m->size = size_of(key);
	m->data = malloc(m->size + 1);
	seg = (struct o2g_seg){ m->data, m->size };
	if (!send)
		return o2g_irecv(r->ep, peer, number, 0, &seg, 1, &m->req);
	fill(m->data, m->size, key);
	return o2g_isend(r->ep, peer, number, &seg, 1, 0, &m->req);
}

static enum outcome judge(int err)
{
	if (!err)
		return FINE;
	if (err == -O2G_ERR_PEER)
		return LOST_PEER;
	fprintf(stderr, "soak: %s\n", o2g_strerror(err));
	return WRONG;
}

static enum outcome start_step(struct rank *r, unsigned number)
{
	for (int p = 0; p < ranks; p++) {
		struct message *in = &r->in[number % WINDOW][p];
		struct message *out = &r->out[number % WINDOW][p];
		int err;

		if (p == r->me)
			continue;
		err = start_message(r, in, p, number, 0);
		if (!err)
			err = start_message(r, out, p, number, 1);
		if (err)
			return judge(err);
	}
	return FINE;
}

static enum outcome end_message(struct message *m, uint64_t key, int received)
{
	struct o2g_status st;
	enum outcome o = judge(o2g_wait(m->req, &st));

	if (o == FINE && received &&
	    (st.length != m->size || !is_right(m->data, m->size, key))) {
		fprintf(stderr,
			"soak: a message of %zu bytes is wrong (%llu came)\n",
			m->size, (unsigned long long)st.length);
		o = WRONG;
	}
	free(m->data);
	m->req = NULL;
	atomic_fetch_add(&shared->messages, received);
	atomic_fetch_add(&shared->bytes, received ? m->size : 0);
	return o;
}

static enum outcome end_step(struct rank *r, unsigned number)
{
	for (int p = 0; p < ranks; p++) {
		struct message *in = &r->in[number % WINDOW][p];
		struct message *out = &r->out[number % WINDOW][p];
		enum outcome o;

		if (p == r->me)
			continue;
		o = end_message(in, key_of(p, r->me, number), 1);
		if (o == FINE)
			o = end_message(out, 0, 0);
		if (o != FINE)
			return o;
	}
	return FINE;
}

/* Sometimes be away, for a moment or for long enough to be asleep. */
static void idle(struct rank *r)
{
	r->random = mix(r->random + 1);
	if (r->random % 64 == 0)
		nap_us(20000);
	else if (r->random % 8 == 0)
		nap_us((unsigned)(r->random >> 32) % 1000);
}

/* All end at the same number: the lowest rank says which, in its messages. */
static enum outcome talk(struct rank *r)
{
	uint64_t end = now_ms() + ROUND_MS;
	unsigned number = 0;
	enum outcome o = FINE;
	int last = 0;

	while (o == FINE && !last) {
		int stop = r->me == 0 && now_ms() >= end;

		if (number >= WINDOW)
			o = end_step(r, number - WINDOW);
		if (o == FINE)
			o = start_step(r, number);
		idle(r);
		/* Everybody is told before the step after this one. */
		for (int p = 1; p < ranks && r->me == 0 && o == FINE; p++)
			o = judge(o2g_send(r->ep, p, 1ull << 40, &stop,
					   sizeof(stop), 0));
		if (r->me && o == FINE)
			o = judge(o2g_recv(r->ep, 0, 1ull << 40, 0, &stop,
					   sizeof(stop), NULL));
		number++;
		last = stop;
	}
	for (unsigned i = number < WINDOW ? 0 : number - WINDOW;
	     i < number && o == FINE; i++)
		o = end_step(r, i);
	return o;
}

static int run_rank(int me)
{
	struct o2g_attr attr = { .rank = me,
				 .size = ranks,
				 .job = "soak",
				 .local_size = (unsigned)ranks,
				 .resolve = resolve };
	static struct rank r;
	enum outcome o;
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	memset(attr.secret, 7, sizeof(attr.secret));
	r.me = me;
	r.random = key_of(me, me, 0);
	err = o2g_open(&attr, &r.ep);
	if (!err)
		err = o2g_address(r.ep, shared->address[me], O2G_ADDRESS_MAX);
	if (err) {
		fprintf(stderr, "soak: %s\n", o2g_strerror(err));
		return WRONG;
	}
	atomic_fetch_add(&shared->published, 1);
	while (atomic_load(&shared->published) < ranks)
		nap_us(200);
	o = talk(&r);
	/* Who ends early would be lost for those who are not there yet. */
	atomic_fetch_add(&shared->ended, 1);
	while (o == FINE && atomic_load(&shared->ended) < ranks &&
	       !atomic_load(&shared->killed))
		o2g_progress(r.ep);
	o2g_close(r.ep);
	return o;
}

/* --- rounds --- */

static int start_ranks(pid_t *pid)
{
	atomic_store(&shared->published, 0);
	atomic_store(&shared->ended, 0);
	atomic_store(&shared->killed, 0);
	for (int i = 0; i < ranks; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			return -errno;
		if (!pid[i])
			_exit(run_rank(i));
	}
	return 0;
}

/* Reap them all; true when each ended as it may. */
static int reap(pid_t *pid, int victim)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	int left = ranks, good = 1;

	while (left) {
		int st, i = 0;
		pid_t p = waitpid(-1, &st, WNOHANG);

		if (p <= 0 && now_ms() > end) {
			fprintf(stderr, "soak: %d ranks do not end\n", left);
			for (i = 0; i < ranks; i++)
				if (pid[i])
					kill(pid[i], SIGKILL);
			return 0;
		}
		if (p <= 0) {
			nap_us(1000);
			continue;
		}
		while (pid[i] != p)
			i++;
		pid[i] = 0;
		left--;
		if (i == victim || (WIFEXITED(st) && WEXITSTATUS(st) == FINE) ||
		    (victim >= 0 && WIFEXITED(st) &&
		     WEXITSTATUS(st) == LOST_PEER))
			continue;
		fprintf(stderr, "soak: rank %d ended with status %x\n", i, st);
		good = 0;
	}
	return good;
}

static int one_round(uint64_t seed, int with_kill)
{
	pid_t pid[MAX_RANKS];
	int victim = -1;

	round_seed = seed;
	if (start_ranks(pid))
		return 0;
	if (with_kill) {
		while (atomic_load(&shared->published) < ranks)
			nap_us(500);
		victim = (int)(seed % (uint64_t)ranks);
		nap_us((unsigned)(seed >> 20) % (ROUND_MS * 1000));
		kill(pid[victim], SIGKILL);
		atomic_store(&shared->killed, 1);
	}
	return reap(pid, victim);
}

int main(int argc, char **argv)
{
	uint64_t end, seed = argc > 3 ? strtoull(argv[3], NULL, 0) :
					(uint64_t)getpid();
	unsigned rounds = 0, kills = 0;
	int good = 1;

	end = now_ms() + 1000 * (uint64_t)(argc > 1 ? atoi(argv[1]) : 5);
	if (argc > 2)
		ranks = atoi(argv[2]);
	if (ranks < 2 || ranks > MAX_RANKS) {
		fprintf(stderr,
			"usage: soak [seconds [ranks, 2 to %d [seed]]]\n",
			MAX_RANKS);
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 2;
	while (good && now_ms() < end) {
		good = one_round(mix(seed + rounds), rounds & 1);
		kills += rounds++ & 1;
	}
	printf("seed %llu: %u rounds, %u kills, %llu messages, %llu MB%s\n",
	       (unsigned long long)seed, rounds, kills,
	       (unsigned long long)shared->messages,
	       (unsigned long long)shared->bytes / 1000000,
	       good ? "" : ": FAILED");
	return !good;
}
