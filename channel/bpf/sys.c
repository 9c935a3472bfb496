/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "sys.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

static int call(int cmd, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

static u64 pointer(const void *p)
{
	return (u64)(uintptr_t)p;
}

int bpf_sys_get(const char *path)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.pathname = pointer(path);
	return call(BPF_OBJ_GET, &attr);
}

static int element(int cmd, int map, const void *key, const void *value,
		   u64 flags)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = (u32)map;
	attr.key = pointer(key);
	attr.value = pointer(value);
	attr.flags = flags;
	return call(cmd, &attr);
}

int bpf_sys_update(int map, const void *key, const void *value, u64 flags)
{
	return element(BPF_MAP_UPDATE_ELEM, map, key, value, flags);
}

int bpf_sys_lookup(int map, const void *key, void *value)
{
	return element(BPF_MAP_LOOKUP_ELEM, map, key, value, 0);
}
