/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Taking a seat. `o2g bpf load` has pinned some for this user, as
 * O2G_BPF_DIR/UID/NUMBER/{socks,bell,seat}, which nobody else may open.
 *
 * A seat is taken by putting a socket into a place of its sockmap that must be
 * empty. The kernel takes it out again when the socket is closed, however the
 * process ends, so nothing has to be tidied up after a crash.
 */
#include "chan.h"

#include <linux/bpf.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "settings.h"
#include "sys.h"

static int get(const char *dir, u32 number, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%u/%u/%s", dir, geteuid(), number,
		 name);
	return bpf_sys_get(path);
}

static void *map_or_null(int fd, size_t size, int prot, off_t at)
{
	void *p = mmap(NULL, size, prot, MAP_SHARED, fd, at);

	return p == MAP_FAILED ? NULL : p;
}

static int map_seat(struct bpf_place *p, const char *dir, u32 number)
{
	int fd = get(dir, number, "seat");

	if (fd < 0)
		return fd;
	p->seat = map_or_null(fd, sizeof(*p->seat), PROT_READ | PROT_WRITE, 0);
	close(fd);
	if (!p->seat)
		return -errno;
	if (p->seat->version != BPF_SEAT_VERSION ||
	    p->seat->size != sizeof(*p->seat))
		return -EPROTO;
	return 0;
}

/* A ring buffer's first page is its reader's, the second its writer's. */
static int map_bell(struct bpf_place *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	p->bell_taken = map_or_null(p->bell, page, PROT_READ | PROT_WRITE, 0);
	p->bell_given = map_or_null(p->bell, page, PROT_READ, (off_t)page);
	return p->bell_taken && p->bell_given ? 0 : -errno;
}

/* Connections of a process that ended without saying so. */
static void forget_others(struct bpf_place *p)
{
	memset(p->seat->names, 0, sizeof(p->seat->names));
	p->seat->armed = 0;
	p->seat->missed = 0;
	p->seat->head = p->seat->tail;
}

static int claim(struct bpf_place *p)
{
	u32 key = BPF_CLAIM;
	u64 value = (u64)p->claim;

	return bpf_sys_update(p->socks, &key, &value, BPF_NOEXIST);
}

/* The seat of that number. -EEXIST: somebody has it. */
static int take(struct bpf_place *p, const char *dir, u32 number)
{
	int err;

	p->socks = get(dir, number, "socks");
	if (p->socks < 0)
		return p->socks;
	err = claim(p);
	if (err)
		goto err_socks;
	p->bell = get(dir, number, "bell");
	err = p->bell < 0 ? p->bell : 0;
	if (!err)
		err = map_seat(p, dir, number);
	if (!err)
		err = map_bell(p);
	if (err)
		return err; /* bpf_place_leave() gives it back */
	forget_others(p);
	return 0;
err_socks:
	close(p->socks);
	p->socks = -1;
	return err;
}

static const char *user_name(char *buf, size_t size)
{
	struct passwd pw, *found;
	char room[1024];

	if (!getpwuid_r(geteuid(), &pw, room, sizeof(room), &found) && found)
		snprintf(buf, size, "%s", pw.pw_name);
	else
		snprintf(buf, size, "%u", geteuid());
	return buf;
}

static void explain(int err, u32 seats, const char *dir, char *why, size_t size)
{
	char name[64];

	user_name(name, sizeof(name));
	if (err == -ENOENT && seats)
		snprintf(
			why, size,
			"all %u seats of user %s are taken; `o2g bpf load --user %s --seats N` as root makes more",
			seats, name, name);
	else if (err == -ENOENT && !O2G_BPF)
		snprintf(
			why, size,
			"no seat in %s, and this O2G was built without the program: clang, bpftool or libbpf-dev was missing",
			dir);
	else if (err == -ENOENT)
		snprintf(
			why, size,
			"no seat for user %s in %s; `o2g bpf load --user %s` as root makes some",
			name, dir, name);
	else if (err == -EPROTO)
		snprintf(
			why, size,
			"the program in %s is of another version of O2G; `o2g bpf unload` and `o2g bpf load` as root renew it",
			dir);
	else
		snprintf(why, size, "cannot take a seat in %s: %s", dir,
			 strerror(-err));
}

int bpf_place_take(struct bpf_place *p, char *why, size_t why_size)
{
	const char *dir = o2g_settings()->bpf_dir;
	u32 number = 0;
	int err;

	memset(p, 0, sizeof(*p));
	p->socks = p->bell = -1;
	/* It never receives anything; any socket that a sockmap takes will do. */
	p->claim = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (p->claim < 0) {
		snprintf(why, why_size, "no socket: %s", strerror(errno));
		return -errno;
	}
	do
		err = take(p, dir, number++);
	while (err == -EEXIST);
	if (!err)
		return 0;
	explain(err, number - 1, dir, why, why_size);
	bpf_place_leave(p);
	return err;
}

static void unmap(const volatile void *at, size_t size)
{
	if (at)
		munmap((void *)at, size);
}

/* The claim goes last: until then the seat is ours. */
void bpf_place_leave(struct bpf_place *p)
{
	const int fds[] = { p->bell, p->socks, p->claim };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	unmap(p->bell_taken, page);
	unmap(p->bell_given, page);
	unmap(p->seat, sizeof(*p->seat));
	for (u32 i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}
