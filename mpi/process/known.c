/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Two processes that were connected forget each other when nobody needs the other any
 * more, each at its own time: a group is kept for longer at one end, or another thread
 * has not left MPI_Comm_disconnect yet. If they meet again before both have, one would go
 * on with a connection that the other has left. So members of the two groups compare
 * what they have of each other:
 *
 *	Each has a set of meetings for every other that it knows. Two sets with a common
 *	element belong to one connection, and both go on with it. Where they have none in
 *	common, whoever has a set has what the other end has forgotten: it is stale.
 *
 * But another thread may be in another meeting of the two, which only one of them has
 * been told of. That set is not stale: it is not settled, and will be soon, when that
 * meeting is over. The other end may also have looked before it was. So only what was
 * settled before anybody looked counts; as long as there is something newer, all look
 * again. Meetings do not wait for each other for ever, since whoever is made known is so
 * after this comparison.
 *
 * Mostly nobody knows anybody, and that is all that is said. Groups are not compared
 * when that would take too much: hundreds of processes on both sides that know each other.
 *
 * From the look on until the meeting has made them known, they are not forgotten, nor
 * those that another meeting adds.
 */
#include "process/known.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env/errors.h"

#define BYTES_MAX (4u << 20) /* of all rows; more are not compared */

/* What a member has of one of the other side. */
struct row {
	uint64_t met[MPII_MET];
	uint64_t again; /* it has to be looked at again */
};
#define AGAIN_US 200
#define END_US 2000000 /* for what is still on its way */

bool mpii_known_any(void)
{
	/* other threads may meet somebody any time */
	return mpii.provided == MPI_THREAD_MULTIPLE || mpii_others_any();
}

void *mpii_known_allocate(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		mpii_abort(MPI_ERR_NO_MEM,
			   "two groups that meet: out of memory");
	return p;
}

/* --- what we have --- */

static void look(struct mpii_known *k, struct row *row)
{
	unsigned now = mpii_others_clock();

	mpii_others_look(&k->look);
	for (int i = 0; i < k->look.n; i++) {
		const struct mpii_acquaintance *a = &k->look.have[i];

		memcpy(row[i].met, a->met, sizeof(a->met));
		row[i].again =
			a->peer >= 0 &&
			(!a->settled || (int)(a->settled - k->since) > 0);
	}
	k->since = now;
}

/* --- what they have --- */

static bool any_again(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].again)
			return true;
	return false;
}

/* The set has the leader in front, in exchange for the first of the group. */
static void put_in_order(const struct mpii_known *k, struct row *rows)
{
	struct row *leader = rows + (size_t)k->group->rank * k->look.n;

	for (int i = 0; i < k->look.n; i++) {
		struct row tmp = rows[i];

		rows[i] = leader[i];
		leader[i] = tmp;
	}
}

static int not_understood(void)
{
	return mpii_fail(MPI_ERR_OTHER, "what the other side says is not "
					"understood");
}

/* At the leader: the rows of the others, and whether to look again. */
static int swap_rows(struct mpii_known *k, struct row *ours,
		     struct row **theirs, int *bytes)
{
	size_t n = (size_t)k->group->size * k->look.n;
	void *in = NULL;
	int len = 0, err;

	put_in_order(k, ours);
	err = k->way->swap(k->way, ours, (int)(n * sizeof(*ours)), &in, &len);
	if (err)
		return err;
	*bytes = (int)((n + 1) * sizeof(*ours));
	*theirs = len == (int)(n * sizeof(*ours)) ? realloc(in, *bytes) : NULL;
	if (!*theirs) {
		free(in);
		return not_understood();
	}
	(*theirs)[n].again = any_again(ours, n) || any_again(*theirs, n);
	return MPI_SUCCESS;
}

/* All learn what the other side has. *theirs is malloc'ed. */
static int exchange(struct mpii_known *k, const struct row *row,
		    struct row **theirs, bool *again)
{
	size_t n = (size_t)k->group->size * k->look.n;
	bool leads = !k->s->me;
	struct row *ours = leads ? mpii_known_allocate(n, sizeof(*ours)) : NULL;
	struct row *in = NULL;
	int len = 0, err;

	err = mpii_set_gather(k->s, row, k->look.n * (int)sizeof(*row), ours);
	if (leads && !err)
		err = swap_rows(k, ours, &in, &len);
	free(ours);
	err = mpii_set_spread(k->s, err, (void **)&in, &len);
	*theirs = in;
	if (!err)
		*again = in[n].again;
	return err;
}

/* --- the comparison --- */

static bool have_common(const uint64_t *a, const uint64_t *b)
{
	for (int i = 0; i < MPII_MET; i++)
		for (int j = 0; a[i] && j < MPII_MET; j++)
			if (a[i] == b[j])
				return true;
	return false;
}

static void judge(struct mpii_known *k, const struct row *theirs)
{
	for (int i = 0; i < k->look.n; i++) {
		const struct mpii_acquaintance *a = &k->look.have[i];
		size_t at = (size_t)i * k->group->size + k->group->rank;

		k->stale[i] = a->settled &&
			      !have_common(a->met, theirs[at].met);
	}
}

static void prepare(struct mpii_known *k)
{
	k->look.have = mpii_known_allocate(k->look.n, sizeof(*k->look.have));
	k->stale = mpii_known_allocate(k->look.n, sizeof(*k->stale));
	for (int i = 0; i < k->look.n; i++)
		k->look.have[i] =
			(struct mpii_acquaintance){ .peer = -1, .instead = -1 };
	mpii_others_look_begin(&k->look);
}

/* Does anybody on either side have anything? Mostly not. */
static int ask(struct mpii_known *k, bool *any)
{
	uint64_t none = 1;
	char mine = 0, *theirs = NULL;
	int len = 0, err;

	for (int i = 0; i < k->look.n; i++)
		none &= k->look.have[i].peer < 0;
	err = mpii_set_and(k->s, &none, 1);
	mine = (char)!none;
	if (!err && !k->s->me)
		err = k->way->swap(k->way, &mine, 1, (void **)&theirs, &len);
	if (!err && !k->s->me && len != 1)
		err = not_understood();
	err = mpii_set_spread(k->s, err, (void **)&theirs, &len);
	*any = mine || (!err && *theirs);
	free(theirs);
	return err;
}

static bool is_small(const struct mpii_known *k)
{
	return (uint64_t)k->group->size * k->look.n <=
	       BYTES_MAX / sizeof(struct row);
}

int mpii_known_compare(struct mpii_known *k)
{
	struct row *row, *theirs;
	bool again;
	int err;

	prepare(k);
	row = mpii_known_allocate(k->look.n, sizeof(*row));
	do {
		look(k, row);
		err = ask(k, &again);
		if (err || !again || !is_small(k))
			break;
		err = exchange(k, row, &theirs, &again);
		if (!err && !again)
			judge(k, theirs);
		free(theirs);
		if (!err && again)
			usleep(AGAIN_US);
	} while (!err && again);
	free(row);
	return err;
}

/* --- the end of what is stale --- */

static int is_over(void *peer)
{
	return o2g_peer_over(mpii.ep, *(int *)peer, 0);
}

void mpii_known_end_stale(const struct mpii_known *k)
{
	for (int i = 0; k->stale && i < k->look.n; i++) {
		int peer = k->look.have[i].peer;

		if (!k->stale[i])
			continue;
		if (o2g_wait_until(mpii.ep, is_over, &peer, END_US))
			o2g_peer_over(mpii.ep, peer, 1);
	}
}

void mpii_known_free(struct mpii_known *k)
{
	if (k->look.have)
		mpii_others_look_end(&k->look);
	free(k->look.have);
	free(k->stale);
	free(k->look.who);
}
