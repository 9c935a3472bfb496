/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What O2G_COLL asks for, and the names of table.def. Knows nothing of MPI, so
 * that `o2g info` has it too.
 */
#ifndef COLL_ASKED_H
#define COLL_ASKED_H

#include "coll/ranges.h"

/* A row of table.def, in its order. */
struct coll_name {
	const char *collective, *algorithm, *when;
	struct coll_range ranks, bytes;
};
extern const struct coll_name coll_names[]; /* ends with a NULL */

/* One "collective=algorithm:from-to". */
struct coll_asked {
	int row; /* of table.def: the last with these names */
	struct coll_range bytes;
};

/* Reads O2G_COLL's value; what makes no sense is left out, with a warning that
 * says what would. Returns how many there are, at most @max. */
int coll_asked_read(const char *text, struct coll_asked *asked, int max);

#endif
