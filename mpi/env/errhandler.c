/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Error handlers: the objects, and which one a communicator, window, file or
 * session has. The calls for the four are the same but for their names.
 */
#include <stdlib.h>

#include "bindings/lang.h"
#include "comm/comm.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "io/file.h"
#include "process/session.h"
#include "win/win.h"

#define PREDEFINED(h, k)                                               \
	{                                                              \
		.obj = { .magic = MPII_ERRH, .refs = 1 }, .handle = h, \
		.kind = k                                              \
	}

static struct mpii_errh predefined[] = {
	PREDEFINED(MPI_ERRORS_ARE_FATAL, MPII_ERRH_FATAL),
	PREDEFINED(MPI_ERRORS_ABORT, MPII_ERRH_ABORT),
	PREDEFINED(MPI_ERRORS_RETURN, MPII_ERRH_RETURN),
};

/* What files start with: MPI_File_set_errhandler on MPI_FILE_NULL changes it. */
static struct mpii_errh *file_default = &predefined[2];

struct mpii_errh *mpii_errh_get(MPI_Errhandler h)
{
	struct mpii_errh *e = (struct mpii_errh *)h;

	if ((uintptr_t)h < MPII_PREDEFINED_END) {
		for (int i = 0; i < 3; i++)
			if (predefined[i].handle == h)
				return &predefined[i];
		return NULL;
	}
	return mpii_is_object(h, MPII_ERRH) ? e : NULL;
}

void mpii_errh_hold(struct mpii_errh *e)
{
	if (e->kind == MPII_ERRH_USER)
		mpii_obj_hold(&e->obj);
}

void mpii_errh_put(struct mpii_errh *e)
{
	if (e->kind != MPII_ERRH_USER || !mpii_obj_drop(&e->obj))
		return;
	mpii_obj_end(&e->obj);
	free(e);
}

/* --- owners --- */

struct mpii_owner mpii_owner_comm(struct mpii_comm *c)
{
	return (struct mpii_owner){ MPII_ERRH_COMM, c->handle, &c->errh, c };
}

struct mpii_owner mpii_owner_win(struct mpii_win *w)
{
	return (struct mpii_owner){ MPII_ERRH_WIN, w->handle, &w->errh, NULL };
}

struct mpii_owner mpii_owner_file(struct mpii_file *f)
{
	return (struct mpii_owner){ MPII_ERRH_FILE,
				    f ? f->handle : MPI_FILE_NULL,
				    f ? &f->errh : &file_default, NULL };
}

struct mpii_owner mpii_owner_session(struct mpii_session *s)
{
	return (struct mpii_owner){ MPII_ERRH_SESSION, s->handle, &s->errh,
				    NULL };
}

/* --- what all kinds have in common --- */

static int create(enum mpii_errh_of of, void *fn, const char *fn_name,
		  MPI_Errhandler *errhandler, const char *func)
{
	struct mpii_errh *e;

	if (!fn || !errhandler)
		return mpii_bad_null(NULL, func,
				     errhandler ? fn_name : "errhandler");
	e = calloc(1, sizeof(*e));
	if (!e)
		return mpii_no_mem(NULL, func);
	e->obj.magic = MPII_ERRH;
	e->obj.refs = 1;
	e->kind = MPII_ERRH_USER;
	e->of = of;
	e->lang = mpii_language_take();
	e->fn = fn;
	e->handle = (MPI_Errhandler)e;
	*errhandler = e->handle;
	return MPI_SUCCESS;
}

static const char *why_not(enum mpii_errh_of of, MPI_Errhandler h)
{
	struct mpii_errh *e = mpii_errh_get(h);

	if (h == MPI_ERRHANDLER_NULL)
		return "is MPI_ERRHANDLER_NULL";
	if (!e)
		return "is not an error handler or was freed";
	if (e->kind == MPII_ERRH_USER && e->of != of)
		return "was made for another kind of object";
	return NULL;
}

int mpii_errh_arg(const struct mpii_owner *o, enum mpii_errh_of of,
		  MPI_Errhandler h, const char *func, struct mpii_errh **e)
{
	const char *why = why_not(of, h);

	if (why)
		return mpii_error_on(o, MPI_ERR_ERRHANDLER, func,
				     "errhandler %s", why);
	*e = mpii_errh_get(h);
	mpii_errh_hold(*e);
	return MPI_SUCCESS;
}

static int set(const struct mpii_owner *o, MPI_Errhandler h, const char *func)
{
	struct mpii_errh *e, *old = *o->errh;
	int err = mpii_errh_arg(o, o->of, h, func, &e);

	if (err)
		return err;
	*o->errh = e;
	mpii_errh_put(old);
	return MPI_SUCCESS;
}

static int get(const struct mpii_owner *o, MPI_Errhandler *h, const char *func)
{
	if (!h)
		return mpii_error_on(o, MPI_ERR_ARG, func,
				     "errhandler is a null pointer");
	mpii_errh_hold(*o->errh);
	*h = (*o->errh)->handle;
	return MPI_SUCCESS;
}

static int call(const struct mpii_owner *o, int code)
{
	if (!mpii_last_text(code))
		mpii_fail(code, "the program raised error %d", code);
	mpii_handle(o, code);
	return MPI_SUCCESS;
}

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
	static const char func[] = "MPI_Errhandler_free";
	struct mpii_errh *e;

	if (!errhandler)
		return mpii_bad_null(NULL, func, "errhandler");
	e = mpii_errh_get(*errhandler);
	if (!e)
		return mpii_error(NULL, MPI_ERR_ERRHANDLER, func,
				  "errhandler %s",
				  why_not(MPII_ERRH_COMM, *errhandler));
	mpii_errh_put(e);
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Errhandler_free);

/* --- communicators --- */

int PMPI_Comm_create_errhandler(MPI_Comm_errhandler_function *comm_errhandler_fn,
				MPI_Errhandler *errhandler)
{
	return create(MPII_ERRH_COMM, comm_errhandler_fn, "comm_errhandler_fn",
		      errhandler, "MPI_Comm_create_errhandler");
}
MPII_ALIAS(Comm_create_errhandler);

/* The owner behind a handle, or an error raised. */
static int comm_owner(MPI_Comm h, const char *func, struct mpii_owner *o)
{
	struct mpii_comm *x = mpii_comm_get(h);

	if (!x)
		return mpii_bad_comm(h, func);
	*o = mpii_owner_comm(x);
	return MPI_SUCCESS;
}

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	static const char func[] = "MPI_Comm_set_errhandler";
	struct mpii_owner o;
	int err = comm_owner(comm, func, &o);

	return err ? err : set(&o, errhandler, func);
}
MPII_ALIAS(Comm_set_errhandler);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	static const char func[] = "MPI_Comm_get_errhandler";
	struct mpii_owner o;
	int err = comm_owner(comm, func, &o);

	return err ? err : get(&o, errhandler, func);
}
MPII_ALIAS(Comm_get_errhandler);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
	struct mpii_owner o;
	int err = comm_owner(comm, "MPI_Comm_call_errhandler", &o);

	return err ? err : call(&o, errorcode);
}
MPII_ALIAS(Comm_call_errhandler);

/* --- windows --- */

int PMPI_Win_create_errhandler(MPI_Win_errhandler_function *win_errhandler_fn,
			       MPI_Errhandler *errhandler)
{
	return create(MPII_ERRH_WIN, win_errhandler_fn, "win_errhandler_fn",
		      errhandler, "MPI_Win_create_errhandler");
}
MPII_ALIAS(Win_create_errhandler);

/* The owner behind a handle, or an error raised. */
static int win_owner(MPI_Win h, const char *func, struct mpii_owner *o)
{
	struct mpii_win *x = mpii_win_get(h);

	if (!x)
		return mpii_bad_win(h, func);
	*o = mpii_owner_win(x);
	return MPI_SUCCESS;
}

int PMPI_Win_set_errhandler(MPI_Win win, MPI_Errhandler errhandler)
{
	static const char func[] = "MPI_Win_set_errhandler";
	struct mpii_owner o;
	int err = win_owner(win, func, &o);

	return err ? err : set(&o, errhandler, func);
}
MPII_ALIAS(Win_set_errhandler);

int PMPI_Win_get_errhandler(MPI_Win win, MPI_Errhandler *errhandler)
{
	static const char func[] = "MPI_Win_get_errhandler";
	struct mpii_owner o;
	int err = win_owner(win, func, &o);

	return err ? err : get(&o, errhandler, func);
}
MPII_ALIAS(Win_get_errhandler);

int PMPI_Win_call_errhandler(MPI_Win win, int errorcode)
{
	struct mpii_owner o;
	int err = win_owner(win, "MPI_Win_call_errhandler", &o);

	return err ? err : call(&o, errorcode);
}
MPII_ALIAS(Win_call_errhandler);

/* --- files --- */

int PMPI_File_create_errhandler(MPI_File_errhandler_function *file_errhandler_fn,
				MPI_Errhandler *errhandler)
{
	return create(MPII_ERRH_FILE, file_errhandler_fn, "file_errhandler_fn",
		      errhandler, "MPI_File_create_errhandler");
}
MPII_ALIAS(File_create_errhandler);

/* The owner behind a handle, or an error raised. */
static int file_owner(MPI_File h, const char *func, struct mpii_owner *o)
{
	struct mpii_file *x = mpii_file_get(h);

	if (!x && h != MPI_FILE_NULL)
		return mpii_bad_file(h, func);
	*o = mpii_owner_file(x);
	return MPI_SUCCESS;
}

int PMPI_File_set_errhandler(MPI_File file, MPI_Errhandler errhandler)
{
	static const char func[] = "MPI_File_set_errhandler";
	struct mpii_owner o;
	int err = file_owner(file, func, &o);

	return err ? err : set(&o, errhandler, func);
}
MPII_ALIAS(File_set_errhandler);

int PMPI_File_get_errhandler(MPI_File file, MPI_Errhandler *errhandler)
{
	static const char func[] = "MPI_File_get_errhandler";
	struct mpii_owner o;
	int err = file_owner(file, func, &o);

	return err ? err : get(&o, errhandler, func);
}
MPII_ALIAS(File_get_errhandler);

int PMPI_File_call_errhandler(MPI_File fh, int errorcode)
{
	struct mpii_owner o;
	int err = file_owner(fh, "MPI_File_call_errhandler", &o);

	return err ? err : call(&o, errorcode);
}
MPII_ALIAS(File_call_errhandler);

/* --- sessions --- */

int PMPI_Session_create_errhandler(
	MPI_Session_errhandler_function *session_errhandler_fn,
	MPI_Errhandler *errhandler)
{
	return create(MPII_ERRH_SESSION, session_errhandler_fn,
		      "session_errhandler_fn", errhandler,
		      "MPI_Session_create_errhandler");
}
MPII_ALIAS(Session_create_errhandler);

/* The owner behind a handle, or an error raised. */
static int session_owner(MPI_Session h, const char *func, struct mpii_owner *o)
{
	struct mpii_session *x = mpii_session_get(h);

	if (!x)
		return mpii_bad_session(h, func);
	*o = mpii_owner_session(x);
	return MPI_SUCCESS;
}

int PMPI_Session_set_errhandler(MPI_Session session, MPI_Errhandler errhandler)
{
	static const char func[] = "MPI_Session_set_errhandler";
	struct mpii_owner o;
	int err = session_owner(session, func, &o);

	return err ? err : set(&o, errhandler, func);
}
MPII_ALIAS(Session_set_errhandler);

int PMPI_Session_get_errhandler(MPI_Session session, MPI_Errhandler *errhandler)
{
	static const char func[] = "MPI_Session_get_errhandler";
	struct mpii_owner o;
	int err = session_owner(session, func, &o);

	return err ? err : get(&o, errhandler, func);
}
MPII_ALIAS(Session_get_errhandler);

int PMPI_Session_call_errhandler(MPI_Session session, int errorcode)
{
	struct mpii_owner o;
	int err = session_owner(session, "MPI_Session_call_errhandler", &o);

	return err ? err : call(&o, errorcode);
}
MPII_ALIAS(Session_call_errhandler);
