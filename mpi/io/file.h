/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Files: the object, and what every part of the chapter asks of it.
 *
 * Traffic of a file goes through a communicator of its own (f->comm), so that
 * it never meets the program's. Functions here return MPI codes with words
 * recorded, except where they say negative errno.
 */
#ifndef MPII_IO_FILE_H
#define MPII_IO_FILE_H

#include "io/hints.h"
#include "mpii.h"

struct mpii_errh;
struct mpii_comm;
struct mpii_req;
struct io_view;
struct io_cb;
struct io_shared;

/* A split collective between its two calls. */
struct io_split {
	const char *begin; /* the name of the first, NULL: none is active */
	const char *end;   /* that of the second */
	struct mpii_req *req;
};

/* A collective that failed here before it began: the others are still told. */
struct io_orphan {
	struct mpii_req *req;
	struct io_orphan *next;
};

struct mpii_file {
	struct mpii_obj obj;
	MPI_File handle;
	struct mpii_errh *errh; /* first, that of MPI_FILE_NULL */
	struct mpii_comm *comm;
	char *name;
	int amode, fd;
	bool nfs;    /* other hosts see what is written only after a sync */
	bool stream; /* cannot be positioned: a pipe, a terminal */
	atomic_bool atomic;
	long block; /* of the file system, bytes */
	struct io_hints hints;

	/* Guards view, position and orphans: threads may share a file. */
	pthread_mutex_t lock;
	struct io_view *view;
	MPI_Offset position; /* the individual file pointer, in etypes */
	struct io_split split;
	struct io_orphan *orphans;

	/* Keeps threads of this process apart in atomic mode, where locks of
	 * the open file keep processes apart. */
	pthread_mutex_t threads;

	atomic_int pending; /* accesses under way in other threads */
	atomic_uint jobs;   /* numbers what the pool does: the tag */
	struct io_cb *cb;   /* of collective accesses: cb.h */
	struct io_shared *shared;
};

/* NULL: not a file. */
static inline struct mpii_file *mpii_file_get(MPI_File h)
{
	struct mpii_file *f = (struct mpii_file *)h;

	return (uintptr_t)h >= MPII_PREDEFINED_END &&
			       mpii_is_object(h, MPII_FILE) ?
		       f :
		       NULL;
}

/* Errors: fail.c. */

/* The class of a negative errno of the system. */
int io_class_of(int error);
/* Records what failed: "WHAT "name": the system's words". Returns the code. */
int io_fail(const struct mpii_file *f, int error, const char *what);
/* As mpii_error, on the file's error handler. */
int io_error(struct mpii_file *f, int code, const char *func, const char *fmt,
	     ...) __attribute__((format(printf, 4, 5)));
int io_raise(struct mpii_file *f, int code, const char *func);

/*
 * Everyone tells what it has met: an MPI code with its words in @code, and
 * where the system said no, a negative errno in @error. Everyone returns the
 * same: MPI_SUCCESS, or the code and the words of one that failed.
 */
struct coll;
int io_agree(const struct coll *k, const struct mpii_file *f, int code,
	     int error, const char *what);
/* The same in a call of its own. */
int io_agree_now(struct mpii_file *f, int code, int error, const char *what);

/* All get what rank 0 has; in a call of its own. */
int io_spread(struct mpii_file *f, void *what, size_t bytes);

/* The system's files: disk.c. Negative errno; *done is what was moved even so.
 * A read ends early at the end of the file, which is no error. */
struct iovec;
int io_disk_read(struct mpii_file *f, MPI_Offset off, void *buf, size_t len,
		 size_t *done);
int io_disk_write(struct mpii_file *f, MPI_Offset off, const void *buf,
		  size_t len, size_t *done);
/* Several pieces of memory, one of the file; iov is changed. */
int io_disk_readv(struct mpii_file *f, MPI_Offset off, struct iovec *iov, int n,
		  size_t *done);
int io_disk_writev(struct mpii_file *f, MPI_Offset off, struct iovec *iov,
		   int n, size_t *done);
/* Keep everybody else out of [lo, hi), or only writers; waits. In atomic mode
 * each access does so. */
int io_disk_lock(struct mpii_file *f, bool write, MPI_Offset lo, MPI_Offset hi);
void io_disk_unlock(struct mpii_file *f, MPI_Offset lo, MPI_Offset hi);
int io_disk_size(struct mpii_file *f, MPI_Offset *size);
/* What was written reaches the device, and what others synced is seen. */
int io_disk_sync(struct mpii_file *f);
/* Tell the system how the file is going to be used. */
void io_disk_advise(struct mpii_file *f);
/* See what other hosts have written: NFS only. */
void io_disk_refresh(struct mpii_file *f);

/* Requests keep their file: its name is in their errors. */
static inline void io_file_hold(struct mpii_file *f)
{
	mpii_obj_hold(&f->obj);
}
void io_file_put(struct mpii_file *f);

/* Every access that goes on beside the program has ended (calls.c). */
void io_drain(struct mpii_file *f);

#endif
