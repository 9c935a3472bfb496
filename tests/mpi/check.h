/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What the MPI test programs share. A program prints nothing unless something
 * is wrong, and then ends the job.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

static int rank, size; /* in MPI_COMM_WORLD */

#define WORLD MPI_COMM_WORLD
#define IGNORE MPI_STATUS_IGNORE

#define CHECK(cond)                                                       \
	do {                                                              \
		if (!(cond)) {                                            \
			fprintf(stderr, "%s:%d: rank %d: %s\n", __FILE__, \
				__LINE__, rank, #cond);                   \
			MPI_Abort(MPI_COMM_WORLD, 1);                     \
		}                                                         \
	} while (0)

#define EQUAL(a, b)                                                       \
	do {                                                              \
		long long a_ = (long long)(a), b_ = (long long)(b);       \
		if (a_ != b_) {                                           \
			fprintf(stderr,                                   \
				"%s:%d: rank %d: %s is %lld, not %lld\n", \
				__FILE__, __LINE__, rank, #a, a_, b_);    \
			MPI_Abort(MPI_COMM_WORLD, 1);                     \
		}                                                         \
	} while (0)

/* The call must fail with this error class. */
#define FAILS(call, class)                                                \
	do {                                                              \
		int code_ = (call), class_ = -1;                          \
		MPI_Error_class(code_, &class_);                          \
		if (class_ != (class)) {                                  \
			fprintf(stderr,                                   \
				"%s:%d: rank %d: %s: class %d, not %s\n", \
				__FILE__, __LINE__, rank, #call, class_,  \
				#class);                                  \
			MPI_Abort(MPI_COMM_WORLD, 1);                     \
		}                                                         \
	} while (0)

/* The call must work. */
#define OK(call) EQUAL(call, MPI_SUCCESS)

static inline void start(int *argc, char ***argv)
{
	MPI_Init(argc, argv);
	MPI_Comm_rank(WORLD, &rank);
	MPI_Comm_size(WORLD, &size);
}

static inline int finish(void)
{
	MPI_Finalize();
	return 0;
}

/* Byte @i of the message with number @seed. */
static inline unsigned char pattern(int seed, size_t i)
{
	return (unsigned char)(seed * 131 + i * 7 + (i >> 8) * 3);
}

static inline void fill(void *buf, size_t n, int seed)
{
	for (size_t i = 0; i < n; i++)
		((unsigned char *)buf)[i] = pattern(seed, i);
}

static inline int filled(const void *buf, size_t n, int seed)
{
	for (size_t i = 0; i < n; i++)
		if (((const unsigned char *)buf)[i] != pattern(seed, i))
			return 0;
	return 1;
}

static inline int count_of(const MPI_Status *s, MPI_Datatype t)
{
	int n;

	MPI_Get_count(s, t, &n);
	return n;
}

static inline int is_empty(const MPI_Status *s)
{
	int cancelled;

	MPI_Test_cancelled(s, &cancelled);
	return s->MPI_SOURCE == MPI_ANY_SOURCE && s->MPI_TAG == MPI_ANY_TAG &&
	       count_of(s, MPI_BYTE) == 0 && !cancelled;
}

#endif
