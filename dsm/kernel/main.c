// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Loading and unloading. While a node or a region is open the module stays. */
#include <linux/miscdevice.h>
#include <linux/module.h>

#include "dsmk.h"

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "o2g_dsm",
	.fops = &dsmk_device_fops,
	.mode = 0666, /* what it gives away is limited per user */
};

static int __init dsmk_init(void)
{
	int err = dsmk_regions_init();

	if (err)
		return err;
	err = misc_register(&device);
	if (err)
		dsmk_regions_exit();
	return err;
}

static void __exit dsmk_exit(void)
{
	misc_deregister(&device);
	dsmk_regions_exit();
}

module_init(dsmk_init);
module_exit(dsmk_exit);
MODULE_AUTHOR("The O2G project");
MODULE_DESCRIPTION("Memory that processes of a job share, between hosts");
MODULE_LICENSE("Dual BSD/GPL");
