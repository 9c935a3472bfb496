/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Where published names are kept: files, or `o2g names`. */
#ifndef MPII_PROCESS_NAMES_IN_H
#define MPII_PROCESS_NAMES_IN_H

#include "mpii.h"

#define MPII_NAME_MAX (60 << 10) /* a service and its port */

/* One that this process has published. */
struct mpii_name {
	struct mpii_name *next;
	int fd;	    /* holds it */
	char *path; /* its file; NULL: a server has it */
	char *service, *port;
};

/* Negative errno: -EEXIST, -ENOENT; or an MPI code, with words recorded, when the place
 * itself cannot be used. */
struct mpii_names_place {
	/* Fills in the descriptor, and the path if there is one. */
	int (*publish)(struct mpii_name *n);
	/* Closes the descriptor. */
	void (*forget)(const struct mpii_name *n);
	/* *port is malloc'ed. */
	int (*lookup)(const char *service, char **port);
};
extern const struct mpii_names_place mpii_names_files, mpii_names_server;

/* Does O2G_NAMES speak of a server? */
bool mpii_names_is_server(const char *setting);

#endif
