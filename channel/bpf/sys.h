/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The few calls of bpf(2) that a process without privileges makes. Loading is
 * the o2g command's business (tools/bpf_load.c), so that libo2g needs no libbpf.
 */
#ifndef BPF_SYS_H
#define BPF_SYS_H

#include "env.h"

/* A descriptor for what is pinned there, or negative errno. */
int bpf_sys_get(const char *path);
/* 0 or negative errno; @flags BPF_ANY, BPF_NOEXIST. */
int bpf_sys_update(int map, const void *key, const void *value, u64 flags);
int bpf_sys_lookup(int map, const void *key, void *value);

#endif
