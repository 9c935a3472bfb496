/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The algorithms of MPI's collectives: which would be taken when. */
#include <stdio.h>
#include <string.h>

#include "coll/asked.h"
#include "info.h"
#include "settings.h"

#define ASKED_MAX 64

/* 4096 as 4k, where that says all. */
static void print_bytes(int64_t n)
{
	if (n >= 1 << 20 && n % (1 << 20) == 0)
		printf("%lldM", (long long)(n >> 20));
	else if (n >= 1 << 10 && n % (1 << 10) == 0)
		printf("%lldk", (long long)(n >> 10));
	else
		printf("%lld", (long long)n);
}

static void print_ranks(const struct coll_range *r)
{
	if (r->from == 0 && r->to == COLL_MANY)
		return;
	printf(" %lld", (long long)r->from);
	if (r->to == COLL_MANY)
		printf("-");
	else if (r->to != r->from)
		printf("-%lld", (long long)r->to);
	printf(" ranks");
}

static void print_sizes(const struct coll_range *r)
{
	if (r->from == 0 && r->to == COLL_MANY)
		return;
	printf(" ");
	if (r->from)
		print_bytes(r->from);
	printf("-");
	if (r->to != COLL_MANY)
		print_bytes(r->to);
	printf(" bytes");
}

/* The condition, in words; that of shared memory goes without saying. */
static void print_when(const char *when)
{
	if (!strcmp(when, "always") || !strncmp(when, "shared", 6))
		return;
	printf(" if ");
	for (; *when; when++)
		putchar(*when == '_' ? ' ' : *when);
}

static void print_row(const struct coll_name *r)
{
	printf("%s", r->algorithm);
	if (r->ranks.from > r->ranks.to) {
		printf(" if asked for");
		return;
	}
	print_ranks(&r->ranks);
	print_sizes(&r->bytes);
	print_when(r->when);
}

void info_coll_text(void)
{
	struct coll_asked asked[ASKED_MAX];
	int n = coll_asked_read(o2g_settings()->coll, asked, ASKED_MAX);

	puts("\ncollectives: the first algorithm that can be used");
	for (const struct coll_name *r = coll_names; r->collective; r++) {
		bool first = r == coll_names ||
			     strcmp(r->collective, r[-1].collective);
		bool last = !r[1].collective ||
			    strcmp(r->collective, r[1].collective);

		if (first)
			printf("  %-20s ", r->collective);
		for (int i = 0; first && i < n; i++) {
			const struct coll_name *a = &coll_names[asked[i].row];

			if (strcmp(a->collective, r->collective))
				continue;
			printf("O2G_COLL: %s", a->algorithm);
			print_sizes(&asked[i].bytes);
			printf("; ");
		}
		print_row(r);
		fputs(last ? "\n" : "; ", stdout);
	}
}

void info_coll_json(void)
{
	puts("  \"collectives\": [");
	for (const struct coll_name *r = coll_names; r->collective; r++)
		printf("    { \"name\": \"%s\", \"algorithm\": \"%s\", "
		       "\"ranks\": [%lld, %lld], \"bytes\": [%lld, %lld] }%s\n",
		       r->collective, r->algorithm, (long long)r->ranks.from,
		       (long long)r->ranks.to, (long long)r->bytes.from,
		       (long long)r->bytes.to, r[1].collective ? "," : "");
	puts("  ],");
}
