/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Arguments of windows: what is wrong with them, in words. */
#include "env/errhandler.h"
#include "env/errors.h"
#include "win/win.h"

int win_raise(struct mpii_win *w, int err, const char *func)
{
	struct mpii_owner o;

	if (mpii_likely(!err))
		return err;
	o = mpii_owner_win(w);
	return mpii_raise_on(&o, err, func);
}

int win_null_arg(struct mpii_win *w, const char *func, const char *arg)
{
	return win_raise(w, mpii_fail(MPI_ERR_ARG, "%s is a null pointer", arg),
			 func);
}

int win_check_rank(const struct mpii_win *w, int rank, const char *arg)
{
	if (mpii_likely((unsigned)rank < (unsigned)w->n))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_RANK, "%s is %d, but the window has %d rank%s",
			 arg, rank, w->n, w->n == 1 ? "" : "s");
}

int win_check_assert(int assert, int allowed)
{
	if (mpii_likely(!(assert & ~allowed)))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_ASSERT,
			 "assert is %d, which holds bits that are no assertion "
			 "for this call",
			 assert);
}
