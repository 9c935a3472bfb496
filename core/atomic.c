/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "atomic.h"

static bool is_signed(u32 type)
{
	return !(type & 1);
}

/* As a number that compares as the element does. */
static u64 ordered(u32 type, u64 x)
{
	u32 unused = 64 - 8 * o2g_atomic_size(type);
	const u64 sign = 1ull << 63;

	return is_signed(type) ? (x << unused) ^ sign : x << unused;
}

/* All but the comparisons are the same for both signs: only low bits count. */
u64 o2g_atomic_integer(u32 op, u32 type, u64 old, u64 x)
{
	switch (op) {
	case O2G_AOP_REPLACE:
		return x;
	case O2G_AOP_SUM:
		return old + x;
	case O2G_AOP_PROD:
		return old * x;
	case O2G_AOP_MIN:
		return ordered(type, x) < ordered(type, old) ? x : old;
	case O2G_AOP_MAX:
		return ordered(type, x) > ordered(type, old) ? x : old;
	case O2G_AOP_LAND:
		return old && x;
	case O2G_AOP_LOR:
		return old || x;
	case O2G_AOP_LXOR:
		return !old != !x;
	case O2G_AOP_BAND:
		return old & x;
	case O2G_AOP_BOR:
		return old | x;
	case O2G_AOP_BXOR:
		return old ^ x;
	default:
		return old;
	}
}

/* --- by instructions of the CPU --- */

struct update {
	o2g_atomic_value *value;
	u32 op, type;
};

#define UPDATE(bits)                                                       \
	static u64 update_##bits(const struct update *u, bits *at, u64 x)  \
	{                                                                  \
		bits old;                                                  \
                                                                           \
		if (u->op == O2G_AOP_NO_OP)                                \
			return __atomic_load_n(at, __ATOMIC_SEQ_CST);      \
		if (u->op == O2G_AOP_REPLACE)                              \
			return __atomic_exchange_n(at, (bits)x,            \
						   __ATOMIC_SEQ_CST);      \
		if (u->op == O2G_AOP_SUM && !o2g_atomic_is_float(u->type)) \
			return __atomic_fetch_add(at, (bits)x,             \
						  __ATOMIC_SEQ_CST);       \
		old = __atomic_load_n(at, __ATOMIC_RELAXED);               \
		while (!__atomic_compare_exchange_n(                       \
			at, &old, (bits)u->value(u->op, u->type, old, x),  \
			false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))        \
			;                                                  \
		return old;                                                \
	}

UPDATE(u8)
UPDATE(u16)
UPDATE(u32)
UPDATE(u64)

static u64 update_aligned(const struct update *u, u32 size, void *at, u64 x)
{
	switch (size) {
	case 1:
		return update_u8(u, at, x);
	case 2:
		return update_u16(u, at, x);
	case 4:
		return update_u32(u, at, x);
	default:
		return update_u64(u, at, x);
	}
}

/* --- by its owner alone --- */

static u64 update_misaligned(const struct update *u, u32 size, void *at, u64 x)
{
	u64 old = o2g_atomic_read(at, size);
	u64 new = u->value(u->op, u->type, old, x);

	memcpy(at, &new, size);
	return old;
}

static bool is_aligned(const void *at, u32 size)
{
	return !((unsigned long)at & (size - 1));
}

void o2g_atomic_apply(o2g_atomic_value *value, u32 op, u32 type, void *target,
		      const void *operand, void *result, size_t n)
{
	const struct update u = { value, op, type };
	u32 size = o2g_atomic_size(type);
	bool aligned = is_aligned(target, size);

	for (size_t off = 0; off < n * size; off += size) {
		void *at = (char *)target + off;
		u64 x = o2g_atomic_read((const char *)operand + off, size);
		u64 old = likely(aligned) ? update_aligned(&u, size, at, x) :
					    update_misaligned(&u, size, at, x);

		if (result)
			memcpy((char *)result + off, &old, size);
	}
}

/* --- compare and swap --- */

#define SWAP(bits)                                                       \
	static u64 swap_##bits(bits *at, u64 compare, u64 swap)          \
	{                                                                \
		bits old = (bits)compare;                                \
                                                                         \
		__atomic_compare_exchange_n(at, &old, (bits)swap, false, \
					    __ATOMIC_SEQ_CST,            \
					    __ATOMIC_SEQ_CST);           \
		return old;                                              \
	}

SWAP(u8)
SWAP(u16)
SWAP(u32)
SWAP(u64)

static u64 swap_misaligned(u32 size, void *at, u64 compare, u64 swap)
{
	u64 old = o2g_atomic_read(at, size);

	if (old == compare)
		memcpy(at, &swap, size);
	return old;
}

u64 o2g_atomic_cas(u32 type, void *target, u64 compare, u64 swap)
{
	u32 size = o2g_atomic_size(type);

	if (unlikely(!is_aligned(target, size)))
		return swap_misaligned(size, target, compare, swap);
	switch (size) {
	case 1:
		return swap_u8(target, compare, swap);
	case 2:
		return swap_u16(target, compare, swap);
	case 4:
		return swap_u32(target, compare, swap);
	default:
		return swap_u64(target, compare, swap);
	}
}
