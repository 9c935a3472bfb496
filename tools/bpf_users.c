/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "bpf.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int add(struct bpf_users *u, uid_t uid)
{
	for (unsigned i = 0; i < u->n; i++)
		if (u->uid[i] == uid)
			return 0;
	if (u->n == BPF_MAX_USERS) {
		fprintf(stderr, "o2g bpf: more than %d users\n", BPF_MAX_USERS);
		return -1;
	}
	u->uid[u->n++] = uid;
	return 0;
}

int bpf_users_add(struct bpf_users *u, const char *name)
{
	struct passwd *pw = getpwnam(name);
	char *end;
	unsigned long uid;

	if (pw)
		return add(u, pw->pw_uid);
	uid = strtoul(name, &end, 10);
	if (*name && !*end)
		return add(u, (uid_t)uid);
	fprintf(stderr, "o2g bpf: there is no user \"%s\"\n", name);
	return -1;
}

/* Its members are listed with the group; those who have it as their first are
 * not. */
int bpf_users_add_group(struct bpf_users *u, const char *name)
{
	struct group *gr = getgrnam(name);
	struct passwd *pw;
	unsigned before = u->n;
	int bad = 0;
	gid_t gid;

	if (!gr) {
		fprintf(stderr, "o2g bpf: there is no group \"%s\"\n", name);
		return -1;
	}
	gid = gr->gr_gid;
	for (char **m = gr->gr_mem; *m && !bad; m++) {
		pw = getpwnam(*m);
		if (pw)
			bad = add(u, pw->pw_uid);
	}
	setpwent();
	while (!bad && (pw = getpwent()))
		if (pw->pw_gid == gid)
			bad = add(u, pw->pw_uid);
	endpwent();
	if (!bad && u->n == before) {
		fprintf(stderr,
			"o2g bpf: group %s has no members; add some and load again\n",
			name);
		bad = -1;
	}
	return bad;
}

const char *bpf_user_name(uid_t uid, char *buf, size_t size)
{
	struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(buf, size, "%s", pw->pw_name);
	else
		snprintf(buf, size, "%u", uid);
	return buf;
}
