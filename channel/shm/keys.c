/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The keys of registered memory, where peers that read and write it by themselves
 * can look them up: a table at the end of the head of a segment.
 *
 * A place is filled with its key last and emptied with its key first, and no two
 * memories have the same key: who finds the same key before and after reading the
 * rest, or before and after a copy, had the right one all the time between.
 */
#include "shm.h"

size_t shm_keys_at(u32 size)
{
	size_t bytes = sizeof(struct shm_head) + ((size_t)size + 63) / 64 * 8;

	return (bytes + SHM_LINE - 1) / SHM_LINE * SHM_LINE;
}

static struct shm_key *place(struct shm_head *h, u32 size, u32 slot)
{
	return (struct shm_key *)((char *)h + shm_keys_at(size)) + slot;
}

void shm_set_key(struct chan *c, u32 slot, const struct o2g_key *key,
		 unsigned access)
{
	struct shm *s = container_of(c, struct shm, chan);
	struct shm_key *k;

	if (slot >= SHM_KEYS)
		return;
	k = place(s->own.head, s->size, slot);
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
	struct shm *s = container_of(c, struct shm, chan);
	const struct shm_link *l = p->link;
	const struct shm_key *k;
	u32 slot = (u32)key - 1;
	u64 base, limit, access;

	if (!l || !l->theirs || !key || slot >= SHM_KEYS)
		return -EAGAIN;
	k = place(l->theirs, s->size, slot);
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
