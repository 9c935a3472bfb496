/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hardware resources. The kernel says in /sys which processors make up a core,
 * cache, package or node of memory; a process is restricted to one of them when
 * all processors it may run on belong to it. Names are those of hwloc, but a
 * library that is in every program should not need that one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "comm/hw.h"
#include "env/errors.h"
#include "info/info.h"

#define CPU "/sys/devices/system/cpu/cpu%d/"
#define PREFIX "hwloc://"

static const char *const names[MPII_HW_COUNT] = {
	[MPII_HW_MACHINE] = PREFIX "Machine",
	[MPII_HW_PACKAGE] = PREFIX "Package",
	[MPII_HW_DIE] = PREFIX "Die",
	[MPII_HW_NUMA] = PREFIX "NUMANode",
	[MPII_HW_L3] = PREFIX "L3Cache",
	[MPII_HW_L2] = PREFIX "L2Cache",
	[MPII_HW_L1] = PREFIX "L1Cache",
	[MPII_HW_CORE] = PREFIX "Core",
	[MPII_HW_PU] = PREFIX "PU",
};

const char *mpii_hw_name(enum mpii_hw type)
{
	return names[type];
}

int mpii_hw_find(const char *name)
{
	size_t n = strlen(PREFIX);

	if (!strncasecmp(name, PREFIX, n))
		name += n;
	for (int i = 0; i < MPII_HW_COUNT; i++)
		if (!strcasecmp(name, names[i] + n))
			return i;
	return -1;
}

/* --- reading /sys --- */

static bool read_line(const char *path, char *text, int size)
{
	FILE *f = fopen(path, "re");
	bool ok = f && fgets(text, size, f);

	if (f)
		fclose(f);
	if (ok)
		text[strcspn(text, "\n")] = '\0';
	return ok;
}

/* A list like 0-3,8 in a file. */
static bool read_cpus(const char *path, cpu_set_t *set)
{
	char text[4096], *p = text;
	long from, to;

	CPU_ZERO(set);
	if (!read_line(path, text, sizeof(text)))
		return false;
	while (*p) {
		from = to = strtol(p, &p, 10);
		if (*p == '-')
			to = strtol(p + 1, &p, 10);
		for (; from <= to && from < CPU_SETSIZE; from++)
			CPU_SET(from, set);
		if (*p != ',')
			break;
		p++;
	}
	return CPU_COUNT(set) > 0;
}

static bool topology_cpus(int cpu, const char *file, cpu_set_t *set)
{
	char path[128];

	snprintf(path, sizeof(path), CPU "topology/%s", cpu, file);
	return read_cpus(path, set);
}

/* The cache of this level that holds data. */
static bool cache_cpus(int cpu, int level, cpu_set_t *set)
{
	char path[128], text[32];

	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), CPU "cache/index%d/level", cpu, i);
		if (!read_line(path, text, sizeof(text)))
			return false;
		if (atoi(text) != level)
			continue;
		snprintf(path, sizeof(path), CPU "cache/index%d/type", cpu, i);
		if (!read_line(path, text, sizeof(text)) ||
		    !strcmp(text, "Instruction"))
			continue;
		snprintf(path, sizeof(path),
			 CPU "cache/index%d/shared_cpu_list", cpu, i);
		return read_cpus(path, set);
	}
	return false;
}

static bool numa_cpus(int cpu, cpu_set_t *set)
{
	char path[128];
	struct dirent *e;
	int node = -1;
	DIR *d;

	snprintf(path, sizeof(path), CPU, cpu);
	d = opendir(path);
	while (d && node < 0 && (e = readdir(d)))
		if (sscanf(e->d_name, "node%d", &node) != 1)
			node = -1;
	if (d)
		closedir(d);
	if (node < 0)
		return false;
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist",
		 node);
	return read_cpus(path, set);
}

/* The processors of the part of this type that has @cpu. */
static bool part_cpus(enum mpii_hw type, int cpu, cpu_set_t *set)
{
	switch (type) {
	case MPII_HW_MACHINE:
		return read_cpus("/sys/devices/system/cpu/possible", set);
	case MPII_HW_PACKAGE:
		return topology_cpus(cpu, "package_cpus_list", set) ||
		       topology_cpus(cpu, "core_siblings_list", set);
	case MPII_HW_DIE:
		return topology_cpus(cpu, "die_cpus_list", set);
	case MPII_HW_NUMA:
		return numa_cpus(cpu, set);
	case MPII_HW_L3:
		return cache_cpus(cpu, 3, set);
	case MPII_HW_L2:
		return cache_cpus(cpu, 2, set);
	case MPII_HW_L1:
		return cache_cpus(cpu, 1, set);
	case MPII_HW_CORE:
		return topology_cpus(cpu, "core_cpus_list", set) ||
		       topology_cpus(cpu, "thread_siblings_list", set);
	default:
		CPU_ZERO(set);
		CPU_SET(cpu, set);
		return true;
	}
}

static int first(const cpu_set_t *set)
{
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, set))
			return i;
	return -1;
}

int mpii_hw_instance(enum mpii_hw type)
{
	cpu_set_t mine, part, both;
	int cpu;

	if (sched_getaffinity(0, sizeof(mine), &mine))
		return MPII_HW_UNKNOWN;
	cpu = first(&mine);
	if (cpu < 0 || !part_cpus(type, cpu, &part))
		return MPII_HW_UNKNOWN;
	CPU_AND(&both, &mine, &part);
	return CPU_EQUAL(&both, &mine) ? first(&part) : MPII_HW_NONE;
}

int PMPI_Get_hw_resource_info(MPI_Info *hw_info)
{
	static const char func[] = "MPI_Get_hw_resource_info";
	struct mpii_info *i;
	bool ok = true;
	int at;

	if (!hw_info)
		return mpii_bad_null(NULL, func, "hw_info");
	i = mpii_info_copy(NULL);
	for (int type = 0; i && ok && type < MPII_HW_COUNT; type++) {
		at = mpii_hw_instance(type);
		if (at != MPII_HW_UNKNOWN)
			ok = mpii_info_add(i, names[type],
					   at >= 0 ? "true" : "false");
	}
	if (!i || !ok) {
		mpii_info_destroy(i);
		return mpii_no_mem(NULL, func);
	}
	*hw_info = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Get_hw_resource_info);
