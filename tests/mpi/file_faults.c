/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Files when the system does not do what it is asked for. The system calls that the
 * library makes are taken over by this program, which lets them fail, move less
 * than asked for, be interrupted, or take long. A short transfer must not be seen. A
 * failure at one rank is an error of the right class with the file's name and the
 * system's words: there, and in collective calls everywhere. Nothing hangs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "check.h"

/* --- the layer --- */

enum call {
	NONE,
	PREAD,
	PWRITE,
	PREADV,
	PWRITEV,
	OPEN,
	CLOSE,
	FSYNC,
	TRUNCATE,
	ALLOCATE,
	LOCK,
	UNLINK,
	MEMFD,
	OTHERS /* opening what another process has open */
};

static enum call victim;      /* the call that fails, at this rank */
static int victim_error;      /* how */
static volatile int victim_n; /* after so many that go well */
static int shorten;	      /* transfers move at most so much; or 0 */
static int delay_us;	      /* and take so long */
static unsigned turn;
static char name[256];

static int fails(enum call call)
{
	if (call != victim)
		return 0;
	if (__atomic_fetch_sub(&victim_n, 1, __ATOMIC_SEQ_CST) != 0)
		return 0;
	errno = victim_error;
	return 1;
}

/* Interrupted, every now and then. */
static int interrupted(void)
{
	if (!shorten || __atomic_add_fetch(&turn, 1, __ATOMIC_RELAXED) % 3)
		return 0;
	errno = EINTR;
	return 1;
}

static size_t cut(size_t n)
{
	if (delay_us)
		usleep(delay_us);
	return shorten && n > (size_t)shorten ? (size_t)shorten : n;
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
	if (fails(PREAD) || interrupted())
		return -1;
	return syscall(SYS_pread64, fd, buf, cut(n), off);
}

ssize_t pwrite(int fd, const void *buf, size_t n, off_t off)
{
	if (fails(PWRITE) || interrupted())
		return -1;
	return syscall(SYS_pwrite64, fd, buf, cut(n), off);
}

/* Cut to a part of the first piece. */
ssize_t preadv2(int fd, const struct iovec *iov, int n, off_t off, int flags)
{
	if (fails(PREADV) || interrupted())
		return -1;
	if (shorten)
		return syscall(SYS_pread64, fd, iov->iov_base,
			       cut(iov->iov_len), off);
	return syscall(SYS_preadv2, fd, iov, n, off, 0L, flags);
}

ssize_t pwritev2(int fd, const struct iovec *iov, int n, off_t off, int flags)
{
	if (fails(PWRITEV) || interrupted())
		return -1;
	if (shorten)
		return syscall(SYS_pwrite64, fd, iov->iov_base,
			       cut(iov->iov_len), off);
	return syscall(SYS_pwritev2, fd, iov, n, off, 0L, flags);
}

static int is_file(const char *path)
{
	return !strcmp(path, name);
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (is_file(path) && fails(OPEN))
		return -1;
	if (!strncmp(path, "/proc/", 6) && strstr(path, "/fd/") &&
	    fails(OTHERS))
		return -1;
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int memfd_create(const char *path, unsigned flags)
{
	return fails(MEMFD) ? -1 : (int)syscall(SYS_memfd_create, path, flags);
}

int close(int fd)
{
	char link[64], path[300];
	ssize_t n;

	if (victim == CLOSE) {
		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		n = readlink(link, path, sizeof(path) - 1);
		path[n > 0 ? n : 0] = '\0';
		if (is_file(path) && fails(CLOSE)) {
			syscall(SYS_close, fd);
			errno = victim_error;
			return -1;
		}
	}
	return (int)syscall(SYS_close, fd);
}

int fsync(int fd)
{
	return fails(FSYNC) ? -1 : (int)syscall(SYS_fsync, fd);
}

int ftruncate(int fd, off_t n)
{
	return fails(TRUNCATE) ? -1 : (int)syscall(SYS_ftruncate, fd, n);
}

int posix_fallocate(int fd, off_t off, off_t n)
{
	if (fails(ALLOCATE))
		return victim_error;
	return syscall(SYS_fallocate, fd, 0, off, n) ? errno : 0;
}

int fcntl(int fd, int cmd, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, cmd);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (cmd == F_OFD_SETLKW && fails(LOCK))
		return -1;
	return (int)syscall(SYS_fcntl, fd, cmd, arg);
}

int unlink(const char *path)
{
	if (is_file(path) && fails(UNLINK))
		return -1;
	return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

static void arm(int at, enum call call, int error, int after)
{
	victim_n = after;
	victim_error = error;
	victim = rank == at ? call : NONE;
}

/* --- files --- */

#define LEN 5000
static MPI_File f;
static int data[LEN], got[LEN];

static void open_file(const char *how)
{
	MPI_Info info;

	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "romio_cb_write", how));
	OK(MPI_Info_set(info, "romio_cb_read", how));
	OK(MPI_Info_set(info, "cb_buffer_size", "16384"));
	OK(MPI_File_open(WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info,
			 &f));
	OK(MPI_Info_free(&info));
}

/* Every size-th int is this rank's. */
static void mixed_view(void)
{
	MPI_Datatype t;

	OK(MPI_Type_create_resized(MPI_INT, 0, 4 * size, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_File_set_view(f, 4 * rank, MPI_INT, t, "native", MPI_INFO_NULL));
	OK(MPI_Type_free(&t));
}

/* The class, at this rank, and words that help. */
static void expect(int err, int class, int error)
{
	char text[MPI_MAX_ERROR_STRING];
	int n;

	FAILS(err, class);
	OK(MPI_Error_string(err, text, &n));
	CHECK(strstr(text, name));
	CHECK(strstr(text, strerror(error)));
}

static void round_trip(void)
{
	MPI_Datatype gaps;
	MPI_Request q;
	MPI_Status st;

	memset(got, 0, sizeof(got));
	OK(MPI_File_write_at_all(f, 0, data, LEN, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), LEN);
	OK(MPI_File_read_at_all(f, 0, got, LEN, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), LEN);
	CHECK(!memcmp(got, data, sizeof(got)));
	memset(got, 0, sizeof(got));
	OK(MPI_File_iread_at(f, 0, got, LEN, MPI_INT, &q));
	OK(MPI_Wait(&q, &st));
	EQUAL(count_of(&st, MPI_INT), LEN);
	CHECK(!memcmp(got, data, sizeof(got)));
	/* memory in pieces that go as a vector */
	OK(MPI_Type_vector(2, 1000, 2000, MPI_INT, &gaps));
	OK(MPI_Type_commit(&gaps));
	OK(MPI_File_set_view(f, rank * 8000, MPI_INT, MPI_INT, "native",
			     MPI_INFO_NULL));
	OK(MPI_File_write_at(f, 0, data, 1, gaps, &st));
	EQUAL(count_of(&st, gaps), 1);
	memset(got, 0, sizeof(got));
	OK(MPI_File_read_at(f, 0, got, 1, gaps, &st));
	EQUAL(count_of(&st, gaps), 1);
	CHECK(!memcmp(got, data, 4000) && got[1000] == 0 &&
	      !memcmp(got + 2000, data + 2000, 4000));
	OK(MPI_Type_free(&gaps));
}

static void test_short(void)
{
	static const char *const how[] = { "enable", "disable" };

	for (int i = 0; i < 2; i++) {
		open_file(how[i]);
		mixed_view();
		shorten = i ? 700 : 1000;
		round_trip();
		shorten = 0;
		OK(MPI_File_close(&f));
	}
}

/* Aggregators' windows that one rank cannot map, or one aggregator not have: data
 * goes as messages then, and nobody notices. */
static void test_apart(void)
{
	static const enum call calls[] = { OTHERS, MEMFD };

	for (int at = 0; at < size; at++)
		for (int i = 0; i < 2; i++)
			for (int n = 0; n < 2; n++) {
				open_file("enable");
				mixed_view();
				arm(at, calls[i], ENOENT, n);
				round_trip();
				arm(0, NONE, 0, 0);
				mixed_view();
				round_trip();
				OK(MPI_File_close(&f));
			}
}

static const struct {
	int error, class;
} errors[] = {
	{ ENOSPC, MPI_ERR_NO_SPACE }, { EDQUOT, MPI_ERR_QUOTA },
	{ EIO, MPI_ERR_IO },	      { EROFS, MPI_ERR_READ_ONLY },
	{ EACCES, MPI_ERR_ACCESS },
};

/* Through aggregators rank 0 is one, and elsewhere every rank writes. */
static void test_write_errors(void)
{
	MPI_Request q;

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++) {
		int error = errors[i].error, class = errors[i].class;

		open_file("enable");
		mixed_view();
		for (int after = 0; after < 3; after++) {
			arm(0, PWRITE, error, size > 1 ? after : 0);
			if (size == 1)
				OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT,
						     "native", MPI_INFO_NULL));
			expect(MPI_File_write_at_all(f, 0, data, LEN, MPI_INT,
						     IGNORE),
			       class, error);
			arm(0, PWRITE, error, 0);
			OK(MPI_File_iwrite_at_all(f, 0, data, LEN, MPI_INT,
						  &q));
			expect(MPI_Wait(&q, IGNORE), class, error);
			arm(0, PREAD, EIO, 0);
			expect(MPI_File_read_at_all(f, 0, got, LEN, MPI_INT,
						    IGNORE),
			       MPI_ERR_IO, EIO);
			arm(0, NONE, 0, 0);
		}
		/* and all is well again */
		OK(MPI_File_write_at_all(f, 0, data, LEN, MPI_INT, IGNORE));
		OK(MPI_File_close(&f));
	}
}

static void test_own_errors(void)
{
	int last = size - 1, err;
	MPI_Request q;
	MPI_Status st;

	open_file("disable");
	OK(MPI_File_set_view(f, 4 * LEN * rank, MPI_INT, MPI_INT, "native",
			     MPI_INFO_NULL));
	/* alone: only the one that fails */
	arm(last, PWRITE, ENOSPC, 0);
	err = MPI_File_write_at(f, 0, data, LEN, MPI_INT, &st);
	if (rank == last)
		expect(err, MPI_ERR_NO_SPACE, ENOSPC);
	else
		OK(err);
	arm(last, PWRITE, EDQUOT, 0);
	OK(MPI_File_iwrite_at(f, 0, data, LEN, MPI_INT, &q));
	err = MPI_Wait(&q, &st);
	if (rank == last)
		expect(err, MPI_ERR_QUOTA, EDQUOT);
	else
		OK(err);
	/* what was written before it failed is told */
	arm(last, PWRITE, ENOSPC, 1);
	shorten = rank == last ? 4000 : 0;
	turn = 0;
	err = MPI_File_write_at(f, 0, data, LEN, MPI_INT, &st);
	shorten = 0;
	if (rank == last) {
		expect(err, MPI_ERR_NO_SPACE, ENOSPC);
		EQUAL(count_of(&st, MPI_INT), 1000);
	}
	/* together: all, though each writes for itself */
	arm(last, PWRITE, ENOSPC, 0);
	expect(MPI_File_write_at_all(f, 0, data, LEN, MPI_INT, IGNORE),
	       MPI_ERR_NO_SPACE, ENOSPC);
	arm(last, NONE, 0, 0);
	OK(MPI_File_close(&f));
}

/* The calls about a file as a whole. */
static void test_file_errors(void)
{
	int last = size - 1;
	MPI_File none;

	open_file("automatic");
	arm(last, FSYNC, EIO, 0);
	expect(MPI_File_sync(f), MPI_ERR_IO, EIO);
	arm(0, TRUNCATE, EFBIG, 0);
	expect(MPI_File_set_size(f, 100), MPI_ERR_IO, EFBIG);
	arm(0, ALLOCATE, ENOSPC, 0);
	expect(MPI_File_preallocate(f, 100), MPI_ERR_NO_SPACE, ENOSPC);
	arm(last, LOCK, ENOLCK, 0);
	expect(MPI_File_set_atomicity(f, 1), MPI_ERR_IO, ENOLCK);
	arm(last, CLOSE, EDQUOT, 0);
	expect(MPI_File_close(&f), MPI_ERR_QUOTA, EDQUOT);
	CHECK(f == MPI_FILE_NULL);
	for (int at = 0; at < size; at++) {
		arm(at, OPEN, EACCES, 0);
		expect(MPI_File_open(WORLD, name, MPI_MODE_RDWR, MPI_INFO_NULL,
				     &none),
		       MPI_ERR_ACCESS, EACCES);
		CHECK(none == MPI_FILE_NULL);
	}
	arm(0, UNLINK, EBUSY, 0);
	if (rank == 0)
		expect(MPI_File_delete(name, MPI_INFO_NULL),
		       MPI_ERR_FILE_IN_USE, EBUSY);
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_open(WORLD, name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
			 MPI_INFO_NULL, &f));
	arm(0, UNLINK, EACCES, 0);
	expect(MPI_File_close(&f), MPI_ERR_ACCESS, EACCES);
	arm(0, NONE, 0, 0);
}

/* The file gets shorter while it is read. */
static void test_truncated(void)
{
	MPI_Status st;

	open_file("enable");
	mixed_view();
	OK(MPI_File_write_at_all(f, 0, data, LEN, MPI_INT, IGNORE));
	if (rank == 0)
		CHECK(!truncate(name, 1000 * 4 * size));
	OK(MPI_Barrier(WORLD));
	OK(MPI_File_read_at_all(f, 500, got, LEN, MPI_INT, &st));
	EQUAL(count_of(&st, MPI_INT), 500);
	CHECK(!memcmp(got, data + 500, 2000));
	OK(MPI_File_close(&f));
}

/* A disk that is slow is waited for by others: the calls return at once, and the
 * time passes while this one computes. */
static void test_slow(void)
{
	MPI_Request q[2];
	double start, begun, ended;

	open_file("enable");
	mixed_view();
	OK(MPI_Barrier(WORLD));
	delay_us = 50000;
	start = MPI_Wtime();
	OK(MPI_File_iwrite_at(f, 0, data, 1, MPI_INT, &q[0]));
	OK(MPI_File_iwrite_at_all(f, 0, data, LEN, MPI_INT, &q[1]));
	begun = MPI_Wtime();
	while (MPI_Wtime() < start + 1)
		;
	ended = MPI_Wtime();
	OK(MPI_Waitall(2, q, MPI_STATUSES_IGNORE));
	ended = MPI_Wtime() - ended;
	delay_us = 0;
	/* On a machine with much else to do this is all that can be asked for. */
	CHECK(begun - start < 0.5);
	CHECK(ended < 0.5);
	OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	snprintf(name, sizeof(name), "%s/o2g_file_faults.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, WORLD));
	for (int i = 0; i < LEN; i++)
		data[i] = rank * LEN + i + 1;
	test_short();
	test_apart();
	test_write_errors();
	test_own_errors();
	test_file_errors();
	test_truncated();
	test_slow();
	OK(MPI_Barrier(WORLD));
	if (rank == 0)
		unlink(name);
	return finish();
}
