// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "start.h"

#include <errno.h>
#include <string.h>

static void put_strings(struct buf *b, const struct strings *l)
{
	buf_put_u32(b, l->n);
	for (size_t i = 0; i < l->n; i++)
		buf_put_str(b, l->at[i]);
}

static void get_strings(struct reader *r, struct strings *l)
{
	uint32_t n = read_u32(r);

	for (uint32_t i = 0; i < n && !r->bad; i++)
		strings_add(l, read_str(r));
}

void start_write(const struct start *s, struct buf *b)
{
	buf_put_str(b, s->host);
	buf_put_str(b, s->kvsname);
	buf_put_str(b, s->mapping);
	buf_put_str(b, s->secret);
	buf_put_u32(b, s->size);
	buf_put_u32(b, s->universe);
	buf_put_str(b, s->bind_to);
	buf_put_str(b, s->map_by);
	buf_put_u32(b, s->bind_width);
	buf_put_u32(b, s->report_bindings);
	buf_put_u32(b, s->spawned);
	put_strings(b, &s->keys);
	buf_put_u32(b, s->napps);
	for (int i = 0; i < s->napps; i++) {
		put_strings(b, &s->apps[i].argv);
		buf_put_str(b, s->apps[i].wdir);
		put_strings(b, &s->apps[i].env);
		buf_put_u32(b, s->apps[i].env_none);
		buf_put_str(b, s->apps[i].path);
	}
	buf_put_u32(b, s->nranks);
	for (int i = 0; i < s->nranks; i++) {
		buf_put_u32(b, s->ranks[i].rank);
		buf_put_u32(b, s->ranks[i].app);
		buf_put_u32(b, s->ranks[i].has_stdin);
		buf_put_str(b, s->ranks[i].cpus);
	}
}

static int get_count(struct reader *r)
{
	uint32_t n = read_u32(r);

	/* Each takes at least a byte. */
	if (n > (size_t)(r->end - r->at))
		r->bad = 1;
	return r->bad ? 0 : n;
}

static void read_app(struct reader *r, struct start_app *a)
{
	get_strings(r, &a->argv);
	a->wdir = xstrdup(read_str(r));
	get_strings(r, &a->env);
	a->env_none = read_u32(r);
	a->path = xstrdup(read_str(r));
	if (!a->argv.n)
		r->bad = 1;
}

static void read_rank(struct reader *r, const struct start *s,
		      struct start_rank *k)
{
	k->rank = read_u32(r);
	k->app = read_u32(r);
	k->has_stdin = read_u32(r);
	k->cpus = xstrdup(read_str(r));
	if (k->app < 0 || k->app >= s->napps || k->rank < 0 ||
	    k->rank >= s->size)
		r->bad = 1;
}

int start_read(struct start *s, struct reader *r)
{
	memset(s, 0, sizeof(*s));
	s->host = xstrdup(read_str(r));
	s->kvsname = xstrdup(read_str(r));
	s->mapping = xstrdup(read_str(r));
	s->secret = xstrdup(read_str(r));
	s->size = read_u32(r);
	s->universe = read_u32(r);
	s->bind_to = xstrdup(read_str(r));
	s->map_by = xstrdup(read_str(r));
	s->bind_width = read_u32(r);
	s->report_bindings = read_u32(r);
	s->spawned = read_u32(r);
	get_strings(r, &s->keys);
	s->napps = get_count(r);
	s->apps = xmalloc(s->napps * sizeof(*s->apps));
	for (int i = 0; i < s->napps; i++)
		read_app(r, &s->apps[i]);
	s->nranks = get_count(r);
	s->ranks = xmalloc(s->nranks * sizeof(*s->ranks));
	for (int i = 0; i < s->nranks; i++)
		read_rank(r, s, &s->ranks[i]);
	return r->bad ? -EPROTO : 0;
}
