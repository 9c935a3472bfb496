/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Error handlers: the objects, and which one a communicator has. */
#include <stdlib.h>

#include "errors.h"
#include "lang.h"
#include "mpii.h"

#define PREDEFINED(h, k) \
	{ .obj = { MPII_ERRH, 1 }, .handle = h, .kind = k }

static struct mpii_errh predefined[] = {
	PREDEFINED(MPI_ERRORS_ARE_FATAL, MPII_ERRH_FATAL),
	PREDEFINED(MPI_ERRORS_ABORT, MPII_ERRH_ABORT),
	PREDEFINED(MPI_ERRORS_RETURN, MPII_ERRH_RETURN),
};

struct mpii_errh *mpii_errh_get(MPI_Errhandler h)
{
	struct mpii_errh *e = (struct mpii_errh *)h;

	if ((uintptr_t)h < MPII_PREDEFINED_END) {
		for (int i = 0; i < 3; i++)
			if (predefined[i].handle == h)
				return &predefined[i];
		return NULL;
	}
	return e->obj.magic == MPII_ERRH ? e : NULL;
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

int PMPI_Comm_create_errhandler(
	MPI_Comm_errhandler_function *comm_errhandler_fn,
	MPI_Errhandler *errhandler)
{
	struct mpii_errh *e;

	if (!comm_errhandler_fn || !errhandler)
		return mpii_bad_null(NULL, "MPI_Comm_create_errhandler",
				     errhandler ? "comm_errhandler_fn" :
						  "errhandler");
	e = calloc(1, sizeof(*e));
	if (!e)
		return mpii_no_mem(NULL, "MPI_Comm_create_errhandler");
	e->obj.magic = MPII_ERRH;
	e->obj.refs = 1;
	e->kind = MPII_ERRH_USER;
	e->lang = mpii_language_take();
	e->comm_fn = comm_errhandler_fn;
	e->handle = (MPI_Errhandler)e;
	*errhandler = e->handle;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_create_errhandler);

static int bad_errh(struct mpii_comm *c, MPI_Errhandler h, const char *func)
{
	if (h == MPI_ERRHANDLER_NULL)
		return mpii_error(c, MPI_ERR_ERRHANDLER, func,
				  "errhandler is MPI_ERRHANDLER_NULL");
	return mpii_error(c, MPI_ERR_ERRHANDLER, func, "errhandler is %p, which is no "
			  "error handler or was freed", (void *)h);
}

int PMPI_Errhandler_free(MPI_Errhandler *errhandler)
{
	struct mpii_errh *e;

	if (!errhandler)
		return mpii_bad_null(NULL, "MPI_Errhandler_free", "errhandler");
	e = mpii_errh_get(*errhandler);
	if (!e)
		return bad_errh(NULL, *errhandler, "MPI_Errhandler_free");
	mpii_errh_put(e);
	*errhandler = MPI_ERRHANDLER_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Errhandler_free);

int PMPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_errh *e = mpii_errh_get(errhandler), *old;

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_set_errhandler");
	if (!e)
		return bad_errh(c, errhandler, "MPI_Comm_set_errhandler");
	old = c->errh;
	mpii_errh_hold(e);
	c->errh = e;
	mpii_errh_put(old);
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_set_errhandler);

int PMPI_Comm_get_errhandler(MPI_Comm comm, MPI_Errhandler *errhandler)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_get_errhandler");
	if (!errhandler)
		return mpii_bad_null(c, "MPI_Comm_get_errhandler",
				     "errhandler");
	mpii_errh_hold(c->errh);
	*errhandler = c->errh->handle;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_get_errhandler);

int PMPI_Comm_call_errhandler(MPI_Comm comm, int errorcode)
{
	struct mpii_comm *c = mpii_comm_get(comm);

	if (!c)
		return mpii_bad_comm(comm, "MPI_Comm_call_errhandler");
	if (!mpii_last_text(errorcode))
		mpii_fail(errorcode, "the program raised error %d", errorcode);
	mpii_handle(c, errorcode);
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_call_errhandler);
