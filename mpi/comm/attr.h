/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Attributes for any kind of object; the calls for one kind are short. Callbacks
 * of all kinds have the same shape, since a handle is a pointer. Creating a key,
 * setting and getting see the language of the call: see lang.h.
 */
#ifndef MPI_ATTR_H
#define MPI_ATTR_H

#include "bindings/lang.h"

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
