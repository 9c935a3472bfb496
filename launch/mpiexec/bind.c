// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Where ranks may run. A rank is more than one thread: the library's progress
 * thread completes messages while the program computes, and it needs a CPU at
 * that very moment. Bound to a single core, the two would take turns there
 * while another core may be idle. So by default a rank is kept near its memory
 * (on a NUMA node) and not on one core; where there is but one node, the
 * scheduler is left alone. mpiexec(1) says the same.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "bind.h"
#include "proxy.h"
#include "util.h"

/* By rank on this host; NULL: not bound. */
static hwloc_cpuset_t *sets;
static hwloc_topology_t topology;

static const struct level {
	const char *name;
	hwloc_obj_type_t type;
} levels[] = {
	{ "hwthread", HWLOC_OBJ_PU },	 { "core", HWLOC_OBJ_CORE },
	{ "socket", HWLOC_OBJ_PACKAGE }, { "package", HWLOC_OBJ_PACKAGE },
	{ "numa", HWLOC_OBJ_NUMANODE },
};

bool bind_is_level(const char *name)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (!strcmp(levels[i].name, name))
			return true;
	return false;
}

static hwloc_obj_type_t level_type(const char *name)
{
	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++)
		if (!strcmp(levels[i].name, name))
			return levels[i].type;
	return HWLOC_OBJ_CORE;
}

/* A topology of only those CPUs that we ourselves may use: a batch system or
 * taskset may have given us a part of the machine. */
static int load(void)
{
	hwloc_cpuset_t mine;

	if (hwloc_topology_init(&topology) < 0)
		return -1;
	if (hwloc_topology_load(topology) < 0) {
		hwloc_topology_destroy(topology);
		topology = NULL;
		return -1;
	}
	mine = hwloc_bitmap_alloc();
	if (mine && hwloc_get_cpubind(topology, mine, 0) == 0)
		hwloc_topology_restrict(topology, mine, 0);
	hwloc_bitmap_free(mine);
	return 0;
}

static int count(hwloc_obj_type_t type)
{
	return hwloc_get_nbobjs_by_type(topology, type);
}

/* The @k-th object of @width to bind rank @i to, when ranks are dealt over @over
 * objects. */
static hwloc_obj_t pick(int i, int k, int width, hwloc_obj_type_t what,
			hwloc_obj_type_t over)
{
	int nover = count(over), n, nth;
	hwloc_obj_t outer;

	if (over == what || nover < 1)
		return hwloc_get_obj_by_type(topology, what,
					     (i * width + k) % count(what));
	outer = hwloc_get_obj_by_type(topology, over, i % nover);
	n = hwloc_get_nbobjs_inside_cpuset_by_type(topology, outer->cpuset,
						   what);
	if (n < 1) /* the thing to bind to is larger than the one dealt over */
		return hwloc_get_next_obj_covering_cpuset_by_type(
			topology, outer->cpuset, what, NULL);
	nth = (i / nover * width + k) % n;
	return hwloc_get_obj_inside_cpuset_by_type(topology, outer->cpuset,
						   what, nth);
}

/* NULL: do not bind. */
static const char *decide(void)
{
	const char *wish = proxy.start.bind_to;

	if (!strcmp(wish, "none"))
		return NULL;
	if (wish[0] && strcmp(wish, "auto"))
		return wish;
	if (proxy.start.bind_width > 1)
		return "core";
	/* One node is common, and reading the topology takes its time. */
	if (access("/sys/devices/system/node/node1", F_OK) < 0 || load() < 0)
		return NULL;
	if (count(HWLOC_OBJ_NUMANODE) < 2 ||
	    proxy.start.nranks > count(HWLOC_OBJ_CORE))
		return NULL;
	return "numa";
}

static void send_text(int rank, const char *text)
{
	chan_send(&proxy.up, FRAME_TEXT, rank, text, strlen(text) + 1);
}

static void report(int i, const char *what)
{
	int rank = proxy.start.ranks[i].rank;
	char *text, *cpus = NULL;

	if (sets && sets[i])
		hwloc_bitmap_list_asprintf(&cpus, sets[i]);
	if (cpus && proxy.start.bind_width > 1)
		text = xprintf("rank %d on %s is bound to %u %ss: CPUs %s",
			       rank, proxy.start.host, proxy.start.bind_width,
			       what, cpus);
	else if (cpus)
		text = xprintf("rank %d on %s is bound to a %s: CPUs %s", rank,
			       proxy.start.host, what, cpus);
	else
		text = xprintf("rank %d on %s is not bound", rank,
			       proxy.start.host);
	send_text(rank, text);
	free(cpus);
	free(text);
}

static void choose(const char *what)
{
	const char *over = proxy.start.map_by[0] ? proxy.start.map_by : what;

	sets = xmalloc(proxy.start.nranks * sizeof(*sets));
	for (int i = 0; i < proxy.start.nranks; i++) {
		sets[i] = hwloc_bitmap_alloc();
		for (int k = 0; sets[i] && k < (int)proxy.start.bind_width;
		     k++) {
			hwloc_obj_t o = pick(i, k, (int)proxy.start.bind_width,
					     level_type(what),
					     level_type(over));

			if (o && o->cpuset)
				hwloc_bitmap_or(sets[i], sets[i], o->cpuset);
		}
	}
}

/* --- as a rank file says --- */

/* Core @nr of a socket, or of the host if that is NULL. */
static hwloc_obj_t core(hwloc_obj_t socket, unsigned nr)
{
	return socket ? hwloc_get_obj_inside_cpuset_by_type(
				topology, socket->cpuset, HWLOC_OBJ_CORE, nr) :
			hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, nr);
}

/* "0,2-3": adds these cores. False: there are not so many. */
static bool add_cores(hwloc_cpuset_t set, hwloc_obj_t socket, const char *list)
{
	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last; first++) {
			hwloc_obj_t o = core(socket, (unsigned)first);

			if (!o)
				return false;
			hwloc_bitmap_or(set, set, o->cpuset);
		}
		if (*end && *end != ',')
			return false;
		list = end + (*end == ',');
	}
	return true;
}

static bool bind_as_listed(int i, const char *text)
{
	const char *colon = strchr(text, ':');
	hwloc_obj_t socket = NULL;

	if (colon) {
		socket = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE,
					       (unsigned)atoi(text));
		if (!socket)
			return false;
	}
	sets[i] = hwloc_bitmap_alloc();
	return sets[i] && add_cores(sets[i], socket, colon ? colon + 1 : text);
}

/* What is wrong, or NULL. */
static char *bind_listed(void)
{
	if (load() < 0)
		return xprintf("hwloc cannot read the topology of %s",
			       proxy.start.host);
	sets = xmalloc(proxy.start.nranks * sizeof(*sets));
	for (int i = 0; i < proxy.start.nranks; i++) {
		const struct start_rank *k = &proxy.start.ranks[i];

		if (!bind_as_listed(i, k->cpus))
			return xprintf(
				"rank %d cannot be bound to \"%s\" as the rank file says: host %s has %d cores in %d sockets that may be used",
				k->rank, k->cpus, proxy.start.host,
				count(HWLOC_OBJ_CORE),
				count(HWLOC_OBJ_PACKAGE));
	}
	for (int i = 0; proxy.start.report_bindings && i < proxy.start.nranks;
	     i++)
		report(i, "set of cores");
	hwloc_topology_destroy(topology);
	return NULL;
}

int bind_count(const char *level)
{
	int n = load() < 0 ? 1 : count(level_type(level));

	if (topology)
		hwloc_topology_destroy(topology);
	topology = NULL;
	return n < 1 ? 1 : n;
}

char *bind_init(void)
{
	const char *what;

	if (proxy.start.nranks && proxy.start.ranks[0].cpus[0])
		return bind_listed();
	what = decide();
	if (what && !topology && load() < 0) {
		send_text(
			-1,
			"hwloc cannot read the topology of this host; ranks are not bound");
		what = NULL;
	}
	if (what && count(level_type(what)) < 1) {
		send_text(
			-1,
			"this host has nothing of the kind to bind to; ranks are not bound");
		what = NULL;
	}
	if (what)
		choose(what);
	for (int i = 0; proxy.start.report_bindings && i < proxy.start.nranks;
	     i++)
		report(i, what);
	if (topology)
		hwloc_topology_destroy(topology);
	return NULL;
}

void bind_apply(const struct rank *r)
{
	cpu_set_t set;

	if (!sets || !sets[r->local])
		return;
	CPU_ZERO(&set);
	for (int cpu = hwloc_bitmap_first(sets[r->local]);
	     cpu >= 0 && cpu < CPU_SETSIZE;
	     cpu = hwloc_bitmap_next(sets[r->local], cpu))
		CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
