/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: dsm/proto/node.c dsm/proto/home.c dsm/proto/proto.c tests/mock/dsm_world.c */
/*
 * Every state that the shared memory's protocol can reach.
 *
 * A few nodes read and write as they like, packets of each pair arrive in order and
 * otherwise at any time, and a node may die at any moment. Where operations are not
 * counted, all states that there are are visited, however long it takes to get there.
 * Where they are, a state that is met again on the way that led to it would be a run
 * without an end; there must be none. In every state there is one writer or readers
 * only, whoever reads finds the latest write, and nobody waits when nothing happens.
 * tests/system/dsm_mutants.sh shows that it finds mistakes.
 *
 * A state is known by 128 bits of it. What is printed when a check fails are the steps
 * that led there.
 */
#include "dsm_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct seen {
	u64 a, b; /* both 0: free */
	bool open;
};

/* A state on the way to the present one. */
struct level {
	struct world w;
	struct w_step steps[W_STEPS];
	unsigned n, next;
	size_t at; /* in the table */
};

struct search {
	const struct w_rules *rules;
	struct seen *table;
	size_t size, used;
	struct level *way;
	size_t depth, room;
	unsigned long steps;
};

static u64 mix(u64 h, u64 x)
{
	h ^= x;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static void name_state(const struct world *w, u64 *a, u64 *b)
{
	u64 x;

	*a = 1;
	*b = 0x6a09e667f3bcc909ull;
	for (size_t i = 0; i + sizeof(x) <= sizeof(*w); i += sizeof(x)) {
		memcpy(&x, (const char *)w + i, sizeof(x));
		*a = mix(*a, x);
		*b = mix(*b, x ^ *a >> 32);
	}
}

static size_t find(const struct search *s, u64 a, u64 b)
{
	size_t i = a & (s->size - 1);

	while ((s->table[i].a || s->table[i].b) &&
	       (s->table[i].a != a || s->table[i].b != b))
		i = (i + 1) & (s->size - 1);
	return i;
}

static void *need(void *p)
{
	if (!p) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

static void grow(struct search *s)
{
	struct seen *old = s->table;
	size_t n = s->size;

	s->size *= 2;
	s->table = need(calloc(s->size, sizeof(*old)));
	for (size_t i = 0; i < n; i++)
		if (old[i].a || old[i].b)
			s->table[find(s, old[i].a, old[i].b)] = old[i];
	free(old);
	for (size_t d = 0; d < s->depth; d++) {
		u64 a, b;

		name_state(&s->way[d].w, &a, &b);
		s->way[d].at = find(s, a, b);
	}
}

static int report(const struct search *s, const char *wrong)
{
	struct world w = s->way[s->depth - 1].w;

	fprintf(stderr, "%s, after\n", wrong);
	for (size_t d = 0; d < s->depth; d++)
		if (s->way[d].next)
			w_print(s->way[d].steps[s->way[d].next - 1]);
	w_take(&w, s->rules,
	       s->way[s->depth - 1].steps[s->way[s->depth - 1].next - 1]);
	w_show(&w, s->rules);
	return -1;
}

/* 1: it is new and now the last of the way. 0: known. -1: an endless run. */
static int enter(struct search *s, const struct world *w)
{
	u64 a, b;
	size_t i;

	if (s->used * 2 > s->size)
		grow(s);
	name_state(w, &a, &b);
	i = find(s, a, b);
	if (s->table[i].a || s->table[i].b)
		return s->table[i].open && s->rules->operations ?
			       report(s, "a run without an end") :
			       0;
	s->table[i] = (struct seen){ a, b, true };
	s->used++;
	if (s->depth == s->room) {
		s->room = s->room ? s->room * 2 : 1024;
		s->way = need(realloc(s->way, s->room * sizeof(*s->way)));
	}
	s->way[s->depth].w = *w;
	s->way[s->depth].n = w_steps(w, s->rules, s->way[s->depth].steps);
	s->way[s->depth].next = 0;
	s->way[s->depth++].at = i;
	return 1;
}

static int search(struct search *s)
{
	struct world w;

	w_begin(&w, s->rules);
	enter(s, &w);
	while (s->depth) {
		struct level *l = &s->way[s->depth - 1];
		const char *wrong;

		if (l->next == l->n) {
			s->table[l->at].open = false;
			s->depth--;
			continue;
		}
		w = l->w;
		wrong = w_take(&w, s->rules, l->steps[l->next++]);
		s->steps++;
		if (wrong)
			return report(s, wrong);
		if (enter(s, &w) < 0)
			return -1;
	}
	return 0;
}

static int explore(const struct w_rules *rules)
{
	struct search s = { .rules = rules, .size = 1 << 16 };
	clock_t start = clock();
	int ret;

	s.table = need(calloc(s.size, sizeof(*s.table)));
	ret = search(&s);
	printf("%u nodes, %u pages, %u operations%s%s%s: %zu states, %lu steps, %.1f s\n",
	       rules->nodes, rules->pages, rules->operations,
	       rules->homes ? ", homes" : "", rules->kill ? ", a death" : "",
	       rules->impatient ? ", no patience" : "", s.used, s.steps,
	       (double)(clock() - start) / CLOCKS_PER_SEC);
	fflush(stdout);
	free(s.table);
	free(s.way);
	return ret;
}

static const struct w_rules worlds[] = {
	/* all that can ever be */
	{ .nodes = 2, .pages = 1 },
	{ .nodes = 2, .pages = 1, .move_after = 2, .homes = true },
	{ .nodes = 2, .pages = 1, .kill = true, .impatient = true },
	{ .nodes = 3, .pages = 1 },
	/* runs that end */
	{ .nodes = 2, .pages = 1, .operations = 4, .move_after = 2 },
	{ .nodes = 2, .pages = 2, .operations = 2, .move_after = 2 },
	{ .nodes = 3, .pages = 1, .operations = 2, .move_after = 1 },
	{ .nodes = 3, .pages = 1, .operations = 2, .kill = true },
	{ .nodes = 3, .pages = 2, .operations = 1, .kill = true, .homes = true },
};

/* The same with more of everything, for make test-long. */
static const struct w_rules large[] = {
	{ .nodes = 3, .pages = 1, .kill = true },
	{ .nodes = 3, .pages = 1, .founders = 1, .move_after = 2 },
	{ .nodes = 3, .pages = 1, .operations = 2, .homes = true },
	{ .nodes = 3,
	  .pages = 1,
	  .operations = 2,
	  .kill = true,
	  .move_after = 1 },
	{ .nodes = 3, .pages = 1, .operations = 3 },
	{ .nodes = 2, .pages = 2, .operations = 3, .move_after = 2 },
	{ .nodes = 3, .pages = 2, .operations = 1, .move_after = 1 },
	{ .nodes = 4, .pages = 1, .operations = 1, .homes = true },
};

static int explore_all(const struct w_rules *rules, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (explore(&rules[i]))
			return 1;
	return 0;
}

/* `model_dsm 3` explores one of the large ones. */
int main(int argc, char **argv)
{
	const char *long_form = getenv("LONG");

	if (argc > 1)
		return explore_all(&large[strtoul(argv[1], NULL, 10)], 1);
	if (explore_all(worlds, sizeof(worlds) / sizeof(worlds[0])))
		return 1;
	if (!long_form || !strcmp(long_form, "0"))
		return 0;
	return explore_all(large, sizeof(large) / sizeof(large[0]));
}
