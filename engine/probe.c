/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Probing: is there such a message, in the core or in the driver? */
#include "probe.h"

#include <stdlib.h>

#include "carrier.h"
#include "ended.h"
#include "progress.h"
#include "wait.h"

static bool in_vain(const struct eng_probe *p)
{
	const struct eng_peer *peer;

	if (p->src == O2G_MATCH_ANY)
		return eng_any_doomed(p->ep, p->tag);
	peer = eng_peer_known(p->ep, (int)p->src);
	return peer && peer->lost;
}

static void set_status(struct eng_probe *p, const struct o2g_unexp *u)
{
	p->status = (struct o2g_status){ .source = (int)u->peer->rank,
					 .tag = u->match.tag,
					 .length = u->len,
					 .message_length = u->len };
}

int eng_probe_cond(void *arg)
{
	struct eng_probe *p = arg;
	struct o2g_ep *ep = p->ep;

	p->unexp =
		p->take ?
			o2g_proto_mprobe(&ep->core, p->src, p->tag, p->ignore) :
			o2g_proto_probe(&ep->core, p->src, p->tag, p->ignore);
	p->result = 0;
	if (p->unexp) {
		set_status(p, p->unexp);
		return 1;
	}
	p->result = ep->driver ? ep->driver->probe(ep, p) : -EAGAIN;
	if (p->result == -EAGAIN && in_vain(p))
		p->result = -O2G_ERR_PEER;
	return p->result != -EAGAIN;
}

static void probe_locked(struct o2g_ep *ep, struct eng_probe *p, bool block)
{
	if (eng_probe_cond(p))
		return;
	eng_ended_probed(ep, p->src);
	eng_flush(ep);
	if (block) {
		eng_wait_locked(ep, eng_probe_cond, p, -1);
		return;
	}
	eng_look(ep);
	ep_settle(ep);
	eng_probe_cond(p);
}

/* @p says what is looked for, and then what was found. @block: wait for it. */
static int probe(struct eng_probe *p, int source, bool block)
{
	struct o2g_ep *ep = p->ep;

	if (unlikely(!ep_enter(ep)))
		return -O2G_ERR_FORKED;
	p->src = source == O2G_ANY_SOURCE ? O2G_MATCH_ANY : (u32)source;
	p->result = -EINVAL;
	if (source == O2G_ANY_SOURCE || eng_peer_exists(ep, source)) {
		ep->calls++;
		probe_locked(ep, p, block);
	}
	if (p->take && !p->result && p->unexp)
		eng_peer_of_core(p->unexp->peer)->taken++;
	ep_unlock(ep);
	return p->result;
}

static int probe_plain(struct eng_probe p, int source, bool block,
		       struct o2g_status *status)
{
	int err = probe(&p, source, block);

	if (!err && status)
		*status = p.status;
	return err;
}

static int probe_taking(struct eng_probe p, int source, bool block,
			struct o2g_msg **msg, struct o2g_status *status)
{
	struct o2g_msg *m = malloc(sizeof(*m));
	int err;

	if (!m)
		return -ENOMEM;
	p.take = true;
	err = probe(&p, source, block);
	if (err) {
		free(m);
		return err;
	}
	if (status)
		*status = p.status;
	*m = (struct o2g_msg){ p.ep, p.unexp, p.handle };
	*msg = m;
	return 0;
}

static struct eng_probe looks_for(struct o2g_ep *ep, u64 tag, u64 ignore)
{
	return (struct eng_probe){ .ep = ep, .tag = tag, .ignore = ignore };
}

int o2g_iprobe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	       struct o2g_status *status)
{
	return probe_plain(looks_for(ep, tag, ignore), source, false, status);
}

int o2g_probe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	      struct o2g_status *status)
{
	return probe_plain(looks_for(ep, tag, ignore), source, true, status);
}

int o2g_improbe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
		struct o2g_msg **msg, struct o2g_status *status)
{
	return probe_taking(looks_for(ep, tag, ignore), source, false, msg,
			    status);
}

int o2g_mprobe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	       struct o2g_msg **msg, struct o2g_status *status)
{
	return probe_taking(looks_for(ep, tag, ignore), source, true, msg,
			    status);
}
