/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Host lists and who runs where. */
#ifndef EXEC_HOSTS_H
#define EXEC_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

/* A list as the user wrote it; a name may come twice. */
struct hosts {
	struct host_slots {
		char *name;
		int slots;
	} * at;
	size_t n;
	size_t next; /* placing: whose turn it is, */
	int used;    /* and how many it has had in this turn */
};

/* "a,b:2". Exits with a message on nonsense. */
void hosts_add_list(struct hosts *h, const char *list);
/* Lines "host", "host:slots", "host slots=N", with # comments. */
void hosts_add_file(struct hosts *h, const char *path);

/* Is this a name of the machine we are on? */
bool host_is_here(const char *name);

/* Where one rank runs. */
struct place {
	int node; /* index into nodes */
	int app;
};

struct placement {
	char **nodes; /* distinct names, in order of first use */
	int nnodes;
	struct place *ranks;
	int size;
	int universe; /* slots, or ranks if there are more */
};

struct options;
/* Also fills in how many of each program. */
void hosts_place(struct options *opt, struct placement *p);

/* MPICH's description of the placement, "(vector,(node,nodes,ranks)...)". */
char *hosts_mapping(const struct placement *p);

#endif
