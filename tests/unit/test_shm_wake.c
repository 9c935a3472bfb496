/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/shm_fixture.c */
/* Rings that are full, ranks that sleep, and who wakes them. */
#include "shm_fixture.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(full_ring__waits_and_wakes),
		T(sleep__is_woken),
		T(first_contact__wakes),
		T(one_way__receives_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
