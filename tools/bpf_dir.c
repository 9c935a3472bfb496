/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Where seats are pinned: a mount of the BPF file system that is ours alone.
 * The usual one, /sys/fs/bpf, is for root only on most systems.
 */
#include "bpf.h"

#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "bpf/seat.h"
#include "bpf/sys.h"

enum { FILES = 3 };
const char *const bpf_seat_files[] = { "bell", "seat", "socks", NULL };

static bool is_bpf_fs(const char *dir)
{
	struct statfs fs;

	return !statfs(dir, &fs) && fs.f_type == BPF_FS_MAGIC;
}

/* mkdir -p */
static int make_path(const char *dir)
{
	char path[400];
	size_t n = (size_t)snprintf(path, sizeof(path), "%s", dir);

	if (n >= sizeof(path))
		return -ENAMETOOLONG;
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i])
			continue;
		path[i] = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			return -errno;
		path[i] = i < n ? '/' : '\0';
	}
	return 0;
}

int bpf_dir_mount(const char *dir, char *why, size_t why_size)
{
	int err = make_path(dir);

	if (err) {
		snprintf(why, why_size, "cannot make %s: %s", dir,
			 strerror(-err));
		return err;
	}
	if (is_bpf_fs(dir))
		return 0;
	if (!mount("o2g", dir, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC,
		   "mode=0755"))
		return 0;
	err = -errno;
	snprintf(why, why_size, "cannot mount a BPF file system on %s: %s%s",
		 dir, strerror(-err), err == -EPERM ? " (are you root?)" : "");
	return err;
}

static void note_any(const char *dir, unsigned number, void *arg)
{
	*(bool *)arg = true;
}

void bpf_dir_unmount(const char *dir)
{
	bool any = false;

	bpf_dir_each(dir, note_any, &any);
	if (!any && is_bpf_fs(dir))
		umount2(dir, MNT_DETACH);
}

/* Names are collected first: fn may remove them. */
void bpf_dir_each(const char *dir,
		  void (*fn)(const char *dir, unsigned number, void *arg),
		  void *arg)
{
	unsigned *all = NULL, n = 0;
	struct dirent *e;
	DIR *d = opendir(dir);

	while (d && (e = readdir(d))) {
		char *end;
		unsigned long number = strtoul(e->d_name, &end, 10);
		unsigned *more;

		if (*end || end == e->d_name)
			continue;
		more = realloc(all, (n + 1) * sizeof(*all));
		if (!more)
			break;
		all = more;
		all[n++] = (unsigned)number;
	}
	if (d)
		closedir(d);
	for (unsigned i = 0; i < n; i++)
		fn(dir, all[i], arg);
	free(all);
}

int bpf_seat_taken(const char *path)
{
	char file[540];
	__u32 key = BPF_CLAIM;
	__u64 cookie;
	int fd, err;

	snprintf(file, sizeof(file), "%s/socks", path);
	fd = bpf_sys_get(file);
	if (fd < 0)
		return -1;
	err = bpf_sys_lookup(fd, &key, &cookie);
	close(fd);
	return err == -ENOENT ? 0 : err ? -1 : 1;
}

void bpf_seat_remove(const char *path)
{
	char file[540];

	for (int i = FILES - 1; i >= 0; i--) {
		snprintf(file, sizeof(file), "%s/%s", path, bpf_seat_files[i]);
		if (unlink(file) && errno != ENOENT)
			fprintf(stderr, "o2g bpf: cannot remove %s: %s\n", file,
				strerror(errno));
	}
	rmdir(path);
}
