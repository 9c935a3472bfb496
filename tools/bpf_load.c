/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Loading the program and pinning its maps. The program itself needs no pin: the
 * sockmap holds it, and a process that has the maps open keeps them after they
 * were unloaded.
 */
#include "bpf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/seat.h"
#include "o2g_bpf.skel.h"

static int silent(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	return 0;
}

static int map_of(const struct o2g_bpf *o, const char *file)
{
	if (!strcmp(file, "socks"))
		return bpf_map__fd(o->maps.socks);
	if (!strcmp(file, "bell"))
		return bpf_map__fd(o->maps.bell);
	return bpf_map__fd(o->maps.bss);
}

static int pin(const struct o2g_bpf *o, const char *path, uid_t uid,
	       const char *name)
{
	char file[540];

	snprintf(file, sizeof(file), "%s/%s", path, name);
	if (bpf_obj_pin(map_of(o, name), file) || chown(file, uid, (gid_t)-1) ||
	    chmod(file, 0600))
		return -errno;
	return 0;
}

static int pin_all(const struct o2g_bpf *o, const char *path, uid_t uid)
{
	int err = mkdir(path, 0755) ? -errno : 0;

	for (int i = 0; !err && bpf_seat_files[i]; i++)
		err = pin(o, path, uid, bpf_seat_files[i]);
	if (err)
		bpf_seat_remove(path);
	return err;
}

static int attach(struct o2g_bpf *o)
{
	o->bss->seat.version = BPF_SEAT_VERSION;
	o->bss->seat.size = sizeof(struct bpf_seat);
	return bpf_prog_attach(bpf_program__fd(o->progs.o2g_verdict),
			       bpf_map__fd(o->maps.socks),
			       BPF_SK_SKB_STREAM_VERDICT, 0) ?
		       -errno :
		       0;
}

/* libbpf says ESRCH where it finds no types of the kernel. */
static const char *advice(int err)
{
	if (err == -EPERM)
		return " (root, or CAP_BPF and CAP_NET_ADMIN, is needed)";
	if (access("/sys/kernel/btf/vmlinux", R_OK))
		return " (this kernel does not describe its types: it was built without CONFIG_DEBUG_INFO_BTF)";
	return "";
}

int bpf_load_seat(const char *path, uid_t uid, char *why, size_t why_size)
{
	static bool tried;
	struct o2g_bpf *o;
	int err;

	libbpf_set_print(silent);
	o = o2g_bpf__open_and_load();
	err = o ? attach(o) : -errno;
	if (err) {
		snprintf(why, why_size, "the kernel rejects the program: %s%s",
			 strerror(-err), advice(err));
		goto out;
	}
	if (!tried)
		err = bpf_try(bpf_map__fd(o->maps.socks), &o->bss->seat, why,
			      why_size);
	if (err)
		goto out;
	tried = true;
	err = pin_all(o, path, uid);
	if (err)
		snprintf(why, why_size, "cannot pin it in %s: %s", path,
			 strerror(-err));
out:
	o2g_bpf__destroy(o);
	return err;
}
