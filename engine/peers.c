/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "peers.h"

#include <stdlib.h>

#define NONE (~0u)
#define FIRST_SLOTS 8

struct eng_peer *const peers_nobody[PEERS_CHUNK];

static struct eng_peer **nobody(void)
{
	return (struct eng_peer **)peers_nobody; /* only read */
}

static u32 chunks_of(u32 own)
{
	return (own + PEERS_CHUNK - 1) / PEERS_CHUNK;
}

int peers_init(struct eng_peers *t, u32 own)
{
	u32 n = chunks_of(own);

	memset(t, 0, sizeof(*t));
	o2g_list_init(&t->known);
	t->first_free = t->last_free = NONE;
	t->chunks = malloc(n * sizeof(*t->chunks));
	if (!t->chunks)
		return -ENOMEM;
	for (u32 i = 0; i < n; i++)
		t->chunks[i] = nobody();
	t->own = own;
	return 0;
}

void peers_cleanup(struct eng_peers *t)
{
	for (u32 i = 0; i < chunks_of(t->own); i++)
		if (t->chunks[i] != nobody())
			free(t->chunks[i]);
	free(t->chunks);
	free(t->others);
}

int peers_set(struct eng_peers *t, u32 rank, struct eng_peer *p)
{
	struct eng_peer ***chunk = &t->chunks[rank / PEERS_CHUNK];

	env_assert(rank < t->own);
	if (*chunk == nobody()) {
		struct eng_peer **more = calloc(PEERS_CHUNK, sizeof(*more));

		if (!more)
			return -ENOMEM;
		*chunk = more;
	}
	(*chunk)[rank % PEERS_CHUNK] = p;
	return 0;
}

/* --- peers of other jobs --- */

static u32 slot_of(u32 number)
{
	return (number - PEERS_OTHERS) % PEERS_SLOTS;
}

static u32 number_of(const struct eng_peers *t, u32 slot)
{
	return PEERS_OTHERS + t->others[slot].generation * PEERS_SLOTS + slot;
}

struct eng_peer *peers_other(const struct eng_peers *t, u32 number)
{
	u32 slot = slot_of(number);

	if (number < PEERS_OTHERS || slot >= t->nslots ||
	    number != number_of(t, slot))
		return NULL;
	return t->others[slot].peer;
}

static void release(struct eng_peers *t, u32 slot)
{
	t->others[slot].peer = NULL;
	t->others[slot].next_free = NONE;
	if (t->first_free == NONE)
		t->first_free = slot;
	else
		t->others[t->last_free].next_free = slot;
	t->last_free = slot;
}

static int more_slots(struct eng_peers *t)
{
	u32 n = t->nslots ? t->nslots * 2 : FIRST_SLOTS;
	struct peers_slot *slots;

	if (n > PEERS_SLOTS)
		return -ENFILE;
	slots = realloc(t->others, n * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	t->others = slots;
	for (u32 i = t->nslots; i < n; i++) {
		slots[i].generation = 0;
		release(t, i);
	}
	t->nslots = n;
	return 0;
}

int peers_add(struct eng_peers *t, struct eng_peer *p, u32 *number)
{
	int err = t->first_free == NONE ? more_slots(t) : 0;
	u32 slot = t->first_free;

	if (err)
		return err;
	t->first_free = t->others[slot].next_free;
	t->others[slot].peer = p;
	t->nothers++;
	*number = number_of(t, slot);
	return 0;
}

void peers_del(struct eng_peers *t, u32 number)
{
	u32 slot = slot_of(number);

	if (number < t->own) {
		t->chunks[number / PEERS_CHUNK][number % PEERS_CHUNK] = NULL;
		return;
	}

	env_assert(peers_other(t, number));
	t->others[slot].generation =
		(t->others[slot].generation + 1) % PEERS_GENERATIONS;
	t->nothers--;
	release(t, slot);
}
