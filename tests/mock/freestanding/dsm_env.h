/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The least that dsm/proto must be given. */
#ifndef DSM_ENV_H
#define DSM_ENV_H

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef _Bool bool;

#define true 1
#define false 0
#define NULL ((void *)0)
#define EPROTO 71

#endif
