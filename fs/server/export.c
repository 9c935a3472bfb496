/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#define _GNU_SOURCE
#include "export.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cred.h"
#include "fsd_log.h"

u64 fsd_export_id(const char *name)
{
	u64 h = 0xcbf29ce484222325ull; /* FNV-1a */

	for (; *name; name++)
		h = (h ^ (u8)*name) * 0x100000001b3ull;
	return h;
}

int fsd_export_open(struct fsd_export *e)
{
	struct stat st;
	int err;

	e->root = open(e->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (e->root < 0 || fstat(e->root, &st)) {
		err = -errno;
		fsd_error("cannot export %s: %s", e->path, strerror(-err));
		return err;
	}
	e->dev = st.st_dev;
	e->ino = st.st_ino;
	e->id = fsd_export_id(e->name);
	return 0;
}

void fsd_export_close(struct fsd_export *e)
{
	if (e->root >= 0)
		close(e->root);
	e->root = -1;
}

static bool is(struct p9_str s, const char *text)
{
	return s.len == strlen(text) && !memcmp(s.text, text, s.len);
}

struct fsd_export *fsd_export_find(struct fsd_export *list, struct p9_str name)
{
	if (!name.len || is(name, "/"))
		return list && !list->next ? list : NULL;
	for (struct fsd_export *e = list; e; e = e->next)
		if (is(name, e->path))
			return e;
	if (*name.text == '/') { /* many write names that way */
		name.text++;
		name.len--;
	}
	for (struct fsd_export *e = list; e; e = e->next)
		if (is(name, e->name))
			return e;
	return NULL;
}

struct fsd_user fsd_export_user(const struct fsd_export *e, uid_t uid)
{
	struct fsd_user u = { e->anon_uid, e->anon_gid };

	if (e->squash == FSD_SQUASH_ALL || uid == P9_NONUNAME ||
	    (e->squash == FSD_SQUASH_ROOT && uid == 0))
		return u;
	u.uid = uid;
	u.gid = fsd_cred_primary(uid, e->anon_gid);
	return u;
}

gid_t fsd_export_gid(const struct fsd_export *e, const struct fsd_user *u,
		     gid_t gid)
{
	if (e->squash == FSD_SQUASH_ALL ||
	    (e->squash == FSD_SQUASH_ROOT && gid == 0))
		return e->anon_gid;
	return gid == (gid_t)-1 ? u->gid : gid;
}
