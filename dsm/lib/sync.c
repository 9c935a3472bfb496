/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Locks, conditions, barriers, counters: each name is kept by one of those who made the
 * region, and asked for there.
 */
#include "dsm.h"

/* Names are often addresses, whose low bits are the same. */
static int keeper_of(const struct o2g_dsm *r, u64 name)
{
	u64 mixed = (name ^ name >> 29) * 0x9e3779b97f4a7c15ull >> 32;
	u64 skip = mixed % dsm_count(r->founders);
	dsm_set left = r->founders;

	while (skip--)
		left &= left - 1;
	return (int)dsm_first(left);
}

static int ask(struct o2g_dsm *r, enum dsm_op op, u64 name, u64 value,
	       u64 *result)
{
	struct dsm_call call = { .op = op, .a = name, .b = value };
	struct dsm_answer a = { 0 };
	int err = dsm_region_check(r);

	if (!err)
		err = dsm_ask(r, keeper_of(r, name), &call, &a);
	if (!err && result)
		*result = a.a;
	return err;
}

int o2g_dsm_lock(struct o2g_dsm *r, uint64_t name)
{
	return ask(r, DSM_OBJ_LOCK, name, 0, NULL);
}

int o2g_dsm_trylock(struct o2g_dsm *r, uint64_t name)
{
	return ask(r, DSM_OBJ_TRYLOCK, name, 0, NULL);
}

int o2g_dsm_unlock(struct o2g_dsm *r, uint64_t name)
{
	return ask(r, DSM_OBJ_UNLOCK, name, 0, NULL);
}

/* Counted among those who wait before the lock is given back, so no signal is missed. */
int o2g_dsm_wait(struct o2g_dsm *r, uint64_t cond, uint64_t lock)
{
	u64 ticket;
	int err = ask(r, DSM_OBJ_ENTER, cond, 0, &ticket);

	if (!err)
		err = o2g_dsm_unlock(r, lock);
	if (!err)
		err = ask(r, DSM_OBJ_SLEEP, cond, ticket, NULL);
	return err ? err : o2g_dsm_lock(r, lock);
}

int o2g_dsm_signal(struct o2g_dsm *r, uint64_t cond)
{
	return ask(r, DSM_OBJ_SIGNAL, cond, 0, NULL);
}

int o2g_dsm_broadcast(struct o2g_dsm *r, uint64_t cond)
{
	return ask(r, DSM_OBJ_BROADCAST, cond, 0, NULL);
}

int o2g_dsm_barrier(struct o2g_dsm *r, uint64_t name, unsigned n)
{
	return ask(r, DSM_OBJ_BARRIER, name, n ? n : dsm_count(r->founders),
		   NULL);
}

int o2g_dsm_add(struct o2g_dsm *r, uint64_t counter, int64_t value,
		int64_t *before)
{
	return ask(r, DSM_OBJ_ADD, counter, (u64)value, (u64 *)before);
}
