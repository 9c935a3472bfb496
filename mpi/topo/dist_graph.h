/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the two constructors of distributed graphs share. */
#ifndef DIST_GRAPH_H
#define DIST_GRAPH_H

#include "topo/topo.h"

/* Some edges as the program gives them, and what it calls the arguments. */
struct mpii_edges_arg {
	int n;
	const int *ranks;   /* the other ends */
	const int *weights; /* or MPI_UNWEIGHTED, MPI_WEIGHTS_EMPTY */
	const char *n_name, *ranks_name, *weights_name;
};
int mpii_dist_check_edges(const char *func, struct mpii_comm *c,
			  const struct mpii_edges_arg *a);
int mpii_dist_check_info(const char *func, struct mpii_comm *c, MPI_Info info);

#endif
