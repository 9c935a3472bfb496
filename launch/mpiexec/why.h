/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Why does it hang? The ranks write what they wait for to pages (base/rank_state.h)
 * that their proxy maps. `o2g why` asks mpiexec, through a socket of the abstract
 * kind that is named after the user and the process; mpiexec asks the proxies, and
 * these read the pages. No rank is asked anything.
 *
 * FRAME_STATE, numbers of 32 bits unless said otherwise: process, its state as in
 * /proc (0: gone), enum rank_state, 1 if it waits in a barrier of PMI, milliseconds
 * of CPU time and calls that found nothing within so many milliseconds, the host's
 * clock in ns (64 bits, the lower half first), then the page as rank_state.h packs
 * it, with what lies in the driver added to its messages.
 *
 * What the tool reads: WHY_VERSION, how many ranks; for each its host as a string,
 * 1 if it has exited, its wait status, enum rank_state, the length of its
 * FRAME_STATE (0: it has none) and the FRAME_STATE.
 */
#ifndef EXEC_WHY_H
#define EXEC_WHY_H

struct node;
struct rank;
struct reader;

/* --- proxy: state.c, state_driver.c --- */
struct o2g_state;
void state_init(int nranks);
/* In the child that becomes the rank. */
void state_give(const struct rank *r);
void state_look(void);
void state_stir(void);
/* Adds what the driver holds for a process, and what it has moved. */
void state_driver(struct o2g_state *s);

/* --- mpiexec: why.c --- */
void why_init(void);
void why_state(struct node *n, int rank, struct reader *data);
void why_stirred(struct node *n, int rank, struct reader *data);

#endif
