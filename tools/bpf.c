/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g bpf load, unload and status. */
#include "bpf.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd.h"
#include "settings.h"

#define MANY_SEATS 4096
#define FEW_SEATS 16

struct request {
	struct bpf_users users;
	unsigned seats;
	bool force;
	const char *dir;
};

static void usage(FILE *out)
{
	fputs("usage: o2g bpf load   [--user NAME]... [--group NAME]... [--seats N] [--force]\n"
	      "       o2g bpf unload [--user NAME]... [--group NAME]...\n"
	      "       o2g bpf status\n"
	      "\n"
	      "load lets these users' ranks receive through the BPF program, N ranks of each\n"
	      "user at a time. Without --user and --group it is for the calling user.\n",
	      out);
}

static int read_seats(const char *text, unsigned *seats)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*end || !n || n > MANY_SEATS) {
		fprintf(stderr,
			"o2g bpf: --seats is \"%s\", but a number from 1 to %d is expected\n",
			text, MANY_SEATS);
		return -1;
	}
	*seats = (unsigned)n;
	return 0;
}

static int read_request(int argc, char **argv, struct request *r)
{
	static const struct option options[] = {
		{ "user", required_argument, NULL, 'u' },
		{ "group", required_argument, NULL, 'g' },
		{ "seats", required_argument, NULL, 's' },
		{ "force", no_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 },
	};
	int c, bad = 0;

	optind = 1;
	while (!bad && (c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'u')
			bad = bpf_users_add(&r->users, optarg);
		else if (c == 'g')
			bad = bpf_users_add_group(&r->users, optarg);
		else if (c == 's')
			bad = read_seats(optarg, &r->seats);
		else if (c == 'f')
			r->force = true;
		else
			bad = -1;
	}
	if (!bad && optind < argc) {
		fprintf(stderr,
			"o2g bpf: \"%s\" is not an option; `o2g bpf` lists them\n",
			argv[optind]);
		bad = -1;
	}
	return bad;
}

/* --- load --- */

static unsigned default_seats(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	return cpus * 2 > FEW_SEATS ? (unsigned)cpus * 2 : FEW_SEATS;
}

static bool exists(const char *path)
{
	struct stat st;

	return !stat(path, &st);
}

/* How many were made, or negative errno. */
static int load_user(const struct request *r, uid_t uid, char *why, size_t size)
{
	char path[400], seat[512];
	int made = 0;

	snprintf(path, sizeof(path), "%s/%u", r->dir, uid);
	if (mkdir(path, 0755) && errno != EEXIST) {
		snprintf(why, size, "cannot make %s: %s", path,
			 strerror(errno));
		return -errno;
	}
	for (unsigned i = 0; i < r->seats; i++) {
		int err;

		snprintf(seat, sizeof(seat), "%s/%u", path, i);
		if (exists(seat))
			continue;
		err = bpf_load_seat(seat, uid, why, size);
		if (err) {
			rmdir(path); /* unless there are others */
			return err;
		}
		made++;
	}
	return made;
}

static int refuse_kernel(bool force)
{
	char why[200];
	struct utsname u;

	if (uname(&u) ||
	    bpf_kernel_sound(u.release, u.version, why, sizeof(why)))
		return 0;
	fprintf(stderr, "o2g bpf: %s%s\n", why,
		force ? "; --force was given" : "; --force loads it anyway");
	return force ? 0 : -1;
}

static int load(struct request *r)
{
	char why[600], name[64];
	int made;

	if (!r->seats)
		r->seats = default_seats();
	if (!r->users.n)
		r->users.uid[r->users.n++] = getuid();
	if (refuse_kernel(r->force))
		return 1;
	if (bpf_dir_mount(r->dir, why, sizeof(why))) {
		fprintf(stderr, "o2g bpf: %s\n", why);
		return 1;
	}
	for (unsigned i = 0; i < r->users.n; i++) {
		made = load_user(r, r->users.uid[i], why, sizeof(why));
		bpf_user_name(r->users.uid[i], name, sizeof(name));
		if (made < 0) {
			fprintf(stderr, "o2g bpf: user %s: %s\n", name, why);
			bpf_dir_unmount(r->dir);
			return 1;
		}
		printf("user %s: %d seats made, %u in all\n", name, made,
		       r->seats);
	}
	return 0;
}

/* --- unload --- */

static void remove_seat(const char *dir, unsigned number, void *arg)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%u", dir, number);
	bpf_seat_remove(path);
}

static void unload_user(const char *dir, unsigned uid, void *arg)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%u", dir, uid);
	bpf_dir_each(path, remove_seat, NULL);
	if (rmdir(path) && errno != ENOENT) {
		fprintf(stderr, "o2g bpf: cannot remove %s: %s\n", path,
			strerror(errno));
		*(int *)arg = 1;
	}
}

static int unload(struct request *r)
{
	int failed = 0;

	for (unsigned i = 0; i < r->users.n; i++)
		unload_user(r->dir, r->users.uid[i], &failed);
	if (!r->users.n)
		bpf_dir_each(r->dir, unload_user, &failed);
	bpf_dir_unmount(r->dir);
	return failed;
}

/* --- status --- */

struct tally {
	unsigned users, seats, taken, hidden;
};

static void count_seat(const char *dir, unsigned number, void *arg)
{
	struct tally *t = arg;
	char path[512];
	int taken;

	snprintf(path, sizeof(path), "%s/%u", dir, number);
	taken = bpf_seat_taken(path);
	t->seats++;
	t->taken += taken > 0;
	t->hidden += taken < 0;
}

static void show_user(const char *dir, unsigned uid, void *arg)
{
	struct tally one = { 0 }, *all = arg;
	char path[400], name[64];

	snprintf(path, sizeof(path), "%s/%u", dir, uid);
	bpf_dir_each(path, count_seat, &one);
	bpf_user_name(uid, name, sizeof(name));
	printf("user %s (%u): %u seats, ", name, uid, one.seats);
	if (one.hidden)
		puts("which you may not look into");
	else
		printf("%u taken\n", one.taken);
	all->users++;
}

static int status(struct request *r)
{
	struct tally all = { 0 };
	char why[200];
	struct utsname u;

	if (!uname(&u))
		printf("kernel %s: %s\n", u.release,
		       bpf_kernel_sound(u.release, u.version, why,
					sizeof(why)) ?
			       "sound" :
			       why);
	bpf_dir_each(r->dir, show_user, &all);
	if (!all.users)
		printf("nothing is loaded in %s\n", r->dir);
	return 0;
}

int cmd_bpf(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(struct request *r);
	} verbs[] = { { "load", load },
		      { "unload", unload },
		      { "status", status } };
	static struct request r;

	r.dir = o2g_settings()->bpf_dir;
	for (size_t i = 0; argc > 1 && i < 3; i++) {
		if (strcmp(argv[1], verbs[i].name))
			continue;
		if (!read_request(argc - 1, argv + 1, &r))
			return verbs[i].run(&r);
		return 2;
	}
	usage(stderr);
	return 2;
}
