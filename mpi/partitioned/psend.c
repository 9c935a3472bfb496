/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The sending side of partitioned communication: each partition that is marked
 * ready, by whichever thread, goes out as a message of its own.
 */
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "info/info.h"
#include "partitioned/partitioned.h"
#include "pt2pt/check.h"
#include "pt2pt/pt2pt.h"

struct psend {
	int n;		  /* partitions */
	int first;	  /* those before it are known to be sent */
	uint32_t tag;	  /* of partition 0 */
	atomic_int ready; /* messages started */
	atomic_int err;	  /* of one that could not be */
	struct mpii_req **msg;
	atomic_bool *marked;
};

static atomic_uint next_tag;

/* --- what both sides share --- */

int mpii_check_partitions(struct mpii_comm *c, int partitions, MPI_Count count,
			  const struct mpii_type *t, MPI_Info info,
			  const char *func)
{
	MPI_Count bytes;

	if (partitions < 0)
		return mpii_error(c, MPI_ERR_ARG, func,
				  "partitions is %d, but must not be negative",
				  partitions);
	if (__builtin_mul_overflow(count, t->size, &bytes) ||
	    __builtin_mul_overflow(bytes, partitions, &bytes))
		return mpii_error(c, MPI_ERR_COUNT, func,
				  "%d partitions of %lld elements are more "
				  "than can be counted",
				  partitions, (long long)count);
	if (info != MPI_INFO_NULL && !mpii_info_get(info))
		return mpii_error(c, MPI_ERR_INFO, func,
				  "info is not an info object or was freed");
	return MPI_SUCCESS;
}

int mpii_check_partition(const struct mpii_req *r, int partition, int n,
			 const char *func)
{
	if (partition >= 0 && partition < n)
		return MPI_SUCCESS;
	return mpii_error(r->comm, MPI_ERR_ARG, func,
			  "partition is %d, but there are %d, counted from 0",
			  partition, n);
}

int mpii_psend_marked(const struct mpii_req *r, int *n)
{
	struct psend *p = r->state;

	*n = p->n;
	return atomic_load(&p->ready);
}

/* --- rounds --- */

static bool all_sent(struct psend *p)
{
	if (atomic_load_explicit(&p->ready, memory_order_acquire) < p->n)
		return false;
	for (; p->first < p->n; p->first++)
		if (p->msg[p->first] && !mpii_req_done(p->msg[p->first]))
			return false;
	return true;
}

static int poll_send(struct mpii_req *r)
{
	struct psend *p = r->state;
	int err;

	if (!all_sent(p))
		return 0;
	err = mpii_wait_all(p->msg, p->n);
	r->status.MPI_ERROR = p->err ? p->err : err;
	return 1;
}

static int start_send(struct mpii_req *r)
{
	struct psend *p = r->state;

	p->first = 0;
	p->err = MPI_SUCCESS;
	memset(p->marked, 0, p->n * sizeof(*p->marked));
	memset(p->msg, 0, p->n * sizeof(*p->msg));
	atomic_store_explicit(&p->ready, 0, memory_order_release);
	r->poll = poll_send;
	return MPI_SUCCESS;
}

static void destroy(struct psend *p)
{
	free(p->msg);
	free(p->marked);
	free(p);
}

static void release(struct mpii_req *r)
{
	destroy(r->state);
}

/* --- MPI_Psend_init --- */

/* Goes its way alone: the request that carries it frees the data. */
static int announce(struct mpii_req *r, const struct psend *p)
{
	struct mpii_announce *a = malloc(sizeof(*a));
	struct mpii_req *msg;
	int err;

	if (!a)
		return mpii_fail(MPI_ERR_NO_MEM, "no memory for a request");
	a->first = p->tag;
	a->partitions = p->n;
	a->bytes = r->count * r->type->size;
	err = mpii_isend(a, sizeof(*a), mpii_type_get(MPI_BYTE), r->peer,
			 r->tag, r->comm, r->comm->context + MPII_CTX_PART,
			 MPII_STANDARD, &msg);
	if (err || !msg->o2g) {
		free(a);
		if (!err)
			mpii_req_put(msg);
		return err;
	}
	msg->pack = a;
	mpii_req_detach(msg);
	return MPI_SUCCESS;
}

static struct psend *make(int partitions)
{
	struct psend *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->n = partitions;
	p->tag = atomic_fetch_add(&next_tag, partitions);
	p->msg = calloc(partitions + 1, sizeof(*p->msg));
	p->marked = calloc(partitions + 1, sizeof(*p->marked));
	if (p->msg && p->marked)
		return p;
	destroy(p);
	return NULL;
}

int PMPI_Psend_init(const void *buf, int partitions, MPI_Count count,
		    MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
		    MPI_Info info, MPI_Request *request)
{
	static const char func[] = "MPI_Psend_init";
	struct mpii_comm *c;
	struct mpii_type *t;
	struct mpii_req *r;
	struct psend *p;
	int err;

	err = mpii_check_send(buf, count, datatype, dest, tag, comm, &c, &t,
			      func);
	if (!err)
		err = mpii_check_partitions(c, partitions, count, t, info,
					    func);
	if (!err && !request)
		err = mpii_bad_null(c, func, "request");
	if (err)
		return err;
	p = make(partitions);
	if (!p)
		return mpii_no_mem(c, func);
	r = mpii_req_persistent(MPII_REQ_PSEND, buf, count, t, dest, tag, c);
	if (!r) {
		destroy(p);
		return mpii_no_mem(c, func);
	}
	r->state = p;
	r->start = start_send;
	r->release = release;
	err = announce(r, p);
	if (err) {
		mpii_req_put(r);
		return mpii_raise(c, err, func);
	}
	*request = (MPI_Request)r;
	return MPI_SUCCESS;
}
MPII_ALIAS(Psend_init);

/* --- marking partitions ready --- */

static int check_active(MPI_Request h, struct mpii_req **r, const char *func)
{
	*r = mpii_req_get(h);
	if (!*r || (*r)->kind != MPII_REQ_PSEND)
		return mpii_error(*r ? (*r)->comm : NULL, MPI_ERR_REQUEST, func,
				  "request is not from MPI_Psend_init");
	if (!(*r)->active)
		return mpii_error((*r)->comm, MPI_ERR_REQUEST, func,
				  "the request is not active: call MPI_Start "
				  "first");
	return MPI_SUCCESS;
}

static int ready(struct mpii_req *r, int i, const char *func)
{
	struct psend *p = r->state;
	int err = mpii_check_partition(r, i, p->n, func);

	if (err)
		return err;
	if (atomic_exchange(&p->marked[i], true))
		return mpii_error(r->comm, MPI_ERR_ARG, func,
				  "partition %d was marked ready already", i);
	err = mpii_isend((char *)r->buf + i * r->count * r->type->extent,
			 r->count, r->type, r->peer, (int)(p->tag + i), r->comm,
			 r->comm->context + MPII_CTX_PART_DATA, MPII_STANDARD,
			 &p->msg[i]);
	if (err) {
		p->msg[i] = NULL;
		p->err = err;
	}
	if (atomic_fetch_add_explicit(&p->ready, 1, memory_order_acq_rel) + 1 ==
		    p->n &&
	    atomic_load(&mpii.multiple))
		mpii_wake(); /* another thread may wait for just this */
	return err ? mpii_raise(r->comm, err, func) : MPI_SUCCESS;
}

int PMPI_Pready(int partition, MPI_Request request)
{
	struct mpii_req *r;
	int err = check_active(request, &r, "MPI_Pready");

	return err ? err : ready(r, partition, "MPI_Pready");
}
MPII_ALIAS(Pready);

int PMPI_Pready_range(int partition_low, int partition_high,
		      MPI_Request request)
{
	static const char func[] = "MPI_Pready_range";
	struct mpii_req *r;
	int err = check_active(request, &r, func);

	if (!err && partition_low > partition_high)
		return mpii_error(r->comm, MPI_ERR_ARG, func,
				  "partition_low %d is above partition_high %d",
				  partition_low, partition_high);
	for (int i = partition_low; !err && i <= partition_high; i++)
		err = ready(r, i, func);
	return err;
}
MPII_ALIAS(Pready_range);

int PMPI_Pready_list(int length, const int array_of_partitions[],
		     MPI_Request request)
{
	static const char func[] = "MPI_Pready_list";
	struct mpii_req *r;
	int err = check_active(request, &r, func);

	if (!err && length < 0)
		err = mpii_error(r->comm, MPI_ERR_ARG, func,
				 "length is %d, but must not be negative",
				 length);
	if (!err && length > 0 && !array_of_partitions)
		err = mpii_bad_null(r->comm, func, "array_of_partitions");
	for (int i = 0; !err && i < length; i++)
		err = ready(r, array_of_partitions[i], func);
	return err;
}
MPII_ALIAS(Pready_list);
