/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef EXEC_RANKFILE_H
#define EXEC_RANKFILE_H

struct options;
struct placement;

/*
 * Places ranks as opt->rankfile says: "rank 3=host slot=0-1" or "slot=1:0-3", which is
 * the first four cores of the second socket. A host "+n0" is the first of the list of
 * hosts. Exits with a message on nonsense.
 */
void rankfile_place(struct options *opt, struct placement *p);

#endif
