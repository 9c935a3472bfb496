/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `killed SEED MICROSECONDS`: all work on shared pages, locks and barriers; one of them,
 * chosen by the seed, kills itself after that time. All others must notice: by an error
 * of a call, or by a SIGBUS at a page that is gone. Nobody may wait for ever.
 */
#include "dsm_test.h"

#include <signal.h>
#include <unistd.h>

#define PAGES 32

static int rank, told;

/* With write(): it may be called from a signal handler. */
static void leave(const char *why)
{
	char line[100];
	int n = snprintf(line, sizeof(line), "rank %d: %s, goes\n", rank, why);

	if (write(1, line, (size_t)n) != n)
		_exit(1);
	MPI_Finalize();
	_exit(0);
}

static void bus(int sig)
{
	static const char line[] = "a page is gone: goes\n";

	_exit(write(1, line, sizeof(line) - 1) < 0);
}

static void loss(void *arg, int who)
{
	__atomic_store_n(&told, 1 + who, __ATOMIC_SEQ_CST);
}

static void die(int sig)
{
	kill(getpid(), SIGKILL);
}

static void must(struct o2g_dsm *r, int result)
{
	struct o2g_dsm_stats s;

	if (!result)
		return;
	CHECK(result == -O2G_ERR_PEER);
	/* And it stays so, for every call, and the program was told. */
	CHECK(o2g_dsm_lock(r, 1) == -O2G_ERR_PEER);
	CHECK(o2g_dsm_barrier(r, 9, 0) == -O2G_ERR_PEER);
	CHECK(o2g_dsm_stats(r, &s) == 0);
	for (int i = 0; i < 200 && !__atomic_load_n(&told, __ATOMIC_SEQ_CST);
	     i++)
		usleep(10000);
	CHECK(told);
	leave("an error");
}

static void work(struct o2g_dsm *r, unsigned seed)
{
	volatile long *at = o2g_dsm_base(r);

	for (unsigned i = 0;; i++) {
		long *page = (long *)at + rand_r(&seed) % PAGES * 512;

		switch (rand_r(&seed) % 8) {
		case 0:
			must(r, o2g_dsm_lock(r, 3));
			at[1]++;
			must(r, o2g_dsm_unlock(r, 3));
			break;
		case 1:
			must(r, o2g_dsm_add(r, 4, 1, NULL));
			break;
		case 2:
		case 3:
			__atomic_fetch_add(page, 1, __ATOMIC_RELAXED);
			break;
		default:
			(void)__atomic_load_n(page, __ATOMIC_RELAXED);
		}
		if (i % 50 == 0)
			must(r, o2g_dsm_barrier(r, 5, 0));
	}
}

int main(int argc, char **argv)
{
	unsigned seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
	unsigned us = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 1000;
	struct o2g_dsm *r;

	MPI_Init(&argc, &argv);
	OK(o2g_dsm_init());
	rank = o2g_dsm_rank();
	OK(o2g_dsm_create("killed", PAGES * O2G_DSM_PAGE, 0, &r));
	OK(o2g_dsm_on_loss(r, loss, NULL));
	OK(o2g_dsm_barrier(r, 1, 0));
	signal(SIGBUS, bus);
	signal(SIGALRM, die);
	if ((unsigned)rank == seed % (unsigned)o2g_dsm_size())
		ualarm(us ? us : 1, 0);
	work(r, seed + (unsigned)rank);
}
