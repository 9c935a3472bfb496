// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "perf.h"

#include <stdio.h>
#include <string.h>

void perf_print_parameters(struct perf *p)
{
	const struct perf_option *o = p->command->options;
	char version[MPI_MAX_LIBRARY_VERSION_STRING];
	int len;

	if (p->rank || p->json)
		return;
	MPI_Get_library_version(version, &len);
	version[strcspn(version, ",\n")] = '\0';
	printf("# %s, %d ranks, %s of %d x %g ms, %s%s%s", p->command->name,
	       p->ranks, p->best ? "best" : "median", p->reps,
	       p->rep_time * 1e3, version, p->pin ? ", pinned" : "",
	       p->check ? ", data checked" : "");
	for (; o && o->name; o++)
		printf(", %s %ld", o->name, *o->value);
	printf("\n");
}

void perf_cell(struct perf *p, const char *title, double value)
{
	if (p->n_cells == PERF_MAX_CELLS)
		perf_fail("more than %d columns", PERF_MAX_CELLS);
	p->cells[p->n_cells++] = (struct perf_cell){ title, value };
}

void perf_cells_percentiles(struct perf *p, const struct perf_time *t,
			    double scale)
{
	if (!p->samples)
		return;
	perf_cell(p, "min", t->min * scale * 1e6);
	perf_cell(p, "p50", t->p50 * scale * 1e6);
	perf_cell(p, "p90", t->p90 * scale * 1e6);
	perf_cell(p, "p99", t->p99 * scale * 1e6);
	perf_cell(p, "max", t->max * scale * 1e6);
}

static int width_of(const struct perf *p, int i)
{
	int len = strlen(p->cells[i].title) + 1;

	return len > 10 ? len : 10;
}

static void print_titles(const struct perf *p)
{
	for (int i = 0; i < p->n_cells; i++)
		printf(" %*s", width_of(p, i), p->cells[i].title);
	printf("\n");
}

static void print_values(const struct perf *p)
{
	for (int i = 0; i < p->n_cells; i++) {
		double value = p->cells[i].value;

		if (value == (long)value)
			printf(" %*ld", width_of(p, i), (long)value);
		else
			printf(" %*.3f", width_of(p, i), value);
	}
	printf("\n");
}

static void print_json(const struct perf *p)
{
	printf("{\"bench\":\"%s\"", p->command->name);
	for (int i = 0; i < p->n_cells; i++)
		printf(",\"%s\":%.9g", p->cells[i].title, p->cells[i].value);
	printf("}\n");
}

void perf_row_end(struct perf *p)
{
	if (p->rank == 0) {
		if (!p->titled && !p->json)
			print_titles(p);
		(p->json ? print_json : print_values)(p);
		fflush(stdout);
	}
	p->titled = true;
	p->n_cells = 0;
}
