/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * `o2g bpf`: seats of the bpf channel for ordinary users. They are pinned in a
 * file system of their own, DIR/UID/NUMBER/{socks,bell,seat}; the files
 * belong to the user and nobody else may open them.
 */
#ifndef TOOLS_BPF_H
#define TOOLS_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BPF_MAX_USERS 4096

/* The files of a seat, in the order in which they are made. A process that finds
 * the last one finds all. */
extern const char *const bpf_seat_files[];

/* bpf_load.c, or bpf_noload.c where that could not be built */
/* Loads the program, tries it out and pins a seat at @path for @uid. 0, or
 * negative errno with one line in @why. */
int bpf_load_seat(const char *path, uid_t uid, char *why, size_t why_size);

/* bpf_try.c */
struct bpf_seat;
/* Does a loaded program do what it should, on this kernel? @socks is its sockmap. 0, or negative errno with one line in @why. */
int bpf_try(int socks, struct bpf_seat *seat, char *why, size_t why_size);

/* bpf_kernel.c */
/* Is the kernel one whose sockmaps are known to be sound? @release and @version
 * are those of uname(2). */
bool bpf_kernel_sound(const char *release, const char *version, char *why,
		      size_t why_size);

/* bpf_dir.c */
/* Make DIR a file system for pins, unless it is one. */
int bpf_dir_mount(const char *dir, char *why, size_t why_size);
/* Unmount it if nothing is in it. */
void bpf_dir_unmount(const char *dir);
/* Calls fn for every number that names something in @dir, in any order. */
void bpf_dir_each(const char *dir,
		  void (*fn)(const char *dir, unsigned number, void *arg),
		  void *arg);
/* 1 taken, 0 free, -1 cannot be told. */
int bpf_seat_taken(const char *path);
void bpf_seat_remove(const char *path);

/* bpf_users.c */
struct bpf_users {
	uid_t uid[BPF_MAX_USERS];
	unsigned n;
};
/* 0, or -1 when there is no such user or group (which was said). */
int bpf_users_add(struct bpf_users *u, const char *name);
int bpf_users_add_group(struct bpf_users *u, const char *name);
const char *bpf_user_name(uid_t uid, char *buf, size_t size);

#endif
