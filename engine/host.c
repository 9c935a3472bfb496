/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What channels may ask of their endpoint. */
#include "carrier.h"

struct o2g_core *chan_ep_core(struct chan_ep *ep)
{
	return &ep_of_chan(ep)->core;
}

u32 chan_ep_rank(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->core.rank;
}

const char *chan_ep_job(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->job;
}

const char *chan_ep_listen(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->listen;
}

const unsigned char *chan_ep_secret(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->secret;
}

unsigned chan_ep_local_size(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->local_size;
}

const char *chan_ep_node(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->node;
}

bool chan_ep_crowded(const struct chan_ep *ep)
{
	return ((const struct o2g_ep *)ep)->oversubscribed;
}

bool chan_ep_away(const struct chan_ep *ep)
{
	return !((const struct o2g_ep *)ep)->inside;
}

void chan_nudged(struct chan_ep *cep)
{
	struct o2g_ep *ep = ep_of_chan(cep);

	if (ep->sleepers || ep->poller_asleep)
		eng_event(ep);
}

int chan_ep_handover(struct chan_ep *cep, struct chan_peer *p, int fd)
{
	struct o2g_ep *ep = ep_of_chan(cep);

	if (!ep->driver || p->other)
		return 1;
	return ep->driver->take_socket(ep, eng_peer_of(p), fd);
}
