/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* cmocka with the headers it wants before it. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define T(f) cmocka_unit_test(f)

#endif
