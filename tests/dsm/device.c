/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `device [SEED [ROUNDS]]`: the device of the module o2g_dsm by hand. What it must refuse,
 * what else programs do with memory that it serves, and nonsense. Runs in a guest of the lab.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <uapi/o2g_dsm.h>
#include <unistd.h>

#define DEVICE "/dev/o2g_dsm"
#define PAGE 4096ul
#define PAGES 16u
#define COUNTS (2 * PAGE) /* more than the counts of as many pages */

#define CHECK(cond)                                                          \
	do {                                                                 \
		if (!(cond)) {                                               \
			fprintf(stderr, "%s:%d: %s does not hold: %s\n",     \
				__FILE__, __LINE__, #cond, strerror(errno)); \
			exit(1);                                             \
		}                                                            \
	} while (0)

static int call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) ? -errno : 0;
}

static int node_of(uint32_t rank, uint32_t nodes)
{
	struct o2gs_setup s = { .size = sizeof(s),
				.version = O2GS_VERSION,
				.rank = rank,
				.nodes = nodes,
				.job = "device" };
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(!call(fd, O2GS_SETUP, &s));
	CHECK(s.port > 0 && s.port < 65536);
	return fd;
}

static void *counts(void)
{
	void *at = mmap(NULL, COUNTS, PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

static int region_of(int node, uint32_t id)
{
	struct o2gs_region r = { .size = sizeof(r),
				 .id = id,
				 .bytes = PAGES * PAGE,
				 .founders = 1,
				 .counts = (uint64_t)(uintptr_t)counts() };

	CHECK(!call(node, O2GS_REGION, &r));
	return r.fd;
}

static char *map(int region)
{
	char *at = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED,
			region, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

/* --- what is refused --- */

static void refuses_setup(void)
{
	struct o2gs_setup good = { .size = sizeof(good),
				   .version = O2GS_VERSION,
				   .nodes = 2,
				   .job = "x" },
			  s;
	int fd = open(DEVICE, O_RDWR);

	CHECK(fd >= 0);
	CHECK(call(fd, O2GS_REGION, &s) == -EBADFD);
	CHECK(call(fd, O2GS_SETUP, NULL) == -EFAULT);
	s = good, s.size = 8;
	CHECK(call(fd, O2GS_SETUP, &s) == -EINVAL);
	s = good, s.version = 99;
	CHECK(call(fd, O2GS_SETUP, &s) == -EPROTO);
	s = good, s.rank = 2;
	CHECK(call(fd, O2GS_SETUP, &s) == -EINVAL);
	s = good, s.nodes = 65;
	CHECK(call(fd, O2GS_SETUP, &s) == -EINVAL);
	s = good, memset(s.job, 'x', sizeof(s.job));
	CHECK(call(fd, O2GS_SETUP, &s) == -EINVAL);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	s = good;
	CHECK(!call(fd, O2GS_SETUP, &s));
	CHECK(call(fd, O2GS_SETUP, &good) == -EALREADY);
	CHECK(call(fd, 0x5363, &s) == -ENOTTY);
	close(fd);
}

static void refuses_peers(void)
{
	int fd = node_of(1, 3);
	struct o2gs_connect good = { .size = sizeof(good), .timeout_ms = 50 },
			    c;

	c = good, c.peer = 1;
	CHECK(call(fd, O2GS_CONNECT, &c) == -EINVAL);
	c = good, c.peer = 3;
	CHECK(call(fd, O2GS_CONNECT, &c) == -EINVAL);
	c = good, c.addr_len = 129;
	CHECK(call(fd, O2GS_CONNECT, &c) == -EINVAL);
	c = good, c.addr_len = 16, c.addr[0] = 99;
	CHECK(call(fd, O2GS_CONNECT, &c) == -EINVAL);
	c = good, c.timeout_ms = 0;
	CHECK(call(fd, O2GS_CONNECT, &c) == -EINVAL);
	c = good;
	CHECK(call(fd, O2GS_CONNECT, &c) == -ETIMEDOUT);
	close(fd);
}

static void refuses_regions(void)
{
	int fd = node_of(0, 2);
	struct o2gs_region good = { .size = sizeof(good),
				    .id = 7,
				    .bytes = PAGES * PAGE,
				    .founders = 1,
				    .counts = (uint64_t)(uintptr_t)counts() },
			   r;

	r = good, r.bytes = 0;
	CHECK(call(fd, O2GS_REGION, &r) == -EINVAL);
	r = good, r.bytes = PAGE + 1;
	CHECK(call(fd, O2GS_REGION, &r) == -EINVAL);
	r = good, r.bytes = 1ull << 50;
	CHECK(call(fd, O2GS_REGION, &r) == -E2BIG);
	r = good, r.bytes = 64ull << 30;
	CHECK(call(fd, O2GS_REGION, &r) == -EDQUOT);
	r = good, r.founders = 4;
	CHECK(call(fd, O2GS_REGION, &r) == -EINVAL);
	r = good, r.founders = 0;
	CHECK(call(fd, O2GS_REGION, &r) == -EINVAL);
	r = good, r.id = 1 << 16;
	CHECK(call(fd, O2GS_REGION, &r) == -EINVAL);
	r = good, r.counts = 4096;
	CHECK(call(fd, O2GS_REGION, &r) == -EFAULT);
	r = good, r.counts++;
	CHECK(call(fd, O2GS_REGION, &r) == -EINVAL);
	r = good;
	CHECK(!call(fd, O2GS_REGION, &r));
	CHECK(call(fd, O2GS_REGION, &good) == -EEXIST);
	close(r.fd);
	CHECK(!call(fd, O2GS_REGION, &good));
	close(fd); /* before the region */
	close(good.fd);
}

static void refuses_maps(void)
{
	int node = node_of(0, 1), r = region_of(node, 1);
	struct o2gs_want w = { .size = sizeof(w),
			       .access = 1,
			       .first = PAGES,
			       .pages = 1 };
	struct o2gs_page p = { .size = sizeof(p), .page = PAGES };
	size_t all = PAGES * PAGE;

	CHECK(mmap(NULL, all, PROT_READ, MAP_PRIVATE, r, 0) == MAP_FAILED);
	CHECK(mmap(NULL, all, PROT_READ | PROT_EXEC, MAP_SHARED, r, 0) ==
	      MAP_FAILED);
	CHECK(mmap(NULL, all + PAGE, PROT_READ, MAP_SHARED, r, 0) ==
	      MAP_FAILED);
	CHECK(mmap(NULL, all, PROT_READ, MAP_SHARED, r, PAGE) == MAP_FAILED);
	CHECK(call(r, O2GS_WANT, &w) == -EINVAL);
	w.first = 0, w.access = 3;
	CHECK(call(r, O2GS_WANT, &w) == -EINVAL);
	w.access = 1, w.home = 1;
	CHECK(call(r, O2GS_WANT, &w) == -EINVAL);
	CHECK(call(r, O2GS_PAGE, &p) == -EINVAL);
	CHECK(call(r, O2GS_SETUP, &p) == -ENOTTY);
	close(r);
	close(node);
}

/* --- what programs do with memory --- */

static void memory(char *at)
{
	char *piece;

	for (unsigned i = 0; i < PAGES; i++)
		CHECK(!at[i * PAGE + 5]);
	for (unsigned i = 0; i < PAGES; i++)
		at[i * PAGE + 5] = (char)(i + 1);
	CHECK(!madvise(at, PAGES * PAGE, MADV_DONTNEED));
	CHECK(at[3 * PAGE + 5] == 4);
	CHECK(!mprotect(at, PAGE, PROT_READ));
	CHECK(at[5] == 1);
	CHECK(mprotect(at, PAGE, PROT_READ | PROT_EXEC));
	CHECK(!mprotect(at, PAGE, PROT_READ | PROT_WRITE));
	at[5]++;
	CHECK(mremap(at, PAGES * PAGE, (PAGES + 1) * PAGE, MREMAP_MAYMOVE) ==
	      MAP_FAILED);
	piece = mremap(at, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		       mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0));
	CHECK(piece != MAP_FAILED && piece[5] == 2);
	CHECK(!munmap(piece, PAGE));
	CHECK(!munmap(at + PAGE, PAGE));
	CHECK(at[2 * PAGE + 5] == 3);
}

static void system_calls(char *at)
{
	struct iovec here = { at + 4 * PAGE, 2 * PAGE };
	char local[2 * PAGE];
	struct iovec there = { local, sizeof(local) };
	int mem = open("/proc/self/mem", O_RDWR), pipes[2];

	CHECK(mem >= 0 && !pipe(pipes));
	CHECK(pread(mem, local, 8, (off_t)(uintptr_t)(at + 5 * PAGE)) == 8);
	CHECK(local[5] == 6);
	CHECK(pwrite(mem, "x", 1, (off_t)(uintptr_t)(at + 5 * PAGE)) == 1);
	CHECK(at[5 * PAGE] == 'x');
	CHECK(process_vm_readv(getpid(), &there, 1, &here, 1, 0) ==
	      2 * (ssize_t)PAGE);
	CHECK(local[PAGE] == 'x');
	memset(local, 'y', sizeof(local));
	CHECK(process_vm_writev(getpid(), &there, 1, &here, 1, 0) ==
	      2 * (ssize_t)PAGE);
	CHECK(at[4 * PAGE] == 'y');
	CHECK(write(pipes[1], at + 4 * PAGE, 100) == 100);
	CHECK(read(pipes[0], at + 6 * PAGE, 100) == 100);
	CHECK(at[6 * PAGE] == 'y');
	close(mem);
	close(pipes[0]);
	close(pipes[1]);
}

static int child_reads(const char *at)
{
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		_exit(*(volatile const char *)at);
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void children(char *at)
{
	at[8 * PAGE] = 42;
	CHECK(child_reads(at + 8 * PAGE) == -SIGSEGV);
	if (madvise(at + 8 * PAGE, PAGE, MADV_DOFORK)) {
		CHECK(errno == EINVAL); /* so it is on the newest kernels */
		return;
	}
	CHECK(child_reads(at + 8 * PAGE) == 42);
}

static void uses(void)
{
	int node = node_of(0, 1), r = region_of(node, 1);
	struct o2gs_want w = { .size = sizeof(w),
			       .access = 2,
			       .pages = PAGES,
			       .home = 1 };
	struct o2gs_page p = { .size = sizeof(p), .page = 3 };
	char *at = map(r);

	memory(at);
	system_calls(at);
	children(at);
	CHECK(!call(r, O2GS_WANT, &w));
	CHECK(!call(r, O2GS_PAGE, &p) && p.home == 0 && p.access == 2);
	close(node);
	close(r); /* the mapping has it */
	CHECK(at[3 * PAGE + 5] == 4);
	munmap(at, PAGES * PAGE);
}

/* A page whose home died: a SIGBUS for whoever touches it, not a wait. */
static void lost_home(void)
{
	int node = node_of(0, 2), status;
	struct o2gs_region a = { .size = sizeof(a),
				 .id = 1,
				 .bytes = PAGES * PAGE,
				 .founders = 3,
				 .counts = (uint64_t)(uintptr_t)counts() };
	struct o2gs_dead d = { .size = sizeof(d), .dead = 2 };
	struct o2gs_want w = { .size = sizeof(w),
			       .access = 1,
			       .first = 1,
			       .pages = 1 };
	char *at;
	pid_t pid;

	CHECK(!call(node, O2GS_REGION, &a));
	at = map(a.fd);
	at[0] = 1;
	pid = fork();
	CHECK(pid >= 0);
	if (!pid) {
		alarm(60);
		_exit(map(a.fd)[PAGE]);
	}
	usleep(200000);
	CHECK(!waitpid(pid, &status, WNOHANG));
	CHECK(!call(node, O2GS_DEAD, &d) && d.dead == 2);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	CHECK(call(a.fd, O2GS_WANT, &w) == -EIO);
	CHECK(at[0] == 1);
	close(a.fd);
	close(node);
	munmap(at, PAGES * PAGE);
}

/* Somebody who waits for a page that never comes can be killed. */
static void killed_waiter(void)
{
	int node = node_of(0, 2), status;
	struct o2gs_region a = { .size = sizeof(a),
				 .id = 1,
				 .bytes = PAGES * PAGE,
				 .founders = 2,
				 .counts = (uint64_t)(uintptr_t)counts() };
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		char *at;

		CHECK(!call(node, O2GS_REGION, &a));
		at = map(a.fd);
		if (fork())
			_exit(at[0]);
		_exit(0);
	}
	usleep(200000);
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	close(node);
}

/* --- nonsense --- */

static uint64_t seed;

static uint64_t next(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	return seed ^= seed << 17;
}

/* Sound but for a few words of it, so that it gets further than the first check. */
static void spoil(void *arg, size_t size)
{
	uint32_t *words = arg;

	for (unsigned i = 0; i < 1 + next() % 3; i++) {
		uint64_t x = next();

		words[1 + x % (size / 4 - 1)] = (uint32_t)(x >> 32) >>
						(x >> 8) % 33 % 32;
	}
}

static void nonsense(int node, int region, char *at)
{
	static const unsigned long requests[] = { O2GS_SETUP,  O2GS_CONNECT,
						  O2GS_REGION, O2GS_DEAD,
						  O2GS_WANT,   O2GS_PAGE };
	union {
		uint32_t size;
		struct o2gs_want want;
		struct o2gs_page page;
		struct o2gs_region region;
		char room[256];
	} a = { .want = { .access = 1, .pages = 1 } };
	unsigned long request = requests[next() % 6];

	a.size = _IOC_SIZE(request);
	if (request == O2GS_REGION)
		a.region.bytes = PAGE, a.region.founders = 1,
		a.region.counts = (uint64_t)(uintptr_t)at;
	spoil(&a, a.size);
	if (request == O2GS_CONNECT)
		((struct o2gs_connect *)&a)->timeout_ms = 1;
	if (!call(next() % 2 ? node : region, request, &a) &&
	    request == O2GS_REGION)
		close(a.region.fd);
	at = mmap(NULL, next() % 20 * PAGE, PROT_READ, MAP_SHARED, region,
		  (off_t)(next() % 20 * PAGE));
	if (at != MAP_FAILED)
		munmap(at, PAGE);
}

static void fuzz(unsigned long rounds)
{
	int node = node_of(0, 2), region = region_of(node, 9);
	char *at = counts();

	for (unsigned long i = 0; i < rounds; i++)
		nonsense(node, region, at);
	close(region);
	close(node);
}

int main(int argc, char **argv)
{
	unsigned long rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;

	seed = (argc > 1 ? strtoul(argv[1], NULL, 10) : 1) *
		       0x9e3779b97f4a7c15ull |
	       1;
	refuses_setup();
	refuses_peers();
	refuses_regions();
	refuses_maps();
	uses();
	lost_home();
	killed_waiter();
	fuzz(rounds);
	return 0;
}
