// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * channel/bpf/recv.c over a seat that this test fills as the program would, with
 * what it needs of tcp/ made up: in which order are the ring and the
 * sockets read?
 */
/* sources: channel/bpf/recv.c core/credit.c core/match.c core/wild.c core/proto.c */
/* sources: core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c core/send.c core/stream.c core/wire.c */
/* sources: channel/body.c tests/mock/host.c */
#include "unit.h"

#include <stdlib.h>

#include "bpf/chan.h"
#include "tcp/recv.h"
#include "tcp/send.h"
#include "tcp/split.h"
#include "tcp/watch.h"
#include "host.h"

#define EVENTS 32

static struct bpf_chan *chan;
static struct bpf_seat *seat;
static struct tcp_conn conns[2];
static struct bpf_member members[2];
static struct chan_peer peer;
static const struct tcp_intake intake;
static u64 waiting[2]; /* bytes that recv() would give */
static u64 bell[2];
static struct host *host;
static int syncs;
static char events[EVENTS + 1];
static int nevents;

static void happened(char what)
{
	if (nevents < EVENTS)
		events[nevents++] = what;
}

/* --- what recv.c calls: capital letters are bytes of the ring --- */

int tcp_feed(struct tcp_conn *k, const void *data, size_t n)
{
	if (n)
		happened(*(const char *)data);
	return n > 0;
}

int tcp_read(struct tcp_conn *k)
{
	u64 n = waiting[k - conns];

	happened((char)('0' + (k - conns)));
	waiting[k - conns] = 0;
	bpf_conn_took(k, n);
	return n > 0;
}

void tcp_conn_lost(struct tcp_conn *k, int err, const char *fmt, ...)
{
	happened('!');
	chan->members[k - conns] = NULL;
}

int tcp_poll_hot(struct tcp_chan *c)
{
	return 0;
}

void tcp_flush(struct chan *c)
{
}

bool tcp_arm(struct chan *c)
{
	return !o2g_list_empty(&tcp_chan_of(c)->more);
}

void tcp_disarm(struct chan *c)
{
}

void tcp_conn_watch(struct tcp_conn *k)
{
	k->in.sock.events = 1;
	k->in.streak = 0;
}

void tcp_conn_unwatch(struct tcp_conn *k)
{
	k->in.sock.events = 0;
}

void tcp_split_start(struct tcp_conn *k)
{
	happened('|');
}

void bpf_conn_sync(int fd)
{
	syncs++;
}

/* --- what the program does --- */

static u32 units(u32 len)
{
	return len > BPF_INSIDE ? (len + BPF_UNIT - 1) / BPF_UNIT : 0;
}

static u32 reserve(u32 len)
{
	u32 number = (u32)(seat->tail >> 32);

	seat->tail = (u64)(number + 1) << 32 | ((u32)seat->tail + units(len));
	return number;
}

static void commit(u32 number, u32 conn, u32 len, char byte)
{
	struct bpf_desc *d = &seat->descs[number % BPF_DESCS];

	if (len > BPF_INSIDE) {
		d->what = conn | BPF_LONG;
		d->len = len;
		d->at = number * BPF_UNIT % BPF_RING;
		seat->ring[d->at] = (u8)byte;
	} else {
		d->what = conn | len << BPF_SHORT;
		d->words[0] = (u8)byte;
	}
	d->seq = number + 1;
}

static void place(u32 conn, char byte)
{
	commit(reserve(1), conn, 1, byte);
}

static void place_long(u32 conn, char byte)
{
	commit(reserve(BPF_UNIT), conn, BPF_UNIT, byte);
}

static void pass(u32 conn, u64 len)
{
	seat->conns[conn].passed += len;
	waiting[conn] += len;
	if (!seat->conns[conn].told)
		commit(reserve(0), conn, 0, 0);
	seat->conns[conn].told = 1;
}

/* --- tests --- */

static int setup(void **state)
{
	host = host_create(0, NULL, NULL, 0);
	chan = calloc(1, sizeof(*chan));
	chan->tcp.chan.ep = host_ep(host);
	seat = calloc(1, sizeof(*seat));
	chan->place.seat = seat;
	chan->place.bell_taken = &bell[0];
	chan->place.bell_given = &bell[1];
	o2g_list_init(&chan->tcp.more);
	o2g_list_init(&chan->tcp.dirty);
	memset(conns, 0, sizeof(conns));
	memset(waiting, 0, sizeof(waiting));
	memset(events, 0, sizeof(events));
	nevents = 0;
	syncs = 0;
	for (u32 i = 0; i < 2; i++) {
		conns[i].chan = &chan->tcp;
		conns[i].peer = &peer;
		members[i] = (struct bpf_member){ &conns[i], .id = i };
		conns[i].in.intake = &intake;
		conns[i].in.joined = chan->members[i] = &members[i];
		conns[i].in.state = TCP_IN_BUSY;
		conns[i].in.sock.events = 1;
		o2g_list_init(&conns[i].in.more);
	}
	return 0;
}

static int teardown(void **state)
{
	chan_timer_del(host_ep(host), &chan->retry);
	host_destroy(host, false);
	free(chan);
	free(seat);
	return 0;
}

static void poll_all(void)
{
	for (int i = 0; i < 8; i++)
		bpf_poll(&chan->tcp.chan);
}

static void poll__the_ring_comes_before_the_socket(void **state)
{
	place(0, 'A');
	pass(0, 100);
	poll_all();
	assert_string_equal(events, "A0");
	place(0, 'B');
	poll_all();
	assert_string_equal(events, "A0B");
}

/* In a descriptor or in the ring, for nobody or for one that has left. */
static void poll__pieces_of_all_kinds(void **state)
{
	u32 left = 1u << BPF_CONN_BITS; /* its generation is another */

	place(0, 'A');
	place_long(1, 'B');
	place_long(0 | BPF_VOID, 'x');
	place(1 | left, 'x');
	place_long(1 | left, 'x');
	place(1, 'C');
	poll_all();
	assert_string_equal(events, "ABC");
	assert_int_equal(chan->head, seat->tail);
}

/* Another process of the user could write there: nothing outside is read. */
static void poll__a_piece_that_cannot_be(void **state)
{
	u32 number = reserve(0);

	commit(number, 0, BPF_UNIT, 'x');
	seat->descs[number].at = BPF_RING;
	number = reserve(0);
	commit(number, 0, BPF_PIECE + 1, 'x');
	place(0, 'A');
	poll_all();
	assert_string_equal(events, "A");
}

/* On another processor the program is in the middle of its work. */
static void poll__a_descriptor_being_written_hides_others(void **state)
{
	u32 slow = reserve(1);

	place(0, 'A');
	pass(0, 100);
	bpf_conn_recv(&conns[0]); /* the socket also says that there is more */
	poll_all();
	assert_string_equal(events, "");
	assert_true(bpf_arm(&chan->tcp.chan)); /* no time to sleep */
	commit(slow, 1, 1, 'X');
	poll_all();
	assert_string_equal(events, "XA0");
	assert_false(bpf_arm(&chan->tcp.chan));
}

/* The same at the end of a connection: its last bytes come before it. */
static void poll__the_end_waits_for_the_ring(void **state)
{
	u32 slow = reserve(1);

	place(0, 'A');
	tcp_conn_ending(&conns[0]);
	bpf_conn_recv(&conns[0]);
	poll_all();
	assert_string_equal(events, "");
	commit(slow, 1, 1, 'X');
	poll_all();
	assert_string_equal(events, "XA0");
}

static void poll__a_piece_that_does_not_fit_ends_it(void **state)
{
	place(0, 'A');
	seat->conns[0].lost = 1;
	pass(0, 0);
	place(1, 'B');
	poll_all();
	assert_string_equal(events, "AB!");
}

/* One that sends all the time is not watched ... */
static void keep_busy(u32 conn)
{
	for (int i = 0; i < TCP_STREAK; i++) {
		place(conn, 'A');
		bpf_poll(&chan->tcp.chan);
	}
	assert_false(conns[conn].in.sock.events);
	assert_true(seat->conns[conn].calm); /* nor does it wake anybody */
}

/* ... until it is silent, for it may be dead, */
static void poll__who_is_silent_is_watched(void **state)
{
	keep_busy(0);
	for (int i = 0; i < BPF_IDLE; i++)
		bpf_poll(&chan->tcp.chan);
	assert_true(conns[0].in.sock.events);
	assert_false(seat->conns[0].calm);
}

/* or another one sends, */
static void poll__only_one_is_not_watched(void **state)
{
	keep_busy(0);
	keep_busy(1);
	assert_true(conns[0].in.sock.events);
	assert_false(seat->conns[0].calm);
}

/* or we sleep. */
static void arm__everybody_is_watched(void **state)
{
	keep_busy(0);
	assert_int_equal(syncs, 0);
	assert_false(bpf_arm(&chan->tcp.chan));
	assert_true(conns[0].in.sock.events);
	assert_false(seat->conns[0].calm);
	assert_int_equal(syncs, 1); /* what came without a word is seen */
	assert_false(bpf_arm(&chan->tcp.chan));
	assert_int_equal(syncs, 1);
}

/* Room comes back in portions, but it does. */
static void poll__room_is_given_back(void **state)
{
	u32 stores = 0, before = 0;

	for (u32 i = 0; i < 2 * BPF_DESCS; i++) {
		u32 head;

		place_long(0, 'A');
		bpf_poll(&chan->tcp.chan);
		head = (u32)(seat->head >> 32);
		assert_true(head <= i + 1);
		assert_true(i + 1 - head < BPF_DESCS / BPF_PORTION);
		assert_int_equal((u32)seat->head, head);
		stores += head != before;
		before = head;
	}
	assert_int_equal(stores, 2 * BPF_PORTION);
}

/* In a body of which @left bytes are missing. */
static void in_body(u32 conn, u64 left)
{
	conns[conn].in.stream.in_body = true;
	conns[conn].in.stream.body_left = left;
}

/* A few bytes of a long body wake nobody; the rest of it does, */
static void hint__woken_for_the_rest(void **state)
{
	struct bpf_conn *c = &seat->conns[0];

	place(0, 'A');
	poll_all();
	assert_int_equal(c->wake_at, 0);
	in_body(0, TCP_LONG - 1);
	place(0, 'B');
	poll_all();
	assert_int_equal(c->wake_at, 0);
	assert_int_equal(c->pass, 0);
	in_body(0, 3 * TCP_LONG);
	place(0, 'C');
	poll_all();
	assert_int_equal(c->wake_at, 3 * TCP_LONG);
	assert_int_equal(c->pass, 1);
	/* of which some was in the ring already, */
	in_body(0, 2 * TCP_LONG);
	place(0, 'D');
	poll_all();
	assert_int_equal(c->wake_at, 2 * TCP_LONG);
	/* and some is read. */
	pass(0, TCP_LONG);
	in_body(0, TCP_LONG);
	poll_all();
	assert_int_equal(c->taken, TCP_LONG);
	assert_int_equal(c->wake_at, 2 * TCP_LONG);
	conns[0].in.stream.in_body = false;
	pass(0, TCP_LONG);
	poll_all();
	assert_int_equal(c->wake_at, 0);
	assert_int_equal(c->pass, 0);
}

/* or a good part, which is larger while nobody waits. */
static void hint__woken_for_a_part(void **state)
{
	struct bpf_conn *c = &seat->conns[0];

	in_body(0, 1 << 30);
	place(0, 'A');
	poll_all();
	assert_int_equal(c->wake_at, TCP_LOWAT);
	host->away = true;
	pass(0, 1000);
	poll_all();
	assert_int_equal(c->wake_at, 1000 + TCP_LOWAT_AWAY);
}

/* What came while the limit was set is not slept through. */
static void arm__what_was_passed_is_seen(void **state)
{
	in_body(0, 3 * TCP_LONG);
	place(0, 'A');
	poll_all();
	assert_false(bpf_arm(&chan->tcp.chan));
	pass(0, 1);
	assert_true(bpf_arm(&chan->tcp.chan));
}

static void poll__who_talks_much_gets_another_socket(void **state)
{
	chan->talk = 3;
	for (int i = 0; i < 3; i++) {
		place(0, 'A');
		place(1, 'B');
	}
	place(0, 'C');
	poll_all();
	assert_string_equal(events, "ABABA|B|C");
}

/* Unless that was asked for it matters whether it sleeps in between. */
static void poll__who_sleeps_does_not(void **state)
{
	chan->talk = 3;
	chan->adapts = true;
	for (int i = 0; i < 5; i++) {
		place(0, 'A');
		poll_all();
		if (i == 1)
			bpf_arm(&chan->tcp.chan);
	}
	assert_string_equal(events, "AAAAA|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			poll__the_ring_comes_before_the_socket, setup,
			teardown),
		cmocka_unit_test_setup_teardown(poll__pieces_of_all_kinds,
						setup, teardown),
		cmocka_unit_test_setup_teardown(poll__a_piece_that_cannot_be,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			poll__a_descriptor_being_written_hides_others, setup,
			teardown),
		cmocka_unit_test_setup_teardown(
			poll__the_end_waits_for_the_ring, setup, teardown),
		cmocka_unit_test_setup_teardown(
			poll__a_piece_that_does_not_fit_ends_it, setup,
			teardown),
		cmocka_unit_test_setup_teardown(poll__who_is_silent_is_watched,
						setup, teardown),
		cmocka_unit_test_setup_teardown(poll__only_one_is_not_watched,
						setup, teardown),
		cmocka_unit_test_setup_teardown(arm__everybody_is_watched,
						setup, teardown),
		cmocka_unit_test_setup_teardown(poll__room_is_given_back, setup,
						teardown),
		cmocka_unit_test_setup_teardown(hint__woken_for_the_rest, setup,
						teardown),
		cmocka_unit_test_setup_teardown(hint__woken_for_a_part, setup,
						teardown),
		cmocka_unit_test_setup_teardown(arm__what_was_passed_is_seen,
						setup, teardown),
		cmocka_unit_test_setup_teardown(
			poll__who_talks_much_gets_another_socket, setup,
			teardown),
		cmocka_unit_test_setup_teardown(poll__who_sleeps_does_not,
						setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
