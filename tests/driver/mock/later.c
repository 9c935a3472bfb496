/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Work that waits for its time, and time that passes. */
#include "unit.h"

#include "mock.h"

unsigned int mock_printed;
static struct delayed_work *armed;

static void disarm(struct delayed_work *d)
{
	struct delayed_work **p = &armed;

	if (!d->armed)
		return;
	while (*p != d)
		p = &(*p)->next;
	*p = d->next;
	d->armed = false;
}

bool queue_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
			unsigned long delay)
{
	if (d->armed || d->work.pending)
		return false;
	if (!delay)
		return queue_work(wq, &d->work);
	d->wq = wq;
	d->at = jiffies + delay;
	d->armed = true;
	d->next = armed;
	armed = d;
	return true;
}

/* Any context: what is queued is taken back without waiting. */
bool mod_delayed_work(struct workqueue_struct *wq, struct delayed_work *d,
		      unsigned long delay)
{
	bool was = d->armed || d->work.pending;

	disarm(d);
	if (!delay)
		queue_work(wq, &d->work);
	else if (d->work.pending)
		mock_bug("what was to be done at once is put off", __func__);
	else
		queue_delayed_work(wq, d, delay);
	return was;
}

bool cancel_delayed_work_sync(struct delayed_work *d)
{
	bool was = d->armed;

	disarm(d);
	return cancel_work_sync(&d->work) || was;
}

static struct delayed_work *next_timer(void)
{
	struct delayed_work *first = armed;

	for (struct delayed_work *d = armed; d; d = d->next)
		if (time_after(first->at, d->at))
			first = d;
	return first;
}

bool mock_pass_next(void)
{
	struct delayed_work *d = next_timer();

	if (!d)
		return false;
	if (time_after(d->at, jiffies))
		jiffies = d->at;
	disarm(d);
	queue_work(d->wq, &d->work);
	mock_run();
	return true;
}

void mock_pass(unsigned int ms)
{
	unsigned long end = jiffies + msecs_to_jiffies(ms);
	struct delayed_work *d;

	mock_run();
	while ((d = next_timer()) && !time_after(d->at, end))
		mock_pass_next();
	jiffies = end;
}

bool mock_timers(void)
{
	return armed;
}

int wait_for_completion_killable(struct completion *c)
{
	unsigned int turns = 0;

	mock_may_sleep(__func__);
	while (!c->done) {
		if (++turns > 100000)
			mock_bug("it never ends", __func__);
		if (mock.signal || (!mock_run() && !mock_pass_next()))
			return -512; /* ERESTARTSYS */
	}
	c->done = false;
	return 0;
}

bool test_and_clear_bit(unsigned long n, unsigned long *map)
{
	bool was = test_bit(n, map);

	map[n / BITS_PER_LONG] &= ~BIT(n % BITS_PER_LONG);
	return was;
}

u32 jhash2(const u32 *words, u32 n, u32 seed)
{
	u32 hash = seed;

	while (n--)
		hash = (hash ^ *words++) * 0x01000193u + 0x811c9dc5u;
	return hash ^ hash >> 15;
}

/* Never twice the same. */
void get_random_bytes(void *to, size_t n)
{
	static u64 state = 1;
	u8 *p = to;

	while (n--) {
		state = state * 6364136223846793005ull + 1442695040888963407ull;
		*p++ = state >> 56;
	}
}
