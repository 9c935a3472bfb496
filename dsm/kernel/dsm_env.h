/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What dsm/proto needs of its world, in the kernel. */
#ifndef DSM_ENV_H
#define DSM_ENV_H

#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/types.h>

#endif
