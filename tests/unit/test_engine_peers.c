/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: libo2g */
/* libs: -lnettle */
/* The table of peers: memory for those who are met, numbers for those who come. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "peer.h"
#include "unit.h"

#define LIMIT_US 20000000

/* Of the sanitizer's library; gcc comes without the header. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* --- the table by itself --- */

/* Only addresses count. */
static char bodies[16];

static struct eng_peer *peer(int i)
{
	return (struct eng_peer *)&bodies[i];
}

static void peers_get__ranks(void **state)
{
	static const u32 ranks[] = { 0, 63, 64, 5000, 99999 };
	struct eng_peers t;

	assert_int_equal(peers_init(&t, 100000), 0);
	for (int i = 0; i < 5; i++) {
		assert_null(peers_get(&t, ranks[i]));
		assert_int_equal(peers_set(&t, ranks[i], peer(i)), 0);
	}
	for (int i = 0; i < 5; i++)
		assert_ptr_equal(peers_get(&t, ranks[i]), peer(i));
	assert_null(peers_get(&t, 1));
	assert_null(peers_get(&t, 5001));
	assert_null(peers_get(&t, 100000));
	assert_null(peers_get(&t, PEERS_OTHERS));
	assert_null(peers_get(&t, ~0u));
	peers_cleanup(&t);
}

static void peers_add__numbers_come_again(void **state)
{
	u32 first, number, second;
	struct eng_peers t;

	assert_int_equal(peers_init(&t, 3), 0);
	assert_int_equal(peers_add(&t, peer(0), &first), 0);
	assert_int_equal(peers_add(&t, peer(1), &second), 0);
	assert_true(first >= PEERS_OTHERS && second >= PEERS_OTHERS);
	assert_int_not_equal(first, second);
	assert_ptr_equal(peers_get(&t, first), peer(0));
	peers_del(&t, first);
	assert_null(peers_get(&t, first));
	assert_ptr_equal(peers_get(&t, second), peer(1));
	/* Slots are used again, and no number that was given back lives. */
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(peers_add(&t, peer(2), &number), 0);
		assert_true((int)number > 0);
		assert_int_not_equal(number, first);
		assert_null(peers_get(&t, first));
		assert_ptr_equal(peers_get(&t, number), peer(2));
		peers_del(&t, number);
		assert_null(peers_get(&t, number));
	}
	assert_true(t.nslots < 64);
	peers_cleanup(&t);
}

static void peers_add__many(void **state)
{
	enum { N = 5000 };
	static u32 numbers[N];
	struct eng_peers t;

	assert_int_equal(peers_init(&t, 1), 0);
	for (int i = 0; i < N; i++)
		assert_int_equal(peers_add(&t, peer(i % 16), &numbers[i]), 0);
	for (int i = 0; i < N; i += 2)
		peers_del(&t, numbers[i]);
	for (int i = 0; i < N; i++)
		assert_ptr_equal(peers_get(&t, numbers[i]),
				 i % 2 ? peer(i % 16) : NULL);
	peers_cleanup(&t);
}

/* --- an endpoint --- */

#define TALKERS 9 /* one that talks to eight */

struct job {
	int size;
	struct o2g_ep *ep[TALKERS];
	char address[TALKERS][O2G_ADDRESS_MAX];
};

static int rank_of(const struct job *j, int i)
{
	return i * ((j->size - 1) / (TALKERS - 1));
}

static int resolve(void *arg, int rank, char *address, size_t size)
{
	struct job *j = arg;

	for (int i = 0; i < TALKERS; i++)
		if (rank_of(j, i) == rank) {
			snprintf(address, size, "%s", j->address[i]);
			return 0;
		}
	return -ENOENT;
}

static void open_job(struct job *j)
{
	for (int i = 0; i < TALKERS; i++) {
		struct o2g_attr attr = { .rank = rank_of(j, i),
					 .size = j->size,
					 .job = "peers",
					 .resolve = resolve,
					 .arg = j };

		assert_int_equal(o2g_open(&attr, &j->ep[i]), 0);
		assert_int_equal(o2g_address(j->ep[i], j->address[i],
					     O2G_ADDRESS_MAX),
				 0);
	}
}

static void until_done(struct job *j, struct o2g_req **reqs, int n)
{
	u64 end = o2g_now_us() + LIMIT_US;

	for (int i = 0; i < n; i++) {
		while (!o2g_is_done(reqs[i])) {
			assert_true(o2g_now_us() < end);
			for (int k = 0; k < TALKERS; k++)
				o2g_progress(j->ep[k]);
		}
		assert_int_equal(o2g_wait(reqs[i], NULL), 0);
	}
}

/* The first sends to each of the others, and hears of them. */
static void talk(struct job *j)
{
	struct o2g_req *reqs[4 * TALKERS];
	u64 out = 1, in[2 * TALKERS];
	struct o2g_seg from = { &out, 8 };
	int n = 0, zero = rank_of(j, 0);

	for (int i = 1; i < TALKERS; i++) {
		struct o2g_seg a = { &in[2 * i], 8 }, b = { &in[2 * i + 1], 8 };
		int rank = rank_of(j, i);

		o2g_irecv(j->ep[0], rank, 1, 0, &a, 1, &reqs[n++]);
		o2g_irecv(j->ep[i], zero, 1, 0, &b, 1, &reqs[n++]);
		o2g_isend(j->ep[0], rank, 1, &from, 1, 0, &reqs[n++]);
		o2g_isend(j->ep[i], zero, 1, &from, 1, 0, &reqs[n++]);
	}
	until_done(j, reqs, n);
}

/* Bytes that nine endpoints of a job of that size take. */
static size_t cost_of(int size)
{
	size_t before = __sanitizer_get_current_allocated_bytes(), after;
	struct job *j = calloc(1, sizeof(*j));

	j->size = size;
	open_job(j);
	talk(j);
	after = __sanitizer_get_current_allocated_bytes();
	for (int i = 0; i < TALKERS; i++)
		o2g_close(j->ep[i]);
	free(j);
	return after - before;
}

static void memory_is_for_those_it_talks_to(void **state)
{
	size_t small, large;

	cost_of(TALKERS); /* what is allocated once */
	small = cost_of(TALKERS);
	large = cost_of(100000);
	print_message(
		"%zu bytes for each of %d in a job of %d, %zu of 100000\n",
		small / TALKERS, TALKERS, TALKERS, large / TALKERS);
	assert_true(large < small + TALKERS * (20 << 10));
	assert_true(sizeof(struct eng_peer) <= 640);
}

static struct o2g_ep *open_one(void)
{
	struct o2g_attr attr = { .rank = 0, .size = 2, .job = "peers" };
	struct o2g_ep *ep;

	assert_int_equal(o2g_open(&attr, &ep), 0);
	return ep;
}

static int add(struct o2g_ep *ep)
{
	static int rank;
	struct o2g_identity who = { 4711, rank++ };
	unsigned char secret[O2G_SECRET_SIZE] = "";
	int number;

	assert_int_equal(
		o2g_peer_add(ep, &who, "o2g1;host=far", secret, &number), 0);
	return number;
}

static void del(struct o2g_ep *ep, int number)
{
	assert_int_equal(o2g_peer_del(ep, number), 0);
}

static void eng_peer_del__ends_what_waits(void **state)
{
	struct o2g_ep *ep = open_one();
	struct o2g_peer_info info;
	struct o2g_status s;
	struct o2g_req *req;
	u64 word;
	struct o2g_seg seg = { &word, 8 };
	int number = add(ep);
	char text[200];

	assert_int_equal(o2g_peer_info(ep, number, &info), 0);
	assert_true(info.alive);
	assert_int_equal(o2g_irecv(ep, number, 1, 0, &seg, 1, &req), 0);
	assert_int_equal(o2g_count_done(ep, 1, 1, 0), 0);
	del(ep, number);
	assert_true(o2g_is_done(req));
	assert_int_equal(o2g_count_done(ep, 1, 1, 0), 1);
	assert_int_equal(o2g_count_done(ep, 1, 1 + 256, 255), 0);
	assert_int_equal(o2g_count_done(ep, 1, 7, 255), 1);
	assert_int_equal(o2g_count_done(ep, 0, 1, 0), 0);
	/* The request still knows whom it was for. */
	assert_int_equal(o2g_wait(req, &s), -O2G_ERR_PEER);
	assert_int_equal(s.source, number);
	assert_int_equal(o2g_count_done(ep, 1, 1, 0), 0);
	/* Nobody else does. */
	assert_int_equal(o2g_peer_info(ep, number, &info), -EINVAL);
	assert_int_equal(o2g_peer_error(ep, number, text, sizeof(text)),
			 -EINVAL);
	assert_int_equal(o2g_irecv(ep, number, 1, 0, &seg, 1, &req), -EINVAL);
	assert_int_equal(o2g_isend(ep, number, 1, &seg, 1, 0, &req), -EINVAL);
	assert_int_equal(o2g_send(ep, number, 1, &word, 8, 0), -EINVAL);
	assert_int_equal(o2g_iprobe(ep, number, 1, 0, NULL), -EINVAL);
	o2g_close(ep);
}

/* --- two jobs that have been in meetings --- */

static struct o2g_ep *open_named(const char *job)
{
	struct o2g_attr attr = { .rank = 0, .size = 1, .job = job };
	struct o2g_ep *ep;

	memcpy(attr.secret, job, strlen(job));
	assert_int_equal(o2g_open(&attr, &ep), 0);
	return ep;
}

/* @ep hears of the other in one more meeting. */
static int hear(struct o2g_ep *ep, struct o2g_ep *other, char meeting,
		int known)
{
	unsigned char secret[O2G_SECRET_SIZE] = { (unsigned char)meeting };
	char address[O2G_ADDRESS_MAX];
	struct o2g_identity who;
	int number;

	o2g_identify(other, &who);
	assert_int_equal(o2g_address(other, address, sizeof(address)), 0);
	assert_int_equal(o2g_peer_add(ep, &who, address, secret, &number),
			 known);
	return number;
}

static void send_one(struct o2g_ep *from, int to, struct o2g_ep *ep, int source)
{
	u64 word = 7, got = 0, end = o2g_now_us() + LIMIT_US;
	struct o2g_seg out = { &word, 8 }, in = { &got, 8 };
	struct o2g_req *req[2];

	assert_int_equal(o2g_irecv(ep, source, 1, 0, &in, 1, &req[1]), 0);
	assert_int_equal(o2g_isend(from, to, 1, &out, 1, 0, &req[0]), 0);
	while (!o2g_is_done(req[0]) || !o2g_is_done(req[1])) {
		assert_true(o2g_now_us() < end);
		o2g_progress(from);
		o2g_progress(ep);
	}
	assert_int_equal(o2g_wait(req[0], NULL), 0);
	assert_int_equal(o2g_wait(req[1], NULL), 0);
	assert_int_equal(got, 7);
}

/* Whoever connects has heard of the latest meeting and the other has not, or the other
 * way round. */
static void o2g_peer_add__one_meeting_ahead(void **state)
{
	for (int callee_is_ahead = 0; callee_is_ahead < 2; callee_is_ahead++) {
		struct o2g_ep *a = open_named("one"), *b = open_named("two");
		struct o2g_ep *ahead = callee_is_ahead ? b : a;
		int at_a = hear(a, b, 1, 0), at_b = hear(b, a, 1, 0);

		for (char m = 2; m < 4; m++)
			hear(ahead, ahead == a ? b : a, m, 1);
		send_one(a, at_a, b, at_b);
		send_one(b, at_b, a, at_a);
		o2g_close(a);
		o2g_close(b);
	}
}

static void o2g_peer_over__when_it_has_gone(void **state)
{
	struct o2g_ep *a = open_named("one"), *b = open_named("two");
	int at_a = hear(a, b, 1, 0), at_b = hear(b, a, 1, 0), later;
	u64 end = o2g_now_us() + LIMIT_US;

	send_one(b, at_b, a, at_a);
	assert_int_equal(o2g_peer_over(a, 0, 0), -EINVAL);
	assert_int_equal(o2g_peer_over(a, at_a, 0), 0);
	assert_int_equal(o2g_peer_del(b, at_b), 0);
	while (!o2g_peer_over(a, at_a, 0)) {
		assert_true(o2g_now_us() < end);
		o2g_progress(a);
		o2g_progress(b);
	}
	/* they meet again: it is another peer now */
	later = hear(a, b, 2, 0);
	assert_int_not_equal(later, at_a);
	send_one(a, later, b, hear(b, a, 2, 0));
	/* one that was never connected is over at once, the other when told so */
	assert_int_equal(o2g_peer_over(a, later, 0), 0);
	assert_int_equal(o2g_peer_over(a, later, 1), 1);
	later = hear(a, b, 3, 0);
	assert_int_equal(o2g_peer_over(a, later, 0), 1);
	o2g_close(a);
	o2g_close(b);
}

static void eng_peer_del__memory_goes(void **state)
{
	struct o2g_ep *ep = open_one();
	size_t before;

	for (int i = 0; i < 10; i++)
		del(ep, add(ep));
	before = __sanitizer_get_current_allocated_bytes();
	for (int i = 0; i < 1000; i++)
		del(ep, add(ep));
	assert_int_equal(__sanitizer_get_current_allocated_bytes(), before);
	assert_true(o2g_list_empty(&ep->retired));
	o2g_close(ep);
}

/* A lost peer that a request names stays until the request is collected. */
static void eng_peer_del__retired(void **state)
{
	struct o2g_ep *ep = open_one();
	struct o2g_req *req;
	u64 word;
	struct o2g_seg seg = { &word, 8 };
	int number = add(ep);

	assert_int_equal(o2g_irecv(ep, number, 1, 0, &seg, 1, &req), 0);
	del(ep, number);
	assert_false(o2g_list_empty(&ep->retired));
	assert_int_equal(o2g_wait(req, NULL), -O2G_ERR_PEER);
	del(ep, add(ep));
	assert_true(o2g_list_empty(&ep->retired));
	o2g_close(ep);
}

/* An empty message of that peer, as if it had come by its channel. */
static void arrives(struct o2g_ep *ep, int number, u64 tag)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .dst = (u32)ep->rank,
			     .tag = tag };
	struct eng_peer *p = eng_peer_known(ep, number);
	struct o2g_rx rx;

	h.src = p->cp.core.wire_rank;
	ep_lock(ep);
	assert_int_equal(o2g_proto_rx_begin(&ep->core, &p->cp.core, &h, &rx),
			 O2G_PROTO_OK);
	o2g_proto_rx_end(&ep->core, &p->cp.core, &rx);
	ep_unlock(ep);
}

/* What nobody has asked for goes with the peer; what a probe has taken stays. */
static void eng_peer_del__messages(void **state)
{
	struct o2g_ep *ep = open_one();
	int number = add(ep);
	struct o2g_ep_info info;
	struct o2g_status s;
	struct o2g_msg *msg;
	struct o2g_req *req;

	arrives(ep, number, 1);
	arrives(ep, number, 2);
	assert_int_equal(o2g_improbe(ep, number, 1, 0, &msg, &s), 0);
	assert_int_equal(s.source, number);
	del(ep, number);
	assert_int_equal(o2g_ep_info(ep, &info), 0);
	assert_int_equal(info.unexpected, 0);
	assert_false(o2g_list_empty(&ep->retired));
	assert_int_equal(o2g_imrecv(msg, NULL, 0, &req), 0);
	assert_int_equal(o2g_wait(req, &s), 0);
	assert_int_equal(s.source, number);
	del(ep, add(ep));
	assert_true(o2g_list_empty(&ep->retired));
	o2g_close(ep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers_get__ranks),
		cmocka_unit_test(peers_add__numbers_come_again),
		cmocka_unit_test(peers_add__many),
		cmocka_unit_test(memory_is_for_those_it_talks_to),
		cmocka_unit_test(eng_peer_del__ends_what_waits),
		cmocka_unit_test(o2g_peer_add__one_meeting_ahead),
		cmocka_unit_test(o2g_peer_over__when_it_has_gone),
		cmocka_unit_test(eng_peer_del__memory_goes),
		cmocka_unit_test(eng_peer_del__retired),
		cmocka_unit_test(eng_peer_del__messages),
	};

	setenv("O2G_CHANNELS", "tcp", 1);
	setenv("O2G_PROGRESS_THREAD", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
