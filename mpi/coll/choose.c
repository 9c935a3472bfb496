/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The choice of an algorithm. */
#include "coll/choose.h"

#include "coll/ranges.h"

struct row {
	enum coll_id id;
	const char *name;
	coll_fn *run;
	bool (*when)(const struct coll *k, const struct coll_args *a);
	struct coll_range ranks, bytes;
};

/* --- conditions --- */

static bool always(const struct coll *k, const struct coll_args *a)
{
	return true;
}

static bool power_of_two(const struct coll *k, const struct coll_args *a)
{
	return (k->c->size & (k->c->size - 1)) == 0;
}

static bool commutes(const struct coll *k, const struct coll_args *a)
{
	return a->op->commutes;
}

/* There is at least one element for each rank. */
static bool can_be_cut(const struct coll *k, const struct coll_args *a)
{
	return a->r.count >= k->c->size;
}

static bool can_be_cut_and_commutes(const struct coll *k,
				    const struct coll_args *a)
{
	return can_be_cut(k, a) && commutes(k, a);
}

/* --- the table --- */

static const struct row rows[] = {
#define COLL_ROW(collective, algorithm, when, ranks, bytes) \
	{ COLL_##collective, #algorithm,                    \
	  coll_##collective##_##algorithm, when, ranks, bytes },
#include "coll/table.def"
#undef COLL_ROW
	{ .id = COLL_IDS },
};

/* Rows of a collective stand together, in the order of the ids. */
static const struct row *first_row[COLL_IDS];

static __attribute__((constructor)) void find_rows(void)
{
	for (const struct row *r = rows; r->id < COLL_IDS; r++)
		if (!first_row[r->id])
			first_row[r->id] = r;
}

static inline bool in(const struct coll_range *range, int64_t n)
{
	return n >= range->from && n <= range->to;
}

int coll_choose(enum coll_id id, const struct coll *k,
		const struct coll_args *a, MPI_Count bytes)
{
	const struct row *r = first_row[id];

	while (!in(&r->ranks, k->c->size) || !in(&r->bytes, bytes) ||
	       !r->when(k, a))
		r++;
	return r->run(k, a);
}
