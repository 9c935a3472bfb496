/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Raising errors: words for the user, then the error handler of the object.
 *
 * An error code is its class, but of ranks that were lost each has its own. The
 * words of the latest error of a thread are kept beside it, and
 * MPI_Error_string gives them back for that code. Where one call has completed
 * several requests they are also those of the code that is in the statuses: all
 * words of that code, if it does not tell the requests apart.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/lang.h"
#include "comm/comm.h"
#include "datatype/datatype.h"
#include "env/errcode.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "process/process.h"
#include "tools/events.h"

static __thread struct {
	int code;
	int also; /* the same words for this code, unless MPI_SUCCESS */
	char text[MPI_MAX_ERROR_STRING - 64];
} last;

const char *mpii_last_text(int code)
{
	return code != MPI_SUCCESS && (last.code == code || last.also == code) ?
		       last.text :
		       mpii_lost_text(code);
}

static void vrecord(int code, const char *func, const char *fmt, va_list ap)
{
	int n = 0;

	last.code = code;
	last.also = MPI_SUCCESS;
	if (func)
		n = snprintf(last.text, sizeof(last.text), "%s: ", func);
	vsnprintf(last.text + n, sizeof(last.text) - n, fmt, ap);
}

int mpii_fail(int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vrecord(code, NULL, fmt, ap);
	va_end(ap);
	return code;
}

int mpii_fail_in_status(int code, const char *words)
{
	mpii_fail(MPI_ERR_IN_STATUS, "%s", words);
	last.also = mpii_lost_text(code) ? MPI_SUCCESS : code;
	return MPI_ERR_IN_STATUS;
}

/* Put the function's name in front of words recorded below it. */
static void name_function(int code, const char *func)
{
	char text[sizeof(last.text)];
	const char *words = mpii_last_text(code);
	size_t n = strlen(func);

	if (words && !strncmp(words, func, n) && words[n] == ':')
		return;
	if (last.code != code)
		last.also = MPI_SUCCESS;
	if (!words)
		words = mpii_class_text(mpii_class_of_code(code));
	if (!words)
		words = "error";
	snprintf(text, sizeof(text), "%s", words);
	last.code = code;
	snprintf(last.text, sizeof(last.text), "%s: %.*s", func,
		 (int)(sizeof(last.text) - n - 3), text);
}

const char *mpii_comm_words(const struct mpii_comm *c)
{
	return c->name[0] ? c->name : "this communicator";
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* All processes of a communicator, of both sides, ascending. NULL: out of
 * memory. */
static int *members(const struct mpii_comm *c, int *n)
{
	int *peers = malloc((c->size + c->remote_size) * sizeof(*peers));

	if (!peers)
		return NULL;
	mpii_group_peers(c->group, peers);
	*n = c->size;
	if (c->inter) {
		mpii_group_peers(c->remote, peers + *n);
		*n += c->remote_size;
	}
	qsort(peers, *n, sizeof(*peers), by_number);
	return peers;
}

/* MPI_ERRORS_ABORT is for those alone who share the object. */
static _Noreturn void abort_owner(const struct mpii_owner *o, int class,
				  const char *text)
{
	int *ranks, n = 0;

	if (o->of == MPII_ERRH_SESSION || o->handle == (void *)MPI_COMM_SELF)
		mpii_abort_some(class, text, &mpii.rank, 1);
	ranks = o->comm ? members(o->comm, &n) : NULL;
	if (ranks)
		mpii_abort_some(class, text, ranks, n);
	mpii_abort(class, text);
}

static _Noreturn void fatal(const struct mpii_owner *o, int code)
{
	const struct mpii_comm *c = o->comm;
	char text[MPI_MAX_ERROR_STRING + 128];
	int class = mpii_class_of_code(code);

	if (c && c->name[0] && !strstr(last.text, c->name))
		snprintf(text, sizeof(text), "%s (%s, on %s)", last.text,
			 mpii_class_name(class), c->name);
	else
		snprintf(text, sizeof(text), "%s (%s)", last.text,
			 mpii_class_name(class));
	if (*o->errh && (*o->errh)->kind == MPII_ERRH_ABORT)
		abort_owner(o, class, text);
	mpii_abort(class, text);
}

int mpii_handle(const struct mpii_owner *o, int code)
{
	struct mpii_errh *e = *o->errh;

	mpii_event(MPII_EVENT_ERROR, code, mpii_class_of_code(code));
	if (!e || e->kind == MPII_ERRH_FATAL || e->kind == MPII_ERRH_ABORT)
		fatal(o, code);
	if (e->kind == MPII_ERRH_USER)
		mpii_call_errhandler(e->lang, e->fn, o->handle, &code);
	return code;
}

/*
 * Whose handler is in charge when no communicator is at hand: that of
 * MPI_COMM_SELF since MPI 4.0, and of MPI_COMM_WORLD before. Programs of before
 * set one there only. Without either, errors are fatal.
 */
struct mpii_owner mpii_owner_in_charge(struct mpii_comm *c)
{
	static struct mpii_errh *none;
	struct mpii_comm *by = &mpii_self;

	if (c && c->file)
		return mpii_owner_file(c->file);
	if (c && c->win)
		return mpii_owner_win(c->win);
	if (c)
		return mpii_owner_comm(c);
	if (!mpii_world_running())
		return (struct mpii_owner){ MPII_ERRH_COMM, MPI_COMM_SELF,
					    &none, NULL };
	if (mpii_self.errh->kind == MPII_ERRH_FATAL &&
	    mpii_world.errh->kind != MPII_ERRH_FATAL)
		by = &mpii_world;
	return (struct mpii_owner){ MPII_ERRH_COMM, by->handle, &by->errh,
				    NULL };
}

int mpii_raise_on(const struct mpii_owner *o, int code, const char *func)
{
	if (code == MPI_SUCCESS)
		return code;
	name_function(code, func);
	return mpii_handle(o, code);
}

int mpii_error_on(const struct mpii_owner *o, int code, const char *func,
		  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vrecord(code, func, fmt, ap);
	va_end(ap);
	return mpii_handle(o, code);
}

int mpii_raise(struct mpii_comm *c, int code, const char *func)
{
	struct mpii_owner o;

	if (mpii_likely(code == MPI_SUCCESS))
		return code;
	o = mpii_owner_in_charge(c);
	return mpii_raise_on(&o, code, func);
}

int mpii_error(struct mpii_comm *c, int code, const char *func, const char *fmt,
	       ...)
{
	struct mpii_owner o = mpii_owner_in_charge(c);
	va_list ap;

	va_start(ap, fmt);
	vrecord(code, func, fmt, ap);
	va_end(ap);
	return mpii_handle(&o, code);
}

int mpii_class_of(int error)
{
	switch (error) {
	case 0:
		return MPI_SUCCESS;
	case -O2G_ERR_PEER:
		return MPI_ERR_PROC_ABORTED;
	case -O2G_ERR_TRUNCATED:
		return MPI_ERR_TRUNCATE;
	case -ENOMEM:
		return MPI_ERR_NO_MEM;
	case -EINVAL:
		return MPI_ERR_ARG;
	default:
		return MPI_ERR_OTHER;
	}
}

/* --- the common complaints --- */

static const char *not_running(void)
{
	return atomic_load(&mpii.world) == MPII_WORLD_NOT_YET ?
		       "called before MPI_Init" :
		       "called after MPI_Finalize";
}

int mpii_bad_comm(MPI_Comm comm, const char *func)
{
	bool world = comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF;

	if (!mpii_running() || (world && !mpii_world_running()))
		return mpii_error(NULL, MPI_ERR_OTHER, func, "%s",
				  not_running());
	if (comm == MPI_COMM_NULL)
		return mpii_error(NULL, MPI_ERR_COMM, func,
				  "comm is MPI_COMM_NULL");
	return mpii_error(
		NULL, MPI_ERR_COMM, func,
		"comm is %p, which is not a communicator or was freed",
		(void *)comm);
}

int mpii_bad_win(MPI_Win h, const char *func)
{
	return mpii_error(NULL, MPI_ERR_WIN, func, "win is %s",
			  h == MPI_WIN_NULL ? "MPI_WIN_NULL" :
					      "no window, or was freed");
}

int mpii_bad_file(MPI_File h, const char *func)
{
	struct mpii_owner o = mpii_owner_file(NULL);

	return mpii_error_on(&o, MPI_ERR_FILE, func, "the file handle is %s",
			     h == MPI_FILE_NULL ? "MPI_FILE_NULL" :
						  "no file, or was closed");
}

int mpii_bad_session(MPI_Session h, const char *func)
{
	return mpii_error(NULL, MPI_ERR_SESSION, func, "session is %s",
			  h == MPI_SESSION_NULL ? "MPI_SESSION_NULL" :
						  "no session, or was ended");
}

int mpii_bad_type(struct mpii_comm *c, MPI_Datatype type, const char *func,
		  const char *arg)
{
	if (type == MPI_DATATYPE_NULL)
		return mpii_error(c, MPI_ERR_TYPE, func,
				  "%s is MPI_DATATYPE_NULL", arg);
	if (mpii_type_get(type))
		return mpii_error(c, MPI_ERR_TYPE, func,
				  "%s was not committed: call MPI_Type_commit "
				  "first",
				  arg);
	return mpii_error(c, MPI_ERR_TYPE, func,
			  "%s is %p, which is not a datatype or was freed", arg,
			  (void *)type);
}

int mpii_bad_count(struct mpii_comm *c, MPI_Count count, const char *func,
		   const char *arg)
{
	return mpii_error(c, MPI_ERR_COUNT, func,
			  "%s is %lld, but must not be "
			  "negative",
			  arg, (long long)count);
}

int mpii_bad_rank(struct mpii_comm *c, int rank, const char *func,
		  const char *arg)
{
	return mpii_error(c, MPI_ERR_RANK, func,
			  "%s is %d, but %s has %d "
			  "%srank%s",
			  arg, rank, mpii_comm_words(c), c->remote_size,
			  c->inter ? "remote " : "",
			  c->remote_size == 1 ? "" : "s");
}

int mpii_bad_null(struct mpii_comm *c, const char *func, const char *arg)
{
	return mpii_error(c, MPI_ERR_ARG, func, "%s is a null pointer", arg);
}

int mpii_no_mem(struct mpii_comm *c, const char *func)
{
	return mpii_error(c, MPI_ERR_NO_MEM, func, "out of memory");
}
