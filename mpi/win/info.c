/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hints of windows: the standard's are taken, others are ignored, and
 * MPI_Win_get_info shows those that are in use, with their defaults. It adds
 * o2g_async_progress: "true" if operations on our memory are done while the
 * program computes, without a call of MPI.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "env/errors.h"
#include "info/info.h"
#include "settings.h"
#include "win/create.h"

#define ALIGNMENT "mpi_minimum_memory_alignment"
#define NONCONTIG "alloc_shared_noncontig"
#define NO_LOCKS "no_locks"
#define ORDERING "accumulate_ordering"
#define PROGRESS "o2g_async_progress"

static const struct hint {
	const char *key, *value; /* NULL: has no default */
	bool once;		 /* only when the window is made */
	int flavor;		 /* for which it means something; 0: all */
} hints[] = {
	{ NO_LOCKS, "false", true, 0 },
	{ ORDERING, "rar,raw,war,waw", true, 0 },
	{ "accumulate_ops", "same_op_no_op", true, 0 },
	{ "mpi_accumulate_granularity", "0", true, 0 },
	{ "same_size", "false", true, 0 },
	{ "same_disp_unit", "false", true, 0 },
	{ NONCONTIG, "false", true, MPI_WIN_FLAVOR_SHARED },
	{ ALIGNMENT, NULL, true, 0 },
	{ "mpi_assert_memory_alloc_kinds", NULL, true, 0 },
};
#define HINTS (sizeof(hints) / sizeof(*hints))

static bool is_true(const struct mpii_win *w, const char *key)
{
	const char *v = mpii_info_value(w->info, key);

	return v && (!strcasecmp(v, "true") || !strcmp(v, "1"));
}

static bool take(struct mpii_win *w, const struct hint *h,
		 const struct mpii_info *from, bool first)
{
	const char *v = from ? mpii_info_value(from, h->key) : NULL;

	if (h->flavor && h->flavor != w->flavor)
		return true;
	if (v && (first || !h->once))
		return mpii_info_add(w->info, h->key, v);
	return !first || !h->value || mpii_info_add(w->info, h->key, h->value);
}

bool win_info_take(struct mpii_win *w, const struct mpii_info *from)
{
	bool first = !w->info;

	if (first)
		w->info = mpii_info_copy(NULL);
	if (!w->info)
		return false;
	for (size_t i = 0; i < HINTS; i++)
		if (!take(w, &hints[i], from, first))
			return false;
	if (first) {
		w->hints.no_locks = is_true(w, NO_LOCKS);
		w->hints.unordered =
			!strcmp(mpii_info_value(w->info, ORDERING), "none");
	}
	return true;
}

int win_info_alignment(const struct mpii_win *w)
{
	const char *v = mpii_info_value(w->info, ALIGNMENT);
	long n = v ? strtol(v, NULL, 10) : 0;

	return n > 0 && n <= 1 << 30 && !(n & (n - 1)) ? (int)n : 0;
}

bool win_info_contiguous(const struct mpii_win *w)
{
	return w->flavor == MPI_WIN_FLAVOR_SHARED && !is_true(w, NONCONTIG);
}

int PMPI_Win_set_info(MPI_Win win, MPI_Info info)
{
	static const char func[] = "MPI_Win_set_info";
	struct mpii_win *w = mpii_win_get(win);
	struct mpii_info *from = NULL;

	if (!w)
		return mpii_bad_win(win, func);
	if (info != MPI_INFO_NULL) {
		from = mpii_info_get(info);
		if (!from)
			return win_raise(w,
					 mpii_fail(MPI_ERR_INFO,
						   "info is not an info object "
						   "or was freed"),
					 func);
	}
	if (win_info_take(w, from))
		return MPI_SUCCESS;
	return win_raise(w, mpii_fail(MPI_ERR_NO_MEM, "out of memory"), func);
}
MPII_ALIAS(Win_set_info);

static bool progress_is_asynchronous(void)
{
	struct o2g_ep_info info;

	if (o2g_settings()->progress_thread)
		return true;
	return !o2g_ep_info(mpii.ep, &info) && !strcmp(info.engine, "kernel");
}

int PMPI_Win_get_info(MPI_Win win, MPI_Info *info_used)
{
	static const char func[] = "MPI_Win_get_info";
	struct mpii_win *w = mpii_win_get(win);
	struct mpii_info *copy;

	if (!w)
		return mpii_bad_win(win, func);
	if (!info_used)
		return win_null_arg(w, func, "info_used");
	copy = mpii_info_copy(w->info);
	if (!copy ||
	    !mpii_info_add(copy, PROGRESS,
			   progress_is_asynchronous() ? "true" : "false")) {
		mpii_info_destroy(copy);
		return win_raise(w, mpii_fail(MPI_ERR_NO_MEM, "out of memory"),
				 func);
	}
	*info_used = (MPI_Info)copy;
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_get_info);
