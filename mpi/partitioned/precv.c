/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The receiving side of partitioned communication. The messages are the
 * sender's partitions; a partition of ours has arrived when all messages that
 * touch it have. Where a message ends inside an element of our datatype, all go
 * through a copy.
 *
 * The messages of a round are posted when two things have happened: the round
 * was started, and the sender's announcement is there. Whoever sees the second
 * of them posts; for the announcement that is any thread that makes progress.
 */
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "partitioned/partitioned.h"
#include "pt2pt/check.h"
#include "pt2pt/pt2pt.h"
#include "pt2pt/status.h"

enum { ANNOUNCED = 1, STARTED = 2, BOTH = 3 };

struct precv {
	int n; /* partitions of ours */
	struct mpii_announce sender;
	struct mpii_req *announcement; /* its receive; NULL once seen */
	bool failed;		       /* it did not come */
	atomic_int gate;
	atomic_bool posted;
	int first; /* messages before it are known to be there */
	int nmsg;  /* posted; less than the sender's after an error */
	int err;
	struct mpii_req **msg;
	/* only where messages and elements do not fit together */
	char *copy;
	bool *unpacked;
	pthread_mutex_t lock; /* of unpacked: threads ask for partitions */
};

static MPI_Count room_of(const struct mpii_req *r, const struct precv *p)
{
	return p->n * r->count * r->type->size;
}

/* --- posting --- */

static bool prepare(struct mpii_req *r, struct precv *p)
{
	MPI_Count bytes = p->sender.bytes * p->sender.partitions;

	p->msg = calloc(p->sender.partitions + 1, sizeof(*p->msg));
	if (!p->msg)
		return false;
	if (r->type->size == 0 || p->sender.bytes % r->type->size == 0)
		return true;
	p->copy = malloc(bytes + 1);
	p->unpacked = calloc(p->sender.partitions + 1, sizeof(*p->unpacked));
	return p->copy && p->unpacked;
}

static int post_one(struct mpii_req *r, struct precv *p, int i)
{
	uint32_t context = r->comm->context + MPII_CTX_PART_DATA;
	int tag = (int)(p->sender.first + i);
	MPI_Count count;

	if (p->copy)
		return mpii_irecv(p->copy + i * p->sender.bytes,
				  p->sender.bytes, mpii_type_get(MPI_BYTE),
				  r->peer, tag, r->comm, context, &p->msg[i]);
	count = r->type->size ? p->sender.bytes / r->type->size : 0;
	return mpii_irecv((char *)r->buf + i * count * r->type->extent, count,
			  r->type, r->peer, tag, r->comm, context, &p->msg[i]);
}

static void post(struct mpii_req *r)
{
	struct precv *p = r->state;
	MPI_Count bytes = p->sender.bytes * p->sender.partitions;

	p->nmsg = 0;
	if (!p->failed && !p->msg && !prepare(r, p))
		p->err = MPI_ERR_NO_MEM;
	else if (!p->failed && bytes > room_of(r, p))
		p->err = MPI_ERR_TRUNCATE;
	while (!p->failed && !p->err && p->nmsg < p->sender.partitions) {
		p->err = post_one(r, p, p->nmsg);
		p->nmsg += !p->err;
	}
	if (p->unpacked)
		memset(p->unpacked, 0, p->sender.partitions);
	p->first = 0;
	atomic_store_explicit(&p->posted, true, memory_order_release);
}

static void announced(void *arg)
{
	struct mpii_req *r = arg;
	struct precv *p = r->state;
	struct o2g_status st;

	if (p->announcement->o2g) {
		o2g_peek_status(p->announcement->o2g, &st);
		p->failed = st.error != 0;
	}
	if ((atomic_fetch_or(&p->gate, ANNOUNCED) | ANNOUNCED) == BOTH)
		post(r);
}

/* --- rounds --- */

static void unpack_message(struct mpii_req *r, struct precv *p, int i)
{
	if (!p->copy || p->unpacked[i])
		return;
	mpii_unpack(r->type, r->buf, p->n * r->count, i * p->sender.bytes,
		    p->copy + i * p->sender.bytes, p->sender.bytes);
	p->unpacked[i] = true;
}

static bool all_arrived(struct precv *p)
{
	if (!atomic_load_explicit(&p->posted, memory_order_acquire))
		return false;
	for (; p->first < p->nmsg; p->first++)
		if (!mpii_req_done(p->msg[p->first]))
			return false;
	return true;
}

/* The result of the announcement's receive, which is done with then. */
static int announcement_error(struct precv *p)
{
	struct mpii_req *a = p->announcement;
	int err;

	if (!a)
		return MPI_SUCCESS;
	mpii_req_wait(a);
	err = a->status.MPI_ERROR;
	p->announcement = NULL;
	mpii_comm_rest(a->comm, -1);
	mpii_req_put(a);
	return err;
}

static int round_error(struct mpii_req *r, struct precv *p)
{
	int err = announcement_error(p), received;

	if (err)
		return err;
	if (p->err == MPI_ERR_TRUNCATE)
		return mpii_fail(MPI_ERR_TRUNCATE,
				 "the sender has %d "
				 "partitions of %lld bytes, but there is room "
				 "for %lld bytes",
				 p->sender.partitions,
				 (long long)p->sender.bytes,
				 (long long)room_of(r, p));
	received = mpii_wait_all(p->msg, p->nmsg);
	return p->err ? p->err : received;
}

static int poll_recv(struct mpii_req *r)
{
	struct precv *p = r->state;

	if (!all_arrived(p))
		return 0;
	r->status.MPI_ERROR = round_error(r, p);
	if (!r->status.MPI_ERROR)
		for (int i = 0; i < p->nmsg; i++)
			unpack_message(r, p, i);
	mpii_status_set(&r->status, r->peer, r->tag, p->nmsg * p->sender.bytes);
	atomic_fetch_and(&p->gate, ~STARTED);
	return 1;
}

static int start_recv(struct mpii_req *r)
{
	struct precv *p = r->state;

	if (r->peer == MPI_PROC_NULL) {
		mpii_status_set(&r->status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
		return MPI_SUCCESS;
	}
	p->err = MPI_SUCCESS;
	atomic_store(&p->posted, false);
	r->poll = poll_recv;
	if ((atomic_fetch_or(&p->gate, STARTED) | STARTED) == BOTH)
		post(r);
	return MPI_SUCCESS;
}

static void release(struct mpii_req *r)
{
	struct precv *p = r->state;

	if (p->announcement) {
		if (p->announcement->o2g)
			o2g_cancel(p->announcement->o2g);
		announcement_error(p);
	}
	pthread_mutex_destroy(&p->lock);
	free(p->msg);
	free(p->copy);
	free(p->unpacked);
	free(p);
}

/* --- MPI_Precv_init --- */

static int expect(struct mpii_req *r, struct precv *p)
{
	int err = mpii_irecv(&p->sender, sizeof(p->sender),
			     mpii_type_get(MPI_BYTE), r->peer, r->tag, r->comm,
			     r->comm->context + MPII_CTX_PART,
			     &p->announcement);

	if (err) {
		p->announcement = NULL;
		return err;
	}
	/* It may never come, and then nothing is under way. */
	mpii_comm_rest(r->comm, 1);
	if (p->announcement->o2g)
		o2g_on_done(p->announcement->o2g, announced, r);
	else
		announced(r);
	return MPI_SUCCESS;
}

static int check(MPI_Comm comm, struct mpii_comm **c, int source, int tag,
		 const char *func)
{
	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_bad_comm(comm, func);
	if (source == MPI_ANY_SOURCE)
		return mpii_error(*c, MPI_ERR_RANK, func,
				  "source is "
				  "MPI_ANY_SOURCE, but partitioned receives "
				  "name their sender");
	if (tag == MPI_ANY_TAG)
		return mpii_error(*c, MPI_ERR_TAG, func,
				  "tag is MPI_ANY_TAG, "
				  "but partitioned receives name their tag");
	return MPI_SUCCESS;
}

static struct mpii_req *make(void *buf, int partitions, MPI_Count count,
			     struct mpii_type *t, int source, int tag,
			     struct mpii_comm *c)
{
	struct precv *p = calloc(1, sizeof(*p));
	struct mpii_req *r;

	if (!p)
		return NULL;
	r = mpii_req_persistent(MPII_REQ_PRECV, buf, count, t, source, tag, c);
	if (!r) {
		free(p);
		return NULL;
	}
	p->n = partitions;
	pthread_mutex_init(&p->lock, NULL);
	r->state = p;
	r->start = start_recv;
	r->release = release;
	return r;
}

int PMPI_Precv_init(void *buf, int partitions, MPI_Count count,
		    MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
		    MPI_Info info, MPI_Request *request)
{
	static const char func[] = "MPI_Precv_init";
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_req *r;
	int err = check(comm, &c, source, tag, func);

	if (!err)
		err = mpii_check_recv(buf, count, datatype, source, tag, comm,
				      &c, &t, func);
	if (!err)
		err = mpii_check_partitions(c, partitions, count, t, info,
					    func);
	if (!err && !request)
		err = mpii_bad_null(c, func, "request");
	if (err)
		return err;
	r = make(buf, partitions, count, t, source, tag, c);
	if (!r)
		return mpii_no_mem(c, func);
	err = source == MPI_PROC_NULL ? MPI_SUCCESS : expect(r, r->state);
	if (err) {
		mpii_req_put(r);
		return mpii_raise(c, err, func);
	}
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}
MPII_ALIAS(Precv_init);

/* --- MPI_Parrived --- */

/* The messages from *first to *last touch the partition; those without data count
 * as if all were of the same size. */
static void messages_of(const struct mpii_req *r, const struct precv *p,
			int partition, MPI_Count *first, MPI_Count *last)
{
	MPI_Count mine = r->count * r->type->size, theirs = p->sender.bytes;

	if (mine == 0 || theirs == 0) {
		mine = p->sender.partitions;
		theirs = p->n;
	}
	*first = partition * mine / theirs;
	*last = ((partition + 1) * mine - 1) / theirs;
}

/* Have all messages come that touch the partition? Then it is also unpacked. */
static bool arrived(struct mpii_req *r, struct precv *p, int partition)
{
	MPI_Count first, last;

	if (!atomic_load_explicit(&p->posted, memory_order_acquire) || p->err ||
	    p->failed)
		return false;
	messages_of(r, p, partition, &first, &last);
	for (MPI_Count i = first; i <= last && i < p->nmsg; i++)
		if (!mpii_req_done(p->msg[i]))
			return false;
	if (p->copy) {
		pthread_mutex_lock(&p->lock);
		for (MPI_Count i = first; i <= last && i < p->nmsg; i++)
			unpack_message(r, p, (int)i);
		pthread_mutex_unlock(&p->lock);
	}
	return true;
}

int PMPI_Parrived(MPI_Request request, int partition, int *flag)
{
	static const char func[] = "MPI_Parrived";
	struct mpii_req *r = mpii_req_get(request);
	struct precv *p;
	int err;

	if (request == MPI_REQUEST_NULL && mpii_running() && flag) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	if (!r || r->kind != MPII_REQ_PRECV)
		return mpii_error(r ? r->comm : NULL, MPI_ERR_REQUEST, func,
				  "request is not from MPI_Precv_init");
	if (!flag)
		return mpii_bad_null(r->comm, func, "flag");
	p = r->state;
	err = mpii_check_partition(r, partition, p->n, func);
	if (err)
		return err;
	*flag = !r->active || !r->poll || arrived(r, p, partition);
	if (!*flag) {
		o2g_progress(mpii.ep);
		*flag = arrived(r, p, partition);
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(Parrived);
