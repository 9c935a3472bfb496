/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Put and get, in all forms. */
#include <string.h>

#include "win/op.h"

/* One piece to or from mapped memory. What an instruction can move is moved by
 * one, so that nobody sees half of it. */
static inline void copy(void *to, const void *from, MPI_Count bytes)
{
	if (bytes == 8 && !(((uintptr_t)to | (uintptr_t)from) & 7))
		__atomic_store_n((uint64_t *)to,
				 __atomic_load_n((const uint64_t *)from,
						 __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	else if (bytes == 4 && !(((uintptr_t)to | (uintptr_t)from) & 3))
		__atomic_store_n((uint32_t *)to,
				 __atomic_load_n((const uint32_t *)from,
						 __ATOMIC_RELAXED),
				 __ATOMIC_RELAXED);
	else
		memmove(to, from, (size_t)bytes);
}

/* The target's memory for the quick way, or NULL. */
static inline char *quick(const void *origin, MPI_Count origin_count,
			  MPI_Datatype origin_type, int rank, MPI_Aint disp,
			  MPI_Count count, MPI_Datatype type, MPI_Win win,
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
	if (mpii_unlikely(*bytes != count * t->size))
		return NULL;
	return win_quick(w, rank, disp, *bytes);
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
#define CALLS(name, buffer, kind, to, from)                                    \
	int PMPI_##name(buffer origin_addr, int origin_count,                  \
			MPI_Datatype origin_datatype, int target_rank,         \
			MPI_Aint target_disp, int target_count,                \
			MPI_Datatype target_datatype, MPI_Win win)             \
	{                                                                      \
		MPI_Count bytes;                                               \
		char *at = quick(origin_addr, origin_count, origin_datatype,   \
				 target_rank, target_disp, target_count,       \
				 target_datatype, win, &bytes);                \
		if (mpii_unlikely(!at))                                        \
			return slowly(kind, (void *)origin_addr, origin_count, \
				      origin_datatype, target_rank,            \
				      target_disp, target_count,               \
				      target_datatype, win, false, NULL,       \
				      "MPI_" #name);                           \
		copy(to, from, bytes);                                         \
		return MPI_SUCCESS;                                            \
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

CALLS(Put, const void *, WIN_PUT, at, origin_addr);
CALLS(Get, void *, WIN_GET, origin_addr, at);
REQUEST_CALL(Rput, const void *, int, WIN_PUT);
REQUEST_CALL(Rput_c, const void *, MPI_Count, WIN_PUT);
REQUEST_CALL(Rget, void *, int, WIN_GET);
REQUEST_CALL(Rget_c, void *, MPI_Count, WIN_GET);
