/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Two ranks of one machine take turns without MPI: whoever waits sleeps, and calls
 * no library of the MPI that is measured.
 */
#ifndef PERF_TURNS_H
#define PERF_TURNS_H

struct perf_turns;

/* All ranks; of use to ranks 0 and 1, and NULL at the others. */
struct perf_turns *perf_turns_open(int rank);
void perf_turns_close(struct perf_turns *t);

void perf_turns_give(struct perf_turns *t, int rank);
void perf_turns_wait(struct perf_turns *t, int rank);

#endif
