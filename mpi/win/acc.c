/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* See acc.h. */
#include <string.h>

#include "coll/op/op_loops.h"
#include "win/acc.h"

/* Operands and results are packed: they may lie anywhere. */
#define TAKE(T, from)                          \
	({                                     \
		T x_;                          \
		memcpy(&x_, from, sizeof(x_)); \
		x_;                            \
	})
#define GIVE(to, value)                       \
	do {                                  \
		__typeof__(value) x_ = value; \
		memcpy(to, &x_, sizeof(x_));  \
	} while (0)

static bool is_integer(const struct mpii_type *t)
{
	return t->kind >= MPII_K_I8 && t->kind <= MPII_K_U64;
}

/*
 * For each width: what has an instruction, and the rest as a loop around
 * compare-and-exchange.
 */
#define INSTRUCTION(T, name, builtin)                                         \
	static void name##_##T(T *to, MPI_Count n, const char *in, char *out) \
	{                                                                     \
		for (MPI_Count i = 0; i < n; i++, in += sizeof(T)) {          \
			T old = builtin(to + i, TAKE(T, in),                  \
					__ATOMIC_SEQ_CST);                    \
			if (out)                                              \
				GIVE(out + i * sizeof(T), old);               \
		}                                                             \
	}

#define LOADS(T)                                                               \
	static void load_##T(const T *to, MPI_Count n, char *out)              \
	{                                                                      \
		for (MPI_Count i = 0; out && i < n; i++)                       \
			GIVE(out + i * sizeof(T),                              \
			     __atomic_load_n(to + i, __ATOMIC_SEQ_CST));       \
	}                                                                      \
	static void swap_##T(T *to, MPI_Count n, const char *in,               \
			     const T *compare, char *out)                      \
	{                                                                      \
		for (MPI_Count i = 0; i < n; i++, in += sizeof(T)) {           \
			T old = *compare;                                      \
			__atomic_compare_exchange_n(to + i, &old, TAKE(T, in), \
						    false, __ATOMIC_SEQ_CST,   \
						    __ATOMIC_SEQ_CST);         \
			if (out)                                               \
				GIVE(out + i * sizeof(T), old);                \
		}                                                              \
	}

/* Any operation; the operand is copied to where it is aligned. */
#define LOOP(T)                                                              \
	static void loop_##T(const struct win_acc *a, T *to, MPI_Count n,    \
			     const char *in, char *out)                      \
	{                                                                    \
		for (MPI_Count i = 0; i < n; i++, in += sizeof(T)) {         \
			T x = TAKE(T, in), new;                              \
			T old = __atomic_load_n(to + i, __ATOMIC_RELAXED);   \
			do {                                                 \
				new = old;                                   \
				mpii_op_apply(a->op, &x, &new, 1, a->basic); \
			} while (!__atomic_compare_exchange_n(               \
				to + i, &old, new, true, __ATOMIC_SEQ_CST,   \
				__ATOMIC_RELAXED));                          \
			if (out)                                             \
				GIVE(out + i * sizeof(T), old);              \
		}                                                            \
	}

#define RUN(T)                                                            \
	LOADS(T)                                                          \
	LOOP(T)                                                           \
	INSTRUCTION(T, replace, __atomic_exchange_n)                      \
	INSTRUCTION(T, sum, __atomic_fetch_add)                           \
	INSTRUCTION(T, band, __atomic_fetch_and)                          \
	INSTRUCTION(T, bor, __atomic_fetch_or)                            \
	INSTRUCTION(T, bxor, __atomic_fetch_xor)                          \
	static void run_##T(const struct win_acc *a, T *to, MPI_Count n,  \
			    const char *in, char *out)                    \
	{                                                                 \
		unsigned op = a->op ? a->op->index : MPII_OP_INDEX_COUNT; \
		if (op == MPII_OP_INDEX_COUNT)                            \
			swap_##T(to, n, in, a->compare, out);             \
		else if (op == MPII_OP_NO_OP)                             \
			load_##T(to, n, out);                             \
		else if (op == MPII_OP_REPLACE)                           \
			replace_##T(to, n, in, out);                      \
		else if (!is_integer(a->basic))                           \
			loop_##T(a, to, n, in, out);                      \
		else if (op == MPII_OP_SUM)                               \
			sum_##T(to, n, in, out);                          \
		else if (op == MPII_OP_BAND)                              \
			band_##T(to, n, in, out);                         \
		else if (op == MPII_OP_BOR)                               \
			bor_##T(to, n, in, out);                          \
		else if (op == MPII_OP_BXOR)                              \
			bxor_##T(to, n, in, out);                         \
		else                                                      \
			loop_##T(a, to, n, in, out);                      \
	}

RUN(uint8_t)
RUN(uint16_t)
RUN(uint32_t)
RUN(uint64_t)

/* Sums of floating point numbers are common enough for a loop of their own. */
#define FLOAT_SUM(T, U)                                                       \
	static void float_sum_##T(U *to, MPI_Count n, const char *in,         \
				  char *out)                                  \
	{                                                                     \
		union {                                                       \
			U bits;                                               \
			T value;                                              \
		} old, new;                                                   \
		for (MPI_Count i = 0; i < n; i++, in += sizeof(T)) {          \
			T x = TAKE(T, in);                                    \
			old.bits = __atomic_load_n(to + i, __ATOMIC_RELAXED); \
			do {                                                  \
				new.value = old.value + x;                    \
			} while (!__atomic_compare_exchange_n(                \
				to + i, &old.bits, new.bits, true,            \
				__ATOMIC_SEQ_CST, __ATOMIC_RELAXED));         \
			if (out)                                              \
				GIVE(out + i * sizeof(T), old.bits);          \
		}                                                             \
	}
FLOAT_SUM(float, uint32_t)
FLOAT_SUM(double, uint64_t)

static bool is_sum_of(const struct win_acc *a, enum mpii_kind kind)
{
	return a->op && a->op->index == MPII_OP_SUM && a->basic->kind == kind;
}

void win_acc_each(const struct win_acc *a, char *to, MPI_Count n,
		  const char *in, char *out)
{
	switch (a->basic->size) {
	case 1:
		run_uint8_t(a, (uint8_t *)to, n, in, out);
		break;
	case 2:
		run_uint16_t(a, (uint16_t *)to, n, in, out);
		break;
	case 4:
		if (is_sum_of(a, MPII_K_F32))
			float_sum_float((uint32_t *)to, n, in, out);
		else
			run_uint32_t(a, (uint32_t *)to, n, in, out);
		break;
	default:
		if (is_sum_of(a, MPII_K_F64))
			float_sum_double((uint64_t *)to, n, in, out);
		else
			run_uint64_t(a, (uint64_t *)to, n, in, out);
	}
}

/*
 * Elements that are only stored or only looked at go by 8 bytes where they can: a
 * program that stores a pointer as bytes sees it whole.
 */
static void move_words(const struct win_acc *a, char *to, MPI_Count bytes,
		       const char *in, char *out)
{
	bool load = a->op->index == MPII_OP_NO_OP;
	MPI_Count n;

	for (; bytes > 0; to += n, bytes -= n) {
		uintptr_t at = (uintptr_t)to;

		n = !(at & 7) && bytes >= 8 ? 8 :
		    !(at & 3) && bytes >= 4 ? 4 :
					      1;
		if (n == 8 && load)
			load_uint64_t((uint64_t *)to, 1, out);
		else if (n == 8)
			replace_uint64_t((uint64_t *)to, 1, in, out);
		else if (n == 4 && load)
			load_uint32_t((uint32_t *)to, 1, out);
		else if (n == 4)
			replace_uint32_t((uint32_t *)to, 1, in, out);
		else if (load)
			load_uint8_t((uint8_t *)to, 1, out);
		else
			replace_uint8_t((uint8_t *)to, 1, in, out);
		in += in ? n : 0;
		out += out ? n : 0;
	}
}

static bool only_moves(const struct win_acc *a)
{
	return a->op && (a->op->index == MPII_OP_REPLACE ||
			 a->op->index == MPII_OP_NO_OP);
}

/* Few elements in a row. */
static void run_few(const struct win_acc *a, char *to, MPI_Count n,
		    const char *in, char *out)
{
	MPI_Count size = a->basic->size;

	/* 2 bytes could not be moved by 1 */
	if (n > 1 && size != 2 && size < 8 && only_moves(a))
		move_words(a, to, n * size, in, out);
	else
		win_acc_each(a, to, n, in, out);
}

#define SEVERAL 64 /* bytes, from which on the longer way is the quicker */

/* Up to where it is aligned for several at a time, those, and what is left. */
static void run_several(const struct win_acc *a, char *to, MPI_Count n,
			const char *in, char *out)
{
	MPI_Count size = a->basic->size;
	MPI_Count done = (MPI_Count)(-(uintptr_t)to % 16) / size;
	MPI_Count at = done * size;

	run_few(a, to, done, in, out);
	done += win_acc_wide(a, to + at, n - done, in ? in + at : NULL,
			     out ? out + at : NULL);
	at = done * size;
	run_few(a, to + at, n - done, in ? in + at : NULL,
		out ? out + at : NULL);
}

void win_acc_run(const struct win_acc *a, char *to, MPI_Count n, const char *in,
		 char *out)
{
	if (n > 1 && n * a->basic->size >= SEVERAL)
		run_several(a, to, n, in, out);
	else
		run_few(a, to, n, in, out);
}

/* --- by the owner --- */

static bool same(const struct win_acc *a, const char *now)
{
	return !memcmp(now, a->compare, (size_t)a->basic->size);
}

/* One element that no instruction updates, as it lies in memory; with the lock. */
static void update(const struct win_acc *a, char *to, const char *in, char *out)
{
	_Alignas(16) char now[WIN_ELEMENT_MAX], x[WIN_ELEMENT_MAX],
		old[WIN_ELEMENT_MAX];
	const struct mpii_type *t = a->basic;
	size_t size = (size_t)t->size;

	mpii_pack(t, to, 1, 0, now, size);
	if (out)
		memcpy(out, now, size);
	if (!a->op) {
		if (same(a, now))
			mpii_unpack(t, to, 1, 0, in, size);
		return;
	}
	if (a->op->index == MPII_OP_NO_OP)
		return;
	if (a->op->index == MPII_OP_REPLACE) {
		mpii_unpack(t, to, 1, 0, in, size);
		return;
	}
	/* both where they are aligned */
	mpii_unpack(t, x, 1, 0, in, size);
	mpii_unpack(t, old, 1, 0, now, size);
	mpii_op_apply(a->op, x, old, 1, t);
	mpii_copy(old, 1, t, to, 1, t);
}

/* --- elements wherever a datatype has them --- */

struct cursor {
	const struct win_acc *a;
	const char *in;
	char *out;
	MPI_Count rest; /* of an element whose beginning was the last piece */
};

static void advance(struct cursor *c, MPI_Count bytes)
{
	if (c->in)
		c->in += bytes;
	if (c->out)
		c->out += bytes;
}

/* The part of a piece that is left; how much of it was used. */
static MPI_Count take_some(struct cursor *c, char *at, MPI_Count len)
{
	MPI_Count size = c->a->basic->size, n;

	if (c->rest) {
		n = c->rest < len ? c->rest : len;
		c->rest -= n;
		return n;
	}
	if (win_acc_by_cpu(c->a->basic, at)) {
		n = len / size;
		win_acc_run(c->a, at, n, c->in, c->out);
		advance(c, n * size);
		return n * size;
	}
	pthread_mutex_lock(c->a->owner);
	update(c->a, at, c->in, c->out);
	pthread_mutex_unlock(c->a->owner);
	advance(c, size);
	n = size < len ? size : len;
	c->rest = size - n;
	return n;
}

static void piece(void *arg, char *at, MPI_Count len)
{
	MPI_Count used;

	for (; len > 0; at += used, len -= used)
		used = take_some(arg, at, len);
}

void win_acc_typed(const struct win_acc *a, void *to, const struct mpii_type *t,
		   MPI_Count off, MPI_Count n, const char *in, char *out)
{
	struct cursor c = { a, in, out, 0 };

	mpii_type_each(t, to, off, n, piece, &c);
}

bool win_acc_all_by_cpu(const struct mpii_type *basic,
			const struct mpii_type *t, const void *address)
{
	MPI_Count size = basic->size;

	if (!win_acc_by_cpu(basic, address))
		return false;
	if (t->contiguous)
		return true;
	if (t->extent % size)
		return false;
	for (int i = 0; i < t->nloops; i++)
		if (t->loops[i].stride % size)
			return false;
	for (size_t i = 0; i < t->nblocks; i++)
		if (t->blocks[i].disp % size ||
		    (t->blocks[i].n > 1 && t->blocks[i].stride % size))
			return false;
	return true;
}

/* --- layouts that others have sent --- */

struct whole {
	const struct mpii_type *basic;
	const char *element; /* that the last piece was a part of */
	MPI_Count done;	     /* of its packed form */
	bool yes;
};

/* As much of a piece as one part of an element is; 0: it is not that part. */
static MPI_Count match_part(struct whole *w, const char *at, MPI_Count len)
{
	const struct mpii_type *t = w->basic;
	const struct mpii_block *b =
		&t->blocks[mpii_type_find_block(t, w->done)];
	MPI_Count in = w->done - b->at, n = b->len - in % b->len;
	MPI_Aint part = b->disp + in / b->len * b->stride + in % b->len;

	if (w->done == 0)
		w->element = at - part;
	if (at != w->element + part)
		return 0;
	n = n < len ? n : len;
	w->done = (w->done + n) % t->size;
	return n;
}

static void match_piece(void *arg, char *at, MPI_Count len)
{
	struct whole *w = arg;
	MPI_Count n;

	if (mpii_likely(w->basic->nsegs == 1)) {
		w->yes = w->yes && len % w->basic->size == 0;
		return;
	}
	for (; w->yes && len > 0; at += n, len -= n) {
		n = match_part(w, at, len);
		w->yes = n > 0;
	}
}

bool win_acc_holds(const struct mpii_type *basic, const void *at,
		   const struct mpii_type *t, MPI_Count off, MPI_Count n)
{
	struct whole w = { .basic = basic, .yes = true };
	MPI_Count size = basic->size;

	if (basic->extent > WIN_ELEMENT_MAX || off % size || n % size)
		return false;
	if (t->contiguous)
		return basic->contiguous;
	mpii_type_each(t, at, off, n, match_piece, &w);
	return w.yes && w.done == 0;
}
