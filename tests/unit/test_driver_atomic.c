/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Atomic operations that the driver does to registered memory, and what it refuses; with
 * every call of the kernel failing in turn.
 */
#include "unit.h"

#include "atomic.h"
#include "o2gk.h"
#include "world.h"

static _Alignas(4096) union {
	u64 words[1024];
	u32 halves[2048];
	unsigned char bytes[8192];
} memory;

static struct o2gd_sqe atomic_sqe(u32 op, u32 type, u64 offset,
				  const void *operands, u64 len)
{
	return (struct o2gd_sqe){ .op = O2GD_OP_ATOMIC,
				  .flags = O2GD_FETCH_OLD,
				  .slot = 3,
				  .peer = 1,
				  .tag = O2GD_ATOMIC(op, type),
				  .addr = (uintptr_t)operands,
				  .len = len,
				  .key = 9,
				  .offset = offset };
}

static int open_memory(void)
{
	struct o2gd_mem m = { .addr = (uintptr_t)&memory,
			      .len = sizeof(memory),
			      .access = O2GD_READ | O2GD_WRITE,
			      .key = 9 };
	int err = world_open();

	for (u32 i = 0; i < 1024; i++)
		memory.words[i] = i;
	return err ? err : end_call(&b, O2GD_MEM_ADD, &m);
}

/* Its status, and what was there in buf. */
static int do_atomic(const struct o2gd_sqe *e)
{
	struct o2gd_sqe copy = *e;
	struct o2gd_cqe c;
	int err = end_call(&a, O2GD_SUBMIT, &copy);

	if (!err)
		err = end_next(&a, &c);
	if (err)
		return err;
	if (c.slot == O2GD_SLOT_PEER) {
		a.lost = true;
		return -O2G_ERR_PEER;
	}
	assert_int_equal(c.slot, 3);
	if (c.status)
		return c.status;
	assert_int_equal(c.length, e->flags & O2GD_FETCH_OLD &&
						   (u8)e->tag == O2G_AOP_CAS ?
					   e->len / 2 :
					   e->len);
	return 0;
}

static u64 was(void)
{
	u64 x;

	memcpy(&x, buf, sizeof(x));
	return x;
}

/* The memory could not be pinned: then it is not done. */
static bool is_unpinned(int err)
{
	struct o2gk_ep *ep = b.file.private_data;

	return err == -EOPNOTSUPP && ep->stats.pin_refused;
}

#define DO(e)                            \
	do {                             \
		int err_ = do_atomic(e); \
		if (is_unpinned(err_))   \
			return;          \
		TRY(err_);               \
	} while (0)

/* --- what is done --- */

static void elements(void)
{
	u64 five = 5, pair[2] = { 7, 70 };
	u32 three = 3, old;
	struct o2gd_sqe e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 16, &five, 8);

	TRY(open_memory());
	DO(&e);
	assert_int_equal(was(), 2);
	assert_int_equal(memory.words[2], 7);
	e = atomic_sqe(O2G_AOP_CAS, O2G_AT_I64, 16, pair, 16);
	DO(&e);
	assert_int_equal(was(), 7);
	assert_int_equal(memory.words[2], 70);
	DO(&e); /* it is another one now */
	assert_int_equal(was(), 70);
	assert_int_equal(memory.words[2], 70);
	e = atomic_sqe(O2G_AOP_REPLACE, O2G_AT_U32, 8188, &three, 4);
	DO(&e);
	memcpy(&old, buf, 4);
	assert_int_equal(old, 0);
	assert_int_equal(memory.halves[2047], 3);
	e = atomic_sqe(O2G_AOP_MAX, O2G_AT_I8, 1, &three, 1);
	e.flags = 0;
	DO(&e);
	assert_int_equal(memory.bytes[1], 3);
	e = atomic_sqe(O2G_AOP_NO_OP, O2G_AT_U64, 16, NULL, 8);
	DO(&e);
	assert_int_equal(was(), 70);
	assert_int_equal(memory.words[2], 70);
}

static void o2gk_atomic__elements(void **state)
{
	world_in_all(elements);
}

/* Many: their packets have few each. */
static void many(void)
{
	static u64 ones[12];
	struct o2gd_sqe e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 8, ones, 8 * 5);

	for (u32 i = 0; i < 12; i++)
		ones[i] = 1;
	TRY(open_memory());
	DO(&e);
	for (u64 i = 0; i < 5; i++) {
		assert_memory_equal(buf + 8 * i, &(u64){ i + 1 }, 8);
		assert_int_equal(memory.words[i + 1], i + 2);
	}
	e.flags = 0, e.len = 8 * 12;
	DO(&e);
	for (u64 i = 0; i < 12; i++)
		assert_int_equal(memory.words[i + 1], i < 5 ? i + 3 : i + 2);
}

static void o2gk_atomic__many(void **state)
{
	world_in_all(many);
}

/* --- what is not --- */

static void refused(void)
{
	u64 x[2] = { 1, 1 };
	struct o2gd_sqe e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 4, x, 8);
	struct o2gd_mem read = { .addr = (uintptr_t)data,
				 .len = 64,
				 .access = O2GD_READ,
				 .key = 10 };

	assert_int_equal(open_memory(), 0);
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &read), 0);
	assert_int_equal(do_atomic(&e), -EOPNOTSUPP); /* not aligned */
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_F64, 8, x, 8);
	assert_int_equal(do_atomic(&e), -EOPNOTSUPP);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, sizeof(memory), x, 8);
	assert_int_equal(do_atomic(&e), -ERANGE);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 8, x, 8);
	e.key = 11;
	assert_int_equal(do_atomic(&e), -ENOENT);
	e.key = 10;
	assert_int_equal(do_atomic(&e), -EACCES);
	assert_int_equal(memory.words[1], 1);
	assert_int_equal(mock.dirtied, 0);
}

static void unpinned(void)
{
	u64 one = 1;
	struct o2gd_sqe e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 8, &one, 8);

	mock.no_pins = true;
	assert_int_equal(open_memory(), 0);
	assert_int_equal(do_atomic(&e), -EOPNOTSUPP);
}

static void o2gk_atomic__refuses(void **state)
{
	world_run(refused);
	world_run(unpinned);
}

static void invalid(void)
{
	u64 x[2] = { 1, 1 };
	struct o2gd_sqe e;

	assert_int_equal(open_memory(), 0);
	e = atomic_sqe(O2G_AOP_MAX_OP, O2G_AT_U64, 0, x, 8);
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_MAX, 0, x, 8);
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 0, x, 0);
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 0, x, 12);
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_CAS, O2G_AT_U64, 0, x, 8);
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 0, data, O2GD_SMALL + 8);
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_NO_OP, O2G_AT_U64, 0, x, 8);
	e.flags = 0;
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 0, x, 8);
	e.tag |= 1 << 16;
	assert_int_equal(do_atomic(&e), -EINVAL);
	e = atomic_sqe(O2G_AOP_SUM, O2G_AT_U64, 0, NULL, 8);
	e.flags |= O2GD_SYNC;
	assert_int_equal(do_atomic(&e), -EINVAL);
}

static void o2gk_submit__invalid_atomics(void **state)
{
	world_run(invalid);
}

/* A peer whose packets would take memory here: it is told. */
static void large_packet(void)
{
	struct o2g_hdr h = { .type = O2G_PKT_ATOMIC,
			     .flags = O2G_PKTF_FETCH,
			     .src = 0,
			     .dst = 1,
			     .tag = 9,
			     .length = 64,
			     .cookie = 5,
			     .aux = o2g_wire_atomic(0, O2G_AOP_SUM,
						    O2G_AT_U64) };
	struct o2g_hdr nak;
	unsigned char raw[O2G_HDR_SIZE];
	struct o2gd_mem m = { .addr = (uintptr_t)&memory,
			      .len = sizeof(memory),
			      .access = O2GD_READ | O2GD_WRITE,
			      .key = 9 };

	assert_int_equal(end_open(&b, 1, 16), 0);
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &m), 0);
	memory.words[0] = 1;
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	world_raw_header(fds[0], &h);
	mock_raw(fds[0], data, 64);
	mock_run();
	do {
		assert_int_equal(mock_recv(fds[0], raw, sizeof(raw)),
				 sizeof(raw));
		assert_int_equal(o2g_wire_decode(raw, &nak), O2G_WIRE_OK);
	} while (nak.type == O2G_PKT_CREDIT);
	assert_int_equal(nak.type, O2G_PKT_NAK);
	assert_int_equal(nak.aux, EOPNOTSUPP);
	assert_int_equal(memory.words[0], 1);
}

static void o2gk_atomic__large_packet(void **state)
{
	world_run(large_packet);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(o2gk_atomic__elements),     T(o2gk_atomic__many),
		T(o2gk_atomic__refuses),      T(o2gk_submit__invalid_atomics),
		T(o2gk_atomic__large_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
