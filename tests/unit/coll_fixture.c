/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: base/log.c base/nearest.c base/settings.c mpi/coll/[a-z]*.c */
/* sources: mpi/coll/[a-z]*[a-z]/[a-z]*.c */
/* sources: tests/unit/coll_rest.c */
#include "coll_fixture.h"

#include <pthread.h>
#include <time.h>

/* --- the network: messages and receives wait in two lists --- */

struct xfer {
	struct xfer *next;
	bool send, done, detached; /* detached: nobody waits for it */
	int from, to, tag;
	uint32_t context;
	void *buf, *copy; /* copy: packed, of an asynchronous send */
	MPI_Count count, bytes;
	struct mpii_type *t;
	int err;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct xfer *waiting; /* in order */
static unsigned coin;

static bool matches(const struct xfer *a, const struct xfer *b)
{
	return a->send != b->send && a->from == b->from && a->to == b->to &&
	       a->tag == b->tag && a->context == b->context;
}

static void deliver(struct xfer *s, struct xfer *r)
{
	char *packed = s->copy ? s->copy : malloc(s->bytes + 1);

	if (!s->copy)
		mpii_pack(s->t, s->buf, s->count, 0, packed, s->bytes);
	if (s->bytes > r->bytes)
		r->err = MPI_ERR_TRUNCATE;
	else
		mpii_unpack(r->t, r->buf, r->count, 0, packed, s->bytes);
	if (s->bytes < r->bytes)
		r->err = MPI_ERR_COUNT;
	free(packed);
	s->copy = NULL;
	r->done = true;
}

static void submit(struct xfer *x)
{
	struct xfer **p;

	pthread_mutex_lock(&lock);
	for (p = &waiting; *p && !matches(*p, x); p = &(*p)->next)
		;
	if (!*p) {
		x->next = NULL;
		*p = x;
		if (x->send && ++coin % 2) {
			x->copy = malloc(x->bytes + 1);
			mpii_pack(x->t, x->buf, x->count, 0, x->copy, x->bytes);
		}
	} else {
		struct xfer *other = *p;

		*p = other->next;
		deliver(x->send ? x : other, x->send ? other : x);
		other->done = true;
		x->done = true;
		if (other->detached)
			free(other);
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
}

static struct mpii_req *start(bool send, void *buf, MPI_Count count,
			      struct mpii_type *t, int peer, int tag,
			      struct mpii_comm *c, uint32_t context)
{
	struct mpii_req *r = calloc(1, sizeof(*r));
	struct xfer *x = calloc(1, sizeof(*x));

	*x = (struct xfer){ .send = send,
			    .from = send ? c->rank : peer,
			    .to = send ? peer : c->rank,
			    .tag = tag,
			    .context = context,
			    .buf = buf,
			    .count = count,
			    .bytes = count * t->size,
			    .t = t };
	r->state = x;
	submit(x);
	return r;
}

/* A send that was copied is complete for the sender but stays in the list. */
static int finish(struct mpii_req *r)
{
	struct xfer *x = r->state;
	struct timespec end;
	int err;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 30;
	pthread_mutex_lock(&lock);
	while (!x->done && !x->copy) {
		if (pthread_cond_timedwait(&changed, &lock, &end)) {
			fprintf(stderr, "rank %d waits for %s %d: deadlock\n",
				x->send ? x->from : x->to,
				x->send ? "a receive at" : "a message from",
				x->send ? x->to : x->from);
			abort();
		}
	}
	err = x->err;
	if (!x->done) { /* detach: the receiver still needs it */
		struct xfer *keep = malloc(sizeof(*keep)), **p;

		*keep = *x;
		for (p = &waiting; *p != x; p = &(*p)->next)
			;
		*p = keep;
		keep->detached = true;
	}
	pthread_mutex_unlock(&lock);
	free(x);
	free(r);
	return err;
}

int mpii_isend(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	       int tag, struct mpii_comm *c, uint32_t context,
	       enum mpii_mode mode, struct mpii_req **req)
{
	*req = start(true, (void *)buf, count, t, dest, tag, c, context);
	return MPI_SUCCESS;
}

int mpii_irecv(void *buf, MPI_Count count, struct mpii_type *t, int source,
	       int tag, struct mpii_comm *c, uint32_t context,
	       struct mpii_req **req)
{
	*req = start(false, buf, count, t, source, tag, c, context);
	return MPI_SUCCESS;
}

int mpii_send(const void *buf, MPI_Count count, struct mpii_type *t, int dest,
	      int tag, struct mpii_comm *c, uint32_t context)
{
	return finish(
		start(true, (void *)buf, count, t, dest, tag, c, context));
}

int mpii_recv_exact(void *buf, MPI_Count count, struct mpii_type *t, int source,
		    int tag, struct mpii_comm *c, uint32_t context)
{
	return finish(start(false, buf, count, t, source, tag, c, context));
}

int mpii_wait_exact(struct mpii_req **reqs, int n)
{
	int err = MPI_SUCCESS;

	for (int i = 0; i < n; i++) {
		int e = finish(reqs[i]);

		err = err ? err : e;
	}
	return err;
}

int mpii_sendrecv(const void *sbuf, MPI_Count scount, struct mpii_type *st,
		  int dest, void *rbuf, MPI_Count rcount, struct mpii_type *rt,
		  int source, int tag, struct mpii_comm *c, uint32_t context)
{
	struct mpii_req *r[2];

	mpii_irecv(rbuf, rcount, rt, source, tag, c, context, &r[0]);
	mpii_isend(sbuf, scount, st, dest, tag, c, context, MPII_STANDARD,
		   &r[1]);
	return mpii_wait_exact(r, 2);
}

/* --- threads as ranks --- */

static void free_coll(struct mpii_comm *c)
{
	if (c->coll)
		c->coll_free(c->coll);
}

static void *rank_main(void *p)
{
	struct rank *r = p;

	r->body(r);
	free_coll(&r->comm);
	free_coll(&r->local);
	return NULL;
}

static void make_comm(struct mpii_comm *c, int rank, int size, uint32_t context)
{
	static struct mpii_group of_one_job;

	memset(c, 0, sizeof(*c));
	c->group = c->remote = &of_one_job;
	c->obj.magic = MPII_COMM;
	c->handle = (MPI_Comm)c;
	c->context = context;
	c->rank = rank;
	c->size = c->remote_size = size;
}

void run_ranks(int n, void (*body)(struct rank *r), int arg, long ints)
{
	static struct rank ranks[MAX_RANKS];

	for (int i = 0; i < n; i++) {
		make_comm(&ranks[i].comm, i, n, 8);
		ranks[i].body = body;
		ranks[i].arg = arg;
		ranks[i].env = (struct env){ .comm = ranks[i].comm.handle,
					     .rank = i,
					     .size = n,
					     .seed = n * 1000 + arg,
					     .max_ints = ints };
		pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(ranks[i].thread, NULL);
	assert_null(waiting); /* every message was received */
}
