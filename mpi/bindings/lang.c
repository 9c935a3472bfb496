/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Callbacks in the language they are written in: see lang.h. */
#include <limits.h>
#include <stdlib.h>

#include "bindings/handle_int.h"
#include "bindings/lang.h"
#include "pt2pt/request.h"

/* A callback as what it really is. */
#define AS(type, fn) ((type *)(void (*)(void))(fn))

static _Thread_local enum mpii_language language;

void o2g_mpi_language(int next)
{
	language = next;
}

enum mpii_language mpii_language_take(void)
{
	enum mpii_language now = language;

	language = MPII_LANG_C;
	return now;
}

/* --- attributes --- */

typedef void copy_address(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *state,
			  MPI_Aint *in, MPI_Aint *out, MPI_Fint *flag,
			  MPI_Fint *ierror);
typedef void copy_integer(MPI_Fint *handle, MPI_Fint *keyval, MPI_Fint *state,
			  MPI_Fint *in, MPI_Fint *out, MPI_Fint *flag,
			  MPI_Fint *ierror);
typedef void delete_address(MPI_Fint *handle, MPI_Fint *keyval, MPI_Aint *value,
			    MPI_Aint *state, MPI_Fint *ierror);
typedef void delete_integer(MPI_Fint *handle, MPI_Fint *keyval, MPI_Fint *value,
			    MPI_Fint *state, MPI_Fint *ierror);

int mpii_call_copy(enum mpii_language lang, mpii_attr_copy_fn *fn, void *handle,
		   int keyval, void *extra_state, void *in, void **out,
		   int *flag)
{
	MPI_Fint h, error = MPI_SUCCESS, sint = (intptr_t)extra_state;
	MPI_Fint iint = (intptr_t)in, oint = 0;
	MPI_Aint state = (MPI_Aint)extra_state, i = (MPI_Aint)in, o = 0;

	if (lang == MPII_LANG_C)
		return fn(handle, keyval, extra_state, in, out, flag);
	h = mpii_handle_to_int(handle);
	if (lang == MPII_LANG_FORTRAN) {
		AS(copy_address, fn)(&h, &keyval, &state, &i, &o, flag, &error);
	} else {
		AS(copy_integer, fn)
		(&h, &keyval, &sint, &iint, &oint, flag, &error);
		o = oint;
	}
	*out = (void *)o;
	return error;
}

int mpii_call_delete(enum mpii_language lang, mpii_attr_delete_fn *fn,
		     void *handle, int keyval, void *value, void *extra_state)
{
	MPI_Fint h, error = MPI_SUCCESS, sint = (intptr_t)extra_state;
	MPI_Fint vint = (intptr_t)value;
	MPI_Aint state = (MPI_Aint)extra_state, v = (MPI_Aint)value;

	if (lang == MPII_LANG_C)
		return fn(handle, keyval, value, extra_state);
	h = mpii_handle_to_int(handle);
	if (lang == MPII_LANG_FORTRAN)
		AS(delete_address, fn)(&h, &keyval, &v, &state, &error);
	else
		AS(delete_integer, fn)(&h, &keyval, &vint, &sint, &error);
	return error;
}

/* --- error handlers --- */

typedef void errhandler_fortran(MPI_Fint *handle, MPI_Fint *code);
typedef void errhandler_c(void *handle, int *code, ...);

void mpii_call_errhandler(enum mpii_language lang, void *fn, void *handle,
			  int *code)
{
	MPI_Fint h;

	if (lang == MPII_LANG_C) {
		((errhandler_c *)fn)(&handle, code);
		return;
	}
	h = mpii_handle_to_int(handle);
	((errhandler_fortran *)fn)(&h, code);
}

/* --- generalized requests --- */

typedef void query_fortran(MPI_Aint *state, MPI_Status *status,
			   MPI_Fint *ierror);
typedef void free_fortran(MPI_Aint *state, MPI_Fint *ierror);
typedef void cancel_fortran(MPI_Aint *state, MPI_Fint *complete,
			    MPI_Fint *ierror);

int mpii_call_query(enum mpii_language lang, MPI_Grequest_query_function *fn,
		    void **extra_state, MPI_Status *status)
{
	MPI_Fint error = MPI_SUCCESS;

	if (lang == MPII_LANG_C)
		return fn(*extra_state, status);
	AS(query_fortran, fn)((MPI_Aint *)extra_state, status, &error);
	return error;
}

int mpii_call_free(enum mpii_language lang, MPI_Grequest_free_function *fn,
		   void **extra_state)
{
	MPI_Fint error = MPI_SUCCESS;

	if (lang == MPII_LANG_C)
		return fn(*extra_state);
	AS(free_fortran, fn)((MPI_Aint *)extra_state, &error);
	return error;
}

int mpii_call_cancel(enum mpii_language lang, MPI_Grequest_cancel_function *fn,
		     void **extra_state, int complete)
{
	MPI_Fint error = MPI_SUCCESS;

	if (lang == MPII_LANG_C)
		return fn(*extra_state, complete);
	AS(cancel_fortran, fn)((MPI_Aint *)extra_state, &complete, &error);
	return error;
}

/* --- data representations --- */

typedef void convert_fortran(void *userbuf, MPI_Fint *datatype, void *count,
			     void *filebuf, MPI_Offset *position,
			     MPI_Aint *state, MPI_Fint *ierror);
typedef void extent_fortran(MPI_Fint *datatype, MPI_Aint *extent,
			    MPI_Aint *state, MPI_Fint *ierror);

/* A count may be more than the function can take. */
static int convert_c(MPI_Datarep_conversion_function *fn, void *userbuf,
		     MPI_Datatype datatype, MPI_Count count, void *filebuf,
		     void *state)
{
	return count > INT_MAX ?
		       MPI_ERR_COUNT :
		       fn(userbuf, datatype, (int)count, filebuf, 0, state);
}

int mpii_call_datarep(enum mpii_language lang, bool large, void *fn,
		      void *userbuf, MPI_Datatype datatype, MPI_Count count,
		      void *filebuf, void *extra_state)
{
	MPI_Fint type = mpii_handle_to_int(datatype), n = (MPI_Fint)count;
	MPI_Fint error = MPI_SUCCESS;
	MPI_Offset position = 0;
	MPI_Aint state = (MPI_Aint)extra_state;

	if (lang == MPII_LANG_C && large)
		return AS(MPI_Datarep_conversion_function_c, fn)(
			userbuf, datatype, count, filebuf, 0, extra_state);
	if (lang == MPII_LANG_C)
		return convert_c(AS(MPI_Datarep_conversion_function, fn),
				 userbuf, datatype, count, filebuf,
				 extra_state);
	if (!large && n != count)
		return MPI_ERR_COUNT;
	AS(convert_fortran, fn)
	(userbuf, &type, large ? (void *)&count : (void *)&n, filebuf,
	 &position, &state, &error);
	return error;
}

int mpii_call_datarep_extent(enum mpii_language lang,
			     MPI_Datarep_extent_function *fn,
			     MPI_Datatype datatype, MPI_Aint *extent,
			     void *extra_state)
{
	MPI_Fint type = mpii_handle_to_int(datatype), error = MPI_SUCCESS;
	MPI_Aint state = (MPI_Aint)extra_state;

	if (lang == MPII_LANG_C)
		return fn(datatype, extent, extra_state);
	AS(extent_fortran, fn)(&type, extent, &state, &error);
	return error;
}

/* --- what the bindings do when a request starts and ends --- */

void o2g_mpi_add_hook(MPI_Request request, struct o2g_mpi_hook *h)
{
	struct mpii_req *r = mpii_req_get(request);
	struct mpii_req none = { .hooks = h };

	h->next = NULL;
	if (!r || r == &mpii_sent) {
		mpii_hooks_end(&none);
		return;
	}
	h->next = r->hooks;
	r->hooks = h;
}

void mpii_hooks_start(struct mpii_req *r)
{
	for (struct o2g_mpi_hook *h = r->hooks; h; h = h->next)
		if (h->start)
			h->start(h);
}

void mpii_hooks_done(struct mpii_req *r)
{
	for (struct o2g_mpi_hook *h = r->hooks; h; h = h->next)
		if (h->done)
			h->done(h);
}

void mpii_hooks_end(struct mpii_req *r)
{
	struct o2g_mpi_hook *h;

	if (!r->persistent)
		mpii_hooks_done(r);
	while ((h = r->hooks)) {
		r->hooks = h->next;
		if (h->end)
			h->end(h);
		free(h);
	}
}
