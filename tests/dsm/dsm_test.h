/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the programs that test shared memory have in common. */
#ifndef DSM_TEST_H
#define DSM_TEST_H

#include <mpi.h>
#include <o2g.h>
#include <o2g_dsm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond)                                                           \
	do {                                                                  \
		if (!(cond)) {                                                \
			fprintf(stderr, "rank %d: %s:%d: %s does not hold\n", \
				o2g_dsm_rank(), __FILE__, __LINE__, #cond);   \
			MPI_Abort(MPI_COMM_WORLD, 1);                         \
		}                                                             \
	} while (0)

/* The call went well. */
#define OK(call)                                                           \
	do {                                                               \
		int ok_ = (call);                                          \
		if (ok_ < 0) {                                             \
			fprintf(stderr, "rank %d: %s:%d: %s: %s\n",        \
				o2g_dsm_rank(), __FILE__, __LINE__, #call, \
				o2g_strerror(ok_));                        \
			MPI_Abort(MPI_COMM_WORLD, 1);                      \
		}                                                          \
	} while (0)

#endif
