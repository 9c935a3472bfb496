/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* coll_inter with nonblocking and persistent calls among the blocking ones. */
#include "coll_forms.h"

#include "coll_inter.c"
