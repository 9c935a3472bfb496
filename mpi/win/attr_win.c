/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes and names of windows. */
#include <stdio.h>
#include <string.h>

#include "comm/attr.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "win/win.h"

#define KIND MPII_ATTR_WIN

int PMPI_Win_create_keyval(MPI_Win_copy_attr_function *win_copy_attr_fn,
			   MPI_Win_delete_attr_function *win_delete_attr_fn,
			   int *win_keyval, void *extra_state)
{
	static const char func[] = "MPI_Win_create_keyval";

	if (!win_keyval)
		return mpii_bad_null(NULL, func, "win_keyval");
	*win_keyval = mpii_keyval_create(
		KIND, (mpii_attr_copy_fn *)win_copy_attr_fn,
		(mpii_attr_delete_fn *)win_delete_attr_fn, extra_state);
	return *win_keyval ? MPI_SUCCESS : mpii_no_mem(NULL, func);
}
MPII_ALIAS(Win_create_keyval);

int PMPI_Win_free_keyval(int *win_keyval)
{
	static const char func[] = "MPI_Win_free_keyval";
	int err;

	if (!win_keyval)
		return mpii_bad_null(NULL, func, "win_keyval");
	err = mpii_keyval_free(KIND, *win_keyval);
	if (err)
		return mpii_raise(NULL, err, func);
	*win_keyval = MPI_KEYVAL_INVALID;
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_free_keyval);

static int raise_on(struct mpii_win *w, int err, const char *func)
{
	struct mpii_owner o = mpii_owner_win(w);

	return mpii_raise_on(&o, err, func);
}

static int null_arg(struct mpii_win *w, const char *func, const char *arg)
{
	return raise_on(w, mpii_fail(MPI_ERR_ARG, "%s is a null pointer", arg),
			func);
}

/* Is it one that windows have from the start? */
static bool predefined(struct mpii_win *w, int keyval, void *attribute_val)
{
	switch (keyval) {
	case MPI_WIN_BASE:
		*(void **)attribute_val = w->base;
		return true;
	case MPI_WIN_SIZE:
		mpii_attr_give_address(attribute_val, &w->size);
		return true;
	case MPI_WIN_DISP_UNIT:
		mpii_attr_give_int(attribute_val, &w->disp_unit);
		return true;
	case MPI_WIN_CREATE_FLAVOR:
		mpii_attr_give_int(attribute_val, &w->flavor);
		return true;
	case MPI_WIN_MODEL:
		mpii_attr_give_int(attribute_val, &w->model);
		return true;
	default:
		return false;
	}
}

int PMPI_Win_get_attr(MPI_Win win, int win_keyval, void *attribute_val,
		      int *flag)
{
	static const char func[] = "MPI_Win_get_attr";
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, func);
	if (!attribute_val || !flag)
		return null_arg(w, func, flag ? "attribute_val" : "flag");
	if (predefined(w, win_keyval, attribute_val)) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	return raise_on(w,
			mpii_attr_get(KIND, w->attrs, win_keyval, attribute_val,
				      flag),
			func);
}
MPII_ALIAS(Win_get_attr);

int PMPI_Win_set_attr(MPI_Win win, int win_keyval, void *attribute_val)
{
	static const char func[] = "MPI_Win_set_attr";
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, func);
	return raise_on(w,
			mpii_attr_set(KIND, w->handle, &w->attrs, win_keyval,
				      attribute_val),
			func);
}
MPII_ALIAS(Win_set_attr);

int PMPI_Win_delete_attr(MPI_Win win, int win_keyval)
{
	static const char func[] = "MPI_Win_delete_attr";
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, func);
	return raise_on(
		w, mpii_attr_delete(KIND, w->handle, &w->attrs, win_keyval),
		func);
}
MPII_ALIAS(Win_delete_attr);

int PMPI_Win_set_name(MPI_Win win, const char *win_name)
{
	static const char func[] = "MPI_Win_set_name";
	struct mpii_win *w = mpii_win_get(win);

	if (!w)
		return mpii_bad_win(win, func);
	if (!win_name)
		return null_arg(w, func, "win_name");
	snprintf(w->name, sizeof(w->name), "%s", win_name);
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_set_name);

int PMPI_Win_get_name(MPI_Win win, char *win_name, int *resultlen)
{
	static const char func[] = "MPI_Win_get_name";
	struct mpii_win *w = mpii_win_get(win);

	if (!win_name || !resultlen)
		return mpii_bad_null(NULL, func,
				     win_name ? "resultlen" : "win_name");
	if (!w && win != MPI_WIN_NULL)
		return mpii_bad_win(win, func);
	/* The standard gives the null handle a name. */
	strcpy(win_name, w ? w->name : "MPI_WIN_NULL");
	*resultlen = (int)strlen(win_name);
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_get_name);
