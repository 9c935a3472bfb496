/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The file pointers: where they are, and moving them. */
#include "comm/comm.h"
#include "env/errors.h"
#include "io/file.h"
#include "io/shared.h"
#include "io/view.h"

static int no_pointer(const struct mpii_file *f)
{
	if (!(f->amode & MPI_MODE_SEQUENTIAL))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_UNSUPPORTED_OPERATION,
			 "\"%s\" was opened with MPI_MODE_SEQUENTIAL", f->name);
}

/* The etype of the view that the end of the file is at, or that comes next. */
static int end_of(struct mpii_file *f, MPI_Offset *etype)
{
	struct io_place p = io_view_place(f->view);
	MPI_Offset size;
	MPI_Count far, pos;
	int error = io_disk_size(f, &size);

	if (error)
		return io_fail(f, error, "asking for the size of");
	*etype = 0;
	if (p.t->size == 0 || size <= p.disp)
		return MPI_SUCCESS;
	/* so far that it lies behind the end, whatever the type is */
	far = size - p.disp;
	if (f->view->read_once)
		far = p.t->size;
	else if (!p.contiguous && p.t->extent > 0)
		far = (far / p.t->extent + 1) * p.t->size;
	pos = io_place_find(&p, size, 0, far);
	*etype = (pos + f->view->esize - 1) / f->view->esize;
	return MPI_SUCCESS;
}

/* From offset and whence to a position, in etypes. */
static int target(struct mpii_file *f, MPI_Offset offset, int whence,
		  MPI_Offset now, MPI_Offset *to)
{
	MPI_Offset from;
	int err = MPI_SUCCESS;

	if (whence == MPI_SEEK_SET)
		*to = 0;
	else if (whence == MPI_SEEK_CUR)
		*to = now;
	else if (whence == MPI_SEEK_END)
		err = end_of(f, to);
	else
		return mpii_fail(MPI_ERR_ARG,
				 "whence is %d, but must be MPI_SEEK_SET, "
				 "MPI_SEEK_CUR or MPI_SEEK_END",
				 whence);
	if (err)
		return err;
	from = *to;
	if (__builtin_add_overflow(from, offset, to))
		return mpii_fail(MPI_ERR_ARG,
				 "offset is %lld, from %lld on: that is more "
				 "than can be counted",
				 (long long)offset, (long long)from);
	if (*to < 0)
		return mpii_fail(MPI_ERR_ARG,
				 "offset is %lld, which is %lld before the "
				 "beginning of the view",
				 (long long)offset, (long long)-*to);
	return MPI_SUCCESS;
}

int PMPI_File_seek(MPI_File fh, MPI_Offset offset, int whence)
{
	static const char func[] = "MPI_File_seek";
	struct mpii_file *f = mpii_file_get(fh);
	MPI_Offset to;
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	err = no_pointer(f);
	pthread_mutex_lock(&f->lock);
	if (!err)
		err = target(f, offset, whence, f->position, &to);
	if (!err)
		f->position = to;
	pthread_mutex_unlock(&f->lock);
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}
MPII_ALIAS(File_seek);

int PMPI_File_get_position(MPI_File fh, MPI_Offset *offset)
{
	static const char func[] = "MPI_File_get_position";
	struct mpii_file *f = mpii_file_get(fh);
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!offset)
		return io_error(f, MPI_ERR_ARG, func,
				"offset is a null pointer");
	err = no_pointer(f);
	if (err)
		return io_raise(f, err, func);
	pthread_mutex_lock(&f->lock);
	*offset = f->position;
	pthread_mutex_unlock(&f->lock);
	return MPI_SUCCESS;
}
MPII_ALIAS(File_get_position);

/* --- the shared one --- */

int PMPI_File_get_position_shared(MPI_File fh, MPI_Offset *offset)
{
	static const char func[] = "MPI_File_get_position_shared";
	struct mpii_file *f = mpii_file_get(fh);
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!offset)
		return io_error(f, MPI_ERR_ARG, func,
				"offset is a null pointer");
	err = no_pointer(f);
	if (!err)
		err = io_shared_advance(f, 0, offset);
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}
MPII_ALIAS(File_get_position_shared);

static int find_shared(struct mpii_file *f, MPI_Offset offset, int whence,
		       MPI_Offset *to)
{
	struct {
		MPI_Offset offset;
		int whence;
	} first = { offset, whence };
	MPI_Offset now = 0;
	int err = io_spread(f, &first, sizeof(first)), code;

	if (err)
		return err;
	code = no_pointer(f);
	if (!code && (first.offset != offset || first.whence != whence))
		code = mpii_fail(MPI_ERR_NOT_SAME,
				 "offset and whence are not the same at all "
				 "ranks");
	if (!code)
		code = io_shared_advance(f, 0, &now);
	if (!code)
		code = target(f, offset, whence, now, to);
	/* After this nobody needs the old value any more. */
	return io_agree_now(f, code, 0, "moving the shared pointer of");
}

int PMPI_File_seek_shared(MPI_File fh, MPI_Offset offset, int whence)
{
	static const char func[] = "MPI_File_seek_shared";
	struct mpii_file *f = mpii_file_get(fh);
	MPI_Offset to;
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	err = find_shared(f, offset, whence, &to);
	if (!err) {
		io_shared_set(f, to);
		/* Nobody goes on before it is set. */
		err = io_agree_now(f, MPI_SUCCESS, 0, "");
	}
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}
MPII_ALIAS(File_seek_shared);
