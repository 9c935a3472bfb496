// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "hosts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "args.h"
#include "buf.h"
#include "rankfile.h"
#include "soft.h"
#include "util.h"

/* One of the addresses of this machine's interfaces? */
static bool is_own_address(const char *name)
{
	unsigned char want[16], *at;
	struct ifaddrs *list, *i;
	bool found = false;
	int family = strchr(name, ':') ? AF_INET6 : AF_INET;
	char *bare = xprintf("%.*s", (int)strcspn(name, "%"), name);
	int is_address = inet_pton(family, bare, want);

	free(bare);
	if (is_address != 1 || getifaddrs(&list))
		return false;
	for (i = list; i && !found; i = i->ifa_next) {
		if (!i->ifa_addr || i->ifa_addr->sa_family != family)
			continue;
		at = family == AF_INET ?
			     (void *)&((struct sockaddr_in *)i->ifa_addr)
				     ->sin_addr :
			     (void *)&((struct sockaddr_in6 *)i->ifa_addr)
				     ->sin6_addr;
		found = !memcmp(at, want, family == AF_INET ? 4 : 16);
	}
	freeifaddrs(list);
	return found;
}

bool host_is_here(const char *name)
{
	char self[256] = "";
	size_t n;

	if (!strcasecmp(name, "localhost") || !strncmp(name, "127.", 4) ||
	    !strcmp(name, "::1") || is_own_address(name))
		return true;
	gethostname(self, sizeof(self) - 1);
	if (!strcasecmp(name, self))
		return true;
	/* The short name of the long one, or the other way round. */
	n = strcspn(name, ".");
	return n == strcspn(self, ".") && !strncasecmp(name, self, n) &&
	       (!name[n] || !self[n]);
}

/* The name of this machine, when @name is one of several for it. */
static const char *canonical(const char *name, const char *self)
{
	return self && host_is_here(name) ? self : name;
}

static int find_node(struct placement *p, const char *name)
{
	for (int i = 0; i < p->nnodes; i++)
		if (!strcasecmp(p->nodes[i], name))
			return i;
	p->nodes = xrealloc(p->nodes, (p->nnodes + 1) * sizeof(*p->nodes));
	p->nodes[p->nnodes] = xstrdup(name);
	return p->nnodes++;
}

static int slots_of(const struct host_slots *at, int ppn)
{
	return ppn ? ppn : at->slots;
}

/* Each host takes its slots (or -ppn) in turn, and after the last the first comes
 * again, so there may be more ranks than slots. */
static size_t next_by_slot(struct hosts *h, int ppn)
{
	size_t i = h->next;

	if (++h->used >= slots_of(&h->at[i], ppn)) {
		h->used = 0;
		h->next = (i + 1) % h->n;
	}
	return i;
}

/* One for each host in turn, as long as it has slots; when none has any left, all
 * have as many again. */
static size_t next_by_node(struct hosts *h, int ppn)
{
	for (int again = 0; again < 2; again++) {
		for (size_t k = 0; k < h->n; k++) {
			size_t i = (h->next + k) % h->n;

			if (h->at[i].taken >= slots_of(&h->at[i], ppn))
				continue;
			h->at[i].taken++;
			h->next = (i + 1) % h->n;
			return i;
		}
		for (size_t k = 0; k < h->n; k++)
			h->at[k].taken = 0;
	}
	return 0; /* every host has a slot */
}

static const struct host_slots *next_host(struct hosts *h,
					  const struct options *opt)
{
	size_t i = opt->by_node ? next_by_node(h, opt->ppn) :
				  next_by_slot(h, opt->ppn);
	struct host_slots *at = &h->at[i];

	if (at->max && ++at->ranks > at->max)
		fail(EXIT_USAGE,
		     "host %s is to have at most %d ranks (max_slots), and the job needs more; add hosts, or use fewer ranks",
		     at->name, at->max);
	return at;
}

static int count_slots(const struct hosts *h, int ppn)
{
	int n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += slots_of(&h->at[i], ppn);
	return n;
}

/* As the agent is to be told it. */
static char *node_name(const struct host_slots *at, const char *self)
{
	if (!at->user || host_is_here(at->name))
		return xstrdup(canonical(at->name, self));
	return xprintf("%s@%s", at->user, at->name);
}

char *hosts_node_name(const struct options *opt, const struct host_slots *at)
{
	char self[256] = "localhost";

	gethostname(self, sizeof(self) - 1);
	return node_name(at, opt->force_agent ? NULL : self);
}

static int node_of(struct placement *p, const struct host_slots *at,
		   const char *self)
{
	char *name = node_name(at, self);
	int node = find_node(p, name);

	free(name);
	return node;
}

static void place_app(struct options *opt, struct placement *p, int a,
		      bool listed, const char *self)
{
	struct app *app = &opt->apps[a];
	struct hosts *h = app->hosts.n ? &app->hosts : &opt->hosts;

	if (!app->n)
		app->n = app->hosts.n || listed ? count_slots(h, opt->ppn) : 1;
	if (app->soft)
		app->n = soft_number(app->soft, app->n,
				     app->hosts.n || listed ?
					     count_slots(h, opt->ppn) :
					     app->n);
	p->ranks = xrealloc(p->ranks, (p->size + app->n) * sizeof(*p->ranks));
	for (int i = 0; i < app->n; i++) {
		struct place *at = &p->ranks[p->size++];

		*at = (struct place){ .app = a };
		at->node = node_of(p, next_host(h, opt), self);
	}
	p->universe += app->hosts.n ? count_slots(h, opt->ppn) : 0;
}

void hosts_place(struct options *opt, struct placement *p)
{
	bool listed = opt->hosts.n > 0;
	char self[256] = "localhost";

	memset(p, 0, sizeof(*p));
	gethostname(self, sizeof(self) - 1);
	if (!listed)
		hosts_add(&opt->hosts, self, 1);
	if (opt->rankfile)
		rankfile_place(opt, p);
	for (int a = 0; a < opt->napps && !opt->rankfile; a++)
		place_app(opt, p, a, listed || opt->ppn,
			  opt->force_agent ? NULL : self);
	p->universe += count_slots(&opt->hosts, opt->ppn);
	if (p->universe < p->size)
		p->universe = p->size;
	if (opt->universe)
		p->universe = opt->universe;
}

int hosts_node(const struct options *opt, struct placement *p, const char *name)
{
	char self[256] = "localhost";

	gethostname(self, sizeof(self) - 1);
	return find_node(p, canonical(name, opt->force_agent ? NULL : self));
}

char *hosts_mapping(const struct placement *p)
{
	struct buf text = { 0 };
	int i = 0;

	buf_append(&text, "(vector", 7);
	while (i < p->size) {
		int first = p->ranks[i].node, nodes = 0, each = 0;
		char *block;

		while (i + each < p->size && p->ranks[i + each].node == first)
			each++;
		/* Nodes that follow with as many ranks join the block. */
		for (;;) {
			int n = 0, start = i + nodes * each;

			while (start + n < p->size &&
			       p->ranks[start + n].node == first + nodes)
				n++;
			if (n != each)
				break;
			nodes++;
		}
		block = xprintf(",(%d,%d,%d)", first, nodes, each);
		buf_append(&text, block, strlen(block));
		free(block);
		i += nodes * each;
	}
	buf_append(&text, ")", 2);
	return text.data;
}
