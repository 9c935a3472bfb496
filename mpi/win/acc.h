/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Accumulating into memory of a window that is mapped here.
 *
 * One discipline, whoever does it: an element of 1, 2, 4 or 8 bytes that is
 * naturally aligned is updated by one instruction of the processor, or by a loop
 * around compare-and-exchange, alone or with its neighbours. Any other element is updated by its owner alone,
 * who holds a lock meanwhile.
 */
#ifndef WIN_ACC_H
#define WIN_ACC_H

#include "coll/op/op.h"
#include "win/win.h"

#define WIN_ELEMENT_MAX 64 /* bytes: a pair of complex long doubles fits */

/* What is done to each element. */
struct win_acc {
	const struct mpii_op *op;      /* NULL: compare and swap */
	const struct mpii_type *basic; /* of an element */
	const void *compare;	       /* one element */
	pthread_mutex_t *owner;
};

/* Is an element of this type at this address updated by instructions? */
static inline bool win_acc_by_cpu(const struct mpii_type *basic,
				  const void *address)
{
	MPI_Count size = basic->size;

	return (size == 8 || size == 4 || size == 2 || size == 1) &&
	       basic->nsegs == 1 && (uintptr_t)address % (size_t)size == 0;
}
/* The same of every element of count instances of t at an address. */
bool win_acc_all_by_cpu(const struct mpii_type *basic,
			const struct mpii_type *t, const void *address);

/* Are bytes [off, off + n) of the packed form of instances of t whole elements, each
 * with its parts where the basic type has them? Another process may have sent t. */
bool win_acc_holds(const struct mpii_type *basic, const void *at,
		   const struct mpii_type *t, MPI_Count off, MPI_Count n);

/* Bytes [off, off + n) of the packed form of instances of t at @to; the operands
 * packed in @in, or NULL where there are none, and the values from before packed
 * into @out, unless that is NULL. */
void win_acc_typed(const struct win_acc *a, void *to, const struct mpii_type *t,
		   MPI_Count off, MPI_Count n, const char *in, char *out);

/* n elements in a row that are updated by instructions. For few of them. */
void win_acc_each(const struct win_acc *a, char *to, MPI_Count n,
		  const char *in, char *out);
/* The same of as many as possible of n, several at a time; how many that are. */
MPI_Count win_acc_wide(const struct win_acc *a, char *to, MPI_Count n,
		       const char *in, char *out);
/* Whichever is quicker. */
void win_acc_run(const struct win_acc *a, char *to, MPI_Count n, const char *in,
		 char *out);

#endif
