/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/channels_fixture.c tests/unit/ranks_fixture.c */
/* Every channel between two processes: at the same time, asleep, and killed. */
#include "channels_fixture.h"
#include "ranks_fixture.h"

#include <signal.h>

/* The ranks open the channel of this kind. */
static void over_kind(void)
{
	ranks_ops = kind->ops;
	ranks_prepare = kind_settings;
}

static void pair_well(rank_fn *rank0, rank_fn *rank1)
{
	over_kind();
	run_well(rank0, rank1);
}

static void pair_killed(rank_fn *rank0, rank_fn *rank1)
{
	int status[2];

	over_kind();
	run(rank0, rank1, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], -SIGKILL);
}

/* --- bytes arrive as they were sent --- */

#define MESSAGES 120
#define LONGEST (1u << 20)

static u32 length_of(u32 message)
{
	rnd_seed(message * 77777u + 1);
	rnd(2);
	switch (rnd(5)) {
	case 0:
		return rnd(70);
	case 1:
		return rnd(3) * 8;
	case 2:
		return rnd(9000);
	case 3:
		return rnd(80000);
	default:
		return rnd(20) ? rnd(2000) : rnd(LONGEST);
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
	struct host_req *q; /* NULL: free */
	struct o2g_seg segs[4];
	char *buf;
	u32 message;
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
	if (s->q)
		host_req_free(s->q);
	s->q = host_send(ep, other_rank(), message, s->segs, n);
}

static void start_recv(struct slot *s, u32 message)
{
	u32 len = length_of(message);
	u32 n = cut(s->segs, s->buf, len, message + 1);

	s->message = message;
	s->q = host_recv(ep, other_rank(), message, s->segs, n);
}

static void check_recv(struct slot *s)
{
	u32 len = length_of(s->message);

	CHECK(s->q->r.status == 0);
	CHECK(s->q->r.msg_len == len);
	for (u32 i = 0; i < len; i++)
		CHECK((u8)s->buf[i] == byte_of(s->message, i));
	host_req_free(s->q);
	s->q = NULL;
}

/* Both directions at once, several messages under way in each. */
static void exchange_many(void)
{
	u32 to_send = 0, to_recv = 0, received = 0;
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	slots_init();
	while (received < MESSAGES || to_send < MESSAGES) {
		struct slot *s = &sends[to_send % SLOTS];
		struct slot *r = &recvs[to_recv % SLOTS];

		if (to_send < MESSAGES && (!s->q || s->q->done))
			start_send(s, to_send++);
		if (to_recv < MESSAGES && !r->q)
			start_recv(r, to_recv++);
		for (int i = 0; i < SLOTS; i++) {
			if (recvs[i].q && recvs[i].q->done) {
				check_recv(&recvs[i]);
				received++;
			}
		}
		host_round(ep, received % 7 ? 0 : 5);
		CHECK(o2g_now_us() < end);
		CHECK(!other_peer()->lost);
	}
	for (int i = 0; i < SLOTS; i++)
		CHECK(host_until(ep, &sends[i].q->done, 5000, false));
	meet_at_work(1);
}

static void exchange_read(void)
{
	exchange_many();
	CHECK(!other_peer()->cp.core.can_get || ep->core.stats.gets);
}

static void exchange_packets(void)
{
	ep->no_expose = true;
	exchange_many();
	CHECK(ep->core.stats.gets == 0);
	CHECK(ep->core.stats.data_recv > 0);
}

static void exchange__both_ways(void)
{
	pair_well(exchange_read, exchange_read);
}

/* Where memory cannot be read that was all there is. */
static void exchange__by_packets_only(void)
{
	if (kind->ops->get)
		pair_well(exchange_packets, exchange_packets);
}

/* --- sleeping --- */

static void sleep__is_woken(void)
{
	pair_well(sleepy, sleepy);
}

/* The first packet of a sender that nobody has heard of wakes as well. */
static void first_waits(void)
{
	char c;
	struct host_req *q = host_recv_buf(ep, O2G_MATCH_ANY, 3, &c, 1);
	u64 begin = o2g_now_us();

	while (!q->done) {
		host_round(ep, 5000);
		CHECK(o2g_now_us() - begin < 4000000);
	}
	CHECK(q->r.peer->rank == 1 && c == 'x');
	CHECK(other_peer()->cp.chan == ep->chan && other_peer()->cp.link);
	CHECK(other_peer()->cp.core.eager_max);
	host_send_buf(ep, 1, 4, &c, 1);
	meet_at_work(1);
}

static void first_sends(void)
{
	char c = 'x';
	struct host_req *q;

	usleep(50000);
	host_send_buf(ep, 0, 3, &c, 1);
	q = host_recv_buf(ep, 0, 4, &c, 1);
	CHECK(host_until(ep, &q->done, 5000, true));
	meet_at_work(1);
}

static void first_contact__wakes_a_process(void)
{
	pair_well(first_waits, first_sends);
}

/* --- the end of a process --- */

static void outlive(void)
{
	char c = 0, d = 0;
	struct host_req *r1 = host_recv_buf(ep, 1, 1, &c, 1);
	struct host_req *r2 = host_recv_buf(ep, 1, 2, &d, 1);
	u64 begin;

	meet_at_work(1);
	begin = o2g_now_us();
	CHECK(host_until(ep, &r2->done, 5000, true));
	CHECK(o2g_now_us() - begin < 2000000);
	/* What it sent before it died has arrived; the rest is an error. */
	CHECK(r1->done && r1->r.status == 0 && c == 'a');
	CHECK(r2->r.status == -O2G_ERR_PEER);
	CHECK(other_peer()->lost == 1 && other_peer()->why[0]);
	CHECK(!other_peer()->cp.link);
}

static void die(void)
{
	struct host_req *q = host_send_buf(ep, 0, 1, "a", 1);

	CHECK(host_until(ep, &q->done, 5000, false));
	meet_at_work(1);
	kill(getpid(), SIGKILL);
}

static void killed__is_noticed(void)
{
	pair_killed(outlive, die);
}

#define HUGE_BODY (64u << 20)

static void outlive_body(void)
{
	char *in = calloc(1, HUGE_BODY);
	struct host_req *r = host_recv_buf(ep, 1, 1, in, HUGE_BODY);
	u64 end = o2g_now_us() + 5000000;

	while (!ep->core.stats.data_recv) {
		host_round(ep, 1);
		CHECK(o2g_now_us() < end);
	}
	meet_at_work(1);
	CHECK(host_until(ep, &r->done, 10000, true));
	CHECK(r->r.status == -O2G_ERR_PEER);
	CHECK(in[0] == 'b');
	CHECK(!in[HUGE_BODY - 1]);
	CHECK(other_peer()->lost == 1);
}

static void die_in_body(void)
{
	char *out = malloc(HUGE_BODY);
	struct host_req *q;

	memset(out, 'b', HUGE_BODY);
	ep->no_expose = true;
	q = host_send_buf(ep, 0, 1, out, HUGE_BODY);
	meet_at_work(1); /* once some of it is there */
	CHECK(!q->done);
	kill(getpid(), SIGKILL);
}

static void killed__in_the_middle_of_a_body(void)
{
	pair_killed(outlive_body, die_in_body);
}

static void hear_bye(void)
{
	char c = 0;
	struct host_req *q = host_recv_buf(ep, 1, 1, &c, 1);
	struct chan_peer *p = &other_peer()->cp;

	CHECK(host_until(ep, &q->done, 5000, true));
	CHECK(host_until(ep, &p->core.said_bye, 5000, true));
	for (int i = 0; i < 10; i++)
		host_round(ep, 20);
	CHECK(!other_peer()->lost);
}

static void say_bye(void)
{
	struct host_req *q = host_send_buf(ep, 0, 1, "\1", 1);

	CHECK(host_until(ep, &q->done, 5000, false));
}

static void bye__is_no_loss(void)
{
	pair_well(hear_bye, say_bye);
}

static void slam(void)
{
	struct host_req *q = host_send_buf(ep, 0, 2, "x", 1);

	CHECK(host_until(ep, &q->done, 5000, false));
	meet_at_work(1);
	ep->chan->ops->disconnect(ep->chan, &other_peer()->cp, false);
	meet(2);
}

static void hear_slam(void)
{
	char c;
	struct host_req *q = host_recv_buf(ep, 1, 1, &c, 1);
	struct host_req *first = host_recv_buf(ep, 1, 2, &c, 1);

	CHECK(host_until(ep, &first->done, 5000, true));
	meet_at_work(1);
	CHECK(host_until(ep, &q->done, 5000, true));
	CHECK(q->r.status == -O2G_ERR_PEER);
	CHECK(strstr(other_peer()->why, "closed"));
	meet(2);
}

static void closed_without_bye__is_a_loss(void)
{
	pair_well(hear_slam, slam);
}

int main(int argc, char **argv)
{
	static const struct chan_case cases[] = {
		CASE(exchange__both_ways),
		CASE(exchange__by_packets_only),
		CASE(sleep__is_woken),
		CASE(first_contact__wakes_a_process),
		CASE(killed__is_noticed),
		CASE(killed__in_the_middle_of_a_body),
		CASE(bye__is_no_loss),
		CASE(closed_without_bye__is_a_loss),
	};

	return run_cases(cases, sizeof(cases) / sizeof(cases[0]), argc, argv);
}
