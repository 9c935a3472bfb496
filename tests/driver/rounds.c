/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * rounds MODULE ROUNDS [SEED [WORDS]]: again and again two processes exchange messages
 * of all sizes over the driver, one is killed with SIGKILL at a random moment,
 * the driver is unloaded and loaded again. The kernel's own memory is looked at
 * every so often: a page lost in each round shows. WORDS are the module's
 * parameters, such as direct=0.
 *
 * What a job of MPI does is more, but starting one takes a second in an emulated
 * machine; lab/tests/drv_kill9.sh does that as well.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dev.h"

#define SLOTS 32
#define MOST (300u << 10) /* bytes; beyond eager, of several packets */
#define LONGEST_US 20000  /* until the kill */
#define LEAK_KB 2	  /* each round: half a page may be chance */

static uint64_t seed;

static uint32_t any(uint32_t limit)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 33) % limit;
}

/* --- the two processes --- */

static uint32_t any_size(void)
{
	static const uint32_t most[] = { 16, 4096, 64 << 10, MOST };

	return any(most[any(4)]) + 1;
}

static void post(struct dev *d, char *buf, uint32_t slot)
{
	uint32_t len = any(2) ? MOST : any_size();

	dev_recv(d, slot, any(2) ? !d->s.rank : O2GD_ANY, any(4),
		 buf + (size_t)slot * MOST, len);
}

static void send_one(struct dev *d, char *buf, bool busy[])
{
	uint32_t len = any_size(), slot = SLOTS / 2 + any(SLOTS / 2);

	if (len <= O2GD_SMALL && any(2)) {
		dev_inject(d, !d->s.rank, any(4), buf, len);
		return;
	}
	if (!busy[slot])
		busy[slot] = dev_submit(d, O2GD_OP_SEND, slot, !d->s.rank,
					any(4), buf + (size_t)slot * MOST,
					len) == 0;
}

/* Take what is complete; false when the other one is gone. */
static bool take(struct dev *d, char *buf, bool busy[])
{
	static char body[MOST];

	while (dev_has(d)) {
		struct o2gd_cqe c = dev_next(d, body, sizeof(body));

		if (c.slot == O2GD_SLOT_PEER)
			return false;
		if (c.slot < SLOTS / 2)
			post(d, buf, c.slot);
		else if (c.slot < SLOTS)
			busy[c.slot] = false;
	}
	return true;
}

/* The lower slots receive, the upper ones send, until somebody dies. */
static void chat(uint32_t rank, int fd)
{
	char *buf = malloc((size_t)SLOTS * MOST);
	bool busy[SLOTS] = { 0 };
	struct dev d;

	CHECK(buf);
	memset(buf, (int)rank, (size_t)SLOTS * MOST);
	seed += rank;
	dev_open(&d, rank, 2, SLOTS);
	CHECK(dev_register(&d, !rank, fd) == 0);
	close(fd);
	for (uint32_t slot = 0; slot < SLOTS / 2; slot++)
		post(&d, buf, slot);
	while (take(&d, buf, busy)) {
		struct o2gd_wait w = { .seen = d.cq_head, .timeout_ms = 5 };

		send_one(&d, buf, busy);
		if (!any(4))
			dev_call(&d, O2GD_WAIT, &w);
	}
}

static pid_t start(uint32_t rank, const int fd[2])
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(60); /* ends whoever does not see the other's death */
	close(fd[!rank]);
	chat(rank, fd[rank]);
	_exit(0); /* without closing anything: that is the kernel's to do */
}

/* --- rounds --- */

static void load(const char *module, const char *words)
{
	int fd = open(module, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	CHECK(!syscall(SYS_finit_module, fd, words, 0));
	close(fd);
}

/* A worker that had borrowed a dead process's memory holds it a little longer. */
static void unload(void)
{
	struct timespec t = { 0, 1000000 };
	int tries = 0;

	while (syscall(SYS_delete_module, "o2g", O_NONBLOCK)) {
		CHECK((errno == EAGAIN || errno == EBUSY) && ++tries < 5000);
		nanosleep(&t, NULL);
	}
}

/* What the kernel holds for itself, kB. */
static long kernel_memory(void)
{
	static const char *const names[] = { "SUnreclaim:", "VmallocUsed:",
					     "Percpu:", "KernelStack:",
					     "PageTables:" };
	FILE *f = fopen("/proc/meminfo", "re");
	long sum = 0, kb;
	char name[64];

	CHECK(f);
	while (fscanf(f, "%63s %ld kB ", name, &kb) == 2)
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			sum += strcmp(name, names[i]) ? 0 : kb;
	fclose(f);
	return sum;
}

/* @how: what became of one of the two. */
static void check_end(int how, bool killed)
{
	CHECK(killed || (WIFEXITED(how) && WEXITSTATUS(how) == 0));
}

static void one_round(const char *module, const char *words)
{
	uint32_t victim = any(2), us = any(LONGEST_US);
	struct timespec t = { 0, us * 1000l };
	int fd[2], how;
	pid_t pid[2];

	load(module, words);
	dev_tcp_pair(fd);
	pid[0] = start(0, fd);
	pid[1] = start(1, fd);
	close(fd[0]);
	close(fd[1]);
	nanosleep(&t, NULL);
	kill(pid[victim], SIGKILL);
	CHECK(waitpid(pid[victim], &how, 0) == pid[victim]);
	check_end(how, true);
	CHECK(waitpid(pid[!victim], &how, 0) == pid[!victim]);
	check_end(how, false);
	unload();
}

int main(int argc, char **argv)
{
	long rounds, first = 0, last = 0;

	if (argc < 3) {
		fprintf(stderr, "usage: rounds MODULE ROUNDS [SEED [WORDS]]\n");
		return 2;
	}
	rounds = strtol(argv[2], NULL, 10);
	seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);
	printf("seed %llu\n", (unsigned long long)seed);
	for (long i = 1; i <= rounds; i++) {
		one_round(argv[1], argc > 4 ? argv[4] : "");
		if (i == rounds / 10) /* caches have filled */
			first = kernel_memory();
		if (i % 100 == 0) {
			printf("%ld rounds, kernel memory %ld kB\n", i,
			       kernel_memory());
			fflush(stdout);
		}
	}
	last = kernel_memory();
	printf("kernel memory: %ld kB after a tenth, %ld kB at the end\n",
	       first, last);
	return last - first > (rounds - rounds / 10) * LEAK_KB + 2048;
}
