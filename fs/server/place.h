/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * From names to descriptors, without ever leaving the export: names are taken one at a
 * time, no symbolic link is followed (clients do that themselves), and ".." stops at the
 * root.
 */
#ifndef FSD_PLACE_H
#define FSD_PLACE_H

#include <sys/stat.h>

#include "fid.h"

/* Once, at the start: 0, or a negative errno and a line that says what is missing. */
int fsd_place_init(void);

/* A name that may be looked up or made in a directory; -EINVAL, -ENAMETOOLONG. */
int fsd_place_name(struct p9_str s, char name[P9_NAME_MAX + 1]);

/* A descriptor with O_PATH, or a negative errno. ".." and "." are names here. */
int fsd_place_child(const struct fsd_fid *dir, const char *name);
/* The same opened or made, for lcreate. */
int fsd_place_create(const struct fsd_fid *dir, const char *name, int flags,
		     mode_t mode);
/* The directory that a fid is in, and its name there. */
int fsd_place_above(const struct fsd_fid *f, char name[P9_NAME_MAX + 1]);
/* What a fid refers to, opened with flags of open(2). */
int fsd_place_open(const struct fsd_fid *f, int flags);

/* "/proc/self/fd/N": for calls that want a name. */
#define FSD_PROC_MAX 32
const char *fsd_place_proc(int fd, char buf[FSD_PROC_MAX]);

void fsd_place_qid(const struct fsd_export *ex, const struct stat *st,
		   struct p9_qid *qid);
int fsd_place_stat(struct fsd_fid *f, struct stat *st);

/* What it takes to find a fid again, and doing so. */
void fsd_place_describe(const struct fsd_fid *f, struct fsd_record *r);
int fsd_place_revive(struct fsd_fid *f);

#endif
