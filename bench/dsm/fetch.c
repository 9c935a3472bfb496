/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How long a page takes to come: the second of two processes reads pages that the first
 * has written, one after the other. The same as bench/plain/fetch.c, which has nothing
 * but userfaultfd and a socket: `mpiexec -n 2 fetch [pages]`.
 */
#include <o2g.h>
#include <o2g_dsm.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void check(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "fetch: %s\n", o2g_strerror(result));
	exit(1);
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

static void fetch(const char *base, size_t pages)
{
	double *took = calloc(pages, sizeof(*took));

	if (!took)
		exit(1);
	for (size_t i = 0; i < pages; i++) {
		double start = now_us();

		if (*(const volatile char *)(base + i * O2G_DSM_PAGE) != 1)
			exit(1);
		took[i] = now_us() - start;
	}
	qsort(took, pages, sizeof(*took), by_size);
	printf("page fetch: median %.2f us, p90 %.2f us, %zu pages\n",
	       took[pages / 2], took[pages * 9 / 10], pages);
	free(took);
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	struct o2g_dsm *r;
	char *base;

	check(o2g_dsm_init());
	check(o2g_dsm_create("fetch", pages * O2G_DSM_PAGE, 0, &r));
	base = o2g_dsm_base(r);
	if (!o2g_dsm_rank()) {
		check(o2g_dsm_home_here(r, base, pages * O2G_DSM_PAGE));
		for (size_t i = 0; i < pages; i++)
			base[i * O2G_DSM_PAGE] = 1;
	}
	check(o2g_dsm_barrier(r, 0, 0));
	if (o2g_dsm_rank() == 1) {
		/* who its home is has to be heard once */
		check(o2g_dsm_touch(r, base, O2G_DSM_PAGE, 0));
		fetch(base, pages);
	}
	check(o2g_dsm_barrier(r, 0, 0));
	check(o2g_dsm_close(r));
	check(o2g_dsm_finalize());
	return 0;
}
