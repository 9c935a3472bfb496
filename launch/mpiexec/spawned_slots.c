// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Which hosts have room. A slot is taken by a rank that runs, of this job or of one
 * that was spawned, and is free again when that ends. When all are taken, hosts get
 * more ranks than slots, evenly.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "spawned.h"
#include "util.h"

struct room {
	char *listed; /* as mpiexec is told it, */
	char *node;   /* and as nodes are called */
	int slots, used, given;
};

struct rooms {
	struct room *at;
	int n;
};

void taken_add(struct taken **list, int *count, const char *host, int ranks)
{
	*list = xrealloc(*list, (*count + 1) * sizeof(**list));
	(*list)[(*count)++] = (struct taken){ xstrdup(host), ranks };
}

void taken_free(struct taken **list, int *count)
{
	for (int i = 0; i < *count; i++)
		free((*list)[i].host);
	free(*list);
	*list = NULL;
	*count = 0;
}

/* --- which there are --- */

static char *as_listed(const struct host_slots *h)
{
	const char *front = strchr(h->name, ':') ? "[" : "";
	const char *end = *front ? "]" : "";

	return h->user ? xprintf("%s@%s", h->user, h->name) :
			 xprintf("%s%s%s", front, h->name, end);
}

static void add_room(struct rooms *r, const struct host_slots *h)
{
	int slots = job.opt->ppn ? job.opt->ppn : h->slots;
	char *node = hosts_node_name(job.opt, h);

	for (int i = 0; i < r->n; i++) {
		if (strcasecmp(r->at[i].node, node))
			continue;
		if (!job.opt->ppn)
			r->at[i].slots += slots;
		free(node);
		return;
	}
	r->at = xrealloc(r->at, (r->n + 1) * sizeof(*r->at));
	r->at[r->n++] = (struct room){ .listed = as_listed(h),
				       .node = node,
				       .slots = slots };
}

/* -usize may say more than the hosts have. */
static void stretch(struct rooms *r)
{
	int sum = 0, more;

	for (int i = 0; i < r->n; i++)
		sum += r->at[i].slots;
	more = job.opt->universe - sum;
	for (int i = 0; i < r->n && more > 0; i++)
		r->at[i].slots += more / r->n + (i < more % r->n);
}

static void use(struct rooms *r, const char *node, int ranks)
{
	for (int i = 0; i < r->n; i++)
		if (!strcasecmp(r->at[i].node, node))
			r->at[i].used += ranks;
}

static void find_rooms(struct rooms *r)
{
	const struct options *opt = job.opt;

	for (size_t i = 0; i < opt->hosts.n; i++)
		add_room(r, &opt->hosts.at[i]);
	for (int a = 0; a < opt->napps; a++)
		for (size_t i = 0; i < opt->apps[a].hosts.n; i++)
			add_room(r, &opt->apps[a].hosts.at[i]);
	stretch(r);
	for (int k = 0; k < job.place.size; k++)
		if (!job.ranks[k].exited)
			use(r, job_host(k), 1);
	for (const struct spawned *s = spawned_first(); s; s = s->next)
		for (int i = 0; s->pid && i < s->ntaken; i++)
			use(r, s->taken[i].host, s->taken[i].ranks);
}

static void free_rooms(struct rooms *r)
{
	for (int i = 0; i < r->n; i++) {
		free(r->at[i].listed);
		free(r->at[i].node);
	}
	free(r->at);
}

/* --- who gets which --- */

static int free_slots(const struct room *r)
{
	int n = r->slots - r->used - r->given;

	return n > 0 ? n : 0;
}

static bool is_emptier(const struct room *a, const struct room *b)
{
	return (long)(a->used + a->given) * b->slots <
	       (long)(b->used + b->given) * a->slots;
}

static struct room *next_room(struct rooms *r)
{
	struct room *best = &r->at[0];

	for (int i = 0; i < r->n; i++)
		if (free_slots(&r->at[i]))
			return &r->at[i];
	for (int i = 1; i < r->n; i++)
		if (is_emptier(&r->at[i], best))
			best = &r->at[i];
	return best;
}

static char *list_of(const struct rooms *r, struct spawn_plan *p)
{
	struct buf b = { 0 };

	for (int i = 0; i < r->n; i++) {
		char *one;

		if (!r->at[i].given)
			continue;
		one = xprintf("%s%s:%d", buf_len(&b) ? "," : "",
			      r->at[i].listed, r->at[i].given);
		buf_append(&b, one, strlen(one));
		free(one);
		taken_add(&p->taken, &p->ntaken, r->at[i].node, r->at[i].given);
	}
	if (!buf_len(&b))
		return NULL;
	buf_append(&b, "", 1);
	return b.data;
}

char *spawn_place(struct spawn_plan *p, int n, bool soft)
{
	struct rooms r = { 0 };
	char *list;

	find_rooms(&r);
	for (int i = 0; i < p->ntaken; i++) /* by programs before this one */
		use(&r, p->taken[i].host, p->taken[i].ranks);
	for (int i = 0; i < n; i++) {
		struct room *k = next_room(&r);

		if (soft && !free_slots(k))
			break;
		k->given++;
	}
	list = list_of(&r, p);
	free_rooms(&r);
	return list;
}
