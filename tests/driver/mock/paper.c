/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls are left out here: none of their endpoints ever exists. Weak,
 * for programs that have the real ones.
 */
#include "unit.h"

#include "mock.h"

#define WEAK __attribute__((weak))

WEAK int o2gk_paper_init(void *ep, void *arg)
{
	return -ENOTTY;
}

WEAK void o2gk_paper_destroy(void *paper)
{
	if (paper)
		mock_bug("there is none", __func__);
}

WEAK int o2gk_paper_mmap(void *paper, struct vm_area_struct *vma)
{
	return -EBADFD;
}

WEAK struct net *o2gk_paper_net(const void *paper)
{
	return NULL;
}

WEAK unsigned int o2gk_paper_nsocks(const void *paper)
{
	return 0;
}

WEAK void o2gk_paper_info(void *paper, void *info)
{
}

WEAK void o2gk_paper_queues(void *paper, void *found)
{
}

WEAK void o2gk_paper_socks(void *paper, void *found)
{
}

WEAK long o2gk_paper_call(void *paper, unsigned int cmd, unsigned long arg)
{
	return -ENOTTY;
}
