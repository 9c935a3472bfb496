/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The loop of MPI_MINLOC and MPI_MAXLOC on a type of pairs. */
#ifndef MPII_OP_LOCATE_H
#define MPII_OP_LOCATE_H

/* The better value wins; of equal ones, that with the smaller index. */
#define LOCATE(name, T, better)                                    \
	static void name(const void *in, void *inout, MPI_Count n) \
	{                                                          \
		const T *a = in;                                   \
		T *b = inout;                                      \
                                                                   \
		for (MPI_Count i = 0; i < n; i++)                  \
			if (a[i].v better b[i].v ||                \
			    (a[i].v == b[i].v && a[i].i < b[i].i)) \
				b[i] = a[i];                       \
	}

#endif
