/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A page fetched by userfaultfd and a TCP connection, and nothing else: the least that
 * shared memory between processes can cost in user space. A thread reads faults, asks
 * for the page with 8 bytes and puts in place what comes; the other process answers.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static int sock, uffd;
static char *memory;

static void need(int cond, const char *what)
{
	if (cond)
		return;
	perror(what);
	exit(1);
}

/* Two ends of a connection over loopback. */
static void connect_pair(int ends[2])
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int one = 1, l = socket(AF_INET, SOCK_STREAM, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	need(!bind(l, (struct sockaddr *)&a, len) && !listen(l, 1), "listen");
	need(!getsockname(l, (struct sockaddr *)&a, &len), "getsockname");
	ends[0] = socket(AF_INET, SOCK_STREAM, 0);
	need(!connect(ends[0], (struct sockaddr *)&a, len), "connect");
	ends[1] = accept(l, NULL, NULL);
	need(ends[1] >= 0, "accept");
	for (int i = 0; i < 2; i++)
		setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &one,
			   sizeof(one));
	close(l);
}

static void serve(int s)
{
	static char page[PAGE];
	uint64_t which;

	memset(page, 1, sizeof(page));
	while (recv(s, &which, sizeof(which), MSG_WAITALL) == sizeof(which))
		need(send(s, page, PAGE, 0) == PAGE, "send");
	_exit(0);
}

static void *handle(void *arg)
{
	static char page[PAGE];
	struct uffd_msg m;

	while (read(uffd, &m, sizeof(m)) == sizeof(m)) {
		uint64_t at = m.arg.pagefault.address & ~(uint64_t)(PAGE - 1);
		struct uffdio_copy c = { .dst = at,
					 .src = (uint64_t)(uintptr_t)page,
					 .len = PAGE };

		need(send(sock, &at, sizeof(at), 0) == sizeof(at), "send");
		need(recv(sock, page, PAGE, MSG_WAITALL) == PAGE, "recv");
		need(!ioctl(uffd, UFFDIO_COPY, &c), "copy");
	}
	return NULL;
}

static void watch(size_t bytes)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register reg = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(memory != MAP_FAILED, "mmap");
	madvise(memory, bytes, MADV_NOHUGEPAGE);
	uffd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	need(uffd >= 0 && !ioctl(uffd, UFFDIO_API, &api), "userfaultfd");
	reg.range.start = (uint64_t)(uintptr_t)memory;
	reg.range.len = bytes;
	need(!ioctl(uffd, UFFDIO_REGISTER, &reg), "register");
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(size_t pages)
{
	double *took = calloc(pages, sizeof(*took));

	need(took != NULL, "calloc");
	for (size_t i = 0; i < pages; i++) {
		double start = now_us();

		if (*(volatile char *)(memory + i * PAGE) != 1)
			exit(1);
		took[i] = now_us() - start;
	}
	qsort(took, pages, sizeof(*took), by_size);
	printf("page fetch, plain: median %.2f us, p90 %.2f us, %zu pages\n",
	       took[pages / 2], took[pages * 9 / 10], pages);
	free(took);
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	pthread_t thread;
	int ends[2];
	pid_t child;

	connect_pair(ends);
	child = fork();
	need(child >= 0, "fork");
	if (!child) {
		close(ends[0]);
		serve(ends[1]);
	}
	close(ends[1]);
	sock = ends[0];
	watch(pages * PAGE);
	need(!pthread_create(&thread, NULL, handle, NULL), "thread");
	measure(pages);
	shutdown(sock, SHUT_RDWR);
	waitpid(child, NULL, 0);
	return 0;
}
