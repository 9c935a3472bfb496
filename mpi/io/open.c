/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_File_open, MPI_File_close and MPI_File_delete.
 *
 * Rank 0 opens first, and creates the file if it has to; then the others open
 * what is there. So exactly one creates it, and if that fails nobody else
 * tries. At the end all agree: a file is open at every rank or at none, and
 * every rank that asked has the reason.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "coll/algorithms.h"
#include "comm/comm.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "info/info.h"
#include "io/cb.h"
#include "io/file.h"
#include "io/shared.h"
#include "io/view.h"
#include "pt2pt/request.h"

#define NFS_MAGIC 0x6969
#define SMB2_MAGIC 0xfe534d42
#define CIFS_MAGIC 0xff534d42

#define AMODES                                                                 \
	(MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY | MPI_MODE_CREATE | \
	 MPI_MODE_EXCL | MPI_MODE_DELETE_ON_CLOSE | MPI_MODE_UNIQUE_OPEN |     \
	 MPI_MODE_SEQUENTIAL | MPI_MODE_APPEND)

/* --- arguments --- */

static int check_amode(int amode)
{
	int how = !!(amode & MPI_MODE_RDONLY) + !!(amode & MPI_MODE_RDWR) +
		  !!(amode & MPI_MODE_WRONLY);

	if (amode & ~AMODES)
		return mpii_fail(MPI_ERR_AMODE,
				 "amode is 0x%x, of which 0x%x means nothing",
				 amode, amode & ~AMODES);
	if (how != 1)
		return mpii_fail(MPI_ERR_AMODE,
				 "amode has %s of MPI_MODE_RDONLY, "
				 "MPI_MODE_RDWR and MPI_MODE_WRONLY",
				 how ? "more than one" : "none");
	if (amode & MPI_MODE_RDONLY &&
	    amode & (MPI_MODE_CREATE | MPI_MODE_EXCL))
		return mpii_fail(MPI_ERR_AMODE,
				 "amode has MPI_MODE_RDONLY together with "
				 "MPI_MODE_CREATE or MPI_MODE_EXCL");
	if (amode & MPI_MODE_RDWR && amode & MPI_MODE_SEQUENTIAL)
		return mpii_fail(MPI_ERR_AMODE,
				 "amode has MPI_MODE_RDWR together with "
				 "MPI_MODE_SEQUENTIAL");
	return MPI_SUCCESS;
}

/* Without "ufs:" and the like, which name a file system to other MPIs. */
static const char *plain_name(const char *name)
{
	static const char *const prefixes[] = { "ufs:", "nfs:", "xfs:" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return name + strlen(prefixes[i]);
	return name;
}

static int check_name(const char *name)
{
	if (!name)
		return mpii_fail(MPI_ERR_ARG, "filename is a null pointer");
	if (!*plain_name(name))
		return mpii_fail(MPI_ERR_BAD_FILE,
				 "filename is an empty string");
	return MPI_SUCCESS;
}

static int check_args(const char *name, int amode, MPI_Info info,
		      const MPI_File *fh)
{
	int err = check_name(name);

	if (!err)
		err = check_amode(amode);
	if (!err && info != MPI_INFO_NULL && !mpii_info_get(info))
		err = mpii_fail(MPI_ERR_INFO,
				"info is not an info object or was freed");
	if (!err && !fh)
		err = mpii_fail(MPI_ERR_ARG, "fh is a null pointer");
	return err;
}

/* --- the object --- */

static void destroy(struct mpii_file *f)
{
	if (f->fd >= 0) /* what could not be opened everywhere */
		close(f->fd);
	io_cb_free(f);
	io_shared_free(f);
	io_view_put(f->view);
	if (f->comm) {
		f->comm->file = NULL;
		mpii_comm_put(f->comm);
	}
	f->comm = NULL;
	mpii_obj_end(&f->obj);
	io_file_put(f);
}

void io_file_put(struct mpii_file *f)
{
	if (!mpii_obj_drop(&f->obj))
		return;
	mpii_errh_put(f->errh);
	pthread_mutex_destroy(&f->lock);
	pthread_mutex_destroy(&f->threads);
	free(f->name);
	free(f);
}

static struct mpii_file *create(const char *name, int amode,
				const struct mpii_info *info)
{
	struct mpii_file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->obj.magic = MPII_FILE;
	f->obj.refs = 1;
	f->handle = (MPI_File)f;
	f->fd = -1;
	f->amode = amode;
	pthread_mutex_init(&f->lock, NULL);
	pthread_mutex_init(&f->threads, NULL);
	f->errh = *mpii_owner_file(NULL).errh;
	mpii_errh_hold(f->errh);
	io_hints_default(&f->hints);
	io_hints_take(&f->hints, info);
	f->name = strdup(plain_name(name));
	f->view = io_view_bytes();
	if (f->name && f->view)
		return f;
	destroy(f);
	return NULL;
}

/* A communicator of the same members that the program never sees. */
static int own_comm(struct mpii_file *f, struct mpii_comm *c)
{
	uint32_t context;
	int err = mpii_context_agree(c, &context);

	if (err)
		return err;
	mpii_group_hold(c->group);
	f->comm = mpii_comm_build(c->group, context);
	if (!f->comm) {
		mpii_context_free(context);
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	mpii_errh_put(f->comm->errh);
	f->comm->errh = mpii_errh_get(MPI_ERRORS_RETURN);
	f->comm->file = f;
	strcpy(f->comm->name, "a file's communicator");
	mpii_context_own(f->comm);
	return MPI_SUCCESS;
}

/* --- opening --- */

static int open_flags(int amode)
{
	int flags = O_CLOEXEC;

	if (amode & MPI_MODE_RDONLY)
		return flags | O_RDONLY;
	return flags | (amode & MPI_MODE_RDWR ? O_RDWR : O_WRONLY);
}

static int create_flags(int amode)
{
	return (amode & MPI_MODE_CREATE ? O_CREAT : 0) |
	       (amode & MPI_MODE_EXCL ? O_EXCL : 0);
}

static int open_again(const char *name, int flags, int perm)
{
	int fd;

	do
		fd = open(name, flags, perm);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

/* Rank 0. MPI_MODE_EXCL without MPI_MODE_CREATE means nothing to the system. */
static int open_first(struct mpii_file *f)
{
	f->fd = open_again(f->name,
			   open_flags(f->amode) | create_flags(f->amode),
			   f->hints.file_perm);
	return f->fd < 0 ? f->fd : 0;
}

/*
 * The others. A client of NFS may remember that there was no such file; asking
 * for it to be created makes it ask the server. If that does create it, this
 * host has another file system than rank 0 at that place.
 */
static int open_others(struct mpii_file *f)
{
	int flags = open_flags(f->amode);

	f->fd = open_again(f->name, flags, 0);
	if (f->fd == -ENOENT && f->amode & MPI_MODE_CREATE) {
		f->fd = open_again(f->name, flags | O_CREAT | O_EXCL,
				   f->hints.file_perm);
		if (f->fd >= 0) {
			unlink(f->name);
			close(f->fd);
			f->fd = -ENOENT;
		} else if (f->fd == -EEXIST) {
			f->fd = open_again(f->name, flags | O_CREAT,
					   f->hints.file_perm);
		}
	}
	return f->fd < 0 ? f->fd : 0;
}

/* What kind of file it is. */
static int inspect(struct mpii_file *f)
{
	struct statfs fs;
	struct stat st;

	if (fstat(f->fd, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	f->block = st.st_blksize;
	f->stream = lseek(f->fd, 0, SEEK_CUR) < 0 && errno == ESPIPE;
	if (!fstatfs(f->fd, &fs))
		f->nfs = (unsigned long)fs.f_type == NFS_MAGIC ||
			 (unsigned long)fs.f_type == SMB2_MAGIC ||
			 (unsigned long)fs.f_type == CIFS_MAGIC;
	return 0;
}

/* All have the same amode, and the hints of rank 0. */
static int agree_on_args(struct mpii_file *f)
{
	struct {
		int amode;
		struct io_hints hints;
	} first;
	int err;

	memset(&first, 0, sizeof(first));
	first.amode = f->amode;
	first.hints = f->hints;
	err = io_spread(f, &first, sizeof(first));
	if (err)
		return err;
	f->hints = first.hints;
	err = io_agree_now(
		f, first.amode == f->amode ? MPI_SUCCESS : MPI_ERR_NOT_SAME, 0,
		"opening");
	return err != MPI_ERR_NOT_SAME ?
		       err :
		       mpii_fail(err,
				 "opening \"%s\": amode is not the same at "
				 "all ranks",
				 f->name);
}

static int open_all(struct mpii_file *f)
{
	struct {
		int error, nfs;
		long block;
		MPI_Offset end;
	} first;
	int error = 0, err;

	memset(&first, 0, sizeof(first));
	if (f->comm->rank == 0) {
		error = open_first(f);
		if (!error)
			error = inspect(f);
		if (!error && !f->stream)
			error = io_disk_size(f, &first.end);
		first.error = error;
		first.nfs = f->nfs;
		first.block = f->block;
	}
	err = io_spread(f, &first, sizeof(first));
	if (err)
		return err;
	if (f->comm->rank != 0 && !first.error) {
		error = open_others(f);
		if (!error)
			error = inspect(f);
	}
	f->block = first.block;
	f->nfs |= first.nfs;
	if (f->fd >= 0 && f->hints.access_style)
		io_disk_advise(f);
	if (f->amode & MPI_MODE_APPEND)
		f->position = first.end;
	return io_agree_now(f, MPI_SUCCESS, error, "opening");
}

static int begin(struct mpii_file *f, struct mpii_comm *c)
{
	int err = own_comm(f, c);

	if (!err)
		err = agree_on_args(f);
	if (!err)
		err = open_all(f);
	if (err)
		return err;
	err = io_cb_init(f);
	if (!err)
		err = io_shared_init(f, f->position);
	return io_agree_now(f, err, 0, "opening");
}

int PMPI_File_open(MPI_Comm comm, const char *filename, int amode,
		   MPI_Info info, MPI_File *fh)
{
	static const char func[] = "MPI_File_open";
	struct mpii_comm *c = mpii_comm_get(comm);
	struct mpii_file none = { .name = (char *)(filename ? filename : "") };
	struct mpii_file *f = NULL;
	struct coll k;
	int err;

	if (!mpii_running())
		return mpii_bad_comm(comm, func);
	if (!c)
		return io_error(NULL, MPI_ERR_COMM, func,
				comm == MPI_COMM_NULL ?
					"comm is MPI_COMM_NULL" :
					"comm is not a communicator or was "
					"freed");
	if (c->inter)
		return io_error(NULL, MPI_ERR_COMM, func,
				"comm is an intercommunicator");
	err = check_args(filename, amode, info, fh);
	if (!err) {
		f = create(filename, amode, mpii_info_get(info));
		if (!f)
			err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	k = coll_begin(c);
	err = io_agree(&k, &none, err, 0, "opening");
	if (!err)
		err = begin(f, c);
	if (err) {
		if (f)
			destroy(f);
		if (fh)
			*fh = MPI_FILE_NULL;
		return io_raise(NULL, err, func);
	}
	*fh = f->handle;
	return MPI_SUCCESS;
}
MPII_ALIAS(File_open);

/* --- closing --- */

int PMPI_File_close(MPI_File *fh)
{
	static const char func[] = "MPI_File_close";
	struct mpii_file *f;
	int err, error = 0;

	if (!fh)
		return io_error(NULL, MPI_ERR_ARG, func,
				"fh is a null pointer");
	f = mpii_file_get(*fh);
	if (!f)
		return mpii_bad_file(*fh, func);
	if (f->split.begin)
		return io_error(f, MPI_ERR_FILE, func,
				"%s was not followed by %s", f->split.begin,
				f->split.end);
	io_drain(f);
	/* Quotas and full disks of servers are told about here. */
	if (close(f->fd) && errno != EINTR)
		error = -errno;
	f->fd = -1;
	err = io_agree_now(f, MPI_SUCCESS, error, "closing");
	if (f->amode & MPI_MODE_DELETE_ON_CLOSE) {
		error = 0;
		if (f->comm->rank == 0 && unlink(f->name))
			error = -errno;
		error = io_agree_now(f, MPI_SUCCESS, error, "deleting");
		err = err ? err : error;
	}
	/* The handle is gone, whatever happened. */
	if (err)
		err = io_raise(f, err, func);
	destroy(f);
	*fh = MPI_FILE_NULL;
	return err;
}
MPII_ALIAS(File_close);

int PMPI_File_delete(const char *filename, MPI_Info info)
{
	static const char func[] = "MPI_File_delete";
	struct mpii_file f;
	int err = check_name(filename), error;

	if (!err && info != MPI_INFO_NULL && !mpii_info_get(info))
		err = mpii_fail(MPI_ERR_INFO,
				"info is not an info object or was freed");
	if (err)
		return io_raise(NULL, err, func);
	f.name = (char *)plain_name(filename);
	if (!unlink(f.name))
		return MPI_SUCCESS;
	error = -errno;
	return io_raise(NULL, io_fail(&f, error, "deleting"), func);
}
MPII_ALIAS(File_delete);
