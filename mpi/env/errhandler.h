/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Error handlers. An owner is an object that has one, whatever its kind.
 */
#ifndef MPII_ENV_ERRHANDLER_H
#define MPII_ENV_ERRHANDLER_H

#include "mpii.h"

/* What kind of object a handler was made for. */
enum mpii_errh_of {
	MPII_ERRH_COMM,
	MPII_ERRH_WIN,
	MPII_ERRH_FILE,
	MPII_ERRH_SESSION
};

struct mpii_errh {
	struct mpii_obj obj;
	MPI_Errhandler handle;
	enum {
		MPII_ERRH_FATAL,
		MPII_ERRH_ABORT,
		MPII_ERRH_RETURN,
		MPII_ERRH_USER
	} kind;
	uint8_t lang; /* of the function, enum mpii_language */
	uint8_t of;   /* enum mpii_errh_of */
	void *fn;     /* takes a pointer to the handle, and to the code */
};
struct mpii_errh *mpii_errh_get(MPI_Errhandler h);
void mpii_errh_hold(struct mpii_errh *e);
void mpii_errh_put(struct mpii_errh *e);

struct mpii_comm;
struct mpii_win;
struct mpii_file;
struct mpii_session;

struct mpii_owner {
	enum mpii_errh_of of;
	void *handle;
	struct mpii_errh **errh;
	struct mpii_comm *comm; /* if it is one, for words */
};
struct mpii_owner mpii_owner_comm(struct mpii_comm *c);
struct mpii_owner mpii_owner_win(struct mpii_win *w);
/* NULL: MPI_FILE_NULL, which has the handler that files start with. */
struct mpii_owner mpii_owner_file(struct mpii_file *f);
struct mpii_owner mpii_owner_session(struct mpii_session *s);

/* The handler for a new object of this kind, held; or an error raised on @o. */
int mpii_errh_arg(const struct mpii_owner *o, enum mpii_errh_of of,
		  MPI_Errhandler h, const char *func, struct mpii_errh **e);

#endif
