/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ports that this process has opened. */
#ifndef MPII_PROCESS_PORT_H
#define MPII_PROCESS_PORT_H

#include "process/meet.h"

/* A port for our own use, which the program knows nothing of. Negative errno. */
int mpii_port_open(char name[MPI_MAX_PORT_NAME]);
/* -ENOENT: there is none of that name. */
int mpii_port_close(const char *name);
void mpii_port_close_all(void);

/* The next to call that port, which must be ours; or call another's. Fill in the
 * way, whose err says what went wrong. Milliseconds, negative: no limit. */
void mpii_port_accept(const char *name, int timeout_ms, struct mpii_fd_way *w);
void mpii_port_call(const char *name, int timeout_ms, struct mpii_fd_way *w);

#endif
