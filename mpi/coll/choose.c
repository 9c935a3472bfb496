/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The choice of an algorithm. */
#include "coll/choose.h"

#include "coll/asked.h"
#include "coll/boxes.h"
#include "coll/levels.h"
#include "coll/ranges.h"
#include "coll/shared.h"
#include "settings.h"

/* What a condition looks at. */
struct call {
	const struct coll *k;
	const struct coll_args *a;
	MPI_Count bytes;
};

struct row {
	enum coll_id id;
	coll_fn *run;
	bool (*when)(const struct call *c);
	struct coll_range ranks, bytes;
};

/* --- conditions: the same at all ranks --- */

static bool always(const struct call *c)
{
	return true;
}

static bool power_of_two(const struct call *c)
{
	return (c->k->c->size & (c->k->c->size - 1)) == 0;
}

static bool commutes(const struct call *c)
{
	return c->a->op->commutes;
}

/* There is at least one element for each rank. */
static bool can_be_cut(const struct call *c)
{
	return c->a->r.count >= c->k->c->size;
}

static bool can_be_cut_and_commutes(const struct call *c)
{
	return can_be_cut(c) && commutes(c);
}

/* All ranks share memory, and a blocking call may use it. */
static bool shared(const struct call *c)
{
	return coll_shared_use(c->k);
}

/* ... and the operation and the data are such that rows can be combined. User
 * functions get the program's own layout, which may differ between ranks. */
static bool shared_reduction(const struct call *c)
{
	return c->a->op->predefined && c->a->r.t->predefined &&
	       c->a->r.t->contiguous && coll_shared_use(c->k);
}

/* ... and each block fits into a row. */
static bool shared_blocks(const struct call *c)
{
	const struct coll_side *r = &c->a->r;

	for (int i = 0; i < c->k->c->size; i++) {
		if (coll_count(r, i) * r->t->size > COLL_SHARED_ROW)
			return false;
		if (!r->counts)
			break;
	}
	return coll_shared_use(c->k);
}

/* ... and all blocks of a rank fit into one. */
static bool shared_rows(const struct call *c)
{
	return c->bytes * c->k->c->size <= COLL_SHARED_ROW &&
	       coll_shared_use(c->k);
}

/* ... and these are so short that many calls have room at a time. */
static bool shared_short_rows(const struct call *c)
{
	return c->bytes * c->k->c->size <= COLL_SHARED_SHORT &&
	       coll_shared_use(c->k);
}

/* ... and each block fits into a box. */
static bool shared_boxes(const struct call *c)
{
	return c->bytes <= (MPI_Count)coll_box_room(c->k->c->size) &&
	       coll_shared_use(c->k);
}

/* All ranks can read each other's memory: one copy each, by who receives. */
static bool one_node(const struct call *c)
{
	return coll_place(c->k->c) == COLL_TOGETHER;
}

/* Every rank has a node of its own: messages are dear, waits are not. */
static bool apart(const struct call *c)
{
	return coll_place(c->k->c) == COLL_APART;
}

static bool apart_and_power_of_two(const struct call *c)
{
	return power_of_two(c) && apart(c);
}

/* Ranks are on several nodes, and some share one. */
static bool several_nodes(const struct call *c)
{
	return coll_place(c->k->c) == COLL_IN_LEVELS;
}

static bool several_nodes_and_commutes(const struct call *c)
{
	return commutes(c) && several_nodes(c);
}

/* --- the table --- */

/* Each row with its function: the arguments of any call, as the algorithm takes
 * them. It is named by the row's line. */
#define PASTE(a, b) a##b
#define RUN(line) PASTE(run_, line)

#define COLL_ROW(collective, algorithm, ...) \
	COLL_AS(collective, algorithm, collective, __VA_ARGS__)
#define COLL_AS(collective, algorithm, whose, ...)                        \
	static int RUN(__LINE__)(const struct coll *k,                    \
				 const struct coll_args *a)               \
	{                                                                 \
		return mpii_##whose##_##algorithm COLL_ARGS_##collective; \
	}
#include "coll/table.def"

static const struct row rows[] = {
#define COLL_ROW(collective, algorithm, when, ...) \
	{ COLL_##collective, RUN(__LINE__), when, __VA_ARGS__ },
#include "coll/table.def"
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

/* What O2G_COLL asks for, before the table. */
#define ASKED_MAX 64
static struct coll_asked asked[ASKED_MAX];
static int nasked;

void coll_choose_start(void)
{
	nasked = coll_asked_read(o2g_settings()->coll, asked, ASKED_MAX);
}

static inline bool in(const struct coll_range *range, int64_t n)
{
	return n >= range->from && n <= range->to;
}

static __attribute__((noinline)) const struct row *
asked_row(enum coll_id id, const struct call *c)
{
	for (int i = 0; i < nasked; i++) {
		const struct row *r = &rows[asked[i].row];

		if (r->id == id && in(&asked[i].bytes, c->bytes) && r->when(c))
			return r;
	}
	return NULL;
}

int coll_choose(enum coll_id id, const struct coll *k,
		const struct coll_args *a, MPI_Count bytes)
{
	const struct call c = { k, a, bytes };
	const struct row *r;

	if (mpii_unlikely(nasked) && (r = asked_row(id, &c)))
		return r->run(k, a);
	r = first_row[id];
	while (!in(&r->ranks, k->c->size) || !in(&r->bytes, bytes) ||
	       !r->when(&c))
		r++;
	return r->run(k, a);
}
