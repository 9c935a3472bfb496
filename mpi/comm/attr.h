/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Attributes for any kind of object; the calls for one kind are short. Callbacks
 * of all kinds have the same shape, since a handle is a pointer. Creating a key,
 * setting and getting see the language of the call: see lang.h.
 */
#ifndef MPII_COMM_ATTR_H
#define MPII_COMM_ATTR_H

#include "bindings/lang.h"

struct mpii_attr;

enum mpii_attr_kind { MPII_ATTR_COMM, MPII_ATTR_TYPE, MPII_ATTR_WIN };

/* Run the copy callbacks of the attributes in @from, which belong to the object
 * with handle @handle, and fill the empty list @to. MPI code. */
int mpii_attr_copy_all(enum mpii_attr_kind kind, void *handle,
		       struct mpii_attr *from, struct mpii_attr **to);
/* Run the delete callbacks, latest attribute first, and empty the list. Stops
 * at the first that refuses. */
int mpii_attr_delete_all(enum mpii_attr_kind kind, void *handle,
			 struct mpii_attr **list);

/* 0: out of memory. */
int mpii_keyval_create(enum mpii_attr_kind kind, mpii_attr_copy_fn *copy,
		       mpii_attr_delete_fn *delete, void *extra_state);
/* These return MPI codes with words recorded. */
int mpii_keyval_free(enum mpii_attr_kind kind, int keyval);
int mpii_attr_set(enum mpii_attr_kind kind, void *handle,
		  struct mpii_attr **list, int keyval, void *value);
int mpii_attr_get(enum mpii_attr_kind kind, struct mpii_attr *list, int keyval,
		  void **value, int *flag);
/* Of a predefined attribute: C gets a pointer to it, Fortran the value. */
void mpii_attr_give_int(void *attribute_val, int *value);
void mpii_attr_give_address(void *attribute_val, MPI_Aint *value);
int mpii_attr_delete(enum mpii_attr_kind kind, void *handle,
		     struct mpii_attr **list, int keyval);

#endif
