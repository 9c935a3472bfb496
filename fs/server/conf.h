/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Options and the configuration file: o2gfsd(8) describes both. */
#ifndef FSD_CONF_H
#define FSD_CONF_H

#include "serve.h"

struct fsd_conf {
	char listen[128];
	char key_file[512];
	char state_dir[512]; /* "": none */
	char socket[108];    /* "": none */
	u32 threads;
	struct fsd_limits limits;
	struct fsd_export *exports;
	bool check_only;
};

void fsd_conf_init(struct fsd_conf *c);
void fsd_conf_cleanup(struct fsd_conf *c);
/* A line of the file: 0; or -EINVAL, and a line in the log, which begins with @where. */
int fsd_conf_line(struct fsd_conf *c, char *line, const char *where);
int fsd_conf_file(struct fsd_conf *c, const char *path);
/* The options: 0, -EINVAL, or 1: that was all (--help, --version). */
int fsd_conf_args(struct fsd_conf *c, int argc, char **argv);

/* 32 bytes from a file with 64 hexadecimal digits that nobody else can read. */
int fsd_key_read(const char *path, unsigned char *key);

#endif
