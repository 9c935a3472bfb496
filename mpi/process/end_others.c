/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Whoever aborts sends its exit code to the processes of other jobs that it is connected
 * to, in a context that no communicator has. Each of them has a receive for it, from
 * each such peer, and then aborts as well, with its whole job: so it is enough to reach
 * some, and where there are very many others only the first are told.
 */
#include <stdio.h>
#include <stdlib.h>

#include "process/end_others.h"
#include "process/others.h"

#define TAG UINT64_C(0xfffffff800000000) /* beyond every context */
#define PEERS_MAX 64
#define LIMIT_US 1000000

struct listener {
	struct o2g_work work;
	struct o2g_req *req;
	struct o2g_seg seg;
	int peer, status;
};
static atomic_int listeners;

/* It has aborted; or it is gone, or was disconnected. */
static void heard(struct o2g_work *work)
{
	struct listener *l = (struct listener *)work;
	char text[128];
	int err = o2g_wait(l->req, NULL);

	atomic_fetch_sub(&listeners, 1);
	if (!err) {
		snprintf(text, sizeof(text),
			 "rank %d of a connected job has aborted, with code %d",
			 mpii_identity(l->peer).rank, l->status);
		mpii_abort(l->status, text);
	}
	free(l);
}

void mpii_end_listen(int peer)
{
	struct listener *l;

	if (atomic_fetch_add(&listeners, 1) >= PEERS_MAX)
		goto none;
	l = calloc(1, sizeof(*l));
	if (!l)
		goto none;
	l->work.fn = heard;
	l->peer = peer;
	l->seg = (struct o2g_seg){ &l->status, sizeof(l->status) };
	if (o2g_irecv(mpii.ep, peer, TAG, 0, &l->seg, 1, &l->req)) {
		free(l);
		goto none;
	}
	if (o2g_after(mpii.ep, &l->req, 1, &l->work))
		heard(&l->work);
	return;
none:
	atomic_fetch_sub(&listeners, 1);
}

struct sends {
	struct o2g_req *req[PEERS_MAX];
	int n;
};

static int all_sent(void *arg)
{
	const struct sends *s = arg;

	for (int i = 0; i < s->n; i++)
		if (!o2g_is_done(s->req[i]))
			return 0;
	return 1;
}

void mpii_end_others(int status)
{
	static int code; /* stays until the very end */
	struct o2g_seg seg = { &code, sizeof(code) };
	struct sends s = { .n = 0 };
	int *peers, n;

	if (!mpii.ep)
		return;
	code = status;
	n = mpii_others_connected(&peers);
	for (int i = 0; i < n && s.n < PEERS_MAX; i++)
		if (!o2g_isend(mpii.ep, peers[i], TAG, &seg, 1, 0, &s.req[s.n]))
			s.n++;
	if (s.n)
		o2g_wait_until(mpii.ep, all_sent, &s, LIMIT_US);
	free(peers);
}
