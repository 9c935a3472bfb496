// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Loading and unloading. While an endpoint is open the module stays. */
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#include "dev.h"
#include "o2gk.h"

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "o2g",
	.fops = &o2gk_fops,
	.mode = 0666, /* what it gives away is limited per user */
};

static int __init o2gk_init(void)
{
	int err = o2gk_unexp_init();

	if (err)
		return err;
	o2gk_local_init();
	err = misc_register(&device);
	if (err)
		o2gk_unexp_exit();
	return err;
}

static void __exit o2gk_exit(void)
{
	misc_deregister(&device);
	o2gk_unexp_exit();
}

module_init(o2gk_init);
module_exit(o2gk_exit);
MODULE_AUTHOR("The O2G project");
MODULE_DESCRIPTION(
	"MPI messages over TCP, matched and copied where they arrive");
MODULE_LICENSE("Dual BSD/GPL");
