/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Calls that pack and unpack. */
#ifndef MPII_DATATYPE_PACKED_H
#define MPII_DATATYPE_PACKED_H

#include "datatype/datatype.h"

/*
 * One call that packs or unpacks: @count instances of @t at
 * @user, their bytes at @packed from *position on.
 */
struct mpii_packing {
	const char *func;
	struct mpii_comm *comm; /* whose error handler is called, or NULL */
	bool unpack;
	void *user;
	MPI_Count count;
	struct mpii_type *t;
	char *packed;
	MPI_Count size, *position;
};

/* Is that a type for it, and a count? Fills p->t. */
int mpii_packing_type(struct mpii_packing *p, MPI_Datatype datatype);
/* Are both buffers there, and is there room for, or are there, @bytes? */
int mpii_packing_room(const struct mpii_packing *p, MPI_Count bytes);

#endif
