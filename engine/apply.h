/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Operations on elements of memory, with floating point. */
#ifndef ENG_APPLY_H
#define ENG_APPLY_H

#include "atomic.h"

o2g_atomic_value *eng_value_of(u32 type);

#endif
