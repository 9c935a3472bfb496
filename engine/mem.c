/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Registered memory: what peers may name, and what is done to it for them. */
#include "mem.h"

#include <stdlib.h>
#include <sys/random.h>

#include "apply.h"
#include "carrier.h"

static int free_slot(struct o2g_ep *ep)
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
static void publish(struct o2g_ep *ep, u32 slot, const struct o2g_key *key,
		    unsigned access)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->ops->set_key)
			ep->chans[i]->ops->set_key(ep->chans[i], slot, key,
						   access);
}

/*
 * What a peer is being sent of it is copied, as it is now: part of a get is out
 * already, and the rest is to fit it. Mostly there is no such thing.
 */
static bool keep_for_reply(const struct o2g_mem *m, struct o2g_req *req)
{
	uintptr_t at = (uintptr_t)req->seg0.base - (uintptr_t)m->base;
	struct eng_req *r = eng_req_of(req);
	char *copy;

	if (req->kind != O2G_REQ_REPLY || req->memory || at >= m->len || r->fn)
		return true;
	copy = malloc(req->len);
	if (!copy)
		return false;
	memcpy(copy, req->seg0.base, req->len);
	req->seg0.base = copy;
	r->fn = free;
	r->arg = copy;
	return true;
}

static void keep_for_replies(struct o2g_ep *ep, const struct o2g_mem *m)
{
	struct eng_peer *p;

	eng_for_each_peer(p, ep) {
		struct o2g_list *l, *tmp;

		if (likely(!p->cp.core.replies))
			continue;
		o2g_list_for_each_safe(l, tmp, &p->cp.core.waiting)
			if (!keep_for_reply(m, container_of(l, struct o2g_req,
							    link)))
				eng_bye_later(p, "out of memory");
	}
}

/* Nobody writes to it any more, or reads it, but peers that copy by themselves. */
static void deny(struct o2g_ep *ep, const struct o2g_mem *m)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->ops->deny)
			ep->chans[i]->ops->deny(ep->chans[i], m->base, m->len);
	keep_for_replies(ep, m);
}

static void forget(struct o2g_ep *ep, struct o2g_mem *m)
{
	publish(ep, m->slot, &(struct o2g_key){ 0 }, 0);
	ep->mems[m->slot] = NULL;
	ep->mems_in_use--;
	free(m);
}

/* With both carriers, under one key: peers may come either way. */
static int add(struct o2g_ep *ep, struct o2g_mem *m, u32 secret)
{
	int err, slot = free_slot(ep);

	if (slot < 0) {
		free(m);
		return slot;
	}
	m->slot = (u32)slot;
	m->key = (u64)secret << 32 | (m->slot + 1);
	ep->mems[slot] = m;
	ep->mems_in_use++;
	publish(ep, m->slot,
		&(struct o2g_key){ m->key, (u64)(uintptr_t)m->base, m->len },
		m->access);
	err = ep->driver ? ep->driver->mem_add(ep, m) : 0;
	if (err)
		forget(ep, m);
	return err;
}

int o2g_mem_register(struct o2g_ep *ep, void *base, size_t len, unsigned access,
		     struct o2g_mem **mem, struct o2g_key *key)
{
	struct o2g_mem *m;
	u32 secret;
	int err;

	if (!access || access & ~(O2G_READ | O2G_WRITE))
		return -EINVAL;
	if (getrandom(&secret, sizeof(secret), 0) != sizeof(secret))
		return -EIO;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	*m = (struct o2g_mem){ .ep = ep,
			       .base = base,
			       .len = len,
			       .access = access };
	if (!ep_enter(ep)) {
		free(m);
		return -O2G_ERR_FORKED;
	}
	err = add(ep, m, secret);
	if (!err) {
		*mem = m;
		*key = (struct o2g_key){ m->key, (u64)(uintptr_t)base, len };
	}
	ep_unlock(ep);
	return err;
}

void o2g_mem_deregister(struct o2g_mem *m)
{
	struct o2g_ep *ep = m->ep;

	if (!ep_enter(ep))
		return;
	if (ep->driver)
		ep->driver->mem_drop(ep, m);
	deny(ep, m);
	forget(ep, m);
	ep_unlock(ep);
}

void eng_mems_cleanup(struct o2g_ep *ep)
{
	for (u32 i = 0; i < ep->nmems; i++)
		free(ep->mems[i]);
	free(ep->mems);
}

int eng_mem_find(struct o2g_core *c, struct o2g_peer *p, u64 key, u64 offset,
		 u64 len, bool write, struct o2g_seg *seg)
{
	struct o2g_ep *ep = ep_of_core(c);
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

int eng_mem_atomic(struct o2g_core *c, const struct o2g_seg *seg, u32 op,
		   u32 type, void *operands, u64 n)
{
	u32 size = o2g_atomic_size(type);
	u64 old;

	if (op != O2G_AOP_CAS) {
		o2g_atomic_apply(eng_value_of(type), op, type, seg->base,
				 operands, operands, n);
		return 0;
	}
	old = o2g_atomic_cas(type, seg->base, o2g_atomic_read(operands, size),
			     o2g_atomic_read((char *)operands + size, size));
	memcpy(operands, &old, size);
	return 0;
}

bool eng_mem_peek(struct o2g_core *c, const struct o2g_seg *seg, u64 *to)
{
	if (seg->len == 8 && !((uintptr_t)seg->base & 7))
		*to = __atomic_load_n((u64 *)seg->base, __ATOMIC_RELAXED);
	else
		memcpy(to, seg->base, seg->len);
	return true;
}
