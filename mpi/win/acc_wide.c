/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Many elements in a row: as many as the processor exchanges at once, by one
 * compare-and-exchange. Each of them is updated atomically by that, also against an
 * instruction that updates it alone, and nothing beside them is touched.
 */
#include <string.h>

#include "coll/op/op_loops.h"
#include "win/acc.h"

/* ThreadSanitizer knows nothing of 16 bytes. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#include <cpuid.h>

typedef unsigned __int128 word;
#define WIDE __attribute__((target("cx16")))

static bool has_wide(void)
{
	static int known; /* 1: it has not; 2: it has */
	int now = __atomic_load_n(&known, __ATOMIC_RELAXED);
	unsigned a, b, c = 0, d;

	if (mpii_unlikely(!now)) {
		now = __get_cpuid(1, &a, &b, &c, &d) && c & bit_CMPXCHG16B ? 2 :
									     1;
		__atomic_store_n(&known, now, __ATOMIC_RELAXED);
	}
	return now == 2;
}

/* Half by half: if it has changed between the two, the exchange fails. */
static inline word look(const word *at)
{
	const uint64_t *half = (const void *)at;
	uint64_t low = __atomic_load_n(half, __ATOMIC_SEQ_CST);

	return (word)__atomic_load_n(half + 1, __ATOMIC_SEQ_CST) << 64 | low;
}

WIDE static inline bool change(word *at, word *old, word new)
{
	word was = __sync_val_compare_and_swap(at, *old, new);
	bool done = was == *old;

	*old = was;
	return done;
}
#else
typedef uint64_t word;
#define WIDE

static bool has_wide(void)
{
	return true;
}

static inline word look(const word *at)
{
	return __atomic_load_n(at, __ATOMIC_SEQ_CST);
}

static inline bool change(word *at, word *old, word new)
{
	return __atomic_compare_exchange_n(at, old, new, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}
#endif

typedef void wide_fn(const struct win_acc *a, word *to, MPI_Count n,
		     const char *in, char *out);

#define EACH(name, compute)                                                    \
	WIDE static void name(const struct win_acc *a, word *to, MPI_Count n,  \
			      const char *in, char *out)                       \
	{                                                                      \
		(void)a;                                                       \
		for (MPI_Count i = 0; i < n; i++, in += sizeof(word)) {        \
			word x, old = look(to + i), new;                       \
			memcpy(&x, in, sizeof(x));                             \
			do {                                                   \
				compute;                                       \
			} while (mpii_unlikely(!change(to + i, &old, new)));   \
			if (out)                                               \
				memcpy(out + i * (MPI_Count)sizeof(old), &old, \
				       sizeof(old));                           \
		}                                                              \
	}

EACH(wide_replace, new = x)
EACH(wide_band, new = old &x)
EACH(wide_bor, new = old | x)
EACH(wide_bxor, new = old ^ x)
EACH(wide_any, new = old;
     mpii_op_apply(a->op, &x, &new, (MPI_Count)sizeof(new) / a->basic->size,
		   a->basic))

#define SUM(T)                                                         \
	typedef T many_##T __attribute__((vector_size(sizeof(word)))); \
	static inline word add_##T(word a, word b)                     \
	{                                                              \
		many_##T x, y;                                         \
		memcpy(&x, &a, sizeof(x));                             \
		memcpy(&y, &b, sizeof(y));                             \
		x += y;                                                \
		memcpy(&a, &x, sizeof(a));                             \
		return a;                                              \
	}                                                              \
	EACH(wide_sum_##T, new = add_##T(old, x))

SUM(uint8_t)
SUM(uint16_t)
SUM(uint32_t)
SUM(uint64_t)
SUM(float)
SUM(double)

static void wide_load(const struct win_acc *a, word *to, MPI_Count n,
		      const char *in, char *out)
{
	(void)a;
	(void)in;
	for (MPI_Count i = 0; out && i < n; i++) {
		word now = look(to + i);

		memcpy(out + i * (MPI_Count)sizeof(now), &now, sizeof(now));
	}
}

static wide_fn *sum_of(const struct win_acc *a)
{
	static wide_fn *const sums[MPII_K_COUNT] = {
		[MPII_K_I8] = wide_sum_uint8_t,
		[MPII_K_U8] = wide_sum_uint8_t,
		[MPII_K_I16] = wide_sum_uint16_t,
		[MPII_K_U16] = wide_sum_uint16_t,
		[MPII_K_I32] = wide_sum_uint32_t,
		[MPII_K_U32] = wide_sum_uint32_t,
		[MPII_K_I64] = wide_sum_uint64_t,
		[MPII_K_U64] = wide_sum_uint64_t,
		[MPII_K_F32] = wide_sum_float,
		[MPII_K_F64] = wide_sum_double,
	};

	return sums[a->basic->kind] ? sums[a->basic->kind] : wide_any;
}

static wide_fn *choose(const struct win_acc *a)
{
	switch (a->op->index) {
	case MPII_OP_REPLACE:
		return wide_replace;
	case MPII_OP_NO_OP:
		return wide_load;
	case MPII_OP_BAND:
		return wide_band;
	case MPII_OP_BOR:
		return wide_bor;
	case MPII_OP_BXOR:
		return wide_bxor;
	case MPII_OP_SUM:
		return sum_of(a);
	default:
		return wide_any;
	}
}

MPI_Count win_acc_wide(const struct win_acc *a, char *to, MPI_Count n,
		       const char *in, char *out)
{
	MPI_Count words = n * a->basic->size / (MPI_Count)sizeof(word);

	if ((uintptr_t)to % sizeof(word) || !words || !a->op || !has_wide())
		return 0;
	choose(a)(a, (word *)(void *)to, words, in, out);
	return words * (MPI_Count)sizeof(word) / a->basic->size;
}
