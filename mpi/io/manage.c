/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Calls about a file as a whole: size, hints, consistency. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "comm/comm.h"
#include "env/errors.h"
#include "info/info.h"
#include "io/cb.h"
#include "io/file.h"

static int null_arg(struct mpii_file *f, const char *func, const char *arg)
{
	return io_error(f, MPI_ERR_ARG, func, "%s is a null pointer", arg);
}

/* --- size --- */

int PMPI_File_get_size(MPI_File fh, MPI_Offset *size)
{
	static const char func[] = "MPI_File_get_size";
	struct mpii_file *f = mpii_file_get(fh);
	int error;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!size)
		return null_arg(f, func, "size");
	error = io_disk_size(f, size);
	return error ? io_raise(f, io_fail(f, error, "asking for the size of"),
				func) :
		       MPI_SUCCESS;
}
MPII_ALIAS(File_get_size);

/* Do all ranks give the same value? */
static int same(struct mpii_file *f, MPI_Offset value, int code,
		const char *what)
{
	MPI_Offset first = value;
	int err = io_spread(f, &first, sizeof(first));

	if (err)
		return err;
	if (!code && first != value)
		code = mpii_fail(MPI_ERR_NOT_SAME,
				 "rank 0 gives %lld, and this rank %lld",
				 (long long)first, (long long)value);
	return io_agree_now(f, code, 0, what);
}

static int check_resize(struct mpii_file *f, MPI_Offset size)
{
	if (size < 0)
		return mpii_fail(MPI_ERR_ARG,
				 "size is %lld, but must not be negative",
				 (long long)size);
	if (f->amode & MPI_MODE_RDONLY)
		return mpii_fail(MPI_ERR_READ_ONLY,
				 "\"%s\" was opened with MPI_MODE_RDONLY",
				 f->name);
	if (f->amode & MPI_MODE_SEQUENTIAL)
		return mpii_fail(MPI_ERR_UNSUPPORTED_OPERATION,
				 "\"%s\" was opened with MPI_MODE_SEQUENTIAL",
				 f->name);
	return MPI_SUCCESS;
}

static int truncate_to(struct mpii_file *f, MPI_Offset size)
{
	int n;

	do
		n = ftruncate(f->fd, size);
	while (n && errno == EINTR);
	return n ? -errno : 0;
}

/* Room for all bytes up to @size; those that were written stay. */
static int reserve(struct mpii_file *f, MPI_Offset size)
{
	int error = 0;

	if (size == 0)
		return 0;
	do
		error = posix_fallocate(f->fd, 0, size);
	while (error == EINTR);
	return -error;
}

/* One rank does it for all. */
static int resize(MPI_File fh, MPI_Offset size,
		  int (*fn)(struct mpii_file *f, MPI_Offset size),
		  const char *what, const char *func)
{
	struct mpii_file *f = mpii_file_get(fh);
	int err, error = 0;

	if (!f)
		return mpii_bad_file(fh, func);
	io_drain(f);
	err = same(f, size, check_resize(f, size), what);
	if (!err && f->comm->rank == 0)
		error = fn(f, size);
	if (!err)
		err = io_agree_now(f, MPI_SUCCESS, error, what);
	if (!err)
		io_disk_refresh(f);
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}

int PMPI_File_set_size(MPI_File fh, MPI_Offset size)
{
	return resize(fh, size, truncate_to, "changing the size of",
		      "MPI_File_set_size");
}
MPII_ALIAS(File_set_size);

int PMPI_File_preallocate(MPI_File fh, MPI_Offset size)
{
	return resize(fh, size, reserve, "reserving room for",
		      "MPI_File_preallocate");
}
MPII_ALIAS(File_preallocate);

/* --- consistency --- */

int PMPI_File_sync(MPI_File fh)
{
	static const char func[] = "MPI_File_sync";
	struct mpii_file *f = mpii_file_get(fh);
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	io_drain(f);
	err = io_agree_now(f, MPI_SUCCESS, io_disk_sync(f), "syncing");
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}
MPII_ALIAS(File_sync);

int PMPI_File_set_atomicity(MPI_File fh, int flag)
{
	static const char func[] = "MPI_File_set_atomicity";
	struct mpii_file *f = mpii_file_get(fh);
	int err, error = 0;

	if (!f)
		return mpii_bad_file(fh, func);
	io_drain(f);
	/* Whether the file system has locks is found out here. */
	if (flag) {
		error = io_disk_lock(f, true, 0, 1);
		io_disk_unlock(f, 0, 1);
	}
	err = io_agree_now(f, MPI_SUCCESS, error, "locking parts of");
	if (!err)
		err = same(f, !!flag, MPI_SUCCESS, "atomic mode of");
	if (err)
		return io_raise(f, err, func);
	atomic_store(&f->atomic, !!flag);
	return MPI_SUCCESS;
}
MPII_ALIAS(File_set_atomicity);

int PMPI_File_get_atomicity(MPI_File fh, int *flag)
{
	static const char func[] = "MPI_File_get_atomicity";
	struct mpii_file *f = mpii_file_get(fh);

	if (!f)
		return mpii_bad_file(fh, func);
	if (!flag)
		return null_arg(f, func, "flag");
	*flag = atomic_load(&f->atomic);
	return MPI_SUCCESS;
}
MPII_ALIAS(File_get_atomicity);

/* --- what it was opened with --- */

int PMPI_File_get_amode(MPI_File fh, int *amode)
{
	static const char func[] = "MPI_File_get_amode";
	struct mpii_file *f = mpii_file_get(fh);

	if (!f)
		return mpii_bad_file(fh, func);
	if (!amode)
		return null_arg(f, func, "amode");
	*amode = f->amode;
	return MPI_SUCCESS;
}
MPII_ALIAS(File_get_amode);

int PMPI_File_get_group(MPI_File fh, MPI_Group *group)
{
	static const char func[] = "MPI_File_get_group";
	struct mpii_file *f = mpii_file_get(fh);

	if (!f)
		return mpii_bad_file(fh, func);
	if (!group)
		return null_arg(f, func, "group");
	mpii_group_hold(f->comm->group);
	*group = mpii_group_handle(f->comm->group);
	return MPI_SUCCESS;
}
MPII_ALIAS(File_get_group);

int PMPI_File_set_info(MPI_File fh, MPI_Info info)
{
	static const char func[] = "MPI_File_set_info";
	struct mpii_file *f = mpii_file_get(fh);
	int err = MPI_SUCCESS;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!mpii_info_get(info))
		err = mpii_fail(MPI_ERR_INFO,
				info == MPI_INFO_NULL ?
					"info is MPI_INFO_NULL" :
					"info is not an info object or was "
					"freed");
	err = io_agree_now(f, err, 0, "setting hints of");
	if (!err)
		err = io_hints_set(f, mpii_info_get(info));
	return err ? io_raise(f, err, func) : MPI_SUCCESS;
}
MPII_ALIAS(File_set_info);

int PMPI_File_get_info(MPI_File fh, MPI_Info *info_used)
{
	static const char func[] = "MPI_File_get_info";
	struct mpii_file *f = mpii_file_get(fh);
	struct mpii_info *i;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!info_used)
		return null_arg(f, func, "info_used");
	i = mpii_info_copy(NULL);
	if (!i || !io_hints_describe(f, i)) {
		mpii_info_destroy(i);
		return io_error(f, MPI_ERR_NO_MEM, func, "out of memory");
	}
	*info_used = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(File_get_info);
