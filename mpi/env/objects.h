/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What error handlers, attributes and names need of windows, files and sessions,
 * whatever else their chapters keep in them.
 */
#ifndef MPI_OBJECTS_H
#define MPI_OBJECTS_H

#include "mpii.h"

struct mpii_win {
	struct mpii_obj obj;
	MPI_Win handle;
	struct mpii_errh *errh;
	struct mpii_attr *attrs;
	char name[MPI_MAX_OBJECT_NAME];
	/* the predefined attributes */
	void *base;
	MPI_Aint size;
	int disp_unit, flavor, model;
};

struct mpii_file {
	struct mpii_obj obj;
	MPI_File handle;
	struct mpii_errh *errh; /* first, that of MPI_FILE_NULL */
};

struct mpii_buffer;

struct mpii_session {
	struct mpii_obj obj; /* groups made from it keep it */
	MPI_Session handle;
	struct mpii_errh *errh;
	int level;		    /* thread level */
	struct mpii_buffer *buffer; /* of MPI_Session_attach_buffer */
};

/* NULL: not such an object. */
static inline struct mpii_win *mpii_win_get(MPI_Win h)
{
	struct mpii_win *w = (struct mpii_win *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END && w->obj.magic == MPII_WIN ?
		       w :
		       NULL;
}
static inline struct mpii_file *mpii_file_get(MPI_File h)
{
	struct mpii_file *f = (struct mpii_file *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END &&
			       f->obj.magic == MPII_FILE ?
		       f :
		       NULL;
}
static inline struct mpii_session *mpii_session_get(MPI_Session h)
{
	struct mpii_session *s = (struct mpii_session *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END &&
			       s->obj.magic == MPII_SESSION ?
		       s :
		       NULL;
}

/* "win is …": MPI_ERR_WIN, raised; the same for the others. */
int mpii_bad_win(MPI_Win h, const char *func);
int mpii_bad_file(MPI_File h, const char *func);
int mpii_bad_session(MPI_Session h, const char *func);

/*
 * --- error handlers of any object (errhandler.c, errors.c) ---
 *
 * An owner is an object that has an error handler, whatever its kind.
 */
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

/* Of c, or who is in charge when no object is at hand: NULL. */
struct mpii_owner mpii_owner_in_charge(struct mpii_comm *c);

/* As mpii_error and mpii_raise. */
int mpii_error_on(const struct mpii_owner *o, int code, const char *func,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int mpii_raise_on(const struct mpii_owner *o, int code, const char *func);
/* The handler for a new object of this kind, held; or an error raised on @o. */
int mpii_errh_arg(const struct mpii_owner *o, enum mpii_errh_of of,
		  MPI_Errhandler h, const char *func, struct mpii_errh **e);

#endif
