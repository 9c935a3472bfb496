/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What dsm/proto needs of its world, in a process. */
#ifndef DSM_ENV_H
#define DSM_ENV_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;

#endif
