// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * dsm PAGES: what it takes the whole machine that rank 1 reads pages that are clean at
 * their home, rank 0: instructions, context switches, and messages for a fault. Rank 2 has
 * read them before, so nobody may write them any more. Then rank 1 writes them, and rank 2's
 * copies are in the way. Lines of JSON.
 */
#include <o2g.h>
#include <o2g_dsm.h>
#include <stdbool.h>
#include <stdlib.h>

#include "mark.h"

/* Homes are spread page by page: these are at rank 0 from the beginning, and everybody
 * knows it. */
#define STEP (3 * O2G_DSM_PAGE)

static void check(int result)
{
	if (result >= 0)
		return;
	fprintf(stderr, "dsm: %s\n", o2g_strerror(result));
	exit(1);
}

static unsigned long long switches(void)
{
	FILE *f = fopen("/proc/stat", "r");
	unsigned long long n = 0;
	char line[4096];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "ctxt %llu", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

static void read_all(const char *base, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		if (*(const volatile char *)(base + i * STEP) != 1)
			exit(1);
}

static void write_all(char *base, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(base + i * STEP) = 2;
}

static unsigned long long messages(struct o2g_dsm *r)
{
	struct o2g_dsm_stats s;

	check(o2g_dsm_stats(r, &s));
	return s.messages;
}

static void measure(char *base, size_t pages, bool writes)
{
	unsigned long long user = 0, kernel = 0, before = switches();

	lab_count_begin();
	if (writes)
		write_all(base, pages);
	else
		read_all(base, pages);
	lab_count_end(&user, &kernel);
	printf("{\"pages\": %zu, \"access\": \"%s\", \"programs\": %.0f, \"kernel\": %.0f, \"switches\": %.2f}\n",
	       pages, writes ? "write" : "read", (double)user / (double)pages,
	       (double)kernel / (double)pages,
	       (double)(switches() - before) / (double)pages);
}

/* All take part: rank 1 in the first place, and the others serve it. */
static void round_of(struct o2g_dsm *r, size_t pages, bool writes)
{
	char *base = o2g_dsm_base(r), *first = base + pages * STEP;
	unsigned long long before;

	check(o2g_dsm_barrier(r, 0, 0));
	before = messages(r);
	check(o2g_dsm_barrier(r, 0, 0));
	if (o2g_dsm_rank() == 1) {
		if (writes)
			write_all(first, 1);
		else
			read_all(first, 1);
		measure(base, pages, writes);
	}
	check(o2g_dsm_barrier(r, 0, 0));
	printf("{\"rank\": %d, \"access\": \"%s\", \"messages\": %.2f}\n",
	       o2g_dsm_rank(), writes ? "write" : "read",
	       (double)(messages(r) - before) / (double)(pages + 1));
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 500;
	struct o2g_dsm *r;
	char *base;

	check(o2g_dsm_init());
	check(o2g_dsm_create("show", (pages + 1) * STEP, 0, &r));
	base = o2g_dsm_base(r);
	for (size_t i = 0; !o2g_dsm_rank() && i <= pages; i++)
		base[i * STEP] = 1;
	check(o2g_dsm_barrier(r, 0, 0));
	if (o2g_dsm_rank() == 2)
		read_all(base, pages + 1);
	round_of(r, pages, false);
	round_of(r, pages, true);
	check(o2g_dsm_close(r));
	check(o2g_dsm_finalize());
	return 0;
}
