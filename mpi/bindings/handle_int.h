/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Handles as integers, for Fortran and MPI_X_toint: predefined ones are their ABI
 * value, others get a number when first asked for one.
 */
#ifndef MPII_BINDINGS_HANDLE_INT_H
#define MPII_BINDINGS_HANDLE_INT_H

#include "mpii.h"

int mpii_handle_to_int(void *handle);	/* 0: out of memory */
void *mpii_handle_from_int(int number); /* NULL: names nothing */

#endif
