/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Small collectives over any set of members of a communicator, as needed to
 * make new ones: the collectives chapter knows whole communicators only.
 * Binomial trees, rooted at member 0: 2 log2(size) steps.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/coll.h"
#include "comm/comm_set.h"
#include "env/errcode.h"

struct mpii_set mpii_set_all(struct mpii_comm *c)
{
	unsigned seq;

	if (c->inter)
		c = c->local;
	seq = atomic_fetch_add(&c->create_seq, 1);
	return (struct mpii_set){ .c = c,
				  .size = c->size,
				  .me = c->rank,
				  .context = MPII_CTX_ALL,
				  .tag = (int)(seq & 0x7fffffff) };
}

static int rank_of(const struct mpii_set *s, int member)
{
	return s->ranks ? s->ranks[member] : member;
}

/* Its messages, in c, which is the set's own or an intercommunicator. */
static struct coll messages(const struct mpii_set *s, struct mpii_comm *c)
{
	return (struct coll){ .c = c,
			      .context = c->context + s->context,
			      .tag = s->tag,
			      .task = s->task };
}

static int send_to(const struct mpii_set *s, int member, const void *buf,
		   int bytes)
{
	struct coll k = messages(s, s->c);

	return coll_send(&k, buf, bytes, coll_bytes(), rank_of(s, member));
}

static int recv_from(const struct mpii_set *s, int member, void *buf, int bytes)
{
	struct coll k = messages(s, s->c);

	return coll_recv(&k, buf, bytes, coll_bytes(), rank_of(s, member));
}

int mpii_set_bcast(const struct mpii_set *s, void *buf, int bytes)
{
	int bit = 1, err = MPI_SUCCESS;

	while (bit < s->size && !(s->me & bit))
		bit <<= 1;
	if (s->me)
		err = recv_from(s, s->me - bit, buf, bytes);
	for (bit >>= 1; !err && bit; bit >>= 1)
		if (s->me + bit < s->size)
			err = send_to(s, s->me + bit, buf, bytes);
	return err;
}

int mpii_set_gather(const struct mpii_set *s, const void *mine, int bytes,
		    void *all)
{
	char discard[1];
	int err = MPI_SUCCESS;

	if (s->me)
		return send_to(s, 0, mine, bytes);
	if (all)
		memcpy(all, mine, bytes);
	for (int i = 1; i < s->size && !err; i++)
		err = all ? recv_from(s, i, (char *)all + (size_t)i * bytes,
				      bytes) :
			    recv_from(s, i, discard, 0);
	return err;
}

int mpii_set_spread(const struct mpii_set *s, int err, void **buf, int *len)
{
	int head[2] = { mpii_class_of_code(err), *len };
	int sent = mpii_set_bcast(s, head, sizeof(head));

	if (err || sent)
		return err ? err : sent;
	if (head[0])
		return mpii_fail(head[0],
				 "the leader of this group has failed");
	*len = head[1];
	if (s->me) {
		*buf = malloc(*len + 1);
		if (!*buf)
			return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	err = mpii_set_bcast(s, *buf, *len);
	if (err) {
		free(*buf);
		*buf = NULL;
	}
	return err;
}

int mpii_swap(const struct coll *k, int rank, const void *out, int out_len,
	      void **in, int *in_len)
{
	struct mpii_type *byte = coll_bytes();
	int err;

	*in = NULL;
	err = coll_sendrecv(k, &out_len, sizeof(out_len), byte, rank, in_len,
			    sizeof(*in_len), byte, rank);
	if (err)
		return err;
	*in = malloc(*in_len + 1);
	if (!*in)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = coll_sendrecv(k, out, out_len, byte, rank, *in, *in_len, byte,
			    rank);
	if (err) {
		free(*in);
		*in = NULL;
	}
	return err;
}

#define AND_MAX 16

/* Member 0 asks the other side's for its words. */
static int and_remote(const struct mpii_set *s, uint64_t *buf, int n)
{
	struct coll k = messages(s, s->inter);
	struct mpii_type *byte = coll_bytes();
	uint64_t in[AND_MAX];
	int bytes = n * (int)sizeof(*buf), err;

	err = coll_sendrecv(&k, buf, bytes, byte, 0, in, bytes, byte, 0);
	for (int i = 0; !err && i < n; i++)
		buf[i] &= in[i];
	return err;
}

int mpii_set_and(const struct mpii_set *s, uint64_t *buf, int n)
{
	uint64_t in[AND_MAX];
	int bytes = n * (int)sizeof(*buf), err;

	for (int bit = 1; bit < s->size; bit <<= 1) {
		if (s->me & bit) {
			err = send_to(s, s->me - bit, buf, bytes);
			if (err)
				return err;
			break;
		}
		if (s->me + bit >= s->size)
			continue;
		err = recv_from(s, s->me + bit, in, bytes);
		if (err)
			return err;
		for (int i = 0; i < n; i++)
			buf[i] &= in[i];
	}
	if (s->inter && s->me == 0) {
		err = and_remote(s, buf, n);
		if (err)
			return err;
	}
	return mpii_set_bcast(s, buf, bytes);
}
