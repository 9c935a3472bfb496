/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Whom a thread acts for at the file system: user, group and supplementary groups, which
 * Linux has for each thread. Without privileges there is nobody to act for but ourselves.
 */
#ifndef FSD_CRED_H
#define FSD_CRED_H

#include <stdbool.h>
#include <sys/types.h>

/* Can we act for others? Asked once, when the server starts. */
bool fsd_cred_init(void);
bool fsd_cred_privileged(void);

/* 0 or a negative errno; then the thread acts for nobody and must not go on. */
int fsd_cred_set(uid_t uid, gid_t gid);
/* As the server itself. */
void fsd_cred_own(void);

/* The primary group of a user, if the host knows it. */
gid_t fsd_cred_primary(uid_t uid, gid_t otherwise);

#endif
