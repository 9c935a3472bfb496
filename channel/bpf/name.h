/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* How the program finds a connection of the seat: by its two ends. */
#ifndef BPF_NAME_H
#define BPF_NAME_H

#include <linux/types.h>

struct bpf_seat;

/*
 * From now on what comes on the socket is for connection @index. -EADDRINUSE: the
 * program could not tell it from another one, or there are too many like it.
 */
int bpf_name_set(struct bpf_seat *s, __u32 index, int fd);

/* Not any more. The program may be running with it on another processor. */
void bpf_name_clear(struct bpf_seat *s, __u32 index);

#endif
