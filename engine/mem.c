/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Registered memory, put and get. Where the channel can reach the peer's
 * memory, the data is copied at once; otherwise packets carry it.
 */
#include <stdlib.h>
#include <sys/random.h>

#include "user.h"

static int free_slot(struct user_ep *ep)
{
	struct o2g_mem **mems;
	u32 old = ep->nmems, n = old ? old * 2 : 16;

	for (u32 i = 0; i < ep->nmems; i++)
		if (!ep->mems[i])
			return (int)i;
	mems = realloc(ep->mems, n * sizeof(*mems));
	if (!mems)
		return -ENOMEM;
	memset(mems + old, 0, (n - old) * sizeof(*mems));
	ep->mems = mems;
	ep->nmems = n;
	return (int)old;
}

/* Tell it to peers that look keys up by themselves; a key of 0: it is gone. */
static void publish(struct user_ep *ep, u32 slot, const struct o2g_key *key,
		    unsigned access)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->ops->set_key)
			ep->chans[i]->ops->set_key(ep->chans[i], slot, key,
						   access);
}

int user_mem_register(struct o2g_ep *o, void *base, size_t len, unsigned access,
		      struct o2g_mem **mem, struct o2g_key *key)
{
	struct user_ep *ep = user_of(o);
	struct o2g_mem *m;
	u32 secret;
	int slot;

	if (!access || access & ~(O2G_READ | O2G_WRITE))
		return -EINVAL;
	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return -EIO;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	user_lock(ep);
	slot = free_slot(ep);
	if (slot < 0) {
		user_unlock(ep);
		free(m);
		return slot;
	}
	m->part.ep = &ep->eng;
	m->base = base;
	m->len = len;
	m->access = access;
	m->slot = (u32)slot;
	m->key = (u64)secret << 32 | (m->slot + 1);
	ep->mems[slot] = m;
	ep->mems_in_use++;
	*mem = m;
	*key = (struct o2g_key){ m->key, (u64)(uintptr_t)base, len };
	publish(ep, m->slot, key, access);
	user_unlock(ep);
	return 0;
}

void user_mem_deregister(struct o2g_mem *m)
{
	struct user_ep *ep = (struct user_ep *)m->part.ep;

	user_lock(ep);
	publish(ep, m->slot, &(struct o2g_key){ 0 }, 0);
	ep->mems[m->slot] = NULL;
	ep->mems_in_use--;
	user_unlock(ep);
	free(m);
}

/* From the core, for a key that came from the network. */
int user_mem_find(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		  u64 len, bool write, struct o2g_seg *seg)
{
	struct user_ep *ep = user_of_core(c);
	u32 slot = (u32)key - 1;
	struct o2g_mem *m = slot < ep->nmems ? ep->mems[slot] : NULL;

	if (!m || m->key != key)
		return -ENOENT;
	if (!(m->access & (write ? O2G_WRITE : O2G_READ)))
		return -EACCES;
	if (offset > m->len || len > m->len - offset)
		return -ERANGE;
	seg->base = m->base + offset;
	seg->len = len;
	return 0;
}

/*
 * Copy directly if the channel can and finds the key, afterwards, too. -EAGAIN:
 * have it done with packets, which the owner answers, or refuses in its words.
 */
static int direct(struct chan_peer *cp, bool put, struct o2g_req *r)
{
	struct chan *chan = cp->chan;
	u64 addr;
	int err;

	if (!chan || cp->core.down || !cp->core.can_get || cp->core.no_get ||
	    !chan->ops->find_key)
		return -EAGAIN;
	err = chan->ops->find_key(chan, cp, r->key, r->offset, r->len, put,
				  &addr);
	if (err)
		return err;
	err = (put ? chan->ops->put : chan->ops->get)(chan, cp, addr, r->segs,
						      r->nsegs, r->len);
	if (err)
		return -EAGAIN;
	return chan->ops->find_key(chan, cp, r->key, r->offset, r->len, put,
				   &addr);
}

static void set_rma(struct user_req *r, bool put, struct chan_peer *cp,
		    const struct o2g_key *key, u64 offset)
{
	r->core.kind = put ? O2G_REQ_PUT : O2G_REQ_GET;
	r->core.peer = &cp->core;
	r->core.key = key->key;
	r->core.offset = offset;
	r->core.tag = 0;
}

int user_rma(struct o2g_ep *o, bool put, int rank, const struct o2g_seg *segs,
	     unsigned nsegs, const struct o2g_key *key, u64 offset,
	     struct o2g_req **req)
{
	struct user_ep *ep = user_of(o);
	struct user_peer *p;
	struct user_req *r;
	int err = 0;

	user_lock(ep);
	ep->calls++;
	p = user_peer_connect(ep, rank, &err);
	if (!p)
		goto out;
	r = user_req_alloc(ep);
	err = r ? user_req_set_segs(&r->core, segs, nsegs) : -ENOMEM;
	if (!err && (offset > key->len || r->core.len > key->len - offset))
		err = -ERANGE;
	if (err) {
		if (r)
			user_req_free(ep, r);
		goto out;
	}
	set_rma(r, put, &p->cp, key, offset);
	*req = &r->core;
	err = direct(&p->cp, put, &r->core);
	if (err != -EAGAIN) {
		o2g_list_init(&r->core.link);
		r->core.status = err;
		r->core.state = O2G_ST_DONE;
		ep->core.ops->complete(&ep->core, &r->core);
	} else if (put) {
		o2g_proto_put(&ep->core, &r->core);
	} else {
		o2g_proto_get(&ep->core, &r->core);
	}
	err = 0;
	if (!user_is_done(&r->core))
		user_async_want(ep);
out:
	user_unlock(ep);
	return err;
}
