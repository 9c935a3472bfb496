/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Intercommunicators: two groups that talk across. Each side receives in a
 * context of its own choice and sends in the other's, so that agreeing on one
 * never needs both sides at once.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "comm/intercomm.h"
#include "env/errors.h"
#include "process/meet.h"
#include "process/others.h"
#include "tools/events.h"

struct mpii_comm *mpii_intercomm_create(struct mpii_group *group,
					struct mpii_group *remote,
					uint32_t context, uint32_t send_context)
{
	struct mpii_comm *c = calloc(1, sizeof(*c)), *local;

	mpii_group_hold(group);
	local = mpii_comm_build(group, context);
	if (!c || !local) {
		if (local) {
			local->owns_context = false;
			mpii_comm_put(local);
		}
		free(c);
		mpii_group_put(group);
		mpii_group_put(remote);
		if (context)
			mpii_context_free(context);
		return NULL;
	}
	local->owns_context = false;
	c->handle = (MPI_Comm)c;
	mpii_comm_setup(c, group, remote, context, send_context);
	c->local = local;
	if (!context) /* it is only promised, by MPI_Comm_idup */
		return c;
	mpii_context_own(c);
	mpii_event(MPII_EVENT_COMM_NEW, (int)context, c->size);
	return c;
}

int mpii_intercomm_exchange(struct mpii_comm *c, const struct mpii_set *s,
			    const void *out, int out_len, void **in,
			    int *in_len)
{
	struct coll k = { .c = c,
			  .context = c->context + s->context,
			  .tag = s->tag,
			  .task = s->task };
	int err = MPI_SUCCESS;

	*in_len = 0;
	if (s->me == 0)
		err = mpii_swap(&k, 0, out, out_len, in, in_len);
	return mpii_set_spread(s, err, in, in_len);
}

int mpii_intercomm_contexts(struct mpii_comm *c, const struct mpii_set *s,
			    uint32_t *context, uint32_t *send_context)
{
	void *in;
	int len, err;

	err = mpii_set_context(s, context);
	if (err)
		return err;
	err = mpii_intercomm_exchange(c, s, context, sizeof(*context), &in,
				      &len);
	if (err) {
		mpii_context_free(*context);
		return err;
	}
	memcpy(send_context, in, sizeof(*send_context));
	free(in);
	return MPI_SUCCESS;
}

/* --- making one from two intracommunicators --- */

/* A card of one side: of which job it is, its receive context, then its members. */
struct card {
	uint64_t job;
	uint32_t context;
	int others; /* it has members of other jobs: the numbers say nothing */
	int peers[];
};

static struct card *make_card(const struct mpii_group *g, uint32_t context,
			      int *len)
{
	struct card *card;

	*len = (int)(sizeof(*card) + g->size * sizeof(int));
	card = malloc(*len);
	if (!card)
		return NULL;
	card->job = mpii_identity(mpii.rank).job;
	card->context = context;
	card->others = g->others;
	mpii_group_peers(g, card->peers);
	return card;
}

/* Are both sides of one job, so that they have the same numbers for all? */
static bool same_numbers(const struct mpii_group *g, const struct card *theirs)
{
	return !g->others && !theirs->others &&
	       theirs->job == mpii_identity(mpii.rank).job;
}

static bool overlap(const struct mpii_group *a, const struct mpii_group *b)
{
	for (int i = 0; i < b->size; i++)
		if (mpii_group_rank_of(a, mpii_group_peer(b, i)) >= 0)
			return true;
	return false;
}

/* All members, the leader first. */
static int *leader_first(const struct mpii_comm *c, int leader, int *me)
{
	int *ranks = malloc(c->size * sizeof(*ranks));

	if (!ranks)
		return NULL;
	for (int i = 0; i < c->size; i++)
		ranks[i] = i;
	ranks[0] = leader;
	ranks[leader] = 0;
	*me = c->rank == leader ? 0 : c->rank == 0 ? leader : c->rank;
	return ranks;
}

/* The leaders swap cards, by messages of the bridge. */
static int swap_cards(const struct mpii_bridge *b,
		      const struct mpii_group *group, uint32_t context,
		      void **in, int *in_len)
{
	struct coll k = { .c = b->peer,
			  .context = b->peer->context + MPII_CTX_GROUP,
			  .tag = b->tag };
	struct card *card;
	int len, err;

	card = make_card(group, context, &len);

	if (!card)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = mpii_swap(&k, b->remote_leader, card, len, in, in_len);
	free(card);
	return err;
}

/* Who is on the other side, and in which context it receives; *theirs is malloc'ed. */
static int learn_remote(const struct mpii_set *s, struct mpii_group *group,
			const struct mpii_bridge *b, uint32_t context,
			struct card **theirs, int *n)
{
	int len = 0, err = MPI_SUCCESS;
	void *in = NULL;

	if (s->me == 0)
		err = swap_cards(b, group, context, &in, &len);
	err = mpii_set_spread(s, err, &in, &len);
	if (err)
		return err;
	*theirs = in;
	*n = (len - (int)sizeof(**theirs)) / (int)sizeof(int);
	return MPI_SUCCESS;
}

/* As mpii_meet it takes the context over. */
static int join_numbers(struct mpii_group *group, const struct card *theirs,
			int n, uint32_t context, struct mpii_comm **out)
{
	int *peers = malloc((n + 1) * sizeof(*peers));
	struct mpii_group *remote;

	if (peers)
		memcpy(peers, theirs->peers, n * sizeof(*peers));
	remote = peers ? mpii_group_create(n, peers) : NULL;
	if (!remote) {
		mpii_context_free(context);
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	if (overlap(group, remote)) {
		mpii_group_put(remote);
		mpii_context_free(context);
		return mpii_fail(MPI_ERR_COMM,
				 "the two groups have members in common");
	}
	mpii_group_belong(remote, group);
	mpii_group_hold(group);
	*out = mpii_intercomm_create(group, remote, context, theirs->context);
	return *out ? MPI_SUCCESS : mpii_fail(MPI_ERR_NO_MEM, "out of memory");
}

/* Leaders of different jobs, who talk over the bridge. */
struct bridge_way {
	struct mpii_way way;
	const struct mpii_bridge *b;
};

static int bridge_swap(struct mpii_way *way, const void *out, int out_len,
		       void **in, int *in_len)
{
	const struct mpii_bridge *b = ((struct bridge_way *)way)->b;
	struct coll k = { .c = b->peer,
			  .context = b->peer->context + MPII_CTX_GROUP,
			  .tag = b->tag };

	return mpii_swap(&k, b->remote_leader, out, out_len, in, in_len);
}

/* Everything but the checks. */
int mpii_intercomm_build(const struct mpii_set *s, struct mpii_group *group,
			 const struct mpii_bridge *b, struct mpii_comm **out)
{
	struct bridge_way w = { .way = { .swap = bridge_swap }, .b = b };
	struct card *theirs;
	uint32_t context;
	int n, err;

	err = mpii_set_context(s, &context);
	if (err)
		return err;
	err = learn_remote(s, group, b, context, &theirs, &n);
	if (err) {
		mpii_context_free(context);
		return err;
	}
	if (same_numbers(group, theirs))
		err = join_numbers(group, theirs, n, context, out);
	else
		err = mpii_meet(s, group, &w.way, &context, out);
	free(theirs);
	return err;
}

static int check_leaders(struct mpii_comm *c, int local_leader,
			 MPI_Comm peer_comm, int remote_leader, int tag,
			 const char *func)
{
	struct mpii_comm *peer;

	if (c->inter)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "local_comm is an intercommunicator");
	if (local_leader < 0 || local_leader >= c->size)
		return mpii_bad_rank(c, local_leader, func, "local_leader");
	if (c->rank != local_leader)
		return MPI_SUCCESS; /* the rest matters at the leader only */
	peer = mpii_comm_get(peer_comm);
	if (!peer)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "peer_comm is %s at the leader",
				  peer_comm == MPI_COMM_NULL ?
					  "MPI_COMM_NULL" :
					  "no communicator");
	if (remote_leader < 0 || remote_leader >= peer->remote_size)
		return mpii_bad_rank(peer, remote_leader, func,
				     "remote_leader");
	if (tag < 0)
		return mpii_error(c, MPI_ERR_TAG, func,
				  "tag is %d, but must not be negative", tag);
	return MPI_SUCCESS;
}

int PMPI_Intercomm_create(MPI_Comm local_comm, int local_leader,
			  MPI_Comm peer_comm, int remote_leader, int tag,
			  MPI_Comm *newintercomm)
{
	static const char func[] = "MPI_Intercomm_create";
	struct mpii_comm *c = mpii_comm_get(local_comm), *n = NULL;
	struct mpii_bridge b = { mpii_comm_get(peer_comm), remote_leader, tag };
	struct mpii_set s;
	int *ranks, err;

	if (!c)
		return mpii_bad_comm(local_comm, func);
	if (!newintercomm)
		return mpii_bad_null(c, func, "newintercomm");
	err = check_leaders(c, local_leader, peer_comm, remote_leader, tag,
			    func);
	if (err)
		return err;
	s = mpii_set_all(c);
	ranks = leader_first(c, local_leader, &s.me);
	if (!ranks)
		return mpii_no_mem(c, func);
	s.ranks = ranks;
	err = mpii_intercomm_build(&s, c->group, &b, &n);
	free(ranks);
	if (err)
		return mpii_raise(c, err, func);
	return mpii_comm_deliver(n, c, newintercomm, func);
}
MPII_ALIAS(Intercomm_create);

/* --- making an intracommunicator of both sides --- */

/* Does our side come first? When both say the same, the side whose first
 * member comes first among all processes does. */
static bool first(struct mpii_comm *c, int high, int other_high)
{
	if (high != other_high)
		return !high;
	return mpii_identity_compare(
		       mpii_identity(mpii_group_peer(c->group, 0)),
		       mpii_identity(mpii_group_peer(c->remote, 0))) < 0;
}

static struct mpii_group *merged(struct mpii_comm *c, bool ours_first)
{
	struct mpii_group *a = ours_first ? c->group : c->remote;
	struct mpii_group *b = ours_first ? c->remote : c->group;
	int *peers = malloc((a->size + b->size) * sizeof(*peers));

	if (!peers)
		return NULL;
	mpii_group_peers(a, peers);
	mpii_group_peers(b, peers + a->size);
	return mpii_group_create(a->size + b->size, peers);
}

int PMPI_Intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
	static const char func[] = "MPI_Intercomm_merge";
	struct mpii_comm *c = mpii_comm_get(intercomm);
	struct mpii_group *g;
	struct mpii_set s;
	uint32_t context;
	void *in;
	int len, err, other, mine = !!high;

	if (!c)
		return mpii_bad_comm(intercomm, func);
	if (!newintracomm)
		return mpii_bad_null(c, func, "newintracomm");
	if (!c->inter)
		return mpii_error(c, MPI_ERR_COMM, func,
				  "%s is not an intercommunicator",
				  mpii_comm_words(c));
	s = mpii_set_all(c);
	err = mpii_intercomm_exchange(c, &s, &mine, sizeof(mine), &in, &len);
	if (err)
		return mpii_raise(c, err, func);
	other = *(int *)in;
	free(in);
	s.inter = c; /* the context must be free on both sides */
	err = mpii_set_context(&s, &context);
	if (err)
		return mpii_raise(c, err, func);
	g = merged(c, first(c, mine, other));
	if (!g) {
		mpii_context_free(context);
		return mpii_no_mem(c, func);
	}
	return mpii_comm_deliver(mpii_comm_create(g, context), c, newintracomm,
				 func);
}
MPII_ALIAS(Intercomm_merge);
