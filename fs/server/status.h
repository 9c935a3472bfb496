/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Whoever connects to the server's socket is told, as JSON, how it does. */
#ifndef FSD_STATUS_H
#define FSD_STATUS_H

#include "session.h"

/* A listening socket, or a negative errno and a line in the log. */
int fsd_status_open(const char *path);
/* Somebody has connected. */
void fsd_status_tell(int fd, struct fsd_server *srv);

#endif
