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
		int max;    /* ranks at most; 0: any number */
		char *user; /* there; NULL: the same as here */
		int taken;  /* placing: slots in this round, */
		int ranks;  /* and ranks */
	} * at;
	size_t n;
	size_t next; /* placing: whose turn it is, */
	int used;    /* and how many it has had in this turn */
};

void hosts_add(struct hosts *h, const char *name, int slots);
/* Can it be one, and nothing else? */
bool hosts_is_name(const char *name);
/* "a,b:2". Exits with a message on nonsense. */
void hosts_add_list(struct hosts *h, const char *list);
/* Lines "host", "host:slots", "host slots=N ...", with # comments. */
void hosts_add_file(struct hosts *h, const char *path);

/* Is this a name of the machine we are on? */
bool host_is_here(const char *name);

/* Where one rank runs. */
struct place {
	int node; /* index into nodes */
	int app;
	char *cpus; /* of a rank file, to be bound to; NULL: it does not say */
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

/* A host of that name, among those that have ranks from now on. */
int hosts_node(const struct options *opt, struct placement *p,
	       const char *name);

/* What the node of a host in a list is called. */
char *hosts_node_name(const struct options *opt, const struct host_slots *at);

/* MPICH's description of the placement, "(vector,(node,nodes,ranks)...)". */
char *hosts_mapping(const struct placement *p);

#endif
