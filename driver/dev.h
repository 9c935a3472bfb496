/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef O2GK_DEV_H
#define O2GK_DEV_H

#include <linux/fs.h>

extern const struct file_operations o2gk_fops;

#endif
