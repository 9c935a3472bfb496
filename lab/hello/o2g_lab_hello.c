// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The smallest module, for the lab's tests of itself: it says that it came
 * and went, and on request does what the lab must notice.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

static char *fault = "";
module_param(fault, charp, 0444);
MODULE_PARM_DESC(fault,
		 "warn, bug, leak, sleep, freed: what to do wrong when loaded");

static DEFINE_SPINLOCK(hello_lock);

/* Allowed by a kernel without debugging, reported by one with. */
static void sleep_with_a_lock_held(void)
{
	spin_lock(&hello_lock);
	might_sleep();
	spin_unlock(&hello_lock);
}

/* Nothing keeps the address, so that kmemleak can see that it is lost. */
static noinline void lose_memory(void)
{
	char *p = kmalloc(777, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
}

static noinline int look_at_freed_memory(void)
{
	char *p = kmalloc(77, GFP_KERNEL);

	if (!p)
		return 0;
	kfree(p);
	OPTIMIZER_HIDE_VAR(p);
	return READ_ONCE(p[7]);
}

static int __init hello_init(void)
{
	pr_info("here\n");
	if (!strcmp(fault, "warn"))
		WARN(1, "asked for");
	else if (!strcmp(fault, "bug"))
		BUG();
	else if (!strcmp(fault, "leak"))
		lose_memory();
	else if (!strcmp(fault, "sleep"))
		sleep_with_a_lock_held();
	else if (!strcmp(fault, "freed"))
		pr_info("found %d\n", look_at_freed_memory());
	return 0;
}

static void __exit hello_exit(void)
{
	pr_info("gone\n");
}

module_init(hello_init);
module_exit(hello_exit);

MODULE_DESCRIPTION("The lab's test of itself");
MODULE_LICENSE("Dual BSD/GPL");
