// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a process does around the driver: it forks, becomes another program, sends its
 * descriptors to itself and others, and takes its memory away. It may have little memory,
 * of which the driver's part is a part, and some that never comes.
 */
#define _GNU_SOURCE
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CGROUPS "/sys/fs/cgroup/"
#define MANY_FDS 80 /* more than a process here has */

/* --- limits --- */

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		errno = 0; /* there are none here, then */
	close(fd);
}

/* One of a few cgroups with little memory. */
static void join_cgroup(void)
{
	char dir[64], path[96], text[32];

	snprintf(dir, sizeof(dir), CGROUPS "fuzz-%u", (unsigned int)below(4));
	write_file(CGROUPS "cgroup.subtree_control", "+memory");
	mkdir(dir, 0755);
	snprintf(path, sizeof(path), "%s/memory.max", dir);
	snprintf(text, sizeof(text), "%llu", (8ull << 20) + below(24ull << 20));
	write_file(path, text);
	snprintf(path, sizeof(path), "%s/cgroup.procs", dir);
	write_file(path, "0");
}

/* Nothing may be pinned: others copy. */
static void little_memory(void)
{
	struct rlimit small = { .rlim_cur = 65536, .rlim_max = 65536 };

	if (setrlimit(RLIMIT_MEMLOCK, &small) || setgid(65534) || setuid(65534))
		perror("little_memory");
}

/* --- memory --- */

/* A page that nobody delivers: whoever comes there stays. */
static void never_there(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register r = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return;
	r.range.start = (uintptr_t)memory + (below(MEMORY) & ~4095ull);
	r.range.len = 4096;
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &r))
		close(fd);
}

/* A file's memory, which becomes shorter: what is beyond its end is a signal. */
static void cut_file(void)
{
	static int fd = -1;
	char *at = memory + (below(MEMORY - 65536) & ~4095ull);

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		if (fd < 0)
			return;
	}
	if (ftruncate(fd, 65536) ||
	    mmap(at, 65536, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
		 0) == MAP_FAILED)
		return;
	if (one_in(2) && ftruncate(fd, below(65536)))
		return;
}

static void change_memory(void)
{
	char *page = memory + (below(MEMORY) & ~4095ull);

	switch (below(6)) {
	case 0:
		mmap(page, 4096, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		break;
	case 1:
		madvise(memory, MEMORY, MADV_DONTNEED);
		break;
	case 2:
		mprotect(page, 4096, (int)below(4));
		break;
	case 3:
		munmap(page, 4096);
		break;
	case 4:
		cut_file();
		break;
	default: /* it may be moved, and what it was is a hole */
		mremap(page, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED,
		       memory + (below(MEMORY) & ~4095ull));
	}
}

/* --- others with the same descriptors --- */

static void forked(int i)
{
	pid_t pid = fork();

	if (!pid) {
		for (int n = 0; n < 20; n++)
			small_calls(eps[i].fd);
		_exit(0);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static bool send_fd(int over, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(over, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

static int take_fd(int over)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte;
	struct iovec v = { &byte, 1 };
	struct msghdr m = { .msg_iov = &v,
			    .msg_iovlen = 1,
			    .msg_control = control,
			    .msg_controllen = sizeof(control) };
	int fd = -1;

	if (recvmsg(over, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) == 1 &&
	    CMSG_FIRSTHDR(&m))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(fd));
	return fd;
}

/*
 * A descriptor on its way to somebody. Sockets that hold each other are found by the
 * kernel's garbage collection, which closes what is in them, in a worker.
 */
static void sent(int fd)
{
	int pair[2], got;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	send_fd(pair[0], fd);
	if (one_in(2)) {
		got = take_fd(pair[1]);
		small_calls(got);
		close(got);
	} else if (one_in(2)) {
		send_fd(pair[0], pair[1]);
		send_fd(pair[1], pair[0]);
	}
	close(pair[0]), close(pair[1]);
}

void around_end(void)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return;
	close(pair[0]), close(pair[1]);
}

/* Only what is on its way, or in a mapping, is left of an endpoint. */
static void sent_away(int i)
{
	int fd = eps[i].fd;

	sent(fd);
	if (one_in(2)) {
		close(fd);
		open_endpoint(i);
	}
}

/* --- another program --- */

static void become_another(void)
{
	if (one_in(2))
		for (int fd = 3; fd < MANY_FDS; fd++)
			if (!one_in(4))
				fcntl(fd, F_SETFD, 0);
	execl("/proc/self/exe", "fuzz_dev", AFTER_EXEC, NULL);
}

int around_after_exec(void)
{
	memory = guarded(MEMORY);
	read_only = memory;
	fuzz_seed((uint64_t)getpid() | 1);
	for (;;) {
		small_calls((int)below(MANY_FDS));
		usleep(1000);
	}
}

/* --- */

void around_begin(void)
{
	struct rlimit few = { .rlim_cur = 40, .rlim_max = 40 };

	if (one_in(4))
		join_cgroup();
	memory = guarded(MEMORY);
	read_only = mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	if (one_in(6))
		never_there();
	if (one_in(10))
		setrlimit(RLIMIT_NOFILE, &few);
	if (one_in(3))
		little_memory();
}

static void remap_area(int i)
{
	void *area = eps[i].area;

	if (!area)
		return;
	eps[i].size = 0;
	munmap(area, eps[i].setup.map_size);
	map_area(i);
}

void surroundings(int i)
{
	switch (below(10)) {
	case 0:
	case 1:
	case 2:
		change_memory();
		break;
	case 3:
		forked(i);
		break;
	case 4:
		if (one_in(10))
			remap_area(i);
		break;
	case 5:
		if (one_in(10)) {
			close(eps[i].fd);
			open_endpoint(i);
		}
		break;
	case 6:
		sent(one_in(2) ? socks[below(NSOCKS)] : paper_fd());
		break;
	case 7:
		sent_away(i);
		break;
	case 8:
		if (one_in(40))
			become_another();
		break;
	default:
		close(dup(eps[i].fd));
	}
}
