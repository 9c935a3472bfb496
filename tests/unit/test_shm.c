/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: channel/body.c channel/shm/shm.c channel/shm/seg.c channel/shm/conn.c channel/shm/death.c channel/shm/send.c channel/shm/recv.c channel/shm/doorbell.c channel/shm/cma.c channel/shm/keys.c core/proto.c core/send.c core/recv.c core/rma.c core/credit.c core/match.c core/wire.c base/log.c base/nearest.c base/settings.c tests/mock/chan_host.c */
/*
 * The shared-memory channel between two processes, under the real core. Every
 * test forks both ranks, so each reads its settings afresh and dies alone.
 */
#define _GNU_SOURCE
#include "chan_host.h"
#include "shm/shm.h"
#include "clock.h"

#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

#define LIMIT_S 30

/* In a rank: cmocka's asserts would jump back into the parent's runner. */
#define CHECK(cond)                                                       \
	do {                                                              \
		if (!(cond)) {                                            \
			fprintf(stderr, "%s:%d: rank %u: %s\n", __FILE__, \
				__LINE__, ep.core.rank, #cond);           \
			_exit(1);                                         \
		}                                                         \
	} while (0)

static struct chan_ep ep;

static struct {
	char cards[2][1024];
	int arrived[64];
} *shared;

typedef void rank_fn(void);

/* Both ranks pass the @n-th meeting together. */
static void meet(int n)
{
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	__atomic_fetch_add(&shared->arrived[n], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->arrived[n], __ATOMIC_SEQ_CST) < 2) {
		CHECK(o2g_now_us() < end);
		usleep(200);
	}
}

/* The same, making progress until the other is there. */
static void meet_at_work(int n)
{
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	__atomic_fetch_add(&shared->arrived[n], 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->arrived[n], __ATOMIC_SEQ_CST) < 2) {
		CHECK(o2g_now_us() < end);
		host_round(&ep, 1);
	}
}

static void swap_cards(u32 me)
{
	strcpy(shared->cards[me], ep.cards[me]);
	meet(0);
	strcpy(ep.cards[!me], shared->cards[!me]);
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
	CHECK(host_open(&ep, &shm_chan_ops, me, 2) == 0);
	swap_cards(me);
	fn();
	host_close(&ep);
	_exit(0);
}

/* Runs two ranks; the exit status of each, or minus the signal. */
static void run(rank_fn *rank0, rank_fn *rank1, int status[2])
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

static void run_well(rank_fn *rank0, rank_fn *rank1)
{
	int status[2];

	run(rank0, rank1, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], 0);
}

static u64 state;

static u32 rnd(u32 below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % below;
}

static u8 byte_of(u32 message, u64 i)
{
	return message * 131 + i * 7 + (i >> 8);
}

/* --- bytes arrive as they were sent --- */

#define MESSAGES 400
#define LONGEST (1u << 20)

static u32 length_of(u32 message)
{
	state = message * 77777u + 1;
	rnd(2);
	switch (rnd(5)) {
	case 0: return rnd(70);
	case 1: return rnd(3) * 8;
	case 2: return rnd(9000);
	case 3: return rnd(80000);
	default: return rnd(20) ? rnd(2000) : rnd(LONGEST);
	}
}

/* Cut @len bytes at @base into up to four segments, some of them empty. */
static u32 cut(struct o2g_seg *segs, char *base, u32 len, u32 message)
{
	u32 n = message % 4 + 1, at = 0;

	for (u32 i = 0; i < n; i++) {
		segs[i].base = base + at;
		segs[i].len = i == n - 1 ? len - at : rnd(len - at + 1);
		at += segs[i].len;
	}
	return n;
}

struct slot {
	struct host_req req;
	struct o2g_seg segs[4];
	char *buf;
	u32 message;
	bool busy;
};
#define SLOTS 8
static struct slot sends[SLOTS], recvs[SLOTS];

static void slots_init(void)
{
	for (int i = 0; i < SLOTS; i++) {
		sends[i].buf = malloc(LONGEST);
		recvs[i].buf = malloc(LONGEST);
		CHECK(sends[i].buf && recvs[i].buf);
	}
}

static void start_send(struct slot *s, u32 message)
{
	u32 len = length_of(message), n = cut(s->segs, s->buf, len, message);

	for (u32 i = 0; i < len; i++)
		s->buf[i] = byte_of(message, i);
	s->busy = true;
	host_isend(&ep, &s->req, !ep.core.rank, message, s->segs, n);
}

static void start_recv(struct slot *s, u32 message)
{
	u32 len = length_of(message);
	u32 n = cut(s->segs, s->buf, len, message + 1);

	s->message = message;
	s->busy = true;
	host_irecv(&ep, &s->req, !ep.core.rank, message, s->segs, n);
}

static void check_recv(struct slot *s)
{
	u32 len = length_of(s->message);

	CHECK(s->req.req.status == 0);
	CHECK(s->req.req.msg_len == len);
	for (u32 i = 0; i < len; i++)
		CHECK((u8)s->buf[i] == byte_of(s->message, i));
	s->busy = false;
}

/* Both directions at once, several messages under way in each. */
static void exchange(void)
{
	u32 to_send = 0, to_recv = 0, received = 0;
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	slots_init();
	while (received < MESSAGES || to_send < MESSAGES) {
		struct slot *s = &sends[to_send % SLOTS];
		struct slot *r = &recvs[to_recv % SLOTS];

		if (to_send < MESSAGES && (!s->busy || s->req.done))
			start_send(s, to_send++);
		if (to_recv < MESSAGES && !r->busy)
			start_recv(r, to_recv++);
		for (int i = 0; i < SLOTS; i++) {
			if (recvs[i].busy && recvs[i].req.done) {
				check_recv(&recvs[i]);
				received++;
			}
		}
		host_round(&ep, received % 7 ? 0 : 5);
		CHECK(o2g_now_us() < end);
		CHECK(!ep.lost[!ep.core.rank][0]);
	}
	for (int i = 0; i < SLOTS; i++)
		CHECK(host_until(&ep, &sends[i].req.done, 5000, false));
	meet_at_work(1);
}

static void exchange_get(void)
{
	exchange();
	CHECK(!ep.peers[!ep.core.rank].core.can_get || ep.core.stats.gets);
}

static void exchange__get(void **arg)
{
	run_well(exchange_get, exchange_get);
}

static void exchange_packets(void)
{
	ep.no_expose = true;
	exchange();
	CHECK(ep.core.stats.gets == 0);
	CHECK(ep.core.stats.data_recv > 0);
}

static void exchange__packets_only(void **arg)
{
	run_well(exchange_packets, exchange_packets);
}

/* Rings so small that nearly every packet has to wait for room. */
static void exchange__small_ring(void **arg)
{
	setenv("O2G_SHM_RING", "16k", 1);
	run_well(exchange_packets, exchange_packets);
	unsetenv("O2G_SHM_RING");
}

/* --- a full ring --- */

#define BURST 300

/* The receiver does nothing while the sender fills ring and queue. */
static void burst_send(void)
{
	static struct host_req req[BURST];
	static char buf[BURST][600];
	struct shm_link *l;

	for (int i = 0; i < BURST; i++) {
		struct o2g_seg seg = { buf[i], i % 2 ? 600 : 20 };

		memset(buf[i], i, sizeof(buf[i]));
		host_isend(&ep, &req[i], 1, i, &seg, 1);
	}
	l = ep.peers[1].link;
	CHECK(!o2g_list_empty(&l->queue));
	CHECK(l->tx.ring->waits);
	meet(1);
	for (int i = 0; i < BURST; i++)
		CHECK(host_until(&ep, &req[i].done, 5000, true));
	CHECK(o2g_list_empty(&l->queue));
	CHECK(!l->tx.ring->waits);
	CHECK(ep.sleeps > 0); /* ... and the receiver woke us */
	meet_at_work(2);
}

static void burst_recv(void)
{
	struct host_req req;
	char buf[600];

	meet(1);
	for (int i = 0; i < BURST; i++) {
		struct o2g_seg seg = { buf, sizeof(buf) };

		if (i % 50 == 0)
			usleep(2000);
		host_irecv(&ep, &req, 0, i, &seg, 1);
		CHECK(host_until(&ep, &req.done, 5000, false));
		CHECK(req.req.status == 0);
		CHECK(req.req.msg_len == (i % 2 ? 600 : 20));
		CHECK((u8)buf[0] == (u8)i && (u8)buf[19] == (u8)i);
	}
	meet_at_work(2);
}

static void full_ring__waits_and_wakes(void **arg)
{
	setenv("O2G_SHM_RING", "16k", 1);
	run_well(burst_send, burst_recv);
	unsetenv("O2G_SHM_RING");
}

/* --- sleeping --- */

#define ROUNDS 300

/* A wake-up that is missed costs 50 ms, the timeout of host_until's sleep. */
static void sleepy(void)
{
	u32 me = ep.core.rank;
	u64 begin, value = 0;
	struct o2g_seg seg = { &value, sizeof(value) };
	struct host_req req;

	host_peer(&ep, !me);
	meet_at_work(1);
	begin = o2g_now_us();
	for (u64 i = 0; i < ROUNDS; i++) {
		if (i % 2 == me) {
			value = i;
			if (i % 3 == 0)
				usleep(500); /* time to fall asleep */
			host_isend(&ep, &req, !me, 3, &seg, 1);
			CHECK(host_until(&ep, &req.done, 5000, true));
		} else {
			host_irecv(&ep, &req, !me, 3, &seg, 1);
			CHECK(host_until(&ep, &req.done, 5000, true));
			CHECK(value == i);
		}
	}
	CHECK(ep.sleeps > ROUNDS / 10);
	CHECK(o2g_now_us() - begin < ROUNDS * 50000 / 4);
	meet_at_work(2);
}

static void sleep__is_woken(void **arg)
{
	run_well(sleepy, sleepy);
}

/* The first packet of a sender that nobody has heard of wakes too. */
static void first_waits(void)
{
	char c;
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;
	u64 begin = o2g_now_us();

	host_irecv(&ep, &req, O2G_MATCH_ANY, 3, &seg, 1);
	while (!req.done) {
		host_round(&ep, 5000);
		CHECK(o2g_now_us() - begin < 4000000);
	}
	CHECK(req.req.peer->rank == 1 && c == 'x');
	CHECK(ep.peers[1].chan == ep.chan && ep.peers[1].link);
	CHECK(ep.peers[1].core.eager_max == o2g_settings()->shm_eager);
	host_isend(&ep, &req, 1, 4, &seg, 1);
	meet_at_work(1);
}

static void first_sends(void)
{
	char c = 'x';
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;

	usleep(50000);
	host_isend(&ep, &req, 0, 3, &seg, 1);
	host_irecv(&ep, &req, 0, 4, &seg, 1);
	CHECK(host_until(&ep, &req.done, 5000, true));
	meet_at_work(1);
}

static void first_contact__wakes(void **arg)
{
	run_well(first_waits, first_sends);
}

/* --- what we send goes another way, what it sends comes through here --- */

/* as much as the first credit allows: none comes back */
#define ONE_WAY \
	((int)((O2G_CREDIT_INIT - O2G_CREDIT_RESERVE) / (100 + O2G_COST)))

static int taken_elsewhere;

static int other_send(struct chan *c, struct chan_peer *p,
		      const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		      u64 len)
{
	taken_elsewhere++;
	return 0;
}

static void one_way_recv(void)
{
	static const struct chan_ops other_ops = { .send = other_send };
	struct chan elsewhere = { .ops = &other_ops, .ep = &ep };
	struct chan_peer *p = chan_ep_peer(&ep, 1);
	char buf[100];
	struct o2g_seg seg = { buf, sizeof(buf) };
	struct host_req req;

	p->chan = &elsewhere;
	p->link = &elsewhere;
	meet(1);
	for (int i = 0; i < ONE_WAY; i++) {
		host_irecv(&ep, &req, 1, i, &seg, 1);
		CHECK(host_until(&ep, &req.done, 5000, i % 2));
		CHECK(req.req.status == 0 && buf[99] == (char)i);
	}
	CHECK(p->chan == &elsewhere && p->link == &elsewhere);
	CHECK(taken_elsewhere > 0); /* the credit that it gets back */
	meet_at_work(2);
	/* It is gone: the other channel will say so, not this one. */
	for (int i = 0; i < 5; i++)
		host_round(&ep, 20);
	CHECK(!ep.lost[1][0] && p->link == &elsewhere);
}

static void one_way_send(void)
{
	char buf[100];
	struct o2g_seg seg = { buf, sizeof(buf) };
	struct host_req req;

	meet(1);
	for (int i = 0; i < ONE_WAY; i++) {
		memset(buf, i, sizeof(buf));
		host_isend(&ep, &req, 0, i, &seg, 1);
		CHECK(host_until(&ep, &req.done, 5000, true));
		usleep(i % 50 ? 0 : 1000);
	}
	meet_at_work(2);
}

static void one_way__receives_only(void **arg)
{
	run_well(one_way_recv, one_way_send);
}

/* --- the end --- */

static void outlive(void)
{
	char c = 0, d = 0;
	struct o2g_seg s1 = { &c, 1 }, s2 = { &d, 1 };
	struct host_req r1, r2;
	u64 begin;

	host_irecv(&ep, &r1, 1, 1, &s1, 1);
	host_irecv(&ep, &r2, 1, 2, &s2, 1);
	meet(1);
	begin = o2g_now_us();
	CHECK(host_until(&ep, &r2.done, 5000, true));
	CHECK(o2g_now_us() - begin < 1000000);
	/* What it sent before it died has arrived; the rest is an error. */
	CHECK(r1.done && r1.req.status == 0 && c == 'a');
	CHECK(r2.req.status == -O2G_ERR_PEER);
	CHECK(strstr(ep.lost[1], "process has ended"));
	CHECK(!ep.peers[1].link);
}

static void die(void)
{
	char c = 'a';
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;

	host_isend(&ep, &req, 0, 1, &seg, 1);
	CHECK(req.done);
	meet(1);
	kill(getpid(), SIGKILL);
}

static void killed__is_noticed(void **arg)
{
	int status[2];

	run(outlive, die, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], -SIGKILL);
}

/* As on a kernel without pidfds. */
static void outlive_by_timer(void)
{
	struct shm_link *l = host_peer(&ep, 1)->link;

	shm_unwatch_process(l);
	shm_watch_process(l, -1);
	CHECK(l->polled && !l->has_watch);
	outlive();
}

static void killed__is_noticed_by_timer(void **arg)
{
	int status[2];

	run(outlive_by_timer, die, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], -SIGKILL);
}

static void hear_bye(void)
{
	char c = 0;
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;
	struct chan_peer *p = host_peer(&ep, 1);

	host_irecv(&ep, &req, 1, 1, &seg, 1);
	CHECK(host_until(&ep, &req.done, 5000, true));
	CHECK(host_until(&ep, &p->core.said_bye, 5000, true));
	for (int i = 0; i < 10; i++)
		host_round(&ep, 20);
	CHECK(!ep.lost[1][0]);
	CHECK(p->link);
}

static void say_bye(void)
{
	char c = 1;
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;

	host_isend(&ep, &req, 0, 1, &seg, 1);
}

static void bye__is_no_loss(void **arg)
{
	run_well(hear_bye, say_bye);
}

/* It sends, says goodbye and exits before we have looked even once. */
static void hear_late(void)
{
	char c = 0;
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;

	usleep(300000);
	host_irecv(&ep, &req, 1, 1, &seg, 1);
	CHECK(host_until(&ep, &req.done, 5000, true));
	CHECK(req.req.status == 0 && c == 1);
	CHECK(!ep.lost[1][0]);
}

static void bye__before_first_poll(void **arg)
{
	run_well(hear_late, say_bye);
}

static void slam(void)
{
	host_peer(&ep, 0);
	meet_at_work(1);
	ep.chan->ops->disconnect(ep.chan, &ep.peers[0], false);
	meet(2);
}

static void hear_slam(void)
{
	char c;
	struct o2g_seg seg = { &c, 1 };
	struct host_req req;

	host_peer(&ep, 1);
	host_irecv(&ep, &req, 1, 1, &seg, 1);
	meet_at_work(1);
	CHECK(host_until(&ep, &req.done, 5000, true));
	CHECK(req.req.status == -O2G_ERR_PEER);
	CHECK(strstr(ep.lost[1], "closed the connection"));
	meet(2);
}

static void closed_without_bye__is_a_loss(void **arg)
{
	run_well(hear_slam, slam);
}

/* --- garbage --- */

static struct chan_ep other;

static void garble(struct shm_link *l, u32 seed)
{
	state = seed;
	for (u32 i = 0; i < 3; i++) {
		struct shm_cell *cell = shm_cell(&l->tx);

		for (u32 j = 8; j < sizeof(*cell); j++)
			((u8 *)cell)[j] = rnd(8) ? 0 : rnd(256);
		if (rnd(3) == 0)
			cell->bytes = rnd(200);
		l->tx.cell++;
		cell->ctl = shm_ctl(l->tx.cell,
				    rnd(4) ? rnd(O2G_PKT_MAX + 1) : SHM_MORE,
				    rnd(4), rnd(4));
		l->tx.cell += rnd(2);
	}
}

static void garbage_body(void)
{
	u32 lost = 0;

	for (u32 seed = 0; seed < 300; seed++) {
		host_close(&ep);
		CHECK(!host_open(&ep, &shm_chan_ops, 0, 2));
		CHECK(!host_open(&other, &shm_chan_ops, 1, 2));
		strcpy(other.cards[0], ep.cards[0]);
		host_peer(&other, 0);
		host_round(&ep, 0);
		CHECK(ep.peers[1].link);
		garble(other.peers[0].link, seed);
		host_round(&ep, 0);
		host_round(&ep, 0);
		if (ep.lost[1][0]) {
			lost++;
			CHECK(strstr(ep.lost[1], "malformed packet: "));
		}
		host_close(&other);
	}
	CHECK(lost > 200);
}

static void nothing(void)
{
}

static void garbage__loses_the_peer_only(void **arg)
{
	run_well(garbage_body, nothing);
}

/* A head that the receiver cannot have reached makes the sender wait. */
static void bad_head_body(void)
{
	struct host_req req;
	u64 v = 5;
	struct o2g_seg seg = { &v, sizeof(v) };
	struct shm_link *l;

	CHECK(!host_open(&other, &shm_chan_ops, 1, 2));
	strcpy(other.cards[0], ep.cards[0]);
	l = host_peer(&other, 0)->link;
	l->tx.ring->head = ~0ull;
	shm_see_head(&l->tx);
	host_isend(&other, &req, 0, 1, &seg, 1);
	CHECK(!req.done || shm_has_room(&l->tx, 0));
	host_close(&other);
}

static void bad_head__is_harmless(void **arg)
{
	run_well(bad_head_body, nothing);
}

/* --- where the memory is --- */

static int entries(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	while (d && (e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	if (d)
		closedir(d);
	return d ? n : -1;
}

static char dir[] = "/tmp/o2g-test-shm-XXXXXX";

static int make_dir(void **arg)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	setenv("O2G_SHM_DIR", dir, 1);
	return 0;
}

static int remove_dir(void **arg)
{
	unsetenv("O2G_SHM_DIR");
	umount(dir);
	return rmdir(dir);
}

static void no_names(void)
{
	CHECK(entries(dir) == 0);
	sleepy();
}

static void dir__has_no_names(void **arg)
{
	run_well(no_names, no_names);
}

/* A directory with room for the heads and not for the rings. */
static void no_room(void)
{
	int err;

	chan_ep_peer(&ep, !ep.core.rank);
	err = ep.chan->ops->connect(ep.chan, &ep.peers[!ep.core.rank],
				    ep.cards[!ep.core.rank]);
	CHECK(err == -ENOSPC);
	CHECK(!ep.peers[!ep.core.rank].link);
	CHECK(!host_round(&ep, 0));
	meet(1);
}

static void dir__full(void **arg)
{
	if (mount("tmpfs", dir, "tmpfs", 0, "size=64k"))
		skip(); /* only root may */
	run_well(no_room, no_room);
}

/* Room for one head of two: the channel says why it cannot be used. */
static void dir__no_room_at_all(void **arg)
{
	pid_t pid;
	int s;

	if (mount("tmpfs", dir, "tmpfs", 0, "size=12k"))
		skip();
	pid = fork();
	if (!pid) {
		static struct chan_ep first;

		CHECK(!host_open(&first, &shm_chan_ops, 0, 2));
		CHECK(host_open(&ep, &shm_chan_ops, 1, 2) == -ENOSPC);
		CHECK(strstr(ep.why, dir) && strstr(ep.why, "O2G_SHM_DIR"));
		host_close(&first);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &s, 0), pid);
	assert_int_equal(s, 0);
}

/*
 * Where /proc/PID/fd cannot be used the file has a name; it is gone after an
 * orderly end, and after a kill when the next one comes.
 */
static void named(void)
{
	shm_chan_ops.close(ep.chan);
	close(ep.epoll);
	prctl(PR_SET_DUMPABLE, 0);
	CHECK(!host_open(&ep, &shm_chan_ops, ep.core.rank, 2));
	CHECK(strstr(ep.cards[ep.core.rank], "path="));
	strcpy(shared->cards[ep.core.rank], ep.cards[ep.core.rank]);
	meet(10);
	strcpy(ep.cards[!ep.core.rank], shared->cards[!ep.core.rank]);
	CHECK(entries(dir) == 2);
	CHECK(ep.chan->ops->reaches(ep.chan, ep.cards[!ep.core.rank]));
	meet(12);
}

static void named_kill(void)
{
	struct shm_where w;

	named();
	sleepy();
	meet(11);
	if (ep.core.rank == 1)
		kill(getpid(), SIGKILL);
	while (kill(((struct shm_link *)ep.peers[1].link)->pid, 0) == 0)
		usleep(1000);
	CHECK(!shm_parse_card(ep.cards[1], &w) && !shm_seg_openable(&w));
}

static void dir__named_files_are_swept(void **arg)
{
	int status[2];

	run(named_kill, named_kill, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], -SIGKILL);
	assert_int_equal(entries(dir), 1);
	run_well(named, named);
	assert_int_equal(entries(dir), 0);
}

/* --- cards --- */

static void cards_body(void)
{
	const char *good = ep.cards[1];
	char bad[1100];

	CHECK(ep.chan->ops->reaches(ep.chan, good));
	CHECK(!ep.chan->ops->reaches(ep.chan, ""));
	CHECK(!ep.chan->ops->reaches(ep.chan, "node=,pid=1,token=1,fd=1"));
	CHECK(!ep.chan->ops->reaches(ep.chan, "node=x,pid=1,token=1,fd=1"));
	snprintf(bad, sizeof(bad), "%s", good);
	bad[5]++; /* another node */
	CHECK(!ep.chan->ops->reaches(ep.chan, bad));
	snprintf(bad, sizeof(bad), "node=%s,pid=%d,token=1,fd=0", ep.node,
		 getppid());
	chan_ep_peer(&ep, 1);
	CHECK(ep.chan->ops->connect(ep.chan, &ep.peers[1], bad) < 0);
	/* the right file, the wrong token */
	snprintf(bad, sizeof(bad), "%s", good);
	*strstr(bad, "token=") = '\0';
	strcat(bad, "token=1234,");
	strcat(bad, strstr(good, "fd="));
	CHECK(ep.chan->ops->connect(ep.chan, &ep.peers[1], bad) == -EBADMSG);
	CHECK(!ep.peers[1].link);
	CHECK(host_peer(&ep, 1));
	meet_at_work(1);
}

static void cards_peer(void)
{
	meet_at_work(1);
}

static void cards__checked(void **arg)
{
	run_well(cards_body, cards_peer);
}

/* --- reading memory --- */

static void get_body(void)
{
	struct chan_peer *p = host_peer(&ep, 1);
	char a[10], b[5000];
	struct o2g_seg segs[3] = { { a, sizeof(a) }, { a, 0 },
				   { b, sizeof(b) } };
	u64 addr;

	meet_at_work(1);
	memcpy(&addr, shared->cards[0], sizeof(addr));
	CHECK(p->core.can_get);
	CHECK(!ep.chan->ops->get(ep.chan, p, addr, segs, 3, 5000));
	for (int i = 0; i < 10; i++)
		CHECK((u8)a[i] == byte_of(9, i));
	for (int i = 0; i < 4990; i++)
		CHECK((u8)b[i] == byte_of(9, i + 10));
	CHECK(!ep.chan->ops->put(ep.chan, p, addr, segs + 2, 1, 7));
	CHECK(ep.chan->ops->get(ep.chan, p, 16, segs, 3, 100) == -EFAULT);
	meet(2);
}

static void get_target(void)
{
	static char mem[5000];
	u64 addr = (uintptr_t)mem;

	for (u32 i = 0; i < sizeof(mem); i++)
		mem[i] = byte_of(9, i);
	memcpy(shared->cards[0], &addr, sizeof(addr));
	meet_at_work(1);
	meet(2);
	for (u32 i = 0; i < 7; i++)
		CHECK((u8)mem[i] == byte_of(9, i + 10));
}

static void get__segments(void **arg)
{
	run_well(get_body, get_target);
}

static void get_off(void)
{
	struct chan_peer *p = host_peer(&ep, !ep.core.rank);
	char c;
	struct o2g_seg seg = { &c, 1 };

	CHECK(!p->core.can_get);
	CHECK(ep.chan->ops->get(ep.chan, p, (uintptr_t)&c, &seg, 1, 1) ==
	      -EOPNOTSUPP);
	exchange_packets();
}

static void get__off(void **arg)
{
	setenv("O2G_SHM_GET", "0", 1);
	run_well(get_off, get_off);
	unsetenv("O2G_SHM_GET");
}

/* --- bodies that come in many pieces from many segments --- */

#define PIECES 50000

static void comb_send(void)
{
	static struct o2g_seg segs[PIECES];
	static u64 mem[PIECES * 2];
	struct host_req req;

	for (u32 i = 0; i < PIECES; i++) {
		mem[2 * i] = i;
		segs[i].base = &mem[2 * i];
		segs[i].len = 8;
	}
	host_isend(&ep, &req, 1, 1, segs, PIECES);
	CHECK(host_until(&ep, &req.done, 20000, false));
	meet_at_work(1);
}

static void comb_recv(void)
{
	static u64 mem[PIECES];
	struct o2g_seg seg = { mem, sizeof(mem) };
	struct host_req req;

	host_irecv(&ep, &req, 0, 1, &seg, 1);
	CHECK(host_until(&ep, &req.done, 20000, false));
	for (u32 i = 0; i < PIECES; i++)
		CHECK(mem[i] == i);
	meet_at_work(1);
}

static void exchange__many_segments(void **arg)
{
	run_well(comb_send, comb_recv);
}

static void copy_short__every_length(void **arg)
{
	char from[80], to[80];

	for (int i = 0; i < 80; i++)
		from[i] = i + 1;
	for (u32 n = 0; n <= 64; n++) {
		memset(to, 0, sizeof(to));
		shm_copy_short(to + 1, from, n);
		assert_memory_equal(to + 1, from, n);
		assert_int_equal(to[0], 0);
		assert_int_equal(to[n + 1], 0);
	}
}

#define TD(f) cmocka_unit_test_setup_teardown(f, make_dir, remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(copy_short__every_length),
		T(exchange__get),
		T(exchange__packets_only),
		T(exchange__small_ring),
		T(exchange__many_segments),
		T(full_ring__waits_and_wakes),
		T(sleep__is_woken),
		T(first_contact__wakes),
		T(one_way__receives_only),
		T(killed__is_noticed),
		T(killed__is_noticed_by_timer),
		T(bye__is_no_loss),
		T(bye__before_first_poll),
		T(closed_without_bye__is_a_loss),
		T(garbage__loses_the_peer_only),
		T(bad_head__is_harmless),
		TD(dir__has_no_names),
		TD(dir__full),
		TD(dir__no_room_at_all),
		TD(dir__named_files_are_swept),
		T(cards__checked),
		T(get__segments),
		T(get__off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
