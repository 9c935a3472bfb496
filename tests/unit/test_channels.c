/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/channels_fixture.c */
/* Every channel: connections, their beginning and their end. */
#include "channels_fixture.h"

#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"

/* --- cards --- */

static void card__is_printable_and_reached(void)
{
	char card[O2G_ADDRESS_MAX] = "";

	assert_int_equal(b->chan->ops->card(b->chan, card, sizeof(card)), 0);
	assert_true(card[0]);
	for (const char *s = card; *s; s++)
		assert_true(*s > ' ' && *s <= '~' && *s != ';');
	assert_true(a->chan->ops->reaches(a->chan, card));
	assert_true(b->chan->ops->card(b->chan, card, 10) < 0);
}

static void card__garbage_is_not_reached(void)
{
	char card[O2G_ADDRESS_MAX];

	assert_false(a->chan->ops->reaches(a->chan, ""));
	assert_false(a->chan->ops->reaches(a->chan, "nonsense"));
	assert_int_equal(b->chan->ops->card(b->chan, card, sizeof(card)), 0);
	card[strlen(card) / 4] = '\0';
	assert_false(a->chan->ops->reaches(a->chan, card));
}

/* --- connecting --- */

static void connect__on_first_use(void)
{
	struct chan_peer *p = peer_of(a, b);
	char text[128] = "";

	assert_null(p->link);
	assert_int_equal(host_connect(a, b), 0);
	assert_non_null(p->link);
	exchange(a, b, 8);
	exchange(b, a, 8);
	exchange(a, b, 0);
	assert_true(p->core.eager_max > 0);
	/* What the process encrypts takes the long way. */
	assert_int_equal(p->core.inject_max > 0, !encrypts());
	assert_true(p->host[0] && peer_of(b, a)->host[0]);
	assert_int_equal(p->core.msgs_sent, 2);
	assert_int_equal(peer_of(b, a)->core.bytes_recv, 8);
	a->chan->ops->describe(a->chan, p, text, sizeof(text));
	assert_non_null(strstr(text, " -> "));
	assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
}

/* Whoever is called answers without having been told how. */
static void connect__answered_without_a_card(void)
{
	u8 in = 0, back = 0;
	struct host_req *r = host_recv_buf(b, O2G_MATCH_ANY, 3, &in, 1);

	assert_int_equal(host_connect(a, b), 0);
	host_send_buf(a, 1, 3, "x", 1);
	finish(r);
	assert_int_equal(r->r.peer->rank, 0);
	assert_int_equal(in, 'x');
	r = host_recv_buf(a, 1, 4, &back, 1);
	host_send_buf(b, 0, 4, "y", 1);
	finish(r);
	assert_int_equal(back, 'y');
}

/* Packets that are sent before the connection stands wait for it. */
static void connect__sends_wait_for_it(void)
{
	u8 in[3] = { 0 };
	struct host_req *r[3];

	assert_int_equal(host_connect(a, b), 0);
	for (u8 i = 0; i < 3; i++)
		host_send_buf(a, 1, 1, &(u8){ i }, 0);
	for (u8 i = 0; i < 3; i++) {
		r[i] = host_recv_buf(b, 0, 1, &in[i], 1);
		finish(r[i]);
		assert_int_equal(r[i]->r.msg_len, 0);
	}
}

static void reopen_both(void)
{
	end_host(a, false);
	end_host(b, false);
	both[0] = a = open_host(0);
	both[1] = b = open_host(1);
}

/* Both call, one as many steps after the other as it takes. */
static void connect__simultaneous(void)
{
	for (int i = 0; i < 24; i++) {
		u8 x[2] = { 1, 2 }, y[2] = { 0, 0 };
		struct host_req *r0, *r1;

		assert_int_equal(host_connect(a, b), 0);
		for (int j = 0; j < i % 6; j++)
			host_pump(j & 1 ? a : b);
		assert_int_equal(host_connect(b, a), 0);
		r0 = host_recv_buf(a, 1, 1, &y[0], 1);
		r1 = host_recv_buf(b, 0, 1, &y[1], 1);
		host_send_buf(a, 1, 1, &x[0], 1);
		host_send_buf(b, 0, 1, &x[1], 1);
		finish(r0);
		finish(r1);
		assert_int_equal(y[0], 2);
		assert_int_equal(y[1], 1);
		exchange(a, b, 10000);
		exchange(b, a, 10000);
		assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
		reopen_both();
	}
}

/* --- sleeping and waking --- */

static bool readable(struct host *h, int ms)
{
	struct pollfd p = { .fd = h->epfd, .events = POLLIN };

	return poll(&p, 1, ms) > 0;
}

/* Until there is nothing to do, and it can sleep. */
static void go_to_sleep(struct host *h)
{
	u64 end = o2g_now_us() + 3000000;

	both_idle(5);
	while (h->chan->ops->arm(h->chan) || readable(h, 0)) {
		h->chan->ops->disarm(h->chan);
		assert_true(o2g_now_us() < end);
		host_pump(h);
	}
}

static void arm__an_arrival_wakes(void)
{
	u8 in = 0;
	struct host_req *r;

	exchange(a, b, 8);
	for (int i = 0; i < 20; i++) {
		r = host_recv_buf(b, 0, 1, &in, 1);
		go_to_sleep(b);
		assert_false(readable(b, 0));
		host_send_buf(a, 1, 1, "z", 1);
		a->chan->ops->flush(a->chan);
		assert_true(readable(b, 2000));
		b->chan->ops->disarm(b->chan);
		finish(r);
		host_req_free(r);
	}
}

/* What came before is not slept through. */
static void arm__what_is_there_is_seen(void)
{
	u8 in = 0;
	struct host_req *r;

	exchange(a, b, 8);
	both_idle(5);
	r = host_recv_buf(b, 0, 1, &in, 1);
	host_send_buf(a, 1, 1, "z", 1);
	a->chan->ops->flush(a->chan);
	assert_true(b->chan->ops->arm(b->chan) || readable(b, 2000));
	b->chan->ops->disarm(b->chan);
	finish(r);
}

static void first_contact__wakes(void)
{
	u8 in = 0;
	struct host_req *r = host_recv_buf(b, O2G_MATCH_ANY, 1, &in, 1);

	go_to_sleep(b);
	assert_int_equal(host_connect(a, b), 0);
	host_send_buf(a, 1, 1, "z", 1);
	assert_true(readable(b, 2000));
	b->chan->ops->disarm(b->chan);
	finish(r);
}

static void nudge__wakes_a_sleeper(void)
{
	const struct chan_ops *ops = kind->ops;
	int before;

	if (!ops->nudge)
		return;
	exchange(a, b, 8);
	exchange(b, a, 8);
	before = b->nudges;
	ops->nudge(a->chan, peer_of(a, b)); /* it is awake */
	assert_false(readable(b, 20));
	go_to_sleep(b);
	ops->nudge(a->chan, peer_of(a, b));
	assert_true(readable(b, 2000));
	ops->disarm(b->chan);
	host_pump(b);
	assert_true(b->nudges > before);
}

static void waits__is_seen(void)
{
	const struct chan_ops *ops = kind->ops;

	exchange(a, b, 8);
	if (!ops->waits) {
		assert_null(b->chan->waiting);
		return;
	}
	assert_false(ops->waits(a->chan, peer_of(a, b)));
	*b->chan->waiting = 1;
	assert_true(ops->waits(a->chan, peer_of(a, b)));
	*b->chan->waiting = 0;
	assert_false(ops->waits(a->chan, peer_of(a, b)));
}

/* --- the end --- */

static void disconnect__orderly_delivers_all(void)
{
	static u8 out[3 << 20], in[3 << 20];
	struct host_req *r, *s;

	exchange(a, b, 1);
	fill(out, sizeof(out), 5);
	r = host_recv_buf(b, 0, 1, in, sizeof(in));
	s = host_send_buf(a, 1, 1, out, sizeof(out));
	finish(s);
	/* Something b sent is unread when a goes. */
	host_send_buf(b, 0, 9, "x", 1);
	end_host(a, true);
	finish(r);
	assert_memory_equal(in, out, sizeof(in));
	assert_true(both_run(&b->peers[0].cp.core.said_bye));
	both_idle(20);
	assert_int_equal(b->peers[0].lost, 0); /* the engine's business */
}

static void disconnect__without_goodbye_is_a_loss(void)
{
	u8 in;
	struct host_req *r, *s;

	exchange(a, b, 1);
	exchange(b, a, 1);
	r = host_recv_buf(a, 1, 1, &in, 1);
	end_host(b, false);
	assert_true(both_run(&r->done));
	assert_int_equal(r->r.status, -O2G_ERR_PEER);
	assert_int_equal(a->peers[1].lost, 1);
	assert_true(a->peers[1].why[0]);
	assert_null(a->peers[1].cp.link);
	/* A new send fails at once, without touching what is gone. */
	s = host_send_buf(a, 1, 1, &in, 1);
	assert_true(s->done);
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
}

/* Only this one: the peer is there, and so is everybody else. */
static void disconnect__one_of_two(void)
{
	struct host *c = open_host(2), *two[2] = { a, c };
	struct host_req *r;
	u8 in;

	exchange(b, a, 1);
	exchange(c, a, 1);
	r = host_recv_buf(b, 0, 1, &in, 1);
	a->chan->ops->disconnect(a->chan, peer_of(a, b), false);
	assert_null(a->peers[1].cp.link);
	o2g_proto_peer_down(&a->core, &a->peers[1].cp.core, -O2G_ERR_PEER);
	assert_true(both_run(&r->done));
	assert_int_equal(r->r.status, -O2G_ERR_PEER);
	exchange(a, c, 100);
	exchange(c, a, 100);
	assert_int_equal(a->peers[2].lost, 0);
	host_idle(two, 2, 1);
	host_destroy(c, false);
}

/* With requests under way in either direction. */
static void disconnect__fails_what_is_under_way(void)
{
	static u8 out[8 << 20], in[8 << 20];
	struct host_req *r, *s;

	exchange(a, b, 1);
	a->no_expose = true;
	s = host_send_buf(a, 1, 1, out, sizeof(out));
	r = host_recv_buf(a, 1, 1, in, sizeof(in));
	both_idle(2);
	end_host(b, false);
	assert_true(both_run(&s->done));
	assert_true(both_run(&r->done));
	assert_int_equal(s->r.status, -O2G_ERR_PEER);
	assert_int_equal(r->r.status, -O2G_ERR_PEER);
}

/* --- peers that come and go --- */

static int descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* Each is another rank, as the engine knows each rank once. */
static void peers__come_and_go(void)
{
	int before;

	exchange(b, a, 1);
	both_idle(5);
	before = descriptors();
	for (u32 rank = 2; rank < 30; rank++) {
		struct host *c = open_host(rank), *two[2] = { a, c };

		if (rank & 1)
			exchange(c, a, 5000);
		exchange(a, c, 5000);
		exchange(c, a, 10);
		host_idle(two, 2, 1);
		host_destroy(c, true);
		assert_true(both_run(&a->peers[rank].cp.core.said_bye));
		a->chan->ops->disconnect(a->chan, &a->peers[rank].cp, true);
		assert_int_equal(a->peers[rank].lost, 0);
	}
	both_idle(20);
	assert_in_range(descriptors(), 0, before);
	exchange(a, b, 10);
}

static void two_talk__fairly(void)
{
	struct host *c = open_host(2), *three[3] = { a, b, c };
	static u8 big[6 << 20], in[6 << 20];
	u8 y = 0;
	struct host_req *r1, *r2;

	exchange(b, a, 1);
	exchange(c, a, 1);
	b->no_expose = true;
	r1 = host_recv_buf(a, 1, 1, in, sizeof(in));
	r2 = host_recv_buf(a, 2, 1, &y, 1);
	host_send_buf(b, 0, 1, big, sizeof(big));
	host_idle(three, 2, 1);
	host_send_buf(c, 0, 1, "x", 1);
	assert_true(host_run(three, 3, &r2->done, 5000));
	assert_true(host_run(three, 3, &r1->done, 5000));
	assert_int_equal(a->peers[1].lost + a->peers[2].lost, 0);
	host_destroy(c, false);
}

int main(int argc, char **argv)
{
	static const struct chan_case cases[] = {
		CASE(card__is_printable_and_reached),
		CASE(card__garbage_is_not_reached),
		CASE(connect__on_first_use),
		CASE(connect__answered_without_a_card),
		CASE(connect__sends_wait_for_it),
		CASE(connect__simultaneous),
		CASE(arm__an_arrival_wakes),
		CASE(arm__what_is_there_is_seen),
		CASE(first_contact__wakes),
		CASE(nudge__wakes_a_sleeper),
		CASE(waits__is_seen),
		CASE(disconnect__orderly_delivers_all),
		CASE(disconnect__without_goodbye_is_a_loss),
		CASE(disconnect__one_of_two),
		CASE(disconnect__fails_what_is_under_way),
		CASE(peers__come_and_go),
		CASE(two_talk__fairly),
	};

	return run_cases(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
