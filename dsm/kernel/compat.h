/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Everything that differs between kernels, from 6.1 on. */
#ifndef DSMK_COMPAT_H
#define DSMK_COMPAT_H

#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void dsmk_vm_flags(struct vm_area_struct *vma, unsigned long set,
				 unsigned long clear)
{
	vma->vm_flags |= set;
	vma->vm_flags &= ~clear;
}
#else
static inline void dsmk_vm_flags(struct vm_area_struct *vma, unsigned long set,
				 unsigned long clear)
{
	vm_flags_mod(vma, set, clear);
}
#endif

#endif
