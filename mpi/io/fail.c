/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Errors of files: the system's as MPI classes, with the file's name and the
 * system's words, and agreement among ranks about whether a call has failed.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "coll/algorithms.h"
#include "comm/comm.h"
#include "env/errcode.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "io/file.h"

int io_class_of(int error)
{
	switch (-error) {
	case 0:
		return MPI_SUCCESS;
	case EACCES:
	case EPERM:
		return MPI_ERR_ACCESS;
	case ENOENT:
		return MPI_ERR_NO_SUCH_FILE;
	case EEXIST:
		return MPI_ERR_FILE_EXISTS;
	case EROFS:
		return MPI_ERR_READ_ONLY;
	case ENOSPC:
		return MPI_ERR_NO_SPACE;
	case EDQUOT:
		return MPI_ERR_QUOTA;
	case EBUSY:
	case ETXTBSY:
		return MPI_ERR_FILE_IN_USE;
	case ENAMETOOLONG:
	case ENOTDIR:
	case EISDIR:
	case ELOOP:
		return MPI_ERR_BAD_FILE;
	case ENOMEM:
		return MPI_ERR_NO_MEM;
	default:
		return MPI_ERR_IO;
	}
}

int io_fail(const struct mpii_file *f, int error, const char *what)
{
	return mpii_fail(io_class_of(error), "%s \"%s\": %s", what, f->name,
			 strerror(-error));
}

int io_error(struct mpii_file *f, int code, const char *func, const char *fmt,
	     ...)
{
	struct mpii_owner o = mpii_owner_file(f);
	char words[MPI_MAX_ERROR_STRING];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	return mpii_error_on(&o, code, func, "%s", words);
}

int io_raise(struct mpii_file *f, int code, const char *func)
{
	struct mpii_owner o = mpii_owner_file(f);

	return mpii_raise_on(&o, code, func);
}

/* --- agreement --- */

/* What the failure of one rank is to the others, in one number: the largest
 * counts, so of several failures the one of the highest rank. */
static int64_t encode(int rank, int code, int error)
{
	int class = mpii_class_of_code(code);

	if (!code && !error)
		return 0;
	if (error)
		class = io_class_of(error);
	return (int64_t)(rank + 1) << 28 | (int64_t)(class & 0xfff) << 16 |
	       (-error & 0xffff);
}

static int decode(const struct mpii_file *f, int64_t v, const char *what)
{
	int rank = (int)(v >> 28) - 1, error = -(int)(v & 0xffff);
	int class = v >> 16 & 0xfff;

	if (error)
		return mpii_fail(class, "%s \"%s\" at rank %d: %s", what,
				 f->name, rank, strerror(-error));
	return mpii_fail(class, "%s \"%s\" failed at rank %d: %s", what,
			 f->name, rank, mpii_class_text(class));
}

int io_agree(const struct coll *k, const struct mpii_file *f, int code,
	     int error, const char *what)
{
	struct mpii_type *t = mpii_type_get(MPI_INT64_T);
	int64_t mine = encode(k->c->rank, code, error), all = mine;
	struct coll_args a = { .s = coll_side(&mine, 1, t),
			       .r = coll_side(&all, 1, t),
			       .op = mpii_op_get(MPI_MAX) };
	char words[MPI_MAX_ERROR_STRING] = "";
	int err;

	/* Waiting may run other work in this thread, which may fail. */
	if (code && mpii_last_text(code))
		snprintf(words, sizeof(words), "%s", mpii_last_text(code));
	err = coll_allreduce(k, &a);
	if (err)
		return err;
	if (!all)
		return MPI_SUCCESS;
	if (error)
		return io_fail(f, error, what);
	if (code)
		return mpii_fail(code, "%s",
				 words[0] ? words : "the call failed");
	return decode(f, all, what);
}

int io_agree_now(struct mpii_file *f, int code, int error, const char *what)
{
	struct coll k = coll_begin(f->comm);

	return io_agree(&k, f, code, error, what);
}

int io_spread(struct mpii_file *f, void *what, size_t bytes)
{
	struct coll k = coll_begin(f->comm);
	struct coll_args a = { .r = coll_side(what, (MPI_Count)bytes,
					      mpii_type_get(MPI_BYTE)) };

	return f->comm->size > 1 ? coll_bcast(&k, &a) : MPI_SUCCESS;
}
