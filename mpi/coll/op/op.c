/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Reduction operations: which are defined on what, user-defined ones, and
 * MPI_Reduce_local.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/fortran_abi.h"
#include "bindings/handle_int.h"
#include "bindings/lang.h"
#include "coll/op/op.h"
#include "datatype/contents.h"
#include "env/errors.h"

#define AT(h) [(uintptr_t)(h)-MPII_OP_FIRST]
#define OP(h, index_)                                        \
	AT(h) = { .obj = { .magic = MPII_OP, .refs = 1 },    \
		  .handle = h,                               \
		  .commutes = (index_) != MPII_OP_REPLACE && \
			      (index_) != MPII_OP_NO_OP,     \
		  .predefined = true,                        \
		  .index = index_ }

struct mpii_op mpii_ops[MPII_OP_COUNT] = {
	OP(MPI_SUM, MPII_OP_SUM),	  OP(MPI_PROD, MPII_OP_PROD),
	OP(MPI_MIN, MPII_OP_MIN),	  OP(MPI_MAX, MPII_OP_MAX),
	OP(MPI_LAND, MPII_OP_LAND),	  OP(MPI_LOR, MPII_OP_LOR),
	OP(MPI_LXOR, MPII_OP_LXOR),	  OP(MPI_BAND, MPII_OP_BAND),
	OP(MPI_BOR, MPII_OP_BOR),	  OP(MPI_BXOR, MPII_OP_BXOR),
	OP(MPI_MINLOC, MPII_OP_MINLOC),	  OP(MPI_MAXLOC, MPII_OP_MAXLOC),
	OP(MPI_REPLACE, MPII_OP_REPLACE), OP(MPI_NO_OP, MPII_OP_NO_OP),
};

static const char *const op_names[MPII_OP_INDEX_COUNT] = {
	"MPI_SUM",    "MPI_PROD",   "MPI_MIN",	   "MPI_MAX",	"MPI_LAND",
	"MPI_LOR",    "MPI_LXOR",   "MPI_BAND",	   "MPI_BOR",	"MPI_BXOR",
	"MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_NO_OP",
};

#define BIT(c) (1u << (MPII_C_##c))
#define NUMBERS (BIT(INTEGER) | BIT(FORTRAN_INTEGER) | BIT(FLOAT) | BIT(MULTI))
#define WORDS (BIT(INTEGER) | BIT(FORTRAN_INTEGER) | BIT(BYTE) | BIT(MULTI))
#define TRUTHS (BIT(INTEGER) | BIT(FORTRAN_INTEGER) | BIT(LOGICAL) | BIT(MULTI))

/*
 * The standard's table of what is defined on what (section 6.9.2), and a little
 * more that programs rely on since other MPIs let them: MPI_CHAR counts as an
 * integer, and every integer has a truth.
 */
static const unsigned op_classes[MPII_OP_INDEX_COUNT] = {
	[MPII_OP_SUM] = NUMBERS | BIT(COMPLEX),
	[MPII_OP_PROD] = NUMBERS | BIT(COMPLEX),
	[MPII_OP_MIN] = NUMBERS,
	[MPII_OP_MAX] = NUMBERS,
	[MPII_OP_LAND] = TRUTHS,
	[MPII_OP_LOR] = TRUTHS,
	[MPII_OP_LXOR] = TRUTHS,
	[MPII_OP_BAND] = WORDS,
	[MPII_OP_BOR] = WORDS,
	[MPII_OP_BXOR] = WORDS,
	[MPII_OP_MINLOC] = BIT(PAIR),
	[MPII_OP_MAXLOC] = BIT(PAIR),
	[MPII_OP_REPLACE] = ~0u,
	[MPII_OP_NO_OP] = ~0u,
};

/* The predefined type behind @t: itself or what it duplicates, or NULL. */
static const struct mpii_type *predefined(const struct mpii_type *t)
{
	while (!t->predefined) {
		if (t->made->combiner != MPI_COMBINER_DUP)
			return NULL;
		t = t->made->types[0];
	}
	return t;
}

/* A compiler may have no arithmetic for a type: MPI_REAL2 is one. */
static bool is_compiled(const struct mpii_op *op, const struct mpii_type *basic)
{
	if (op->index == MPII_OP_REPLACE || op->index == MPII_OP_NO_OP)
		return true;
	if (basic->kind == MPII_K_PAIR)
		return mpii_op_pair(op->index == MPII_OP_MAXLOC,
				    basic->made->types[0],
				    basic->made->types[1]);
	return mpii_op_loops[op->index][basic->kind];
}

int mpii_op_check(const struct mpii_op *op, const struct mpii_type *t)
{
	const struct mpii_type *basic;

	if (!op->predefined)
		return MPI_SUCCESS;
	basic = predefined(t);
	if (!basic)
		return mpii_fail(MPI_ERR_OP,
				 "%s is not defined on derived datatypes",
				 op_names[op->index]);
	if (!(op_classes[op->index] & 1u << basic->class) ||
	    mpii_unlikely(!is_compiled(op, basic)))
		return mpii_fail(MPI_ERR_OP, "%s is not defined on %s",
				 op_names[op->index],
				 basic->name ? basic->name : "this datatype");
	return MPI_SUCCESS;
}

/* A user's function of the int kind sees at most INT_MAX elements a call. */
static void apply_user(const struct mpii_op *op, const char *in, char *inout,
		       MPI_Count count, const struct mpii_type *t)
{
	MPI_Datatype h = t->handle;
	MPI_Fint number;

	if (op->lang != MPII_LANG_C) { /* it reads no more than an INTEGER */
		number = mpii_handle_to_int(h);
		memcpy(&h, &number, sizeof(number));
	}
	if (op->fn_c) {
		op->fn_c((void *)in, inout, &count, &h);
		return;
	}
	while (count > 0) {
		int n = count > INT_MAX ? INT_MAX : count;

		op->fn((void *)in, inout, &n, &h);
		in += n * t->extent;
		inout += n * t->extent;
		count -= n;
	}
}

/* A pair without a name knows what it is made of. */
static void apply_pair(const struct mpii_op *op, const void *in, void *inout,
		       MPI_Count count, const struct mpii_type *t)
{
	mpii_op_pair(op->index == MPII_OP_MAXLOC, t->made->types[0],
		     t->made->types[1])(in, inout, count);
}

void mpii_op_apply(const struct mpii_op *op, const void *in, void *inout,
		   MPI_Count count, const struct mpii_type *t)
{
	if (count <= 0 || op->handle == MPI_NO_OP)
		return;
	if (op->handle == MPI_REPLACE)
		mpii_copy(in, count, t, inout, count, t);
	else if (!op->predefined)
		apply_user(op, in, inout, count, t);
	else if (mpii_unlikely(mpii_logical_unusual(t)) &&
		 op_classes[op->index] == TRUTHS)
		mpii_logical_apply(op->index, predefined(t)->size, in, inout,
				   count);
	else if (predefined(t)->kind == MPII_K_PAIR)
		apply_pair(op, in, inout, count, predefined(t));
	else
		mpii_op_loops[op->index][predefined(t)->kind](in, inout, count);
}

void mpii_op_hold(struct mpii_op *op)
{
	if (!op->predefined)
		mpii_obj_hold(&op->obj);
}

void mpii_op_put(struct mpii_op *op)
{
	if (op->predefined || !mpii_obj_drop(&op->obj))
		return;
	mpii_obj_end(&op->obj);
	free(op);
}

/* --- the functions of the standard --- */

static int op_create(const char *func, MPI_User_function *fn,
		     MPI_User_function_c *fn_c, int commute, MPI_Op *handle)
{
	struct mpii_op *op;

	if (!fn && !fn_c)
		return mpii_bad_null(NULL, func, "user_fn");
	if (!handle)
		return mpii_bad_null(NULL, func, "op");
	op = calloc(1, sizeof(*op));
	if (!op)
		return mpii_no_mem(NULL, func);
	op->obj.magic = MPII_OP;
	atomic_init(&op->obj.refs, 1);
	op->handle = (MPI_Op)op;
	op->commutes = commute;
	op->lang = mpii_language_take();
	op->fn = fn;
	op->fn_c = fn_c;
	*handle = op->handle;
	return MPI_SUCCESS;
}

int PMPI_Op_create(MPI_User_function *user_fn, int commute, MPI_Op *op)
{
	return op_create("MPI_Op_create", user_fn, NULL, commute, op);
}
MPII_ALIAS(Op_create);

int PMPI_Op_create_c(MPI_User_function_c *user_fn, int commute, MPI_Op *op)
{
	return op_create("MPI_Op_create_c", NULL, user_fn, commute, op);
}
MPII_ALIAS(Op_create_c);

static int bad_op(const char *func, MPI_Op op)
{
	return mpii_error(NULL, MPI_ERR_OP, func, "op %p is not an operation",
			  (void *)op);
}

int PMPI_Op_free(MPI_Op *op)
{
	struct mpii_op *o;

	if (!op)
		return mpii_bad_null(NULL, "MPI_Op_free", "op");
	o = mpii_op_get(*op);
	if (!o)
		return bad_op("MPI_Op_free", *op);
	if (o->predefined)
		return mpii_error(NULL, MPI_ERR_OP, "MPI_Op_free",
				  "%s is predefined and cannot be freed",
				  op_names[o->index]);
	mpii_op_put(o);
	*op = MPI_OP_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Op_free);

int PMPI_Op_commutative(MPI_Op op, int *commute)
{
	struct mpii_op *o = mpii_op_get(op);

	if (!o)
		return bad_op("MPI_Op_commutative", op);
	if (!commute)
		return mpii_bad_null(NULL, "MPI_Op_commutative", "commute");
	*commute = o->commutes;
	return MPI_SUCCESS;
}
MPII_ALIAS(Op_commutative);

static int check_buffers(const char *func, const void *in, const void *inout,
			 MPI_Count count, const struct mpii_type *t)
{
	if (in == MPI_IN_PLACE || inout == MPI_IN_PLACE)
		return mpii_error(
			NULL, MPI_ERR_BUFFER, func,
			"%s is MPI_IN_PLACE, which means nothing here",
			in == MPI_IN_PLACE ? "inbuf" : "inoutbuf");
	if (in == inout && in && count > 0)
		return mpii_error(NULL, MPI_ERR_BUFFER, func,
				  "inbuf and inoutbuf are the same memory");
	if ((!in || !inout) && count > 0 && t->size > 0 && t->contiguous)
		return mpii_error(NULL, MPI_ERR_BUFFER, func,
				  "%s is a null pointer, but count is %lld",
				  in ? "inoutbuf" : "inbuf", (long long)count);
	return MPI_SUCCESS;
}

static int reduce_local(const char *func, const void *in, void *inout,
			MPI_Count count, MPI_Datatype datatype, MPI_Op op)
{
	struct mpii_type *t = mpii_type_get(datatype);
	struct mpii_op *o = mpii_op_get(op);
	int err;

	if (count < 0)
		return mpii_bad_count(NULL, count, func, "count");
	if (!t || !t->committed)
		return mpii_bad_type(NULL, datatype, func, "datatype");
	if (!o)
		return bad_op(func, op);
	err = check_buffers(func, in, inout, count, t);
	if (err)
		return err;
	err = mpii_op_check(o, t);
	if (err)
		return mpii_raise(NULL, err, func);
	mpii_op_apply(o, in, inout, count, t);
	return MPI_SUCCESS;
}

int PMPI_Reduce_local(const void *inbuf, void *inoutbuf, int count,
		      MPI_Datatype datatype, MPI_Op op)
{
	return reduce_local("MPI_Reduce_local", inbuf, inoutbuf, count,
			    datatype, op);
}
MPII_ALIAS(Reduce_local);

int PMPI_Reduce_local_c(const void *inbuf, void *inoutbuf, MPI_Count count,
			MPI_Datatype datatype, MPI_Op op)
{
	return reduce_local("MPI_Reduce_local_c", inbuf, inoutbuf, count,
			    datatype, op);
}
MPII_ALIAS(Reduce_local_c);
