/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * coll_random with nonblocking and persistent calls among the blocking ones.
 *
 * coll_forms [calls [ints [seed]]]
 */
#include "coll_forms.h"

#include "coll_random.c"
