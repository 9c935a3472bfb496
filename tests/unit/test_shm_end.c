/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/ranks_fixture.c */
/* A peer that dies, leaves, or sends garbage. */
#include "ranks_fixture.h"
#include "shm/shm.h"

#include <signal.h>

/* --- the end --- */

static void outlive(void)
{
	char c = 0, d = 0;
	struct host_req *r1 = host_recv_buf(ep, 1, 1, &c, 1);
	struct host_req *r2 = host_recv_buf(ep, 1, 2, &d, 1);
	u64 begin;

	meet(1);
	begin = o2g_now_us();
	CHECK(host_until(ep, &r2->done, 5000, true));
	CHECK(o2g_now_us() - begin < 1000000);
	/* What it sent before it died has arrived; the rest is an error. */
	CHECK(r1->done && r1->r.status == 0 && c == 'a');
	CHECK(r2->r.status == -O2G_ERR_PEER);
	CHECK(strstr(other_peer()->why, "process has ended"));
	CHECK(!other_peer()->cp.link);
}

static void die(void)
{
	CHECK(host_send_buf(ep, 0, 1, "a", 1)->done);
	meet(1);
	kill(getpid(), SIGKILL);
}

/* As on a kernel without pidfds. */
static void outlive_by_timer(void)
{
	struct shm_link *l = host_peer(ep, 1)->link;

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

static void say_bye(void)
{
	CHECK(host_send_buf(ep, 0, 1, "\1", 1)->done);
}

/* It sends, says goodbye and exits before we have looked even once. */
static void hear_late(void)
{
	char c = 0;
	struct host_req *q;

	usleep(300000);
	q = host_recv_buf(ep, 1, 1, &c, 1);
	CHECK(host_until(ep, &q->done, 5000, true));
	CHECK(q->r.status == 0 && c == 1);
	CHECK(!other_peer()->lost);
}

static void bye__before_first_poll(void **arg)
{
	run_well(hear_late, say_bye);
}

/* --- garbage --- */

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

/* The other end of the ring in this process, where it can be garbled. */
static struct host *open_other(void)
{
	struct host *other = rank_open(1);

	CHECK(host_connect(other, ep) == 0);
	return other;
}

static void garbage_body(void)
{
	u32 lost = 0;

	for (u32 seed = 0; seed < 300; seed++) {
		struct host *other;

		host_destroy(ep, true);
		ep = rank_open(0);
		other = open_other();
		host_pump(ep);
		CHECK(ep->peers[1].cp.link);
		garble(other->peers[0].cp.link, seed);
		host_pump(ep);
		host_pump(ep);
		if (ep->peers[1].lost) {
			lost++;
			CHECK(strstr(ep->peers[1].why, "malformed packet: "));
		}
		host_destroy(other, true);
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
	struct host *other = open_other();
	struct shm_link *l = other->peers[0].cp.link;
	struct host_req *q;
	u64 v = 5;

	l->tx.ring->head = ~0ull;
	shm_see_head(&l->tx);
	q = host_send_buf(other, 0, 1, &v, sizeof(v));
	CHECK(!q->done || shm_has_room(&l->tx, 0));
	host_destroy(other, true);
}

static void bad_head__is_harmless(void **arg)
{
	run_well(bad_head_body, nothing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(killed__is_noticed_by_timer),
		T(bye__before_first_poll),
		T(garbage__loses_the_peer_only),
		T(bad_head__is_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
