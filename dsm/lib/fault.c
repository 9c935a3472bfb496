/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Threads that need a page sleep in the kernel, and a thread for each region hears of
 * them and asks. It does not wait for answers: those come to the endpoint's thread,
 * which fills the page and so wakes whoever needs it. So a fault wakes this thread, then
 * that one, then the one that had it, as it would in a program that does nothing else.
 */
#define _GNU_SOURCE
#include "dsm.h"

#include <linux/userfaultfd.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "log.h"

#define BATCH 16

static enum dsm_result page_want(struct o2g_dsm *r, u32 page,
				 enum dsm_access access, bool home)
{
	u64 *faults = access == DSM_WRITE ? &r->counts->write_faults :
					    &r->counts->read_faults;
	enum dsm_result result = dsm_want(&r->proto, page, access, home);

	if (result == DSM_HAVE)
		return result;
	r->counts->page[page].faults++;
	__atomic_store_n(faults, *faults + 1, __ATOMIC_RELAXED);
	return result;
}

static void fault(struct o2g_dsm *r, const struct uffd_msg *m)
{
	u64 at = m->arg.pagefault.address - (u64)(uintptr_t)r->base;
	u64 flags = m->arg.pagefault.flags;
	bool writes = flags &
		      (UFFD_PAGEFAULT_FLAG_WRITE | UFFD_PAGEFAULT_FLAG_WP);
	u32 page = (u32)(at / DSM_PAGE_SIZE);

	if (m->event != UFFD_EVENT_PAGEFAULT || page >= r->proto.npages)
		return;
	/* What came while the thread fell asleep has not woken it. */
	if (page_want(r, page, writes ? DSM_WRITE : DSM_READ, false) ==
	    DSM_HAVE)
		dsm_pages_wake(r, page);
}

static void *serve_faults(void *arg)
{
	struct o2g_dsm *r = arg;
	struct uffd_msg batch[BATCH];

	for (;;) {
		ssize_t n = read(r->uffd, batch, sizeof(batch));

		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0) {
			o2g_error("dsm: no faults of region %s any more: %s",
				  r->name, strerror(errno));
			return NULL;
		}
		pthread_mutex_lock(&r->lock);
		for (size_t i = 0; i < (size_t)n / sizeof(batch[0]); i++)
			fault(r, &batch[i]);
		pthread_mutex_unlock(&r->lock);
	}
}

void dsm_page_arrived(struct o2g_dsm *r, int from, const void *data, size_t len)
{
	const struct dsm_msg *msg = data;
	bool whole = len == sizeof(*msg) + DSM_PAGE_SIZE;
	u8 was_home, is_home;
	int err = -EPROTO;

	pthread_mutex_lock(&r->lock);
	if ((whole || len == sizeof(*msg)) && msg->page < r->proto.npages &&
	    msg->node < dsm.size) {
		was_home = dsm_home(&r->proto, msg->page) == r->proto.self;
		err = dsm_receive(&r->proto, (unsigned)from, msg,
				  whole ? msg + 1 : NULL);
		is_home = dsm_home(&r->proto, msg->page) == r->proto.self;
		r->counts->moved += is_home && !was_home;
	}
	pthread_mutex_unlock(&r->lock);
	if (err)
		o2g_error(
			"dsm: rank %d has sent what makes no sense in region %s",
			from, r->name);
}

/* --- the engine --- */

static int begin(MPI_Comm comm)
{
	return 0;
}

static void end(void)
{
}

static u64 dead(u64 known)
{
	return known;
}

static int start_thread(struct o2g_dsm *r)
{
	sigset_t all, old;
	int err;

	/* The program's signals are for its own threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&r->fault_thread, NULL, serve_faults, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static int start(struct o2g_dsm *r)
{
	int err = dsm_pages_start(r);

	if (!err)
		err = start_thread(r);
	if (err)
		dsm_pages_stop(r);
	return err;
}

/* The thread sleeps in read(), where it may be cancelled; nobody uses the region any
 * more. */
static void stop(struct o2g_dsm *r)
{
	pthread_cancel(r->fault_thread);
	pthread_join(r->fault_thread, NULL);
	dsm_pages_stop(r);
}

static int want(struct o2g_dsm *r, u32 first, u32 last, enum dsm_access access,
		bool home)
{
	int err = 0;

	for (; !err && first < last; first++) {
		pthread_mutex_lock(&r->lock);
		if (page_want(r, first, access, home) == DSM_LOST)
			err = -O2G_ERR_PEER;
		pthread_mutex_unlock(&r->lock);
	}
	return err;
}

static int home(struct o2g_dsm *r, u32 page)
{
	int rank;

	pthread_mutex_lock(&r->lock);
	rank = (int)dsm_home(&r->proto, page);
	pthread_mutex_unlock(&r->lock);
	return rank;
}

static void lost(struct o2g_dsm *r, int rank)
{
	pthread_mutex_lock(&r->lock);
	dsm_lost(&r->proto, (unsigned)rank, 0, r->proto.npages);
	pthread_mutex_unlock(&r->lock);
}

const struct dsm_engine dsm_user_engine = { begin, end,	 dead, start,
					    stop,  want, home, lost };
