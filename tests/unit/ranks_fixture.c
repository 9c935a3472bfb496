/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: base/lazy.c channel/body.c channel/shm/?*.c tests/mock/host.c */
/* sources: core/proto.c core/send.c core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c core/credit.c */
/* sources: core/match.c core/wild.c core/wire.c base/log.c base/nearest.c base/settings.c */
#include "ranks_fixture.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct host *ep;
struct shared *shared;
const struct chan_ops *ranks_ops = &shm_chan_ops;
void (*ranks_prepare)(void);

u32 other_rank(void)
{
	return !ep->rank;
}

struct host_peer *other_peer(void)
{
	return &ep->peers[other_rank()];
}

void meet(int n)
{
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	__atomic_fetch_add(&shared->arrived[n], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->arrived[n], __ATOMIC_SEQ_CST) < 2) {
		CHECK(o2g_now_us() < end);
		usleep(200);
	}
}

void meet_at_work(int n)
{
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	__atomic_fetch_add(&shared->arrived[n], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->arrived[n], __ATOMIC_SEQ_CST) < 2) {
		CHECK(o2g_now_us() < end);
		host_round(ep, 1);
	}
}

struct host *rank_open(u32 rank)
{
	char why[512] = "";
	struct host *h = host_create(rank, ranks_ops, why, sizeof(why));

	if (!h) {
		fprintf(stderr, "rank %u: open: %s\n", rank, why);
		_exit(1);
	}
	return h;
}

static void swap_cards(u32 me)
{
	CHECK(!ep->chan->ops->card(ep->chan, shared->cards[me],
				   sizeof(shared->cards[me])));
	meet(0);
	strcpy(other_peer()->card, shared->cards[!me]);
}

static pid_t start(u32 me, rank_fn *fn)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	/* cmocka caught them, and would go on with the next test. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	alarm(LIMIT_S);
	if (ranks_prepare)
		ranks_prepare();
	ep = rank_open(me);
	swap_cards(me);
	fn();
	host_destroy(ep, true);
	_exit(0);
}

void run(rank_fn *rank0, rank_fn *rank1, int status[2])
{
	pid_t pid[2];

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	pid[0] = start(0, rank0);
	pid[1] = start(1, rank1);
	for (int i = 0; i < 2; i++) {
		int s;
		pid_t who = wait(&s);

		assert_true(who == pid[0] || who == pid[1]);
		status[who == pid[1]] = WIFEXITED(s) ? WEXITSTATUS(s) :
						       -WTERMSIG(s);
	}
	munmap(shared, sizeof(*shared));
}

void run_well(rank_fn *rank0, rank_fn *rank1)
{
	int status[2];

	run(rank0, rank1, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], 0);
}

static u64 state;

void rnd_seed(u64 seed)
{
	state = seed;
}

u32 rnd(u32 below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

u8 byte_of(u32 message, u64 i)
{
	return message * 131 + i * 7 + (i >> 8);
}

#define ROUNDS 300

void sleepy(void)
{
	u64 begin, value = 0;
	struct host_req *q;

	host_peer(ep, other_rank());
	meet_at_work(1);
	begin = o2g_now_us();
	for (u64 i = 0; i < ROUNDS; i++) {
		if (i % 2 == ep->rank) {
			value = i;
			if (i % 3 == 0)
				usleep(500); /* time to fall asleep */
			q = host_send_buf(ep, other_rank(), 3, &value, 8);
			CHECK(host_until(ep, &q->done, 5000, true));
		} else {
			q = host_recv_buf(ep, other_rank(), 3, &value, 8);
			CHECK(host_until(ep, &q->done, 5000, true));
			CHECK(value == i);
		}
		host_req_free(q);
	}
	CHECK(ep->sleeps > ROUNDS / 10);
	CHECK(o2g_now_us() - begin < ROUNDS * 50000 / 4);
	meet_at_work(2);
}
