/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The owner does what others have asked for. */
#include "win/serve.h"

#include <stdlib.h>
#include <string.h>

#include "coll/op/op_loops.h"
#include "win/acc.h"
#include "win/dynamic.h"
#include "win/op.h"
#include "win/out.h"

#define MEMORY_MAX \
	(60u << 20) /* that one batch may fetch, or one operation touch */

char *win_bytes_grow(struct win_bytes *b, size_t more)
{
	size_t room = b->room ? b->room : 256;
	char *p;

	while (room < b->used + more)
		room *= 2;
	if (room != b->room) {
		p = realloc(b->data, room);
		if (!p)
			return NULL;
		b->data = p;
		b->room = room;
	}
	p = b->data + b->used;
	b->used += more;
	return p;
}

/* --- where it is --- */

static const struct mpii_type *layout_of(const struct win_served *s,
					 const struct win_wire_op *op)
{
	if (op->layout == 0)
		return mpii_type_get(MPI_BYTE);
	return op->layout <= WIN_LAYOUTS ? s->layouts[op->layout - 1] : NULL;
}

/* From the first byte to the last of count instances, from the buffer on. */
static bool bounds(const struct win_wire_op *op, const struct mpii_type *t,
		   MPI_Aint *lo, MPI_Aint *hi)
{
	MPI_Aint last, bytes;
	MPI_Count end;

	if (op->off > INT64_MAX || op->bytes > INT64_MAX ||
	    op->count > INT64_MAX || op->at > INT64_MAX ||
	    __builtin_add_overflow((MPI_Count)op->off, (MPI_Count)op->bytes,
				   &end))
		return false;
	if (op->layout == 0) {
		*lo = (MPI_Aint)op->off;
		*hi = end;
		return true;
	}
	if (op->count == 0 ||
	    __builtin_mul_overflow((MPI_Aint)op->count - 1, t->extent, &last) ||
	    __builtin_mul_overflow((MPI_Aint)op->count, t->size, &bytes) ||
	    end > bytes || last > INT64_MAX / 2 || last < INT64_MIN / 2)
		return false;
	*lo = t->true_lb + (last < 0 ? last : 0);
	*hi = t->true_lb + t->true_extent + (last > 0 ? last : 0);
	return true;
}

/* Between the pieces of a layout there may be memory that is not attached. */
static bool is_attached(struct mpii_win *w, const struct win_wire_op *op,
			const struct mpii_type *t, MPI_Aint lo, MPI_Aint hi)
{
	return win_region_holds(w, (uint64_t)lo, (uint64_t)(hi - lo)) ||
	       (op->layout && win_regions_hold(w, op->at, t, (MPI_Count)op->off,
					       (MPI_Count)op->bytes));
}

/* The buffer, if all of it is ours. That may be MPI_BOTTOM, with a layout of
 * addresses. */
static bool memory_of(struct mpii_win *w, const struct win_wire_op *op,
		      const struct mpii_type *t, char **at)
{
	MPI_Aint lo, hi;

	if (!t || !bounds(op, t, &lo, &hi) ||
	    __builtin_add_overflow(lo, (MPI_Aint)op->at, &lo) ||
	    __builtin_add_overflow(hi, (MPI_Aint)op->at, &hi))
		return false;
	if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
		*at = (char *)(uintptr_t)op->at;
		return lo >= 0 && is_attached(w, op, t, lo, hi);
	}
	*at = (char *)w->base + op->at;
	return lo >= 0 && hi <= w->size;
}

/* --- what is done there --- */

/* Only predefined ones have numbers. */
const struct mpii_type *win_type_at(uint64_t handle)
{
	const struct mpii_type *t = NULL;

	if (handle - MPII_TYPE_FIRST < MPII_TYPE_COUNT)
		t = &mpii_types[handle - MPII_TYPE_FIRST];
	return t && t->obj.magic == MPII_TYPE && t->size ? t : NULL;
}

static const struct mpii_type *basic_of(const struct win_wire_op *op)
{
	if (!op->index)
		return win_type_at(op->basic);
	if (!win_type_at(op->basic) || !win_type_at(op->index))
		return NULL;
	return mpii_type_get(
		mpii_type_pair((MPI_Datatype)(uintptr_t)op->basic,
			       (MPI_Datatype)(uintptr_t)op->index));
}

const struct mpii_op *win_op_at(unsigned number)
{
	const struct mpii_op *op = number < MPII_OP_COUNT ? &mpii_ops[number] :
							    NULL;

	return op && op->predefined ? op : NULL;
}

static int accumulate(struct mpii_win *w, const struct win_wire_op *op,
		      char *at, const struct mpii_type *t, const char *in,
		      char *out)
{
	struct win_acc a = { .basic = basic_of(op), .owner = &w->owner };
	_Alignas(16) char compare[WIN_ELEMENT_MAX];

	if (!a.basic || !win_acc_holds(a.basic, at, t, (MPI_Count)op->off,
				       (MPI_Count)op->bytes))
		return MPI_ERR_TYPE;
	if (op->kind == WIN_CAS) {
		if (op->bytes != (uint64_t)a.basic->size ||
		    op->data != 2 * op->bytes)
			return MPI_ERR_INTERN;
		memcpy(compare, in, op->bytes);
		a.compare = compare;
		in += op->bytes;
	} else {
		a.op = win_op_at(op->op);
		if (!a.op || mpii_op_check(a.op, a.basic))
			return MPI_ERR_OP;
		if (a.op->index != MPII_OP_NO_OP && op->data != op->bytes)
			return MPI_ERR_INTERN;
	}
	win_acc_typed(&a, at, t, (MPI_Count)op->off, (MPI_Count)op->bytes, in,
		      out);
	return MPI_SUCCESS;
}

static int do_op(struct mpii_win *w, struct win_served *s,
		 const struct win_wire_op *op, const char *in,
		 struct win_bytes *reply)
{
	const struct mpii_type *t = layout_of(s, op);
	char *at, *out = NULL;

	if (op->bytes > MEMORY_MAX)
		return MPI_ERR_NO_MEM;
	if (!memory_of(w, op, t, &at))
		return MPI_ERR_RMA_RANGE;
	if (op->fetch) {
		if (reply->used + op->bytes > MEMORY_MAX)
			return MPI_ERR_NO_MEM;
		out = win_bytes_grow(reply, op->bytes);
		if (!out)
			return MPI_ERR_NO_MEM;
	}
	switch (op->kind) {
	case WIN_PUT:
		if (op->data != op->bytes)
			return MPI_ERR_INTERN;
		mpii_unpack(t, at, (MPI_Count)op->count, (MPI_Count)op->off, in,
			    op->bytes);
		return MPI_SUCCESS;
	case WIN_GET:
		if (!out)
			return MPI_ERR_INTERN;
		mpii_pack(t, at, (MPI_Count)op->count, (MPI_Count)op->off, out,
			  op->bytes);
		return MPI_SUCCESS;
	case WIN_ACC:
	case WIN_CAS:
		return accumulate(w, op, at, t, in, out);
	default:
		return MPI_ERR_INTERN;
	}
}

static int keep_layout(struct win_served *s, const struct win_wire_op *op,
		       const char *data)
{
	struct mpii_type *t, **place;

	if (op->layout == 0 || op->layout > WIN_LAYOUTS)
		return MPI_ERR_INTERN;
	t = win_layout_read(data, op->data);
	if (!t)
		return MPI_ERR_NO_MEM;
	place = &s->layouts[op->layout - 1];
	if (*place)
		mpii_type_put(*place);
	*place = t;
	return MPI_SUCCESS;
}

/* How many bytes it is; 0: it is cut off. */
static size_t do_long(struct mpii_win *w, struct win_served *s,
		      const char *data, size_t len, struct win_bytes *reply,
		      int *err)
{
	struct win_wire_op op;

	if (len < sizeof(op))
		return 0;
	memcpy(&op, data, sizeof(op));
	data += sizeof(op);
	len -= sizeof(op);
	if (op.data > len || win_padded(op.data) > len)
		return 0;
	*err = op.kind == WIN_WIRE_LAYOUT ? keep_layout(s, &op, data) :
					    do_op(w, s, &op, data, reply);
	return sizeof(op) + win_padded(op.data);
}

/* The first error is the batch's; what follows is done nevertheless, as it would be
 * if it came in a batch of its own. */
int win_serve_ops(struct mpii_win *w, struct win_served *s, const char *data,
		  size_t len, unsigned nops, struct win_bytes *reply)
{
	int err = MPI_SUCCESS;

	for (; nops > 0; nops--) {
		int one = MPI_SUCCESS;
		size_t used;

		if (len && (uint8_t)*data & WIN_BRIEF)
			used = win_serve_brief(w, data, len, reply, &one);
		else
			used = do_long(w, s, data, len, reply, &one);
		if (!used)
			return MPI_ERR_INTERN;
		err = err ? err : one;
		data += used;
		len -= used;
	}
	return err;
}
