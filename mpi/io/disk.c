/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The system calls. Each transfer is repeated until all of it is done, the file
 * ends, or the system says no: a call may be interrupted, may move less than
 * asked for, and moves at most 2 GiB.
 *
 * Byte ranges are locked in atomic mode only. The locks belong to the open
 * file, not to the process, so two files of one process exclude each other, and
 * closing another one does not release them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "io/file.h"

#define CALL_MAX 0x7ffff000 /* bytes that Linux moves in one call */

/* --- moving data --- */

static ssize_t move(struct mpii_file *f, bool write, MPI_Offset off,
		    const struct iovec *iov, int n)
{
	if (f->stream)
		return write ? writev(f->fd, iov, n) : readv(f->fd, iov, n);
	if (n > 1)
		return write ? pwritev2(f->fd, iov, n, off, 0) :
			       preadv2(f->fd, iov, n, off, 0);
	return write ? pwrite(f->fd, iov->iov_base, iov->iov_len, off) :
		       pread(f->fd, iov->iov_base, iov->iov_len, off);
}

/* Leaves out the first @n bytes. */
static void skip(struct iovec **iov, int *count, size_t n)
{
	while (*count && n >= (*iov)->iov_len) {
		n -= (*iov)->iov_len;
		++*iov;
		--*count;
	}
	if (n) {
		(*iov)->iov_base = (char *)(*iov)->iov_base + n;
		(*iov)->iov_len -= n;
	}
}

static int transfer(struct mpii_file *f, bool write, MPI_Offset off,
		    struct iovec *iov, int n, size_t *done)
{
	ssize_t k;

	*done = 0;
	skip(&iov, &n, 0);
	while (n) {
		k = move(f, write, off + *done, iov, n);
		if (k < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (k < 0)
			return -errno;
		if (k == 0)
			return write ? -EIO : 0;
		*done += k;
		skip(&iov, &n, k);
	}
	return 0;
}

static int simple(struct mpii_file *f, bool write, MPI_Offset off, char *buf,
		  size_t len, size_t *done)
{
	struct iovec iov;
	size_t k, part;
	int err;

	for (*done = 0; *done < len; *done += k) {
		part = len - *done < CALL_MAX ? len - *done : CALL_MAX;
		iov = (struct iovec){ buf + *done, part };
		err = transfer(f, write, off + *done, &iov, 1, &k);
		if (err || k < part) {
			*done += k;
			return err;
		}
	}
	return 0;
}

int io_disk_read(struct mpii_file *f, MPI_Offset off, void *buf, size_t len,
		 size_t *done)
{
	return simple(f, false, off, buf, len, done);
}

int io_disk_write(struct mpii_file *f, MPI_Offset off, const void *buf,
		  size_t len, size_t *done)
{
	return simple(f, true, off, (char *)buf, len, done);
}

int io_disk_readv(struct mpii_file *f, MPI_Offset off, struct iovec *iov, int n,
		  size_t *done)
{
	return transfer(f, false, off, iov, n, done);
}

int io_disk_writev(struct mpii_file *f, MPI_Offset off, struct iovec *iov,
		   int n, size_t *done)
{
	return transfer(f, true, off, iov, n, done);
}

/* --- locks --- */

static int lock(struct mpii_file *f, short type, MPI_Offset lo, MPI_Offset hi)
{
	struct flock l = { .l_type = type,
			   .l_whence = SEEK_SET,
			   .l_start = lo,
			   .l_len = hi - lo };

	while (fcntl(f->fd, F_OFD_SETLKW, &l))
		if (errno != EINTR)
			return -errno;
	return 0;
}

int io_disk_lock(struct mpii_file *f, bool write, MPI_Offset lo, MPI_Offset hi)
{
	int err;

	if (f->stream || hi <= lo)
		return 0;
	/* A lock for reading needs a file that can be read. */
	if (f->amode & MPI_MODE_WRONLY)
		write = true;
	if (f->amode & MPI_MODE_RDONLY)
		write = false;
	err = lock(f, write ? F_WRLCK : F_RDLCK, lo, hi);
	if (!err && !write)
		io_disk_refresh(f);
	return err;
}

void io_disk_unlock(struct mpii_file *f, MPI_Offset lo, MPI_Offset hi)
{
	if (f->stream || hi <= lo)
		return;
	if (f->nfs && !(f->amode & MPI_MODE_RDONLY))
		fdatasync(f->fd);
	lock(f, F_UNLCK, lo, hi);
}

/* --- the file as a whole --- */

/* What has become of the file there? Opening it again does not make a client of
 * NFS ask: it has it open. */
static void ask_server(struct mpii_file *f)
{
	struct statx st;

	if (f->nfs)
		statx(f->fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
		      STATX_BASIC_STATS, &st);
}

int io_disk_size(struct mpii_file *f, MPI_Offset *size)
{
	struct stat st;

	ask_server(f);
	if (fstat(f->fd, &st))
		return -errno;
	*size = S_ISBLK(st.st_mode) ? lseek(f->fd, 0, SEEK_END) : st.st_size;
	return 0;
}

/* A client that has the file open for writing takes every change of it for its own
 * and keeps what it remembers, whatever the server says: it must be told to forget.
 * That spares what is not written back yet. */
void io_disk_refresh(struct mpii_file *f)
{
	if (!f->nfs)
		return;
	ask_server(f);
	posix_fadvise(f->fd, 0, 0, POSIX_FADV_DONTNEED);
}

void io_disk_advise(struct mpii_file *f)
{
	int style = f->hints.access_style, advice = POSIX_FADV_NORMAL;

	if (style & IO_RANDOM)
		advice = POSIX_FADV_RANDOM;
	else if (style & (IO_SEQUENTIAL | IO_READ_ONCE))
		advice = POSIX_FADV_SEQUENTIAL;
	posix_fadvise(f->fd, 0, 0, advice);
}

int io_disk_sync(struct mpii_file *f)
{
	/* A pipe, or a special file, has nothing to be synced. */
	if (!(f->amode & MPI_MODE_RDONLY) && fsync(f->fd) && errno != EINVAL &&
	    errno != EROFS)
		return -errno;
	io_disk_refresh(f);
	return 0;
}
