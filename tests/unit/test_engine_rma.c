/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* Operations on registered memory, over each channel. */
#include "peer.h"

#include "engine_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define BYTES (1u << 20)

static _Alignas(64) unsigned char mine[BYTES];
static struct o2g_mem *mem;
static struct o2g_key own_key, key; /* key: of the rank that is used */
static struct o2g_counter count;

static void all_meet(void)
{
	for (int i = 0; i < nranks; i++)
		if (i != me)
			CHECK(!o2g_send(ep, i, 77, NULL, 0, 0));
	for (int i = 0; i < nranks; i++)
		if (i != me)
			CHECK(!o2g_recv(ep, i, 77, 0, NULL, 0, NULL));
}

/* Everybody uses rank 0's memory. */
static void open_memory(unsigned access)
{
	CHECK(!o2g_mem_register(ep, mine, sizeof(mine), access, &mem,
				&own_key));
	key = own_key;
	if (me == 0)
		for (int i = 1; i < nranks; i++)
			CHECK(!o2g_send(ep, i, 1, &own_key, sizeof(key), 0));
	else
		CHECK(!o2g_recv(ep, 0, 1, 0, &key, sizeof(key), NULL));
}

static void close_memory(void)
{
	all_meet();
	o2g_mem_deregister(mem);
}

static struct o2g_target at(uint64_t offset)
{
	return (struct o2g_target){ 0, &key, offset, &count, NULL };
}

static uint64_t fetch(enum o2g_op op, enum o2g_type type, uint64_t x,
		      uint64_t offset)
{
	struct o2g_target t = at(offset);
	uint64_t old = 0;

	CHECK(!o2g_fetch_op(ep, &t, op, type, &x, &old));
	CHECK(!o2g_flush(ep, &count));
	CHECK(!count.pending && !count.local);
	return old;
}

static uint64_t swap(enum o2g_type type, uint64_t compare, uint64_t x,
		     uint64_t offset)
{
	struct o2g_target t = at(offset);
	uint64_t old = 0;

	CHECK(!o2g_compare_swap(ep, &t, type, &compare, &x, &old));
	CHECK(!o2g_flush(ep, &count));
	return old;
}

/* --- one element --- */

static void elements(void)
{
	double d = 1.5, old = 0;
	struct o2g_target t = at(64);
	struct o2g_req *r;

	open_memory(O2G_READ | O2G_WRITE);
	if (me == nranks - 1) {
		CHECK(fetch(O2G_SUM, O2G_I64, 5, 0) == 0);
		CHECK(fetch(O2G_SUM, O2G_U32, 7, 0) == 5);
		CHECK(fetch(O2G_REPLACE, O2G_U8, 0xff, 1) == 0);
		CHECK(fetch(O2G_NO_OP, O2G_U64, 0, 0) == 0xff0c);
		CHECK(fetch(O2G_MIN, O2G_I8, 3, 1) == 0xff); /* it is -1 */
		CHECK(fetch(O2G_MAX, O2G_I8, 3, 1) == 0xff);
		CHECK(fetch(O2G_BXOR, O2G_U16, 1, 0) == 0x030c);
		CHECK(fetch(O2G_NO_OP, O2G_U16, 0, 0) == 0x030d);
		CHECK(swap(O2G_U64, 0x030d, 10, 0) == 0x030d);
		CHECK(swap(O2G_U64, 11, 12, 0) == 10);
		CHECK(fetch(O2G_NO_OP, O2G_U64, 0, 0) == 10);
		CHECK(swap(O2G_U16, 10, 0x1111, 0) == 10);
		/* not aligned */
		CHECK(fetch(O2G_REPLACE, O2G_U64, 1, 17) == 0);
		CHECK(fetch(O2G_SUM, O2G_U64, 1, 17) == 1);
		CHECK(swap(O2G_U32, 2, 9, 17) == 2);
		CHECK(fetch(O2G_NO_OP, O2G_U32, 0, 17) == 9);
		/* with a request, or both, and without a result */
		t.req = &r;
		CHECK(!o2g_fetch_op(ep, &t, O2G_SUM, O2G_F64, &d, NULL));
		CHECK(!o2g_wait(r, NULL));
		t.counter = NULL;
		CHECK(!o2g_fetch_op(ep, &t, O2G_PROD, O2G_F64, &d, &old));
		CHECK(!o2g_wait(r, NULL) && old == 1.5);
		CHECK(!o2g_fetch_op(ep, &t, O2G_NO_OP, O2G_F64, NULL, &old));
		CHECK(!o2g_wait(r, NULL) && old == 2.25);
		CHECK(!o2g_flush(ep, &count));
	}
	close_memory();
}

static int error_of(enum o2g_op op, enum o2g_type type, const struct o2g_key *k,
		    uint64_t offset)
{
	struct o2g_target t = { 0, k, offset, &count, NULL };
	uint64_t x = 0, old;
	int err = o2g_fetch_op(ep, &t, op, type, &x, &old);

	return err ? err : o2g_flush(ep, &count);
}

static void refusals(void)
{
	struct o2g_key bad;
	struct o2g_target t;
	uint64_t x = 0;

	open_memory(O2G_READ);
	if (me == nranks - 1) {
		CHECK(error_of(O2G_NO_OP, O2G_U64, &key, BYTES - 8) == 0);
		CHECK(error_of(O2G_SUM, O2G_U64, &key, 0) == -EACCES);
		CHECK(error_of(O2G_SUM, O2G_U64, &key, BYTES - 7) == -ERANGE);
		CHECK(error_of(O2G_BAND, O2G_F32, &key, 0) == -EINVAL);
		CHECK(error_of(O2G_SUM, O2G_TYPES, &key, 0) == -EINVAL);
		CHECK(error_of(O2G_OPS, O2G_U32, &key, 0) == -EINVAL);
		bad = key;
		bad.len *= 2;
		CHECK(error_of(O2G_NO_OP, O2G_U64, &bad, BYTES) == -ERANGE);
		bad.key ^= 1ull << 40;
		CHECK(error_of(O2G_NO_OP, O2G_U64, &bad, 0) == -ENOENT);
		/* An error is reported once, with the flush that it is due to. */
		t = (struct o2g_target){ 0, &bad, 0, &count, NULL };
		CHECK(!o2g_rma_put(ep, &t, &(struct o2g_seg){ &x, 8 }, 1));
		CHECK(o2g_flush(ep, &count) == -ENOENT);
		CHECK(o2g_flush(ep, &count) == 0);
		t.counter = NULL;
		CHECK(o2g_rma_put(ep, &t, &(struct o2g_seg){ &x, 8 }, 1) ==
		      -EINVAL);
	}
	close_memory();
}

/* --- many --- */

#define MANY 20000

/* Every other element backwards: two pieces at least. */
struct backwards {
	struct o2g_view view;
	unsigned char *end;
};

static void read_backwards(const struct o2g_view *v, uint64_t off, void *to,
			   size_t n)
{
	const struct backwards *b = (const struct backwards *)v;

	for (size_t i = 0; i < n; i++)
		((unsigned char *)to)[i] = b->end[-1 - (long)(off + i)];
}

static void write_backwards(const struct o2g_view *v, uint64_t off,
			    const void *from, size_t n)
{
	const struct backwards *b = (const struct backwards *)v;

	for (size_t i = 0; i < n; i++)
		b->end[-1 - (long)(off + i)] = ((const unsigned char *)from)[i];
}

static void sums(void)
{
	static int32_t x[MANY], old[MANY];
	struct o2g_seg segs[3] = { { x, 40 },
				   { x + 10, 4 * (MANY - 20) },
				   { x + MANY - 10, 40 } };
	struct o2g_seg results[2] = { { old, 4 * (MANY - 1) },
				      { old + MANY - 1, 4 } };
	struct o2g_target t = at(4);

	for (int i = 0; i < MANY; i++)
		x[i] = i;
	/* twice without a result, in one piece and in three */
	CHECK(!o2g_accumulate(ep, &t, O2G_SUM, O2G_I32,
			      &(struct o2g_seg){ x, sizeof(x) }, 1, NULL, 0));
	CHECK(!o2g_accumulate(ep, &t, O2G_SUM, O2G_I32, segs, 3, NULL, 0));
	CHECK(!o2g_accumulate(ep, &t, O2G_MAX, O2G_I32, segs, 3, results, 2));
	CHECK(!o2g_flush(ep, &count));
	for (int i = 0; i < MANY; i++)
		CHECK(old[i] == 2 * i);
	/* a result of another length */
	CHECK(o2g_accumulate(ep, &t, O2G_REPLACE, O2G_I32, segs, 1, results + 1,
			     1) == -EINVAL);
	memset(old, 0, sizeof(old));
	CHECK(!o2g_accumulate(ep, &t, O2G_NO_OP, O2G_I32, NULL, 0, results, 2));
	CHECK(!o2g_flush(ep, &count));
	for (int i = 0; i < MANY; i++)
		CHECK(old[i] == 2 * i);
	/* two elements come back in one word, three do not */
	CHECK(!o2g_accumulate(ep, &t, O2G_NO_OP, O2G_I32, NULL, 0,
			      &(struct o2g_seg){ old + 5, 8 }, 1));
	CHECK(!o2g_accumulate(ep, &t, O2G_NO_OP, O2G_I32, NULL, 0,
			      &(struct o2g_seg){ old + 10, 12 }, 1));
	CHECK(!o2g_flush(ep, &count));
	CHECK(old[5] == 0 && old[6] == 2 && old[7] == 14);
	CHECK(old[10] == 0 && old[11] == 2 && old[12] == 4 && old[13] == 26);
}

static void views(void)
{
	static unsigned char a[MANY], b[MANY], c[MANY];
	struct backwards va = { { read_backwards, write_backwards }, a + MANY };
	struct backwards vb = { { read_backwards, write_backwards }, b + MANY };
	struct o2g_seg sa = { &va, MANY }, sb = { &vb, MANY }, sc = { c, MANY };
	struct o2g_target t = at(99);

	fill(a, MANY, 3);
	CHECK(!o2g_rma_put(ep, &t, &sa, O2G_VIEW));
	CHECK(!o2g_flush(ep, &count));
	CHECK(!o2g_rma_get(ep, &t, &sb, O2G_VIEW));
	CHECK(!o2g_rma_get(ep, &t, &sc, 1));
	CHECK(!o2g_flush(ep, &count));
	check_bytes(b, MANY, 3);
	for (int i = 0; i < MANY; i++)
		CHECK(c[i] == a[MANY - 1 - i]);
	memset(b, 0, MANY);
	CHECK(!o2g_accumulate(ep, &t, O2G_BXOR, O2G_U8, &sa, O2G_VIEW, &sb,
			      O2G_VIEW));
	CHECK(!o2g_flush(ep, &count));
	check_bytes(b, MANY, 3);
	CHECK(!o2g_rma_get(ep, &t, &sc, 1));
	CHECK(!o2g_flush(ep, &count));
	for (int i = 0; i < MANY; i++)
		CHECK(c[i] == 0);
}

static void many(void)
{
	open_memory(O2G_READ | O2G_WRITE);
	if (me == nranks - 1) {
		sums();
		views();
	}
	close_memory();
}

/* --- order --- */

/* The last of many to one place wins, however long those before it are. */
static void order(void)
{
	static unsigned char big[BYTES - 8];
	uint64_t x, old;

	open_memory(O2G_READ | O2G_WRITE);
	if (me == nranks - 1) {
		for (uint64_t round = 1; round < 50; round++) {
			struct o2g_target t = at(0), u = at(8);

			memset(big, (int)round, sizeof(big));
			memset(&x, (int)round + 100, 8);
			CHECK(!o2g_rma_put(
				ep, &t, &(struct o2g_seg){ big, sizeof(big) },
				1));
			CHECK(!o2g_fetch_op(ep, &u, O2G_REPLACE, O2G_U64, &x,
					    &old));
			CHECK(!o2g_rma_put(ep, &t, &(struct o2g_seg){ &x, 8 },
					   1));
			CHECK(!o2g_flush_local(ep, &count));
			CHECK(!o2g_flush(ep, &count));
			CHECK(old == round * 0x0101010101010101);
			CHECK(fetch(O2G_NO_OP, O2G_U64, 0, 0) == x);
			CHECK(fetch(O2G_NO_OP, O2G_U64, 0, 8) == x);
			CHECK(fetch(O2G_NO_OP, O2G_U64, 0, 16) ==
			      round * 0x0101010101010101);
		}
	}
	close_memory();
}

/* --- all at once --- */

#define ROUNDS 5000

/* One cell by everybody: peers, its owner's calls and its owner's instructions. */
static void hammer(void)
{
	uint64_t one = 1, *cell = (uint64_t *)mine, seen;
	struct o2g_target t = at(0), f = at(8);
	double d = 1;

	open_memory(O2G_READ | O2G_WRITE);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(!o2g_fetch_op(ep, &t, O2G_SUM, O2G_U64, &one, NULL));
		CHECK(!o2g_fetch_op(ep, &f, O2G_SUM, O2G_F64, &d, NULL));
		if (me == 0)
			__atomic_fetch_add(cell, 1, __ATOMIC_RELAXED);
		if (i % 100)
			continue;
		do
			seen = fetch(O2G_NO_OP, O2G_U64, 0, 16);
		while (swap(O2G_U64, seen, seen + 1, 16) != seen);
	}
	CHECK(!o2g_flush(ep, &count));
	all_meet();
	if (me == 0) {
		CHECK(cell[0] == (uint64_t)(nranks + 1) * ROUNDS);
		CHECK(*(double *)(mine + 8) == nranks * ROUNDS);
		CHECK(cell[2] == (uint64_t)nranks * ROUNDS / 100);
	}
	close_memory();
}

/* --- while the target computes --- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void target_computes(void)
{
	uint64_t x = 7, y = 0;
	struct o2g_target t = at(8);
	struct o2g_seg in = { &x, 8 }, out = { &y, 8 };

	open_memory(O2G_READ | O2G_WRITE);
	all_meet();
	if (me == 0) {
		double start = now();

		while (!atomic_load(&shared->word[0]))
			CHECK(now() - start < 20); /* without a call */
		CHECK(*(uint64_t *)mine == 5000);
		CHECK(*(uint64_t *)(mine + 8) == 7);
	} else {
		for (int i = 0; i < 5000; i++)
			CHECK(fetch(O2G_SUM, O2G_U64, 1, 0) == (uint64_t)i);
		CHECK(!o2g_rma_put(ep, &t, &in, 1));
		CHECK(!o2g_flush(ep, &count));
		CHECK(!o2g_rma_get(ep, &t, &out, 1));
		CHECK(!o2g_flush(ep, &count) && y == 7);
		atomic_store(&shared->word[0], 1);
	}
	close_memory();
}

/* --- who is woken while the origin computes --- */

static bool thread_is_wanted(void)
{
	bool yes;

	ep_lock(ep);
	yes = ep->async_wanted;
	ep_unlock(ep);
	return yes;
}

/* A put of so many bytes on a connection that has nothing else to do. */
static bool put_wants_thread(size_t bytes)
{
	static unsigned char big[BYTES];
	struct o2g_target t = at(0);
	bool yes;

	CHECK(!o2g_rma_put(ep, &t, &(struct o2g_seg){ big, bytes }, 1));
	yes = thread_is_wanted();
	CHECK(!o2g_flush(ep, &count));
	return yes;
}

/* A long put that the socket has taken is only answered; a get is to come in. */
static void departs(void)
{
	struct o2g_target t = at(0);
	static unsigned char in[BYTES];

	open_memory(O2G_READ | O2G_WRITE);
	if (me == 1) {
		CHECK(fetch(O2G_NO_OP, O2G_U64, 0, 0) == 0);
		for (int i = 0; i < 50; i++)
			CHECK(!put_wants_thread(40 << 10));
		CHECK(!o2g_rma_get(ep, &t, &(struct o2g_seg){ in, BYTES }, 1));
		CHECK(thread_is_wanted());
		CHECK(!o2g_flush(ep, &count));
	}
	close_memory();
}

static void departed__tcp(void **state)
{
	job("tcp", 2, departs, -1);
}

/* --- memory that is deregistered in the middle --- */

#define LONG_ONE (8u << 20)
#define TRIES 20

static unsigned char *region; /* of rank 0, or what rank 1 has of it */

static void wait_for_first(unsigned char value)
{
	double start = now();

	while (*(volatile unsigned char *)region != value)
		CHECK(now() - start < 20);
}

static void take_away(void)
{
	o2g_mem_deregister(mem);
	memset(region, 0xee, LONG_ONE); /* it is something else now */
}

static void check_all(unsigned char value)
{
	CHECK(region[0] == value);
	CHECK(!memcmp(region, region + 1, LONG_ONE - 1));
}

static void expose_region(void)
{
	if (me) {
		CHECK(!o2g_recv(ep, 0, 1, 0, &key, sizeof(key), NULL));
		return;
	}
	CHECK(!o2g_mem_register(ep, region, LONG_ONE, O2G_READ | O2G_WRITE,
				&mem, &key));
	CHECK(!o2g_send(ep, 1, 1, &key, sizeof(key), 0));
}

/* Its owner has seen the first byte of a put, and has use for the memory. */
static void deregister_put(void)
{
	struct o2g_seg seg;
	int refused = 0;

	region = malloc(LONG_ONE);
	CHECK(region);
	for (int i = 0; i < TRIES; i++) {
		struct o2g_target t = at(0);

		memset(region, me ? 1 : 0, LONG_ONE);
		expose_region();
		if (me == 0) {
			wait_for_first(1);
			take_away();
			all_meet();
			check_all(0xee);
			continue;
		}
		seg = (struct o2g_seg){ region, LONG_ONE };
		CHECK(!o2g_rma_put(ep, &t, &seg, 1));
		refused += o2g_flush(ep, &count) == -ENOENT;
		all_meet();
	}
	CHECK(me == 0 || refused > 0);
	free(region);
}

/* The same with a get: what has begun with the old contents ends with them. */
static void deregister_get(void)
{
	struct o2g_seg seg;
	int err;

	region = malloc(LONG_ONE);
	CHECK(region);
	for (int i = 0; i < TRIES; i++) {
		struct o2g_target t = at(0);

		memset(region, me ? 0 : 1, LONG_ONE);
		atomic_store(&shared->word[0], 0);
		all_meet();
		expose_region();
		if (me == 0) {
			while (!atomic_load(&shared->word[0]))
				;
			take_away();
			all_meet();
			continue;
		}
		seg = (struct o2g_seg){ region, LONG_ONE };
		CHECK(!o2g_rma_get(ep, &t, &seg, 1));
		wait_for_first(1);
		atomic_store(&shared->word[0], 1);
		err = o2g_flush(ep, &count);
		CHECK(!err);
		check_all(1);
		all_meet();
	}
	free(region);
}

/* By packets, which the owner handles; copies are made by the peer alone. */
static void by_packets(const char *channel, void (*fn)(void))
{
	setenv("O2G_SHM_GET", "0", 1);
	job(channel, 2, fn, -1);
	unsetenv("O2G_SHM_GET");
}

static void deregister__put_tcp(void **state)
{
	by_packets("tcp", deregister_put);
}

static void deregister__put_shm(void **state)
{
	by_packets("shm", deregister_put);
}

static void deregister__get_tcp(void **state)
{
	by_packets("tcp", deregister_get);
}

static void deregister__get_shm(void **state)
{
	by_packets("shm", deregister_get);
}

/* --- a target that dies --- */

static void target_dies(void)
{
	static uint64_t results[64];
	static unsigned char big[BYTES];
	struct o2g_seg seg = { big, sizeof(big) };
	struct o2g_target t;
	int err = 0;

	open_memory(O2G_READ | O2G_WRITE);
	all_meet();
	if (me == 0) {
		usleep(20000);
		atomic_fetch_add(&shared->round,
				 1); /* the others' last meeting */
		raise(SIGKILL);
	}
	while (!err) {
		for (int i = 0; i < 64; i++) {
			t = at((uint64_t)i * 8);
			o2g_fetch_op(ep, &t, O2G_SUM, O2G_U64, results,
				     results);
		}
		t = at(0);
		o2g_rma_put(ep, &t, &seg, 1);
		o2g_rma_get(ep, &t, &seg, 1);
		o2g_accumulate(ep, &t, O2G_BXOR, O2G_U8, &seg, 1, &seg, 1);
		err = o2g_flush(ep, &count);
	}
	CHECK(err == -O2G_ERR_PEER);
	CHECK(!count.pending && !count.local);
	o2g_mem_deregister(mem);
}

#define TO_ONESELF(name)                       \
	static void name##__self(void **state) \
	{                                      \
		job("tcp", 1, name, -1);       \
	}

OVER(element, 2, elements, -1)
OVER(refusal, 2, refusals, -1)
OVER(accumulate, 2, many, -1)
OVER(ordered, 2, order, -1)
OVER(hammered, 4, hammer, -1)
OVER(computing, 2, target_computes, -1)
OVER(dying, 3, target_dies, 0)
TO_ONESELF(elements)
TO_ONESELF(refusals)
TO_ONESELF(many)
TO_ONESELF(order)
TO_ONESELF(hammer)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(element),
		BOTH(refusal),
		BOTH(accumulate),
		BOTH(ordered),
		BOTH(hammered),
		BOTH(computing),
		BOTH(dying),
		cmocka_unit_test(departed__tcp),
		T(elements__self),
		T(refusals__self),
		T(many__self),
		T(order__self),
		T(hammer__self),
		cmocka_unit_test(deregister__put_tcp),
		cmocka_unit_test(deregister__put_shm),
		cmocka_unit_test(deregister__get_tcp),
		cmocka_unit_test(deregister__get_shm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
