/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Accumulate, fetch and accumulate, compare and swap, in all forms. */
#include "datatype/kinds.h"
#include "win/acc.h"
#include "win/op.h"

/* The window, if all is of one predefined type that the operation has; else NULL. */
static inline struct mpii_win *plain(const void *origin, MPI_Datatype type,
				     MPI_Count count, MPI_Op op, MPI_Win win,
				     struct win_acc *a)
{
	const struct mpii_type *t = mpii_type_get(type);
	struct mpii_win *w = mpii_win_get(win);

	a->basic = t;
	a->op = mpii_op_get(op);
	if (mpii_unlikely(!w || !a->op || !a->op->predefined ||
			  !win_plain(t, origin, count) || !t->predefined ||
			  mpii_op_check(a->op, t)))
		return NULL;
	return w;
}

/* On mapped memory: straight to the instructions. Several elements of memory that
 * only messages reach besides are done as a whole (op.c). */
static inline char *mapped(struct mpii_win *w, int rank, MPI_Aint disp,
			   MPI_Count count, const struct win_acc *a)
{
	char *at;

	if (mpii_unlikely(count > 1 && !win_is_allocated(w)) ||
	    win_waits_turn(w, rank))
		return NULL;
	at = win_quick(w, rank, disp, count * a->basic->size);

	return mpii_likely(at && win_acc_by_cpu(a->basic, at)) ? at : NULL;
}

/* What a target that is asked is to do; false: that has no short form. */
static inline bool in_brief(const struct win_acc *a, struct win_brief_acc *what)
{
	uintptr_t basic = (uintptr_t)a->basic->handle - MPII_TYPE_FIRST;
	uintptr_t op = a->op ? (uintptr_t)a->op->handle - MPII_OP_FIRST : 0;

	*what = (struct win_brief_acc){ .op = (uint8_t)op,
					.basic = (uint8_t)basic };
	return mpii_likely(basic < MPII_TYPE_COUNT);
}

/* Into the batch of a target that is asked. */
static inline bool ask(struct mpii_win *w, const void *from, int rank,
		       MPI_Aint disp, MPI_Count count, const struct win_acc *a)
{
	MPI_Count bytes = count * a->basic->size;
	struct win_brief_acc what;
	char *at;

	if (!in_brief(a, &what))
		return false;
	at = win_quick_ask(w, rank, disp, WIN_ACC, bytes,
			   sizeof(what) + win_padded((uint64_t)bytes));
	if (mpii_unlikely(!at))
		return false;
	memcpy(at, &what, sizeof(what));
	win_copy(at + sizeof(what), from, bytes);
	return true;
}

/*
 * The same for one element, whose value from before comes back. @from has the operand;
 * NULL: there is none. What is compared with, if anything, goes before it.
 */
static inline bool ask_back(struct mpii_win *w, const void *from, void *result,
			    int rank, MPI_Aint disp, const struct win_acc *a)
{
	struct mpii_type *t = (struct mpii_type *)a->basic;
	size_t size = (size_t)t->size, data = 0;
	struct win_result r = { result, 1, t, 0, t->size };
	unsigned kind = a->compare ? WIN_CAS : WIN_ACC;
	struct win_brief_acc what;
	struct win_out *out;
	char *at;

	if (mpii_unlikely((unsigned)rank >= (unsigned)w->n))
		return false;
	out = win_out_of(&w->peers[rank]);
	if (!out || mpii.multiple || !win_out_takes_result(out) ||
	    !in_brief(a, &what))
		return false;
	data = a->compare ? 2 * size : from ? size : 0;
	at = win_quick_ask(w, rank, disp, kind | WIN_BRIEF_FETCH, t->size,
			   sizeof(what) + win_padded(data));
	if (mpii_unlikely(!at))
		return false;
	memcpy(at, &what, sizeof(what));
	at += sizeof(what);
	if (a->compare) {
		memcpy(at, a->compare, size);
		at += size;
	}
	if (from)
		win_copy(at, from, t->size);
	win_out_add_result(out, &r);
	return true;
}

static inline bool accumulate_quickly(const void *from, MPI_Datatype type,
				      int rank, MPI_Aint disp, MPI_Count count,
				      MPI_Op op, MPI_Win win)
{
	struct win_acc a = { .op = NULL };
	struct mpii_win *w = plain(from, type, count, op, win, &a);
	char *at;

	if (mpii_unlikely(!w))
		return false;
	at = mapped(w, rank, disp, count, &a);
	if (!at)
		return ask(w, from, rank, disp, count, &a);
	win_acc_run(&a, at, count, from, NULL);
	return true;
}

static int accumulate(const void *origin_addr, MPI_Count origin_count,
		      MPI_Datatype origin_datatype, int target_rank,
		      MPI_Aint target_disp, MPI_Count target_count,
		      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
		      bool with_request, MPI_Request *request, const char *func)
{
	const struct win_call c = { .func = func,
				    .kind = WIN_ACC,
				    .win = win,
				    .origin = (void *)origin_addr,
				    .origin_count = origin_count,
				    .origin_type = origin_datatype,
				    .rank = target_rank,
				    .disp = target_disp,
				    .count = target_count,
				    .type = target_datatype,
				    .op = op,
				    .with_request = with_request,
				    .request = request };

	return win_call(&c);
}

int PMPI_Accumulate(const void *origin_addr, int origin_count,
		    MPI_Datatype origin_datatype, int target_rank,
		    MPI_Aint target_disp, int target_count,
		    MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	if (mpii_likely(origin_datatype == target_datatype &&
			origin_count == target_count && op != MPI_NO_OP) &&
	    mpii_likely(accumulate_quickly(origin_addr, origin_datatype,
					   target_rank, target_disp,
					   target_count, op, win)))
		return MPI_SUCCESS;
	return accumulate(origin_addr, origin_count, origin_datatype,
			  target_rank, target_disp, target_count,
			  target_datatype, op, win, false, NULL,
			  "MPI_Accumulate");
}
MPII_ALIAS(Accumulate);

int PMPI_Accumulate_c(const void *origin_addr, MPI_Count origin_count,
		      MPI_Datatype origin_datatype, int target_rank,
		      MPI_Aint target_disp, MPI_Count target_count,
		      MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	return accumulate(origin_addr, origin_count, origin_datatype,
			  target_rank, target_disp, target_count,
			  target_datatype, op, win, false, NULL,
			  "MPI_Accumulate_c");
}
MPII_ALIAS(Accumulate_c);

int PMPI_Raccumulate(const void *origin_addr, int origin_count,
		     MPI_Datatype origin_datatype, int target_rank,
		     MPI_Aint target_disp, int target_count,
		     MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
		     MPI_Request *request)
{
	return accumulate(origin_addr, origin_count, origin_datatype,
			  target_rank, target_disp, target_count,
			  target_datatype, op, win, true, request,
			  "MPI_Raccumulate");
}
MPII_ALIAS(Raccumulate);

int PMPI_Raccumulate_c(const void *origin_addr, MPI_Count origin_count,
		       MPI_Datatype origin_datatype, int target_rank,
		       MPI_Aint target_disp, MPI_Count target_count,
		       MPI_Datatype target_datatype, MPI_Op op, MPI_Win win,
		       MPI_Request *request)
{
	return accumulate(origin_addr, origin_count, origin_datatype,
			  target_rank, target_disp, target_count,
			  target_datatype, op, win, true, request,
			  "MPI_Raccumulate_c");
}
MPII_ALIAS(Raccumulate_c);

/* --- with what was there before --- */

#define GET_ACCUMULATE(name, count_t, with, params, req)                    \
	int PMPI_##name(const void *origin_addr, count_t origin_count,      \
			MPI_Datatype origin_datatype, void *result_addr,    \
			count_t result_count, MPI_Datatype result_datatype, \
			int target_rank, MPI_Aint target_disp,              \
			count_t target_count, MPI_Datatype target_datatype, \
			MPI_Op op, MPI_Win win params)                      \
	{                                                                   \
		const struct win_call c = { .func = "MPI_" #name,           \
					    .kind = WIN_ACC,                \
					    .win = win,                     \
					    .origin = (void *)origin_addr,  \
					    .origin_count = origin_count,   \
					    .origin_type = origin_datatype, \
					    .result = result_addr,          \
					    .result_count = result_count,   \
					    .result_type = result_datatype, \
					    .has_result = true,             \
					    .rank = target_rank,            \
					    .disp = target_disp,            \
					    .count = target_count,          \
					    .type = target_datatype,        \
					    .op = op,                       \
					    .with_request = with,           \
					    .request = req };               \
		return win_call(&c);                                        \
	}                                                                   \
	MPII_ALIAS(name)

#define NO_REQUEST
#define A_REQUEST , MPI_Request *request
GET_ACCUMULATE(Get_accumulate, int, false, NO_REQUEST, NULL);
GET_ACCUMULATE(Get_accumulate_c, MPI_Count, false, NO_REQUEST, NULL);
GET_ACCUMULATE(Rget_accumulate, int, true, A_REQUEST, request);
GET_ACCUMULATE(Rget_accumulate_c, MPI_Count, true, A_REQUEST, request);

int PMPI_Fetch_and_op(const void *origin_addr, void *result_addr,
		      MPI_Datatype datatype, int target_rank,
		      MPI_Aint target_disp, MPI_Op op, MPI_Win win)
{
	const struct win_call c = { .func = "MPI_Fetch_and_op",
				    .kind = WIN_ACC,
				    .single = true,
				    .win = win,
				    .origin = (void *)origin_addr,
				    .origin_count = 1,
				    .origin_type = datatype,
				    .result = result_addr,
				    .result_count = 1,
				    .result_type = datatype,
				    .has_result = true,
				    .rank = target_rank,
				    .disp = target_disp,
				    .count = 1,
				    .type = datatype,
				    .op = op };
	struct win_acc a = { .op = NULL };
	struct mpii_win *w = NULL;
	char *at = NULL;

	if (mpii_likely((uintptr_t)result_addr > (uintptr_t)MPI_IN_PLACE))
		w = plain(op == MPI_NO_OP ? result_addr : origin_addr, datatype,
			  1, op, win, &a);
	if (mpii_likely(w))
		at = mapped(w, target_rank, target_disp, 1, &a);
	if (mpii_likely(w) && !at &&
	    ask_back(w, op == MPI_NO_OP ? NULL : origin_addr, result_addr,
		     target_rank, target_disp, &a))
		return MPI_SUCCESS;
	if (mpii_unlikely(!at))
		return win_call(&c);
	win_acc_run(&a, at, 1, origin_addr, result_addr);
	return MPI_SUCCESS;
}
MPII_ALIAS(Fetch_and_op);

/* What may be compared and swapped, and is no more than an instruction's work. */
static inline bool swaps_quickly(const struct mpii_type *t, const void *a,
				 const void *b, const void *c)
{
	return mpii_likely(t && t->predefined && t->class == MPII_C_INTEGER &&
			   (uintptr_t)a > (uintptr_t)MPI_IN_PLACE &&
			   (uintptr_t)b > (uintptr_t)MPI_IN_PLACE &&
			   (uintptr_t)c > (uintptr_t)MPI_IN_PLACE);
}

/* Where an instruction does it at once, or NULL. */
static inline char *swaps_here(struct mpii_win *w, int rank, MPI_Aint disp,
			       const struct win_acc *a)
{
	char *at;

	if (win_waits_turn(w, rank))
		return NULL;
	at = win_quick(w, rank, disp, a->basic->size);
	return mpii_likely(at && win_acc_by_cpu(a->basic, at)) ? at : NULL;
}

int PMPI_Compare_and_swap(const void *origin_addr, const void *compare_addr,
			  void *result_addr, MPI_Datatype datatype,
			  int target_rank, MPI_Aint target_disp, MPI_Win win)
{
	const struct win_call c = { .func = "MPI_Compare_and_swap",
				    .kind = WIN_CAS,
				    .single = true,
				    .win = win,
				    .origin = (void *)origin_addr,
				    .origin_count = 1,
				    .origin_type = datatype,
				    .result = result_addr,
				    .result_count = 1,
				    .result_type = datatype,
				    .has_result = true,
				    .compare = compare_addr,
				    .rank = target_rank,
				    .disp = target_disp,
				    .count = 1,
				    .type = datatype };
	struct win_acc a = { .basic = mpii_type_get(datatype),
			     .compare = compare_addr };
	struct mpii_win *w = mpii_win_get(win);
	char *at = NULL;

	if (mpii_likely(w && swaps_quickly(a.basic, origin_addr, compare_addr,
					   result_addr))) {
		at = swaps_here(w, target_rank, target_disp, &a);
		if (!at && ask_back(w, origin_addr, result_addr, target_rank,
				    target_disp, &a))
			return MPI_SUCCESS;
	}
	if (mpii_unlikely(!at))
		return win_call(&c);
	win_acc_run(&a, at, 1, origin_addr, result_addr);
	return MPI_SUCCESS;
}
MPII_ALIAS(Compare_and_swap);
