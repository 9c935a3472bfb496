/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The hosts that a batch system has given us. */
#ifndef EXEC_ALLOCATION_H
#define EXEC_ALLOCATION_H

#include <stdbool.h>

struct hosts;
struct strings;

/* A step of its own on one host, beside others. */
#define ALLOCATION_SRUN                                               \
	"srun --nodes=1 --ntasks=1 --overlap --mem=0 --mpi=none -K0 " \
	"--input=0 --unbuffered --quiet -w"

/* The name of the batch system, its hosts, and by which command to reach them (NULL:
 * as usual). NULL: there is none. */
const char *allocation_find(struct hosts *h, const char **agent);

/* "a[01-02],b" as Slurm writes it. False: it makes no sense. */
bool allocation_expand(const char *list, struct strings *names);

#endif
