/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Requests taken back from the driver: cancelled, or given up. */
#include "kernel.h"
#include "uapi/o2g.h"

/* 0 and it is over, or why the driver keeps it. */
static int take_back(struct o2g_ep *ep, struct eng_req *r, int status)
{
	u32 slot = r->slot;
	int err = kern_call(ep->kern, O2GD_CANCEL, &slot);

	if (err)
		return err;
	kern_left(ep, r);
	if (r->core.flags & O2G_REQF_SHARED)
		o2g_proto_withdraw(&ep->core, &r->core);
	eng_req_finish(ep, r, status);
	return 0;
}

int kern_cancel(struct o2g_ep *ep, struct eng_req *r)
{
	return take_back(ep, r, -O2G_ERR_CANCELLED);
}

/* Those that the core also has are given up there; of matched messages (which
 * come from any source here) the driver knows the end. */
static bool only_driver_has(const struct eng_req *r)
{
	return r->in_driver && !(r->core.flags & O2G_REQF_SHARED) &&
	       (r->core.kind == O2G_REQ_SEND ||
		(r->core.kind == O2G_REQ_RECV &&
		 r->core.match.src != O2G_MATCH_ANY));
}

static void give_up(struct o2g_ep *ep, struct eng_req *r,
		    bool (*doomed)(const struct o2g_req *req, void *arg))
{
	if (doomed(&r->core, ep))
		take_back(ep, r,
			  r->core.kind == O2G_REQ_SEND ? -O2G_ERR_CANCELLED :
							 -O2G_ERR_PEER);
}

void kern_give_up(struct o2g_ep *ep, enum o2g_req_kind kind,
		  bool (*doomed)(const struct o2g_req *req, void *arg))
{
	for (u32 i = 0; i < ep->nslabs; i++)
		for (u32 j = 0; j < ENG_SLAB; j++) {
			struct eng_req *r = &ep->slabs[i][j];

			if (only_driver_has(r) && r->core.kind == kind)
				give_up(ep, r, doomed);
		}
}
