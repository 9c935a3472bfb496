/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "never.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dev.h"

#define WAIT_MS 10000

/* --- userfaultfd --- */

static int uffd_open(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void uffd_make(struct never *n, size_t len)
{
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	n->fd = uffd_open();
	CHECK(n->fd >= 0);
	n->mem = mmap(NULL, len, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(n->mem != MAP_FAILED);
	r.range.start = (uintptr_t)n->mem;
	r.range.len = len;
	CHECK(ioctl(n->fd, UFFDIO_REGISTER, &r) == 0);
}

/* --- FUSE: one file, which can be opened and never read --- */

static void answer(int fd, uint64_t unique, int error, const void *body,
		   size_t len)
{
	struct fuse_out_header h = { .len = (uint32_t)(sizeof(h) + len),
				     .error = error,
				     .unique = unique };
	struct iovec v[2] = { { &h, sizeof(h) },
			      { (void *)(uintptr_t)body, len } };

	CHECK(writev(fd, v, len ? 2 : 1) >= 0);
}

static struct fuse_attr attr_of(uint64_t node)
{
	struct fuse_attr a = { .ino = node,
			       .mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 :
							      S_IFREG | 0666,
			       .nlink = 1,
			       .size = 64 << 20,
			       .blksize = 4096 };

	return a;
}

static void serve_one(int fd, const struct fuse_in_header *h, int asked)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
				      .minor = FUSE_KERNEL_MINOR_VERSION,
				      .max_write = 65536,
				      .max_background = 64,
				      .congestion_threshold = 64 };
	struct fuse_entry_out entry = { .nodeid = 2, .attr = attr_of(2) };
	struct fuse_attr_out attr = { .attr = attr_of(h->nodeid) };
	struct fuse_open_out open = { .fh = 1 };

	switch (h->opcode) {
	case FUSE_INIT:
		answer(fd, h->unique, 0, &init, sizeof(init));
		break;
	case FUSE_LOOKUP:
		answer(fd, h->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_GETATTR:
		answer(fd, h->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_OPEN:
		answer(fd, h->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		CHECK(write(asked, "r", 1) == 1);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT: /* no answer to these */
		break;
	default:
		answer(fd, h->unique, -38, NULL, 0); /* ENOSYS */
	}
}

static void serve(int fd, int asked)
{
	static _Alignas(8) char in[FUSE_MIN_READ_BUFFER + 65536];

	while (read(fd, in, sizeof(in)) > 0)
		serve_one(fd, (struct fuse_in_header *)in, asked);
	_exit(0);
}

static const char *fuse_mount(int fd)
{
	static char where[64];
	char options[128];

	snprintf(where, sizeof(where), "/tmp/never.%d", getpid());
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40755,user_id=0,group_id=0,allow_other", fd);
	if (mkdir(where, 0755) ||
	    mount("never", where, "fuse", MS_NODEV | MS_NOSUID, options))
		return NULL;
	return where;
}

static void fuse_make(struct never *n, size_t len)
{
	int pipe_fds[2], file, fd = open("/dev/fuse", O_RDWR);
	const char *where;
	char path[96];

	CHECK(fd >= 0 && !pipe(pipe_fds));
	where = fuse_mount(fd);
	CHECK(where);
	n->server = fork();
	if (n->server == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve(fd, pipe_fds[1]);
	}
	CHECK(n->server > 0);
	close(fd);
	close(pipe_fds[1]);
	n->asked = pipe_fds[0];
	snprintf(path, sizeof(path), "%s/file", where);
	file = open(path, O_RDWR);
	CHECK(file >= 0);
	n->mem = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	CHECK(n->mem != MAP_FAILED);
	close(file);
	umount2(where, MNT_DETACH); /* what is mapped stays */
	rmdir(where);
}

/* --- either --- */

bool never_can(enum never_kind kind)
{
	int fd = kind == NEVER_UFFD ? uffd_open() : open("/dev/fuse", O_RDWR);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void never_make(struct never *n, enum never_kind kind, size_t len)
{
	memset(n, -1, sizeof(*n));
	if (kind == NEVER_UFFD)
		uffd_make(n, len);
	else
		fuse_make(n, len);
}

bool never_is_touched(const struct never *n)
{
	struct pollfd p = { .fd = n->fd >= 0 ? n->fd : n->asked,
			    .events = POLLIN };

	return poll(&p, 1, WAIT_MS) == 1 && p.revents & POLLIN;
}
