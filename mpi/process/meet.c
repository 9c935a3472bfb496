/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A meeting, in three steps:
 *
 *	1. the leader hears from all members who they are and where, and tells the
 *	   other leader; both tell their members who is on the other side
 *	   If some may know each other already, they compare what they know (known.c)
 *	2. all members make all of the other side known to libo2g
 *	3. the leaders tell each other that this is done, and then their members:
 *	   from here on messages may be sent, since nobody is a stranger any more
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "comm/intercomm.h"
#include "env/errors.h"
#include "process/known.h"
#include "process/meet.h"
#include "process/others.h"

#define MAGIC 0x4d32474fu /* also tells the order of bytes */
#define VERSION 2
#define MEMBERS_MAX (1 << 20)

/* What one side tells the other: this, and then its members. */
struct card {
	uint32_t magic, version;
	uint32_t context; /* in which it receives */
	uint32_t size;
	uint32_t compare; /* for the members of the leader that has received it */
	unsigned char part[O2G_SECRET_SIZE]; /* of the secret */
	uint32_t reserved;
};

struct member {
	uint64_t job;
	uint32_t rank;
	uint32_t knows; /* somebody of another job */
	char address[O2G_ADDRESS_MAX];
};

static int out_of_memory(void)
{
	return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

/* --- our side --- */

static int describe_self(struct member *m)
{
	struct o2g_identity who;
	int err;

	memset(m, 0, sizeof(*m));
	o2g_identify(mpii.ep, &who);
	m->job = who.job;
	m->rank = (uint32_t)who.rank;
	m->knows = mpii_known_any();
	err = o2g_address(mpii.ep, m->address, sizeof(m->address));
	return err ? mpii_fail(mpii_class_of(err), "%s", o2g_strerror(err)) :
		     MPI_SUCCESS;
}

/* The secret is made of what both leaders have invented, unless they share one. */
static int invent(const struct mpii_way *way, unsigned char *part)
{
	static const unsigned char none[O2G_SECRET_SIZE];

	memset(part, 0, O2G_SECRET_SIZE);
	if (memcmp(way->secret, none, sizeof(none)) ||
	    getrandom(part, O2G_SECRET_SIZE, 0) == O2G_SECRET_SIZE)
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_OTHER, "there is no randomness");
}

/* At the leader: the card, with room for all members behind it. */
static struct card *card_new(const struct mpii_set *s, uint32_t context,
			     int *len)
{
	struct card *card;

	*len = (int)(sizeof(*card) + s->size * sizeof(struct member));
	card = calloc(1, *len);
	if (!card)
		return NULL;
	card->magic = MAGIC;
	card->version = VERSION;
	card->context = context;
	card->size = (uint32_t)s->size;
	return card;
}

static struct member *members_of(struct card *card)
{
	return (struct member *)(card + 1);
}

/* The set has the leader in front, in exchange for the first of the group. */
static void put_in_order(struct card *card, int leader)
{
	struct member *m = members_of(card), tmp = m[0];

	m[0] = m[leader];
	m[leader] = tmp;
}

/* --- the other side --- */

static int check_card(const struct card *card, int len)
{
	if (len >= (int)sizeof(*card) && card->magic == MAGIC &&
	    card->version == VERSION && card->size > 0 &&
	    card->size <= MEMBERS_MAX &&
	    (size_t)len == sizeof(*card) + card->size * sizeof(struct member))
		return MPI_SUCCESS;
	return mpii_fail(
		MPI_ERR_OTHER,
		"what the other side says is not understood: both need "
		"the same version of O2G");
}

static void mix_secrets(struct card *theirs, const struct card *ours,
			const struct mpii_way *way)
{
	for (int i = 0; i < O2G_SECRET_SIZE; i++)
		theirs->part[i] ^= ours->part[i] ^ way->secret[i];
}

static bool any_knows(struct card *card)
{
	const struct member *m = members_of(card);

	for (uint32_t i = 0; i < card->size; i++)
		if (m[i].knows)
			return true;
	return false;
}

/* The leaders swap cards. *theirs then holds the secret in place of a part of it. */
static int swap_cards(struct mpii_way *way, struct card *ours, int len,
		      struct card **theirs, int *their_len)
{
	void *in = NULL;
	int err = invent(way, ours->part);

	if (!err)
		err = way->swap(way, ours, len, &in, their_len);
	if (err)
		return err;
	err = check_card(in, *their_len);
	if (err) {
		free(in);
		return err;
	}
	*theirs = in;
	(*theirs)->compare = any_knows(ours) || any_knows(*theirs);
	mix_secrets(*theirs, ours, way);
	return MPI_SUCCESS;
}

/* Step 1. *theirs is malloc'ed. */
static int learn(const struct mpii_set *s, const struct mpii_group *group,
		 struct mpii_way *way, uint32_t context, struct card **theirs)
{
	int len = 0, in_len = 0, err, gathered;
	struct card *ours = s->me ? NULL : card_new(s, context, &len);
	struct card *in = NULL;
	struct member mine;

	err = describe_self(&mine);
	/* all of it even if somebody has failed: others wait for us */
	gathered = mpii_set_gather(s, &mine, sizeof(mine),
				   ours ? members_of(ours) : NULL);
	if (!err)
		err = gathered;
	if (!s->me && !ours)
		err = out_of_memory();
	if (!s->me && !err)
		put_in_order(ours, group->rank);
	if (!s->me && !err)
		err = way->err;
	if (!s->me && !err)
		err = swap_cards(way, ours, len, &in, &in_len);
	err = mpii_set_spread(s, err, (void **)&in, &in_len);
	free(ours);
	*theirs = in;
	return err;
}

static int compare(struct mpii_known *k, struct card *card)
{
	const struct member *m = members_of(card);

	k->look.n = (int)card->size;
	k->look.who = mpii_known_allocate(card->size, sizeof(*k->look.who));
	for (int i = 0; i < k->look.n; i++)
		k->look.who[i] =
			(struct o2g_identity){ m[i].job, (int)m[i].rank };
	return mpii_known_compare(k);
}

/* Step 2. */
static int make_known(struct card *card, const struct mpii_known *k,
		      struct mpii_group **remote)
{
	int *peers = malloc(card->size * sizeof(*peers)), n = 0, err = 0;
	struct member *m = members_of(card);

	if (!peers)
		return out_of_memory();
	mpii_known_end_stale(k);
	mpii_others_begin();
	for (; n < (int)card->size && !err; n++) {
		struct o2g_identity who = { m[n].job, (int)m[n].rank };

		m[n].address[O2G_ADDRESS_MAX - 1] = '\0';
		err = mpii_others_add(&who, m[n].address, card->part,
				      &peers[n]);
	}
	for (int i = 0; err && i < n - 1; i++)
		mpii_others_settle(peers[i]);
	if (err)
		free(peers);
	else
		*remote = mpii_group_create((int)card->size, peers);
	mpii_others_end();
	if (err)
		return mpii_fail(mpii_class_of(err), "%s", o2g_strerror(err));
	return *remote ? MPI_SUCCESS : out_of_memory();
}

static int check_apart(const struct mpii_group *a, const struct mpii_group *b)
{
	for (int i = 0; i < b->size; i++)
		if (mpii_group_rank_of(a, mpii_group_peer(b, i)) >= 0)
			return mpii_fail(MPI_ERR_COMM, "the two groups have "
						       "members in common");
	return MPI_SUCCESS;
}

/* Step 3: has everybody managed? */
static int agree(const struct mpii_set *s, struct mpii_way *way, int err)
{
	uint64_t good = !err;
	int in_len = 0, agreed = mpii_set_and(s, &good, 1);
	char mine = (char)good;
	void *in = NULL;

	if (!agreed && !s->me)
		agreed = way->swap(way, &mine, 1, &in, &in_len);
	if (!agreed && !s->me && (in_len != 1 || !*(char *)in || !good))
		agreed = mpii_fail(MPI_ERR_OTHER, "a member of one of the two "
						  "groups has failed");
	agreed = mpii_set_spread(s, agreed, &in, &in_len);
	free(in);
	return err ? err : agreed;
}

static int meet(const struct mpii_set *s, struct mpii_group *group,
		struct mpii_way *way, uint32_t context,
		struct mpii_group **remote, uint32_t *send_context)
{
	struct mpii_known k = { .s = s,
				.group = group,
				.way = way,
				.since = mpii_others_clock() };
	struct card *theirs = NULL;
	int err = learn(s, group, way, context, &theirs);

	*remote = NULL;
	if (err)
		return err;
	*send_context = theirs->context;
	if (theirs->compare)
		err = compare(&k, theirs);
	if (!err)
		err = make_known(theirs, &k, remote);
	mpii_known_free(&k);
	explicit_bzero(theirs->part, sizeof(theirs->part));
	free(theirs);
	if (!err)
		err = check_apart(group, *remote);
	err = agree(s, way, err);
	for (int i = 0; *remote && i < (*remote)->size; i++)
		mpii_others_settle(mpii_group_peer(*remote, i));
	if (err && *remote)
		mpii_group_put(*remote);
	mpii_others_sweep();
	return err;
}

int mpii_meet(const struct mpii_set *s, struct mpii_group *group,
	      struct mpii_way *way, const uint32_t *given,
	      struct mpii_comm **out)
{
	struct mpii_group *remote;
	uint32_t context = given ? *given : 0, send_context;
	int err = given ? MPI_SUCCESS : mpii_set_context(s, &context);

	if (err)
		return err;
	err = meet(s, group, way, context, &remote, &send_context);
	if (err) {
		mpii_context_free(context);
		return err;
	}
	mpii_group_belong(remote, group);
	mpii_group_hold(group);
	*out = mpii_intercomm_create(group, remote, context, send_context);
	return *out ? MPI_SUCCESS : out_of_memory();
}
