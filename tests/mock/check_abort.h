/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A check for where there is no cmocka: a fuzzer keeps the input that aborts. */
#ifndef CHECK_ABORT_H
#define CHECK_ABORT_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                            \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, \
				__LINE__, #cond);                              \
			abort();                                               \
		}                                                              \
	} while (0)

#endif
