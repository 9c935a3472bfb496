/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/ranks_fixture.c */
/* Places for rings: as many as there are senders, taken and given back. */
#define _GNU_SOURCE
#include "ranks_fixture.h"
#include "shm/shm.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static struct host *a, *b;

/* libc's, except that the file system may not be able to take memory back. */
static bool keeps_memory;

int fallocate(int fd, int mode, off_t off, off_t len)
{
	if (keeps_memory && mode & FALLOC_FL_PUNCH_HOLE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return syscall(SYS_fallocate, fd, mode, off, len);
}

static struct shm *shm_of(struct host *h)
{
	return container_of(h->chan, struct shm, chan);
}

static int setup(void **arg)
{
	a = rank_open(0);
	b = rank_open(1);
	return 0;
}

static int teardown(void **arg)
{
	if (a)
		host_destroy(a, false);
	if (b)
		host_destroy(b, false);
	a = b = NULL;
	keeps_memory = false;
	return 0;
}

static u64 name_of(struct host *h)
{
	return shm_name(shm_of(h)->own.head->token);
}

static u64 *word(struct host *h, u32 place)
{
	return shm_place_word(&shm_of(h)->own, place);
}

static u64 ring_bytes(struct host *h)
{
	return shm_page_round(
		shm_ring_bytes(shm_of(h)->cells, shm_of(h)->data));
}

/* Rings that the file is long enough for, and that have memory. */
static void rings(struct host *h, u32 *length, u32 *memory)
{
	struct stat st;

	assert_int_equal(fstat(shm_of(h)->own.fd, &st), 0);
	*length = st.st_size / ring_bytes(h);
	*memory = st.st_blocks * 512 / ring_bytes(h);
}

static void assert_rings(struct host *h, u32 length, u32 memory)
{
	u32 l, m;

	rings(h, &l, &m);
	assert_int_equal(l, length);
	assert_int_equal(m, memory);
}

/* A message that differs from the one before. */
static void talk(struct host *x, struct host *y)
{
	static char out;
	struct host *two[2] = { x, y };
	struct host_req *r, *s;
	char in = 0;

	assert_int_equal(host_connect(x, y), 0);
	r = host_recv_buf(y, x->rank, 1, &in, 1);
	out++;
	s = host_send_buf(x, y->rank, 1, &out, 1);
	assert_true(host_run(two, 2, &r->done, 5000));
	assert_true(s->done && in == out);
	host_req_free(r);
	host_req_free(s);
}

/* --- by themselves --- */

static void take__first_that_is_free(void **arg)
{
	struct shm_seg *seg = &shm_of(a)->own;
	u32 place;

	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(shm_place_take(seg, (i + 1) * 8, SHM_ANY_PLACE,
						&place),
				 0);
		assert_int_equal(place, i);
		assert_int_equal(*word(a, i), (i + 1) * 8 | SHM_TAKEN);
	}
	shm_place_return(seg, 1);
	assert_int_equal(shm_place_take(seg, 800, SHM_ANY_PLACE, &place), 0);
	assert_int_equal(place, 1);
	assert_int_equal(shm_places(seg), 3);
}

static void take__what_was_held_for_it(void **arg)
{
	struct shm *s = shm_of(a);
	u32 held, place;

	assert_int_equal(shm_place_take(&s->own, 8, SHM_ANY_PLACE, &place), 0);
	assert_int_equal(shm_place_hold(s, 16, SHM_ANY_PLACE, &held), 0);
	shm_place_return(&s->own, place);
	assert_int_equal(shm_place_take(&s->own, 16, SHM_ANY_PLACE, &place), 0);
	assert_int_equal(place, held); /* though one before it is free */
	assert_int_equal(*word(a, held), 16 | SHM_TAKEN);
	assert_false(shm_place_unhold(s, 16, held)); /* too late */
	assert_int_equal(*word(a, held), 16 | SHM_TAKEN);
	assert_int_equal(shm_place_hold(s, 16, SHM_ANY_PLACE, &held), -EEXIST);
}

static void hold__is_given_up(void **arg)
{
	struct shm *s = shm_of(a);
	u32 held;

	assert_int_equal(shm_place_hold(s, 16, SHM_ANY_PLACE, &held), 0);
	assert_true(shm_place_unhold(s, 16, held));
	assert_int_equal(*word(a, held), SHM_FREE);
}

/* More senders than the head has places for. */
static void take__more_than_one_group(void **arg)
{
	struct shm_seg *seg = &shm_of(a)->own;
	u32 n = 2 * SHM_GROUP + 5, place;

	for (u32 i = 0; i < n; i++) {
		assert_int_equal(shm_place_take(seg, (i + 1) * 8, SHM_ANY_PLACE,
						&place),
				 0);
		assert_int_equal(place, i);
	}
	for (u32 i = 0; i < n; i += SHM_GROUP - 1) {
		struct shm_end e;

		assert_int_equal(*word(a, i), (i + 1) * 8 | SHM_TAKEN);
		assert_int_equal(shm_ring_map(seg, i, &e), 0);
		memset(e.ring, 0xff, ring_bytes(a));
		shm_ring_unmap(&e);
	}
	/* No ring lies over a table. */
	for (u32 i = 0; i < n; i++)
		assert_int_equal(*word(a, i), (i + 1) * 8 | SHM_TAKEN);
	for (u32 i = 0; i < n; i += SHM_GROUP - 1)
		shm_place_return(seg, i);
	assert_rings(a, 2 * SHM_GROUP, 0); /* and the table behind them */
}

/* What the head says is written by others as well. */
static void top__is_not_believed(void **arg)
{
	shm_of(a)->own.head->top = ~0u;
	assert_int_equal(shm_places(&shm_of(a)->own),
			 SHM_GROUPS_MAX * SHM_GROUP);
	shm_of(a)->own.head->top = 0;
}

#define TURNS 400

/* Takes a place, writes into its ring, and finds it unchanged. */
static int take_turns(u64 name)
{
	struct shm_seg *seg = &shm_of(a)->own;

	for (int i = 0; i < TURNS; i++) {
		struct shm_end e;
		u32 place;

		if (shm_place_take(seg, name, SHM_ANY_PLACE, &place) ||
		    shm_ring_map(seg, place, &e))
			return 1;
		if (e.ring->rank) /* somebody else's, or not wiped */
			return 2;
		e.ring->rank = name;
		if (i % 16 == 0)
			usleep(1);
		if (e.ring->rank != (u32)name)
			return 3;
		shm_ring_unmap(&e);
		shm_place_return(seg, place);
	}
	return 0;
}

static void take__by_many_at_once(void **arg)
{
	enum { N = 4 };
	pid_t pid[N];

	for (int i = 0; i < N; i++) {
		pid[i] = fork();
		if (!pid[i]) {
			alarm(LIMIT_S);
			_exit(take_turns((i + 1) * 8));
		}
	}
	for (int i = 0; i < N; i++) {
		int s;

		assert_int_equal(waitpid(pid[i], &s, 0), pid[i]);
		assert_int_equal(s, 0);
	}
	assert_in_range(shm_places(&shm_of(a)->own), 1, N);
	for (u32 i = 0; i < N; i++)
		assert_int_equal(*word(a, i), SHM_FREE);
}

/* --- with connections --- */

static void rings__only_for_those_that_talk(void **arg)
{
	struct host *c = rank_open(39);

	assert_rings(a, 0, 0);
	talk(b, a);
	assert_rings(a, 1, 1);
	assert_rings(b, 1, 1);
	talk(a, c); /* of the highest rank there is */
	assert_rings(a, 2, 2);
	assert_rings(c, 1, 1);
	assert_rings(b, 1, 1);
	host_destroy(c, false);
}

static void rings__given_back_at_the_end(void **arg)
{
	talk(b, a);
	for (u32 rank = 2; rank < 30; rank++) {
		struct host *c = rank_open(rank);

		if (rank & 1)
			talk(c, a);
		talk(a, c);
		assert_rings(a, 2, 2);
		host_destroy(c, rank & 2); /* with a goodbye, or without */
		host_pump(a);
		host_pump(a);
		if (a->peers[rank].cp.link)
			a->chan->ops->disconnect(a->chan, &a->peers[rank].cp,
						 true);
		assert_rings(a, 2, 1);
	}
	talk(b, a);
}

/* Nothing of one is left for the next that has its place. */
static void rings__wiped_where_memory_stays(void **arg)
{
	keeps_memory = true;
	for (u32 rank = 2; rank < 12; rank++) {
		struct host *c = rank_open(rank);

		for (int i = 0; i < 20; i++) {
			talk(c, a);
			talk(a, c);
		}
		host_destroy(c, false);
		host_pump(a);
		assert_int_equal(a->peers[rank].lost, 1);
		assert_int_equal(*word(a, 0), SHM_FREE);
		assert_rings(a, 1, 1);
	}
}

static void outlive(void)
{
	char c;
	struct host_req *q = host_recv_buf(ep, 1, 2, &c, 1);
	struct stat st;

	meet_at_work(1);
	CHECK(host_until(ep, &q->done, 5000, true));
	CHECK(other_peer()->lost == 1);
	CHECK(*word(ep, 0) == SHM_FREE);
	CHECK(!fstat(shm_of(ep)->own.fd, &st));
	CHECK((u64)st.st_blocks * 512 < ring_bytes(ep));
}

static void die(void)
{
	struct host_req *q = host_send_buf(ep, 0, 1, "a", 1);

	CHECK(host_until(ep, &q->done, 5000, false));
	meet_at_work(1);
	kill(getpid(), SIGKILL);
}

static void rings__given_back_by_the_dead(void **arg)
{
	int status[2];

	run(outlive, die, status);
	assert_int_equal(status[0], 0);
	assert_int_equal(status[1], -SIGKILL);
}

/* We leave first: its memory stays until the sender has seen that. */
static void rings__given_back_when_we_leave(void **arg)
{
	struct chan_peer *p;

	talk(b, a);
	talk(a, b);
	p = chan_ep_peer(host_ep(a), 1);
	a->chan->ops->disconnect(a->chan, p, true);
	o2g_proto_peer_down(&a->core, &p->core, -O2G_ERR_PEER);
	host_pump(a);
	assert_rings(a, 1, 1);
	host_pump(b);
	assert_int_equal(b->peers[0].lost, 1);
	host_pump(a);
	assert_rings(a, 1, 0);
	assert_rings(b, 1, 0);
}

/* Both looked at the same moment and found two places for one ring. */
static void connect__two_places_for_one_ring(void **arg)
{
	struct shm_link *l;
	u64 held;

	assert_int_equal(host_connect(a, b), 0);
	held = *word(a, 0);
	assert_int_equal(held, name_of(b) | SHM_HELD);
	*word(a, 0) = name_of(b) | SHM_GOING; /* b does not see it ... */
	assert_int_equal(host_connect(b, a), 0);
	assert_int_equal(*word(a, 1), name_of(b) | SHM_ATTACHED);
	*word(a, 0) = held;
	talk(b, a);
	l = a->peers[1].cp.link;
	assert_int_equal(l->rx_place, 1);
	assert_int_equal(*word(a, 0), SHM_FREE);
	assert_rings(a, 2, 1);
	talk(a, b);
	assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
}

/* Each has taken a place at the other's before either was attached. */
static void connect__nothing_held_for_one_that_comes(void **arg)
{
	struct shm *s = shm_of(a);
	u32 place;

	/* what b does first */
	assert_int_equal(
		shm_place_take(&s->own, name_of(b), SHM_ANY_PLACE, &place), 0);
	assert_int_equal(host_connect(a, b), 0);
	assert_null(((struct shm_link *)a->peers[1].cp.link)->rx.ring);
	assert_int_equal(shm_places(&s->own), 1);
	/* It gives up, and answers when it sees us. */
	shm_place_return(&s->own, place);
	talk(a, b);
	talk(b, a);
	assert_rings(a, 1, 1);
}

/* --- with other jobs --- */

/* Of two jobs that meet, one hears of the other first. */
static void meet_half(void)
{
	a->job_id = 1;
	b->job_id = 2;
	b->other_job = 1;
	assert_int_equal(host_connect(b, a), 0);
	host_pump(a);
	assert_null(a->peers[1].cp.link);
}

static void told_of_other(void)
{
	a->other_job = 2;
	a->chan->ops->known(a->chan, chan_ep_peer(host_ep(a), 1));
}

static void other__attached_before_it_is_known(void **arg)
{
	meet_half();
	told_of_other();
	assert_non_null(a->peers[1].cp.link);
	talk(b, a);
	talk(a, b);
	assert_rings(a, 1, 1);
}

/* ... for what it has said already. */
static void other__sent_before_it_is_known(void **arg)
{
	struct host *two[2] = { a, b };
	struct host_req *r, *s;
	char in = 0;

	meet_half();
	s = host_send_buf(b, 0, 1, "x", 1);
	host_idle(two, 2, 10);
	told_of_other();
	r = host_recv_buf(a, 1, 1, &in, 1);
	assert_true(host_run(two, 2, &r->done, 5000));
	assert_true(s->done && in == 'x');
	host_req_free(r);
	host_req_free(s);
}

/* Its place is free again when it has gone without our having heard of it. */
static void other__gone_before_it_is_known(void **arg)
{
	meet_half();
	host_destroy(b, false);
	b = rank_open(1);
	host_pump(a);
	assert_int_equal(*word(a, 0), SHM_FREE);
	assert_rings(a, 1, 0);
	meet_half();
	told_of_other();
	talk(b, a);
	assert_rings(a, 1, 1);
}

/* As libo2g does when the last communicator with it has gone. */
static void forget(struct host *h, u32 rank)
{
	struct chan_peer *p = chan_ep_peer(host_ep(h), rank);

	if (p->link)
		h->chan->ops->disconnect(h->chan, p, true);
	if (!p->core.down)
		o2g_proto_peer_down(&h->core, &p->core, -O2G_ERR_PEER);
	memset(&h->peers[rank], 0, sizeof(h->peers[rank]));
}

/* It has forgotten us and meets us again before we have forgotten it. */
static void other__returns_before_it_is_forgotten(void **arg)
{
	meet_half();
	told_of_other();
	talk(b, a);
	forget(b, 0);
	assert_int_equal(host_connect(b, a), 0);
	host_pump(a);
	assert_int_equal(a->peers[1].lost, 1);
	forget(a, 1);
	told_of_other();
	talk(b, a);
	talk(a, b);
	assert_int_equal(a->peers[1].lost + b->peers[0].lost, 0);
}

#define TS(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TS(take__first_that_is_free),
		TS(take__what_was_held_for_it),
		TS(hold__is_given_up),
		TS(take__more_than_one_group),
		TS(top__is_not_believed),
		TS(take__by_many_at_once),
		TS(rings__only_for_those_that_talk),
		TS(rings__given_back_at_the_end),
		TS(rings__wiped_where_memory_stays),
		T(rings__given_back_by_the_dead),
		TS(rings__given_back_when_we_leave),
		TS(connect__two_places_for_one_ring),
		TS(connect__nothing_held_for_one_that_comes),
		TS(other__attached_before_it_is_known),
		TS(other__sent_before_it_is_known),
		TS(other__gone_before_it_is_known),
		TS(other__returns_before_it_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
