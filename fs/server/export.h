/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What is exported, to whom, and as whom its users act. */
#ifndef FSD_EXPORT_H
#define FSD_EXPORT_H

#include <sys/types.h>

#include "bytes.h"

enum fsd_squash { FSD_SQUASH_ROOT, FSD_SQUASH_NONE, FSD_SQUASH_ALL };

struct fsd_export {
	struct fsd_export *next;
	char name[64];
	char path[1024];
	char key_file[512]; /* "": the server's */
	char listen[128];   /* "": the server's */
	enum fsd_squash squash;
	uid_t anon_uid;
	gid_t anon_gid;
	bool read_only;
	bool one_fs; /* mounts below are not entered */
	/* once it is open: */
	int root; /* open_by_handle_at() needs one that is really open */
	dev_t dev;
	ino_t ino;
	u64 id; /* of its name, for the state on disk */
};

int fsd_export_open(struct fsd_export *e);
void fsd_export_close(struct fsd_export *e);
u64 fsd_export_id(const char *name);
/* The export that a client names: by name, by path, or the only one by nothing. */
struct fsd_export *fsd_export_find(struct fsd_export *list, struct p9_str name);

/* Who acts for a user of a client. */
struct fsd_user {
	uid_t uid;
	gid_t gid; /* of the user's own, where that is known */
};
struct fsd_user fsd_export_user(const struct fsd_export *e, uid_t uid);
/* The group that something new is to have. */
gid_t fsd_export_gid(const struct fsd_export *e, const struct fsd_user *u,
		     gid_t gid);

#endif
