/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Waiting for what ranks of this host write into shared lines, and for what the
 * handlers of messages write into ours. A wait for a rank that is dead ends with an
 * error; so whoever waits looks at the members whenever libo2g has lost a peer.
 */
#include "env/errors.h"
#include "process/gone.h"
#include "pt2pt/request.h"
#include "pt2pt/transfer.h"
#include "tools/state.h"
#include "win/host.h"
#include "win/line.h"
#include "win/out.h"
#include "win/pscw.h"
#include "win/remote.h"

struct wait {
	int (*cond)(void *arg);
	void *arg;
	unsigned losses;
	const struct mpii_win *w;
};

static int over(void *arg)
{
	const struct wait *wait = arg;

	return wait->cond(wait->arg) ||
	       mpii_unlikely(o2g_losses(mpii.ep) != wait->losses);
}

/* What a rank that was asked for something has not done yet. */
static enum o2g_state_doing undone(const struct mpii_win *w, int rank)
{
	const struct win_peer *p = &w->peers[rank];
	const struct win_out *o = win_out_of(p);

	return p->held == WIN_WANTED || (o && win_out_wants_lock(o)) ?
		       O2G_PART_LOCK :
		       O2G_PART_GET;
}

static void explain(struct o2g_state_wait *to, void *arg)
{
	const struct wait *wait = arg;
	int locked, asked;

	if (win_pscw_explain(to, wait->w, wait->cond, wait->arg))
		return;
	locked = win_line_whose(wait->w, wait->cond, wait->arg);
	asked = win_remote_whose(wait->cond, wait->arg);
	if (locked >= 0)
		mpii_state_add_target(to, O2G_PART_LOCK, wait->w->comm, locked);
	else if (asked >= 0)
		mpii_state_add_target(to, undone(wait->w, asked), wait->w->comm,
				      asked);
}

void win_wait_explain(void)
{
	mpii_state_explain(over, explain);
}

int win_look_who_died(struct mpii_win *w)
{
	unsigned losses = o2g_losses(mpii.ep);

	if (mpii_likely(losses == w->losses))
		return MPI_SUCCESS;
	if (mpii_gone_latest(w->comm) >= 0)
		return mpii_call_error(w->comm, -1, -O2G_ERR_PEER);
	w->losses = losses;
	return MPI_SUCCESS;
}

int win_wait(struct mpii_win *w, int (*cond)(void *arg), void *arg)
{
	struct wait wait = { cond, arg, w->losses, w };
	int err = MPI_SUCCESS;

	while (!err && !cond(arg)) {
		o2g_wait_shared(mpii.ep, over, &wait, w->host->asleep);
		if (cond(arg))
			break;
		err = win_look_who_died(w);
		wait.losses = w->losses;
	}
	return err;
}

void win_wake(struct mpii_win *w)
{
	struct win_host *h = w->host;

	atomic_thread_fence(memory_order_seq_cst);
	if (mpii_likely(!__atomic_load_n(h->asleep, __ATOMIC_RELAXED)))
		return;
	if (h->reached)
		win_host_nudge(w, false);
	if (mpii_unlikely(mpii.multiple))
		mpii_wake();
}
