/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Where in the program a call was made: return addresses, as files and offsets in
 * them. Names and lines are found by whoever shows them.
 *
 * The frames of MPI's own libraries come first. The last of them is the MPI
 * function that the program has called: the libraries are compiled so that it is
 * there (Makefile), and it is exported, so that its name can be found.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tools/state.h"

#define DEPTH 48

static const void *libmpi, *libo2g;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const void *base_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

void mpii_where_start(struct o2g_state *page)
{
	libmpi = base_of((const void *)(uintptr_t)mpii_where_start);
	libo2g = base_of((const void *)(uintptr_t)o2g_open);
}

static bool is_ours(const Dl_info *info)
{
	const char *name = strrchr(info->dli_fname, '/');

	return info->dli_fbase == libmpi || info->dli_fbase == libo2g ||
	       !strncmp(name ? name + 1 : info->dli_fname, "libmpifort", 10);
}

/* --- files --- */

struct build_id {
	ElfW(Addr) at;
	struct o2g_state_module *to;
};

static void read_notes(const char *p, size_t size, struct o2g_state_module *m)
{
	while (size >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *n = (const void *)p;
		size_t name = (n->n_namesz + 3u) & ~3u;
		size_t desc = (n->n_descsz + 3u) & ~3u;
		const char *id = p + sizeof(*n) + name;

		if (size < sizeof(*n) + name + desc)
			return;
		if (n->n_type == NT_GNU_BUILD_ID &&
		    n->n_descsz <= O2G_STATE_BUILD_ID) {
			memcpy(m->build_id, id, n->n_descsz);
			m->build_id_len = n->n_descsz;
			return;
		}
		p += sizeof(*n) + name + desc;
		size -= sizeof(*n) + name + desc;
	}
}

static int find_build_id(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct build_id *b = arg;

	if (info->dlpi_addr != b->at)
		return 0;
	for (int i = 0; i < info->dlpi_phnum && !b->to->build_id_len; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			read_notes((const char *)(info->dlpi_addr +
						  info->dlpi_phdr[i].p_vaddr),
				   info->dlpi_phdr[i].p_memsz, b->to);
	return 1;
}

static void path_of(const struct link_map *map, char *to, size_t size)
{
	ssize_t n;

	if (*map->l_name) {
		snprintf(to, size, "%s", map->l_name);
		return;
	}
	n = readlink("/proc/self/exe", to, size - 1);
	to[n > 0 ? n : 0] = '\0';
}

/* Its number; O2G_STATE_MODULES: there are too many. */
static uint32_t module_of(struct o2g_state *page, const struct link_map *map)
{
	struct o2g_state_module m = { 0 };
	uint32_t i;

	path_of(map, m.path, sizeof(m.path));
	pthread_mutex_lock(&lock);
	for (i = 0; i < page->modules; i++)
		if (!strcmp(page->module[i].path, m.path))
			break;
	if (i == page->modules && i < O2G_STATE_MODULES) {
		dl_iterate_phdr(find_build_id,
				&(struct build_id){ map->l_addr, &m });
		page->module[i] = m;
		__atomic_store_n(&page->modules, i + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return i;
}

/* --- addresses --- */

static bool place(struct o2g_state *page, const void *address,
		  const struct link_map *map, struct o2g_state_frame *f)
{
	f->module = module_of(page, map);
	/* the call, not what comes after it */
	f->offset = (uintptr_t)address - 1 - map->l_addr;
	return f->module < O2G_STATE_MODULES;
}

static bool find(const void *address, Dl_info *info, struct link_map **map)
{
	return dladdr1((const char *)address - 1, info, (void **)map,
		       RTLD_DL_LINKMAP) &&
	       *map;
}

bool mpii_where_is(struct o2g_state *page, const void *address,
		   struct o2g_state_frame *frame)
{
	struct link_map *map;
	Dl_info info;

	return find(address, &info, &map) && place(page, address, map, frame);
}

/* MPI_X as well as PMPI_X: which of the two was called cannot be seen. */
static void name_call(const Dl_info *info, struct o2g_state_wait *w)
{
	const char *name = info->dli_sname;

	if (!name || info->dli_fbase != libmpi)
		return;
	if (!strncmp(name, "PMPI_", 5))
		name++;
	if (!strncmp(name, "MPI_", 4))
		snprintf(w->call, sizeof(w->call), "%s", name);
}

void mpii_where(struct o2g_state *page, struct o2g_state_wait *w)
{
	void *stack[DEPTH];
	int n = backtrace(stack, DEPTH);
	bool inside = true;

	w->call[0] = '\0';
	for (int i = 0; i < n && w->frames < O2G_STATE_FRAMES; i++) {
		struct link_map *map;
		Dl_info info;

		if (!find(stack[i], &info, &map))
			continue;
		inside = inside && is_ours(&info);
		if (inside)
			name_call(&info, w);
		else if (place(page, stack[i], map, &w->frame[w->frames]))
			w->frames++;
	}
}
