/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/ranks_fixture.c */
/* The hall: ranks of one host that find each other without being told. */
#define _GNU_SOURCE
#include "ranks_fixture.h"
#include "shm/shm.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define SEATS 4

static struct host *a, *b;
static int hall;

static struct shm *shm_of(struct host *h)
{
	return container_of(h->chan, struct shm, chan);
}

static void invite(int seat)
{
	struct stat st;
	char text[80];

	assert_int_equal(fstat(hall, &st), 0);
	snprintf(text, sizeof(text), "%d:%d:%llu:%d:%d", getpid(), hall,
		 (unsigned long long)st.st_ino, seat, SEATS);
	setenv("O2G_SHM_HALL", text, 1);
}

static struct host *enter(int rank, int seat)
{
	invite(seat);
	return rank_open(rank);
}

static bool is_in(struct host *h)
{
	return shm_of(h)->hall.base;
}

static int setup(void **arg)
{
	hall = memfd_create("hall", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	return hall < 0;
}

static int teardown(void **arg)
{
	if (a)
		host_destroy(a, false);
	if (b)
		host_destroy(b, false);
	a = b = NULL;
	close(hall);
	unsetenv("O2G_SHM_HALL");
	unsetenv("O2G_SHM_RING");
	return 0;
}

static void talk(struct host *x, struct host *y)
{
	struct host *two[2] = { x, y };
	int in = 0, out = 4711;
	struct host_req *r = host_recv_buf(y, x->rank, 1, &in, sizeof(in));
	struct host_req *s = host_send_buf(x, y->rank, 1, &out, sizeof(out));

	assert_true(host_run(two, 2, &r->done, 5000));
	assert_true(s->done && in == out);
	host_req_free(r);
	host_req_free(s);
}

static int find(struct host *h, u32 rank)
{
	struct chan_peer *p = chan_ep_peer(host_ep(h), rank);

	return h->chan->ops->meet(h->chan, p);
}

static u64 memory(void)
{
	struct stat st;

	assert_int_equal(fstat(hall, &st), 0);
	return st.st_blocks * 512;
}

/* --- */

static void meet__without_a_card(void **arg)
{
	u64 before;

	a = enter(0, 0);
	b = enter(1, 1);
	assert_true(is_in(a) && is_in(b));
	before = memory();
	assert_int_equal(find(a, 1), 0);
	talk(a, b);
	talk(b, a);
	/* two rings, of which one page each was touched */
	assert_true(memory() - before <= 2 * SHM_PAGE);
}

/* Ranks may have any seats. */
static void meet__in_any_order(void **arg)
{
	a = enter(0, 3);
	b = enter(1, 0);
	assert_int_equal(find(b, 0), 0);
	talk(b, a);
	talk(a, b);
}

static void meet__whoever_has_not_come(void **arg)
{
	a = enter(0, 0);
	assert_int_equal(find(a, 1), -ENOENT);
}

static void meet__whoever_has_left(void **arg)
{
	a = enter(0, 0);
	b = enter(1, 1);
	host_destroy(b, false);
	b = NULL;
	assert_int_equal(find(a, 1), -ENOENT);
}

/* A program that a rank starts has the rank's variables. */
static void enter__seat_is_taken(void **arg)
{
	a = enter(0, 0);
	b = enter(1, 0);
	assert_true(is_in(a) && !is_in(b));
	assert_int_equal(host_connect(a, b), 0);
	talk(a, b);
	talk(b, a);
}

static void enter__after_having_left(void **arg)
{
	a = enter(0, 0);
	host_destroy(a, false);
	a = enter(0, 0);
	assert_false(is_in(a));
}

static void enter__what_is_not_a_hall(void **arg)
{
	static const char *const bad[] = { "", "1", "1:2:3:4:5", "x:0:0:0:1",
					   "1:0:0:7:7" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		setenv("O2G_SHM_HALL", bad[i], 1);
		a = rank_open(0);
		assert_false(is_in(a));
		host_destroy(a, false);
	}
	a = NULL;
}

/* The descriptor may be another file by now. */
static void enter__another_file(void **arg)
{
	invite(0);
	close(hall);
	hall = memfd_create("other", MFD_CLOEXEC);
	a = rank_open(0);
	assert_false(is_in(a));
}

/* Somebody with a segment of its own finds one in the hall by its card. */
static void connect__from_outside(void **arg)
{
	a = enter(0, 2);
	unsetenv("O2G_SHM_HALL");
	b = rank_open(1);
	assert_true(is_in(a) && !is_in(b));
	assert_int_equal(host_connect(b, a), 0);
	talk(b, a);
	talk(a, b);
	/* not where those who have a seat are */
	assert_true(shm_of(a)->own.head->top > SEATS);
}

static _Noreturn void run_until_killed(int ready)
{
	struct host *h = enter(1, 1);

	if (write(ready, "", 1) != 1)
		_exit(1);
	for (;;)
		host_round(h, 100);
}

/* Nobody watches the process yet when it ends. */
static void meet__whoever_is_killed(void **arg)
{
	int ready[2];
	pid_t pid;
	char c;

	a = enter(0, 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid)
		run_until_killed(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(ready[0]);
	close(ready[1]);
	assert_int_equal(find(a, 1), 0);
	for (int i = 0; i < 50 && !a->peers[1].lost; i++)
		host_idle(&a, 1, 100);
	assert_int_equal(a->peers[1].lost, 1);
}

#define TS(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TS(meet__without_a_card),	TS(meet__in_any_order),
		TS(meet__whoever_has_not_come), TS(meet__whoever_has_left),
		TS(meet__whoever_is_killed),	TS(enter__seat_is_taken),
		TS(enter__after_having_left),	TS(enter__what_is_not_a_hall),
		TS(enter__another_file),	TS(connect__from_outside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
