/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The keys of registered memory, where peers that read and write it by themselves
 * can look them up: a table behind the head of a segment.
 *
 * A place is filled with its key last and emptied with its key first, and no two
 * memories have the same key: whoever finds the same key before and after reading the
 * rest, or before and after a copy, had the right one all the time between.
 */
#include "shm.h"

static struct shm_key *entry(struct shm_head *h, u32 slot)
{
	return (struct shm_key *)((char *)h + SHM_KEYS_AT) + slot;
}

/* Most programs register nothing: its memory comes with the first key. Where
 * there is none the owner is asked, as for keys that have no place here. */
static bool have_table(struct shm *s)
{
	struct shm_head *h = s->own.head;

	if (!h->has_keys && !shm_keys_allocate(&s->own))
		__atomic_store_n(&h->has_keys, 1, __ATOMIC_RELEASE);
	return h->has_keys;
}

void shm_set_key(struct chan *c, u32 slot, const struct o2g_key *key,
		 unsigned access)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct shm_key *k;

	if (slot >= SHM_KEYS || !have_table(s))
		return;
	k = entry(s->own.head, slot);
	__atomic_store_n(&k->key, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&k->base, key->base, __ATOMIC_RELAXED);
	__atomic_store_n(&k->len, key->len, __ATOMIC_RELAXED);
	__atomic_store_n(&k->access, access, __ATOMIC_RELAXED);
	__atomic_store_n(&k->key, key->key, __ATOMIC_RELEASE);
}

/* What is not as it should be here, the owner says in its own words. */
int shm_find_key(struct chan *c, struct chan_peer *p, u64 key, u64 offset,
		 u64 len, bool write, u64 *addr)
{
	const struct shm_link *l = p->link;
	const struct shm_key *k;
	u32 slot = (u32)key - 1;
	u64 base, limit, access;

	if (!l || !l->theirs || !key || slot >= SHM_KEYS ||
	    !__atomic_load_n(&l->theirs->has_keys, __ATOMIC_ACQUIRE))
		return -EAGAIN;
	k = entry(l->theirs, slot);
	__atomic_thread_fence(__ATOMIC_SEQ_CST); /* after a copy: it is done */
	if (__atomic_load_n(&k->key, __ATOMIC_ACQUIRE) != key)
		return -EAGAIN;
	base = __atomic_load_n(&k->base, __ATOMIC_RELAXED);
	limit = __atomic_load_n(&k->len, __ATOMIC_RELAXED);
	access = __atomic_load_n(&k->access, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*addr = base + offset;
	if (__atomic_load_n(&k->key, __ATOMIC_RELAXED) != key ||
	    !(access & (write ? O2G_WRITE : O2G_READ)) || offset > limit ||
	    len > limit - offset)
		return -EAGAIN;
	return 0;
}
