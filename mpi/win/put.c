/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Put and get, in all forms. */
#include "win/op.h"

/* The window, if both sides are one piece, of *bytes; else NULL. */
static inline struct mpii_win *plain(const void *origin, MPI_Count origin_count,
				     MPI_Datatype origin_type, MPI_Count count,
				     MPI_Datatype type, MPI_Win win,
				     MPI_Count *bytes)
{
	const struct mpii_type *ot = mpii_type_get(origin_type);
	const struct mpii_type *t = mpii_type_get(type);
	struct mpii_win *w = mpii_win_get(win);

	if (mpii_unlikely(!w || !t || !t->simple ||
			  !win_plain(ot, origin, origin_count) || count < 0 ||
			  origin_count > INT32_MAX || count > INT32_MAX))
		return NULL;
	*bytes = origin_count * ot->size;
	return mpii_likely(*bytes == count * t->size) ? w : NULL;
}

/* The target is mapped, or has a batch that this still fits into. */
static inline bool put_quickly(struct mpii_win *w, const void *from, int rank,
			       MPI_Aint disp, MPI_Count bytes)
{
	char *at = win_quick(w, rank, disp, bytes);

	if (!at)
		at = win_quick_ask(w, rank, disp, WIN_PUT, bytes,
				   win_padded((uint64_t)bytes));
	if (mpii_unlikely(!at))
		return false;
	win_copy(at, from, bytes);
	return true;
}

static inline bool get_quickly(struct mpii_win *w, void *to, int rank,
			       MPI_Aint disp, MPI_Count bytes)
{
	const char *at = win_quick(w, rank, disp, bytes);

	if (mpii_unlikely(!at))
		return false;
	win_copy(to, at, bytes);
	return true;
}

static int slowly(enum win_kind kind, void *origin, MPI_Count origin_count,
		  MPI_Datatype origin_type, int rank, MPI_Aint disp,
		  MPI_Count count, MPI_Datatype type, MPI_Win win,
		  bool with_request, MPI_Request *request, const char *func)
{
	const struct win_call c = { .func = func,
				    .kind = kind,
				    .win = win,
				    .origin = origin,
				    .origin_count = origin_count,
				    .origin_type = origin_type,
				    .rank = rank,
				    .disp = disp,
				    .count = count,
				    .type = type,
				    .with_request = with_request,
				    .request = request };

	return win_call(&c);
}

/* Both forms of a call, and those with a request. */
#define CALLS(name, buffer, kind, quickly)                                     \
	int PMPI_##name(buffer origin_addr, int origin_count,                  \
			MPI_Datatype origin_datatype, int target_rank,         \
			MPI_Aint target_disp, int target_count,                \
			MPI_Datatype target_datatype, MPI_Win win)             \
	{                                                                      \
		MPI_Count bytes;                                               \
		struct mpii_win *w = plain(origin_addr, origin_count,          \
					   origin_datatype, target_count,      \
					   target_datatype, win, &bytes);      \
		if (mpii_likely(w && quickly(w, origin_addr, target_rank,      \
					     target_disp, bytes)))             \
			return MPI_SUCCESS;                                    \
		return slowly(kind, (void *)origin_addr, origin_count,         \
			      origin_datatype, target_rank, target_disp,       \
			      target_count, target_datatype, win, false, NULL, \
			      "MPI_" #name);                                   \
	}                                                                      \
	MPII_ALIAS(name);                                                      \
	int PMPI_##name##_c(buffer origin_addr, MPI_Count origin_count,        \
			    MPI_Datatype origin_datatype, int target_rank,     \
			    MPI_Aint target_disp, MPI_Count target_count,      \
			    MPI_Datatype target_datatype, MPI_Win win)         \
	{                                                                      \
		return slowly(kind, (void *)origin_addr, origin_count,         \
			      origin_datatype, target_rank, target_disp,       \
			      target_count, target_datatype, win, false, NULL, \
			      "MPI_" #name "_c");                              \
	}                                                                      \
	MPII_ALIAS(name##_c)

#define REQUEST_CALL(name, buffer, count_t, kind)                        \
	int PMPI_##name(buffer origin_addr, count_t origin_count,        \
			MPI_Datatype origin_datatype, int target_rank,   \
			MPI_Aint target_disp, count_t target_count,      \
			MPI_Datatype target_datatype, MPI_Win win,       \
			MPI_Request *request)                            \
	{                                                                \
		return slowly(kind, (void *)origin_addr, origin_count,   \
			      origin_datatype, target_rank, target_disp, \
			      target_count, target_datatype, win, true,  \
			      request, "MPI_" #name);                    \
	}                                                                \
	MPII_ALIAS(name)

CALLS(Put, const void *, WIN_PUT, put_quickly);
CALLS(Get, void *, WIN_GET, get_quickly);
REQUEST_CALL(Rput, const void *, int, WIN_PUT);
REQUEST_CALL(Rput_c, const void *, MPI_Count, WIN_PUT);
REQUEST_CALL(Rget, void *, int, WIN_GET);
REQUEST_CALL(Rget_c, void *, MPI_Count, WIN_GET);
