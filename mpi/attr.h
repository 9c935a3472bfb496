/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes for any kind of object; the calls for one kind are short. */
#ifndef MPI_ATTR_H
#define MPI_ATTR_H

#include "mpii.h"

/* Callbacks of all kinds have the same shape: a handle is a pointer. */
typedef int mpii_attr_copy_fn(void *handle, int keyval, void *extra_state,
			      void *in, void *out, int *flag);
typedef int mpii_attr_delete_fn(void *handle, int keyval, void *value,
				void *extra_state);

/* 0: out of memory. */
int mpii_keyval_create(enum mpii_attr_kind kind, mpii_attr_copy_fn *copy,
		       mpii_attr_delete_fn *delete, void *extra_state);
/* These return MPI codes with words recorded. */
int mpii_keyval_free(enum mpii_attr_kind kind, int keyval);
int mpii_attr_set(enum mpii_attr_kind kind, void *handle,
		  struct mpii_attr **list, int keyval, void *value);
int mpii_attr_get(enum mpii_attr_kind kind, struct mpii_attr *list, int keyval,
		  void **value, int *flag);
int mpii_attr_delete(enum mpii_attr_kind kind, void *handle,
		     struct mpii_attr **list, int keyval);

#endif
