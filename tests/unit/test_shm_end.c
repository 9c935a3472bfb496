/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/shm_fixture.c */
/* A peer that dies, leaves, or sends garbage. */
#include "shm_fixture.h"

#include <signal.h>

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
	rnd_seed(seed);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(killed__is_noticed),
		T(killed__is_noticed_by_timer),
		T(bye__is_no_loss),
		T(bye__before_first_poll),
		T(closed_without_bye__is_a_loss),
		T(garbage__loses_the_peer_only),
		T(bad_head__is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
