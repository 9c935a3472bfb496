/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The arguments of an operation, in the order a reader would expect. */
#include "coll/op/op_loops.h"
#include "env/errors.h"
#include "win/acc.h"
#include "win/dynamic.h"
#include "win/op.h"
#include "win/pscw.h"

static int check_type(MPI_Datatype h, const char *arg, struct mpii_type **t)
{
	*t = mpii_type_get(h);
	if (*t && (*t)->committed)
		return MPI_SUCCESS;
	if (*t)
		return mpii_fail(MPI_ERR_TYPE,
				 "%s was not committed: call MPI_Type_commit "
				 "first",
				 arg);
	return mpii_fail(MPI_ERR_TYPE, "%s is %s", arg,
			 h == MPI_DATATYPE_NULL ?
				 "MPI_DATATYPE_NULL" :
				 "not a datatype or was freed");
}

static int check_count(MPI_Count count, const char *arg)
{
	return count >= 0 ? MPI_SUCCESS :
			    mpii_fail(MPI_ERR_COUNT,
				      "%s is %lld, but must not be negative",
				      arg, (long long)count);
}

/* So many instances, packed or where they lie, are no more than an address can
 * reach. */
static int check_reach(MPI_Count count, const struct mpii_type *t,
		       const char *arg)
{
	MPI_Aint far, to;
	MPI_Count bytes;

	if (!__builtin_mul_overflow(count, t->size, &bytes) &&
	    !__builtin_mul_overflow(count, t->extent, &far) &&
	    !__builtin_add_overflow(far, t->true_lb, &to) &&
	    !__builtin_add_overflow(to, t->true_extent, &to))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_COUNT,
			 "%s is %lld, which is more than memory can hold", arg,
			 (long long)count);
}

static int check_buffer(const struct win_side *s, const char *arg)
{
	if (s->buf == MPI_IN_PLACE)
		return mpii_fail(MPI_ERR_BUFFER,
				 "%s is MPI_IN_PLACE, which is for collectives",
				 arg);
	if (!s->buf && s->count > 0 && s->t->size > 0 && s->t->contiguous)
		return mpii_fail(MPI_ERR_BUFFER,
				 "%s is a null pointer, but its count is %lld",
				 arg, (long long)s->count);
	return MPI_SUCCESS;
}

static int check_side(struct win_side *s, MPI_Datatype type,
		      const char *names[3])
{
	int err = check_count(s->count, names[1]);

	if (!err)
		err = check_type(type, names[2], &s->t);
	if (!err)
		err = check_reach(s->count, s->t, names[1]);
	return err ? err : check_buffer(s, names[0]);
}

static const char *const origin_names[] = { "origin_addr", "origin_count",
					    "origin_datatype" };
static const char *const result_names[] = { "result_addr", "result_count",
					    "result_datatype" };

/* MPI_NO_OP reads nothing of the origin. */
static int check_sides(const struct win_call *c, struct win_op *o)
{
	struct win_side origin = { c->origin, c->origin_count, NULL };
	int err = MPI_SUCCESS;

	if (c->kind == WIN_GET) {
		err = check_side(&origin, c->origin_type,
				 (const char **)origin_names);
		o->to = origin;
		return err;
	}
	if (c->kind != WIN_ACC || o->op->index != MPII_OP_NO_OP)
		err = check_side(&origin, c->origin_type,
				 (const char **)origin_names);
	o->from = origin;
	if (!err && c->has_result) {
		o->to = (struct win_side){ c->result, c->result_count, NULL };
		err = check_side(&o->to, c->result_type,
				 (const char **)result_names);
	}
	return err;
}

/* --- operations and their types --- */

static int check_op(const struct win_call *c, struct win_op *o)
{
	if (c->kind != WIN_ACC)
		return MPI_SUCCESS;
	o->op = mpii_op_get(c->op);
	if (!o->op)
		return mpii_fail(MPI_ERR_OP, "op is %s",
				 c->op == MPI_OP_NULL ? "MPI_OP_NULL" :
							"not an operation");
	if (!o->op->predefined)
		return mpii_fail(
			MPI_ERR_OP,
			"op was made by MPI_Op_create: only predefined "
			"operations can be used here");
	if (o->op->index == MPII_OP_NO_OP && !c->has_result)
		return mpii_fail(MPI_ERR_OP,
				 "op is MPI_NO_OP, which is for calls that "
				 "fetch what was there");
	return MPI_SUCCESS;
}

static int one_basic(const struct win_side *side, const struct mpii_type *basic,
		     const char *arg)
{
	const struct mpii_type *t = side->t;

	if (!t || !t->size || !side->count || t->basic == basic->handle)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_TYPE,
			 "%s is not made of the predefined type that "
			 "target_datatype is made of",
			 arg);
}

/* All sides are made of one predefined type; what has no bytes is made of any. */
static int check_basic(struct win_op *o)
{
	int err;

	if ((o->kind != WIN_ACC && o->kind != WIN_CAS) || !o->t->size ||
	    !o->count)
		return MPI_SUCCESS;
	o->basic = o->t->basic ? mpii_type_get(o->t->basic) : NULL;
	if (!o->basic || o->basic->extent > WIN_ELEMENT_MAX)
		return mpii_fail(
			MPI_ERR_TYPE,
			"target_datatype is not made of one predefined "
			"type");
	err = one_basic(&o->from, o->basic, "origin_datatype");
	if (!err)
		err = one_basic(&o->to, o->basic, "result_datatype");
	return err || !o->op ? err : mpii_op_check(o->op, o->basic);
}

/* Calls on one element, and the types of compare and swap. */
static int check_single(const struct win_call *c, const struct win_op *o)
{
	uint8_t class;

	if (!c->single)
		return MPI_SUCCESS;
	if (o->t != o->basic)
		return mpii_fail(MPI_ERR_TYPE,
				 "datatype is not a predefined datatype");
	class = o->t->class;
	if (o->kind == WIN_CAS && class != MPII_C_INTEGER &&
	    class != MPII_C_FORTRAN_INTEGER && class != MPII_C_LOGICAL &&
	    class != MPII_C_MULTI && class != MPII_C_BYTE)
		return mpii_fail(MPI_ERR_TYPE,
				 "%s cannot be compared and swapped: that is "
				 "for integers, logicals, multi-language types "
				 "and bytes",
				 o->t->name ? o->t->name : "datatype");
	if (o->kind == WIN_CAS && !c->compare)
		return mpii_fail(MPI_ERR_BUFFER,
				 "compare_addr is a null pointer");
	return MPI_SUCCESS;
}

/* --- how much, and where --- */

static MPI_Count side_bytes(const struct win_side *s)
{
	return s->t ? s->count * s->t->size : 0;
}

static int too_long(MPI_Count have, MPI_Count room, const char *from,
		    const char *to)
{
	return mpii_fail(MPI_ERR_TRUNCATE,
			 "%s has %lld bytes, but %s only %lld", from,
			 (long long)have, to, (long long)room);
}

static int check_bytes(struct win_op *o)
{
	MPI_Count target = o->count * o->t->size;

	o->bytes = target;
	if (o->kind == WIN_GET)
		return target <= side_bytes(&o->to) ?
			       MPI_SUCCESS :
			       too_long(target, side_bytes(&o->to),
					"the target", "the origin");
	if (o->from.t) {
		if (side_bytes(&o->from) > target)
			return too_long(side_bytes(&o->from), target,
					"the origin", "the target");
		o->bytes = side_bytes(&o->from);
	}
	if (o->to.t && side_bytes(&o->to) < o->bytes)
		return too_long(o->bytes, side_bytes(&o->to), "the target",
				"the result");
	return MPI_SUCCESS;
}

/* The bytes of memory from the first to the last of them, from disp on. */
static void bounds(const struct win_op *o, MPI_Aint *lo, MPI_Aint *hi)
{
	MPI_Aint last = (o->count - 1) * o->t->extent;

	*lo = o->t->true_lb + (last < 0 ? last : 0);
	*hi = o->t->true_lb + o->t->true_extent + (last > 0 ? last : 0);
}

static int out_of_range(const struct win_op *o, MPI_Aint lo, MPI_Aint hi)
{
	if (o->w->flavor == MPI_WIN_FLAVOR_DYNAMIC)
		return mpii_fail(MPI_ERR_RMA_RANGE,
				 "the %lld bytes at address %#llx are not "
				 "attached to the window",
				 (long long)(hi - lo),
				 (unsigned long long)(o->disp + lo));
	return mpii_fail(MPI_ERR_RMA_RANGE,
			 "bytes %lld to %lld are accessed, but the window of "
			 "rank %d has %lld",
			 (long long)((uint64_t)o->disp + (uint64_t)lo),
			 (long long)((uint64_t)o->disp + (uint64_t)hi), o->rank,
			 (long long)o->w->peers[o->rank].size);
}

static int check_range(struct win_op *o)
{
	const struct win_peer *p = &o->w->peers[o->rank];
	MPI_Aint lo, hi;

	if (o->w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
		bounds(o, &lo, &hi);
		if (o->rank != o->w->rank || o->bytes == 0 ||
		    win_region_holds(o->w, (uint64_t)(o->disp + lo),
				     (uint64_t)(hi - lo)) ||
		    win_regions_hold(o->w, (uint64_t)o->disp, o->t, 0,
				     o->bytes))
			return MPI_SUCCESS; /* others see for themselves */
		return out_of_range(o, lo, hi);
	}
	if (o->disp < 0)
		return mpii_fail(
			MPI_ERR_DISP,
			"target_disp is %lld, but must not be negative",
			(long long)o->disp);
	if (o->bytes == 0)
		return MPI_SUCCESS;
	if (__builtin_mul_overflow(o->disp, p->disp_unit, &o->disp))
		return mpii_fail(MPI_ERR_RMA_RANGE,
				 "target_disp is beyond all memory");
	/* The displacement itself may lie outside, with a type that leads back. */
	bounds(o, &lo, &hi);
	if (lo >= -o->disp && hi <= p->size - o->disp)
		return MPI_SUCCESS;
	return out_of_range(o, lo, hi);
}

/* --- epochs --- */

static int check_epoch(const struct win_call *c, struct win_op *o)
{
	struct mpii_win *w = o->w;
	struct win_peer *p = &w->peers[o->rank];

	if (c->with_request && w->access != WIN_LOCK_ALL && !win_is_locked(w))
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "operations with a request need an epoch of "
				 "MPI_Win_lock or MPI_Win_lock_all");
	if (win_is_open(w, p) || p->held == WIN_WANTED)
		return MPI_SUCCESS;
	if (p->held == WIN_STARTING)
		return win_await_post(w, o->rank);
	return mpii_fail(MPI_ERR_RMA_SYNC,
			 "rank %d is accessed outside of an epoch: call "
			 "MPI_Win_fence, MPI_Win_start, MPI_Win_lock or "
			 "MPI_Win_lock_all first",
			 o->rank);
}

int win_check_op(const struct win_call *c, struct mpii_win *w, struct win_op *o,
		 bool *nothing)
{
	int err;

	*o = (struct win_op){ .func = c->func,
			      .w = w,
			      .kind = c->kind,
			      .rank = c->rank,
			      .disp = c->disp,
			      .count = c->count,
			      .compare = c->compare,
			      .request = c->request };
	*nothing = false;
	if (c->with_request && !c->request)
		return mpii_fail(MPI_ERR_ARG, "request is a null pointer");
	if ((err = check_op(c, o)) || (err = check_sides(c, o)) ||
	    (err = check_count(c->count, "target_count")) ||
	    (err = check_type(c->type,
			      c->single ? "datatype" : "target_datatype",
			      &o->t)) ||
	    (err = check_reach(c->count, o->t, "target_count")) ||
	    (err = check_basic(o)) || (err = check_single(c, o)))
		return err;
	*nothing = c->rank == MPI_PROC_NULL;
	if (*nothing)
		return MPI_SUCCESS;
	if ((err = win_check_rank(w, c->rank, "target_rank")) ||
	    (err = check_bytes(o)) || (err = check_range(o)) ||
	    (err = check_epoch(c, o)))
		return err;
	*nothing = o->bytes == 0;
	return MPI_SUCCESS;
}
