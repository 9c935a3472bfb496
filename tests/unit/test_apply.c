/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: engine/apply.c core/atomic.c */
/* Operations on elements of memory, against C's own arithmetic. */
#include "unit.h"

#include <math.h>
#include <pthread.h>

#include "apply.h"
#include "o2g.h"
#include "rnd.h"

#define N 7
#define THREADS 4
#define ROUNDS 20000

static u8 memory[N * 8 + 16], from[N * 8], before[N * 8];

static u8 *place(bool aligned)
{
	u8 *base = (u8 *)(((uintptr_t)memory + 7) & ~(uintptr_t)7);

	return aligned ? base : base + 1;
}

/* What C makes of two elements; the types' promotions do no harm in 64 bits. */
#define WANTED(T)                                                              \
	static T wanted_##T(enum o2g_op op, T a, T b)                          \
	{                                                                      \
		const T results[O2G_OPS] = {                                   \
			[O2G_REPLACE] = b,                                     \
			[O2G_NO_OP] = a,                                       \
			[O2G_SUM] = (T)((u64)a + (u64)b),                      \
			[O2G_PROD] = (T)((u64)a * (u64)b),                     \
			[O2G_MIN] = a < b ? a : b,                             \
			[O2G_MAX] = a > b ? a : b,                             \
			[O2G_LAND] = a && b,                                   \
			[O2G_LOR] = a || b,                                    \
			[O2G_LXOR] = !a != !b,                                 \
			[O2G_BAND] = a & b,                                    \
			[O2G_BOR] = a | b,                                     \
			[O2G_BXOR] = a ^ b,                                    \
		};                                                             \
                                                                               \
		return results[op];                                            \
	}                                                                      \
                                                                               \
	static void check_##T(enum o2g_type type, enum o2g_op op,              \
			      bool aligned)                                    \
	{                                                                      \
		u8 *at = place(aligned), result[N * sizeof(T)];                \
                                                                               \
		for (size_t i = 0; i < sizeof(from); i++)                      \
			from[i] = rnd() % 4 ? (u8)rnd() : 0;                   \
		for (size_t i = 0; i < sizeof(before); i++)                    \
			before[i] = rnd() % 4 ? (u8)rnd() : 0;                 \
		memcpy(at, before, sizeof(before));                            \
		assert_int_equal(o2g_apply(op, type, at, from, result, N), 0); \
		assert_memory_equal(result, before, sizeof(result));           \
		for (size_t i = 0; i < N; i++) {                               \
			T a, b, now;                                           \
                                                                               \
			memcpy(&a, before + i * sizeof(T), sizeof(T));         \
			memcpy(&b, from + i * sizeof(T), sizeof(T));           \
			memcpy(&now, at + i * sizeof(T), sizeof(T));           \
			assert_true(now == wanted_##T(op, a, b));              \
		}                                                              \
		assert_memory_equal(at + N * sizeof(T),                        \
				    before + N * sizeof(T),                    \
				    sizeof(before) - N * sizeof(T));           \
	}

WANTED(int8_t)
WANTED(uint8_t)
WANTED(int16_t)
WANTED(uint16_t)
WANTED(int32_t)
WANTED(uint32_t)
WANTED(int64_t)
WANTED(uint64_t)

static void integers__like_c(void **state)
{
	static void (*const check[])(enum o2g_type, enum o2g_op, bool) = {
		check_int8_t,  check_uint8_t,  check_int16_t, check_uint16_t,
		check_int32_t, check_uint32_t, check_int64_t, check_uint64_t,
	};

	for (int round = 0; round < 50; round++)
		for (int type = O2G_I8; type <= O2G_U64; type++)
			for (int op = 0; op < O2G_OPS; op++)
				check[type](type, op, round % 2);
}

static double f64(enum o2g_op op, double a, double b, bool aligned)
{
	u8 *at = place(aligned);

	memcpy(at, &a, sizeof(a));
	assert_int_equal(o2g_apply(op, O2G_F64, at, &b, NULL, 1), 0);
	memcpy(&a, at, sizeof(a));
	return a;
}

static float f32(enum o2g_op op, float a, float b, bool aligned)
{
	u8 *at = place(aligned);

	memcpy(at, &a, sizeof(a));
	assert_int_equal(o2g_apply(op, O2G_F32, at, &b, NULL, 1), 0);
	memcpy(&a, at, sizeof(a));
	return a;
}

static void floats__like_c(void **state)
{
	for (int i = 0; i < 2; i++) {
		assert_true(f64(O2G_SUM, 0.1, 0.2, i) == 0.1 + 0.2);
		assert_true(f64(O2G_PROD, 1e300, 1e10, i) == INFINITY);
		assert_true(f64(O2G_MIN, -1, 2, i) == -1);
		assert_true(f64(O2G_MAX, -1, 2, i) == 2);
		assert_true(f64(O2G_REPLACE, 1, 2, i) == 2);
		assert_true(f64(O2G_NO_OP, 1, 2, i) == 1);
		assert_true(isnan(f64(O2G_MIN, NAN, 2, i)));
		assert_true(isnan(f64(O2G_MAX, 2, NAN, i)));
		assert_true(f32(O2G_SUM, 0.1f, 0.2f, i) == 0.1f + 0.2f);
		assert_true(f32(O2G_PROD, 1e-30f, 1e-10f, i) ==
			    1e-30f * 1e-10f);
		assert_true(f32(O2G_MAX, 3, -4, i) == 3);
	}
}

static void what_there_is_not__refused(void **state)
{
	u64 x = 0;

	assert_int_equal(o2g_apply(O2G_BAND, O2G_F32, &x, &x, NULL, 1),
			 -EINVAL);
	assert_int_equal(o2g_apply(O2G_LOR, O2G_F64, &x, &x, NULL, 1), -EINVAL);
	assert_int_equal(o2g_apply(O2G_OPS, O2G_I32, &x, &x, NULL, 1), -EINVAL);
	assert_int_equal(o2g_apply(O2G_SUM, O2G_TYPES, &x, &x, NULL, 1),
			 -EINVAL);
	assert_int_equal(o2g_apply((enum o2g_op) - 1, O2G_I32, &x, &x, NULL, 1),
			 -EINVAL);
	assert_int_equal(o2g_type_size(O2G_TYPES), 0);
	assert_int_equal(o2g_type_size(O2G_F32), 4);
	assert_int_equal(o2g_type_size(O2G_I16), 2);
}

static void cas__bit_by_bit(void **state)
{
	for (u32 type = 0; type < O2G_AT_MAX; type++) {
		u32 size = o2g_atomic_size(type);
		u64 mask = size == 8 ? ~0ull : (1ull << 8 * size) - 1;

		for (int i = 0; i < 2; i++) {
			u8 *at = place(i);
			u64 start = 0x8182838485868788,
			    next = 0x0102030405060708;

			memcpy(at, &start, 8);
			assert_true(o2g_atomic_cas(type, at, 5, 7) ==
				    (start & mask));
			assert_memory_equal(at, &start, 8);
			assert_true(o2g_atomic_cas(type, at, start & mask,
						   next & mask) ==
				    (start & mask));
			assert_memory_equal(at, &next, size);
			assert_memory_equal(at + size, (u8 *)&start + size,
					    8 - size);
		}
	}
}

/* --- several at once --- */

static _Alignas(8) struct {
	u8 byte;
	u16 half;
	u32 word;
	double real;
	u64 swapped;
} hot;

static void *hammer(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		u64 one = 1, seen;
		double d = 1;

		o2g_apply(O2G_SUM, O2G_U8, &hot.byte, &one, NULL, 1);
		o2g_apply(O2G_BXOR, O2G_U16, &hot.half, &one, NULL, 1);
		o2g_apply(O2G_SUM, O2G_I32, &hot.word, &one, NULL, 1);
		o2g_apply(O2G_SUM, O2G_F64, &hot.real, &d, NULL, 1);
		do
			seen = __atomic_load_n(&hot.swapped, __ATOMIC_RELAXED);
		while (o2g_atomic_cas(O2G_AT_U64, &hot.swapped, seen,
				      seen + 1) != seen);
	}
	return NULL;
}

static void nothing_is_lost(void **state)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, hammer, NULL),
				 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	assert_int_equal(hot.byte, (u8)(THREADS * ROUNDS));
	assert_int_equal(hot.half, THREADS * ROUNDS % 2);
	assert_int_equal(hot.word, THREADS * ROUNDS);
	assert_true(hot.real == THREADS * ROUNDS);
	assert_int_equal(hot.swapped, THREADS * ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(integers__like_c),
		cmocka_unit_test(floats__like_c),
		cmocka_unit_test(what_there_is_not__refused),
		cmocka_unit_test(cas__bit_by_bit),
		cmocka_unit_test(nothing_is_lost),
	};

	rng = 0x9e3779b97f4a7c15;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
