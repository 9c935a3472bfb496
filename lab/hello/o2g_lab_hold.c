// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * How long softirqs are held off: a timer, in hard interrupts, raises one every 20 us,
 * which looks how late it is. The longest time is the module's parameter; writing to it
 * starts anew. For a guest with one processor.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/version.h>

#define PERIOD_NS 20000

static ulong longest;
module_param(longest, ulong, 0644);
MODULE_PARM_DESC(longest, "nanoseconds");

static struct hrtimer timer;
static ktime_t raised;
static bool pending;

static void late(struct tasklet_struct *t)
{
	ulong ns = ktime_to_ns(ktime_sub(ktime_get(), raised));

	if (ns > READ_ONCE(longest))
		WRITE_ONCE(longest, ns);
	WRITE_ONCE(pending, false);
}
static DECLARE_TASKLET(tasklet, late);

static enum hrtimer_restart raise(struct hrtimer *t)
{
	if (!READ_ONCE(pending)) {
		raised = ktime_get();
		WRITE_ONCE(pending, true);
		tasklet_hi_schedule(&tasklet);
	}
	hrtimer_forward_now(t, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

static int __init hold_init(void)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer, raise, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
#else
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = raise;
#endif
	hrtimer_start(&timer, ns_to_ktime(PERIOD_NS), HRTIMER_MODE_REL_HARD);
	return 0;
}

static void __exit hold_exit(void)
{
	hrtimer_cancel(&timer);
	tasklet_kill(&tasklet);
}

module_init(hold_init);
module_exit(hold_exit);

MODULE_DESCRIPTION("How long softirqs are held off");
MODULE_LICENSE("Dual BSD/GPL");
