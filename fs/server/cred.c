/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "cred.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"

#define GROUPS_MAX 1024
#define KNOWN 64 /* users remembered */
#define KEEP_NS (300ull * 1000000000u)

/* What the host says of a user; asking it may take long. */
struct known {
	uid_t uid;
	gid_t gid;
	bool there; /* the host knows it */
	uint64_t until_ns;
	int ngroups;
	gid_t *groups;
};

static bool privileged;
static struct __user_cap_data_struct caps[2]; /* of the server itself */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known known[KNOWN];
static __thread struct {
	bool set;
	uid_t uid;
	gid_t gid;
	uint64_t until_ns; /* its groups are good until then */
} mine;

/* For this thread alone, as everything here. */
static long caps_of_thread(long call, struct __user_cap_data_struct *data)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};

	return syscall(call, &head, data);
}

bool fsd_cred_init(void)
{
	/* Not by number: a container's root may lack it. */
	setfsuid(getuid() ? getuid() : 65534);
	privileged = getuid() == 0 && setfsuid((uid_t)-1) == 65534;
	setfsuid(getuid());
	if (privileged)
		privileged = !caps_of_thread(SYS_capget, caps);
	return privileged;
}

bool fsd_cred_privileged(void)
{
	return privileged;
}

/* Without the lock: name services may wait for a network. */
static void ask(struct known *k, uid_t uid)
{
	struct passwd pw, *found = NULL;
	gid_t groups[GROUPS_MAX];
	char buf[4096];
	int n = GROUPS_MAX;

	*k = (struct known){ .uid = uid, .until_ns = o2g_now_ns() + KEEP_NS };
	if (getpwuid_r(uid, &pw, buf, sizeof(buf), &found) || !found)
		return;
	k->gid = pw.pw_gid;
	if (getgrouplist(pw.pw_name, pw.pw_gid, groups, &n) < 0)
		n = 0;
	k->groups = n > 0 ? malloc((size_t)n * sizeof(gid_t)) : NULL;
	if (k->groups) {
		memcpy(k->groups, groups, (size_t)n * sizeof(gid_t));
		k->ngroups = n;
	}
	k->there = true;
}

/* With the lock: found, or asked for and put into the table. */
static struct known *look_up(uid_t uid)
{
	struct known *k = &known[uid % KNOWN], got;

	if (k->until_ns > o2g_now_ns() && k->uid == uid)
		return k;
	pthread_mutex_unlock(&lock);
	ask(&got, uid);
	pthread_mutex_lock(&lock);
	free(k->groups);
	*k = got;
	return k;
}

gid_t fsd_cred_primary(uid_t uid, gid_t otherwise)
{
	const struct known *k;
	gid_t gid;

	if (uid == 0)
		return 0;
	pthread_mutex_lock(&lock);
	k = look_up(uid);
	gid = k->there ? k->gid : otherwise;
	pthread_mutex_unlock(&lock);
	return gid;
}

/* For this thread alone; the C library's function changes all of them. */
static int set_groups(uid_t uid)
{
	const struct known *k;
	long ret;

	pthread_mutex_lock(&lock);
	k = look_up(uid);
	ret = syscall(SYS_setgroups, k->ngroups, k->groups);
	mine.until_ns = k->until_ns;
	pthread_mutex_unlock(&lock);
	return ret ? -errno : 0;
}

/*
 * A user other than root has none of the server's rights. A new number takes away those
 * that are about files, but not the others: whoever may set file capabilities, pass by
 * quotas, or write trusted attributes.
 */
static int use_caps(bool ours)
{
	struct __user_cap_data_struct c[2] = { caps[0], caps[1] };

	if (!ours)
		c[0].effective = c[1].effective = 0;
	return caps_of_thread(SYS_capset, c) ? -errno : 0;
}

static int change(uid_t uid, gid_t gid)
{
	int err;

	mine.set = false;
	err = use_caps(true); /* it takes privileges to take others */
	if (err)
		return err;
	setfsuid(0);
	err = uid ? set_groups(uid) : (int)syscall(SYS_setgroups, 0, NULL);
	if (err)
		return err < 0 ? err : -EPERM;
	setfsgid(gid);
	setfsuid(uid);
	if ((gid_t)setfsgid((gid_t)-1) != gid ||
	    (uid_t)setfsuid((uid_t)-1) != uid) {
		setfsuid(0);
		return -EPERM;
	}
	if (uid && (err = use_caps(false)))
		return err;
	mine.set = true;
	mine.uid = uid;
	mine.gid = gid;
	return 0;
}

int fsd_cred_set(uid_t uid, gid_t gid)
{
	if (!privileged)
		return 0;
	if (mine.set && mine.uid == uid && mine.gid == gid &&
	    (!uid || o2g_now_ns() < mine.until_ns))
		return 0;
	return change(uid, gid);
}

void fsd_cred_own(void)
{
	if (privileged)
		fsd_cred_set(0, 0);
}
