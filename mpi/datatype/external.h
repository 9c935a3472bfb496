/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* external32, for those who keep data in it. */
#ifndef MPII_DATATYPE_EXTERNAL_H
#define MPII_DATATYPE_EXTERNAL_H

#include "datatype/datatype.h"

/* Bytes of n instances. */
MPI_Count mpii_external_size(const struct mpii_type *t, MPI_Count n);
/* Between the packed data of n instances and external32. */
void mpii_external_out(const struct mpii_type *t, MPI_Count n,
		       const void *native, void *external);
void mpii_external_in(const struct mpii_type *t, MPI_Count n, void *native,
		      const void *external);

#endif
