/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/datatype.c mpi/datatype_array.c mpi/datatype_build.c mpi/datatype_contents.c mpi/datatype_darray.c mpi/datatype_indexed.c mpi/datatype_layout.c mpi/datatype_pack.c mpi/datatype_packed.c mpi/datatype_query.c mpi/datatype_table.c mpi/op.c mpi/op_loops.c mpi/op_pairs.c mpi/fiber.c base/log.c base/nearest.c base/settings.c mpi/coll/[a-z]*.c mpi/coll/[a-z]*[a-z]/[a-z]*.c mpi/handle_int.c */
/*
 * The collectives with threads for ranks and a queue for the network, so that
 * every algorithm runs with any number of ranks, also where the library would
 * choose another one. About half of the messages are synchronous: a send that
 * the algorithm expects to be buffered stops the test.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>
#include <cmocka.h>

#include "../../mpi/coll/algorithms.h"
#include "../../mpi/errors.h"
#include "../../mpi/fortran_abi.h"
#include "../../mpi/lang.h"
#include "../../mpi/request.h"
#include "../mpi/coll_cases.h"

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

	*x = (struct xfer){ .send = send, .from = send ? c->rank : peer,
			    .to = send ? peer : c->rank, .tag = tag,
			    .context = context, .buf = buf, .count = count,
			    .bytes = count * t->size, .t = t };
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
	return finish(start(true, (void *)buf, count, t, dest, tag, c,
			    context));
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

/* --- the rest of the MPI library, as far as it is needed here --- */

struct mpii_comm mpii_world, mpii_self;

int mpii_error(struct mpii_comm *c, int code, const char *func,
	       const char *fmt, ...)
{
	return code;
}

int mpii_raise(struct mpii_comm *c, int code, const char *func)
{
	return code;
}

int mpii_length_error(int peer, MPI_Count got, MPI_Count want)
{
	return got > want ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
}

int mpii_fail(int code, const char *fmt, ...)
{
	return code;
}

int mpii_bad_comm(MPI_Comm comm, const char *func)
{
	return MPI_ERR_COMM;
}

int mpii_bad_type(struct mpii_comm *c, MPI_Datatype type, const char *func,
		  const char *arg)
{
	return MPI_ERR_TYPE;
}

int mpii_bad_count(struct mpii_comm *c, MPI_Count count, const char *func,
		   const char *arg)
{
	return MPI_ERR_COUNT;
}

int mpii_bad_null(struct mpii_comm *c, const char *func, const char *arg)
{
	return MPI_ERR_ARG;
}

int mpii_no_mem(struct mpii_comm *c, const char *func)
{
	return MPI_ERR_NO_MEM;
}

/* Nonblocking calls are not made here: tests/mpi has them. */
struct mpii_process mpii;

struct mpii_req *mpii_req_create(enum mpii_req_kind kind)
{
	return NULL;
}

void mpii_req_put(struct mpii_req *r)
{
}

void mpii_comm_put(struct mpii_comm *c)
{
}

const char *mpii_last_text(int code)
{
	return NULL;
}

/* No type here has attributes. */
int mpii_attr_copy_all(enum mpii_attr_kind kind, void *handle,
		       struct mpii_attr *from, struct mpii_attr **to)
{
	return MPI_SUCCESS;
}

int mpii_attr_delete_all(enum mpii_attr_kind kind, void *handle,
			 struct mpii_attr **list)
{
	return MPI_SUCCESS;
}

/* Only C is spoken here. */
enum mpii_language mpii_language_take(void)
{
	return MPII_LANG_C;
}

bool mpii_logical_unusual(const struct mpii_type *t)
{
	return false;
}

void mpii_logical_apply(enum mpii_op_index op, int size, const void *in,
			void *inout, MPI_Count n)
{
	fail();
}

struct mpii_info *mpii_info_get(MPI_Info h)
{
	return NULL;
}

/* Nor is memory shared: the ranks are no processes. */
const int *mpii_nodes(void)
{
	return NULL;
}

struct mpii_group *mpii_group_create(int size, int *world)
{
	return NULL;
}

struct mpii_comm *mpii_comm_build(struct mpii_group *group, uint32_t context)
{
	return NULL;
}

int o2g_nudge(struct o2g_ep *ep, const int *peers, size_t n)
{
	return 0;
}

unsigned o2g_losses(const struct o2g_ep *ep)
{
	return 0;
}

int o2g_wait_until(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		   int64_t timeout_us)
{
	return 0;
}

int o2g_wait_shared(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    unsigned *asleep)
{
	return 0;
}

int o2g_mem_register(struct o2g_ep *ep, void *base, size_t len, unsigned access,
		     struct o2g_mem **mem, struct o2g_key *key)
{
	return -1;
}

void o2g_mem_deregister(struct o2g_mem *mem)
{
}

int o2g_get(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req)
{
	return -1;
}

int o2g_wait(struct o2g_req *req, struct o2g_status *status)
{
	return 0;
}

int o2g_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info)
{
	return 0;
}

int mpii_call_error(struct mpii_comm *c, int peer, int error)
{
	return MPI_ERR_OTHER;
}

int o2g_is_done(const struct o2g_req *req)
{
	return 1;
}

int o2g_cancel(struct o2g_req *req)
{
	return 0;
}

int o2g_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
	      struct o2g_work *work)
{
	return 1;
}

/* --- threads as ranks --- */

#define MAX_RANKS 40

struct rank {
	pthread_t thread;
	struct mpii_comm comm, local;
	void (*body)(struct rank *r);
	int arg;
	struct env env;
};

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
	memset(c, 0, sizeof(*c));
	c->obj.magic = MPII_COMM;
	c->handle = (MPI_Comm)c;
	c->context = context;
	c->rank = rank;
	c->size = c->remote_size = size;
}

static void run_ranks(int n, void (*body)(struct rank *r), int arg, long ints)
{
	static struct rank ranks[MAX_RANKS];

	for (int i = 0; i < n; i++) {
		make_comm(&ranks[i].comm, i, n, 8);
		ranks[i].body = body;
		ranks[i].arg = arg;
		ranks[i].env = (struct env){ .comm = ranks[i].comm.handle,
					     .rank = i, .size = n,
					     .seed = n * 1000 + arg,
					     .max_ints = ints };
		pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]);
	}
	for (int i = 0; i < n; i++)
		pthread_join(ranks[i].thread, NULL);
	assert_null(waiting); /* every message was received */
}

static void random_body(struct rank *r)
{
	run_cases(&r->env, r->arg, r->comm.size > 9 ? 3 : 8);
}

static void collectives__random_calls(void **state)
{
	for (int which = 0; which < COLL_CASES; which++)
		for (int n = 1; n <= 9; n++)
			run_ranks(n, random_body, which, 600);
}

static void collectives__long_messages(void **state)
{
	for (int which = 0; which < COLL_CASES; which++)
		for (int n = 3; n <= 8; n += 5)
			run_ranks(n, random_body, which, 60000);
}

static void collectives__many_ranks(void **state)
{
	for (int which = 0; which < COLL_CASES; which++) {
		run_ranks(33, random_body, which, 1200);
		run_ranks(40, random_body, which, 60);
	}
}

/* --- algorithms that small jobs never choose --- */

static void check_gathered(struct rank *r, const int *got, int per_rank)
{
	for (int i = 0; i < r->comm.size * per_rank; i++)
		CHECK(&r->env, got[i] == i / per_rank * 100 + i % per_rank);
}

static void allgather_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *,
				   const struct coll_side *) = {
		mpii_allgather_ring, mpii_allgather_bruck,
		mpii_allgather_doubling, mpii_allgather_direct,
	};
	int n = r->comm.size, got[MAX_RANKS * 3] = { 0 };
	struct coll_side s = coll_side(got, 3, mpii_type_get(MPI_INT));

	for (int a = 0; a < 4; a++) {
		struct coll k = coll_begin(&r->comm);

		if (algs[a] == mpii_allgather_doubling && n & (n - 1))
			continue;
		memset(got, 0, sizeof(got));
		for (int i = 0; i < 3; i++)
			got[r->comm.rank * 3 + i] = r->comm.rank * 100 + i;
		CHECK(&r->env, algs[a](&k, &s) == MPI_SUCCESS);
		check_gathered(r, got, 3);
	}
}

static void allgather__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, allgather_body, 0, 0);
}

static void alltoall_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *,
				   const struct coll_side *,
				   const struct coll_side *) = {
		mpii_alltoall_bruck, mpii_alltoall_pairwise,
		mpii_alltoall_direct, mpii_alltoall_central,
	};
	int n = r->comm.size, me = r->comm.rank, in[MAX_RANKS], out[MAX_RANKS];
	struct coll_side s = coll_side(in, 1, mpii_type_get(MPI_INT));
	struct coll_side d = coll_side(out, 1, mpii_type_get(MPI_INT));

	for (int a = 0; a < 4; a++) {
		struct coll k = coll_begin(&r->comm);

		for (int i = 0; i < n; i++) {
			in[i] = me * 100 + i;
			out[i] = -1;
		}
		CHECK(&r->env, algs[a](&k, &s, &d) == MPI_SUCCESS);
		for (int i = 0; i < n; i++)
			CHECK(&r->env, out[i] == i * 100 + me);
	}
}

static void alltoall__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, alltoall_body, 0, 0);
}

static void tree_body(struct rank *r)
{
	int n = r->comm.size, me = r->comm.rank, all[MAX_RANKS * 2], two[2];
	struct mpii_type *t = mpii_type_get(MPI_INT);
	struct coll_side s = coll_side(all, 2, t);

	for (int root = 0; root < n; root++) {
		struct coll k = coll_begin(&r->comm);

		two[0] = me * 100;
		two[1] = me * 100 + 1;
		CHECK(&r->env, !mpii_gather_binomial(&k, two, 2, t, &s, root));
		if (me == root)
			check_gathered(r, all, 2);
		two[0] = two[1] = -1;
		k = coll_begin(&r->comm);
		CHECK(&r->env, !mpii_scatter_binomial(&k, &s, two, 2, t, root));
		CHECK(&r->env, two[0] == me * 100 && two[1] == me * 100 + 1);
		two[0] = me == root ? 77 : 0;
		k = coll_begin(&r->comm);
		CHECK(&r->env, !mpii_bcast_linear(&k, two, 1, t, root));
		CHECK(&r->env, two[0] == 77);
	}
}

static void gather_scatter__trees(void **state)
{
	for (int n = 1; n <= 9; n++)
		run_ranks(n, tree_body, 0, 0);
}

static void allreduce_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *, const void *, void *,
				   MPI_Count, struct mpii_type *,
				   struct mpii_op *) = {
		mpii_allreduce_rabenseifner, mpii_allreduce_doubling,
		mpii_allreduce_scatter_allgather, mpii_allreduce_central,
	};
	int n = r->comm.size, in[50], out[50];
	struct mpii_type *t = mpii_type_get(MPI_INT);
	struct mpii_op *op = mpii_op_get(MPI_SUM);

	for (int a = 0; a < (n > 1 ? 8 : 6); a++) {
		bool place = a % 2;
		struct coll k = coll_begin(&r->comm);

		for (int i = 0; i < 50; i++)
			in[i] = out[i] = r->comm.rank * 10 + i;
		CHECK(&r->env, !algs[a / 2](&k, place ? out : in, out, 50, t,
					    op));
		for (int i = 0; i < 50; i++)
			CHECK(&r->env, out[i] == 5 * n * (n - 1) + n * i);
	}
}

static void allreduce__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, allreduce_body, 0, 0);
}

static void reduce_scatter_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *, const void *, void *,
				   const MPI_Count *, struct mpii_type *,
				   struct mpii_op *) = {
		mpii_reduce_scatter_pairwise, mpii_reduce_scatter_reduce,
		mpii_reduce_scatter_direct,
	};
	int n = r->comm.size, me = r->comm.rank;
	int in[MAX_RANKS * MAX_RANKS], out[MAX_RANKS];
	MPI_Count counts[MAX_RANKS];

	for (int a = 0; a < 3; a++) {
		struct coll k = coll_begin(&r->comm);
		int at = 0;

		for (int i = 0; i < n; i++)
			for (counts[i] = 0; counts[i] < i; counts[i]++)
				in[at++] = me * 10 + i;
		CHECK(&r->env, !algs[a](&k, in, out, counts,
					mpii_type_get(MPI_INT),
					mpii_op_get(MPI_SUM)));
		for (int i = 0; i < me; i++)
			CHECK(&r->env, out[i] == 5 * n * (n - 1) + n * me);
	}
}

static void reduce_scatter__every_algorithm(void **state)
{
	for (int n = 1; n <= 9; n++)
		run_ranks(n, reduce_scatter_body, 0, 0);
}

/* Matrices do not commute: 2x2, as in coll_cases.h. */
static void scan_body(struct rank *r)
{
	static int (*const algs[])(const struct coll *, const void *, void *,
				   MPI_Count, struct mpii_type *,
				   struct mpii_op *, bool) = {
		mpii_scan_linear, mpii_scan_doubling, mpii_scan_pipeline,
	};
	int me = r->comm.rank, in[4], out[4], want[4];
	MPI_Datatype h;
	MPI_Op op;

	MPI_Type_contiguous(4, MPI_INT, &h);
	MPI_Op_create(matrix_fn, 0, &op);
	for (int a = 0; a < 6; a++) {
		bool ex = a % 2;
		struct coll k = coll_begin(&r->comm);
		struct reduction red = { .op = op, .user = 1,
					 .t = { h, 4, 0, 16, 0, 16 } };
		int *v = operand(&red, me, 1, 3);
		int *w = ex && me == 0 ? calloc(4, sizeof(int)) :
					 reduced(&red, 0, me - ex, 1, 3);

		memcpy(in, v, sizeof(in));
		memcpy(want, w, sizeof(want));
		memset(out, 0, sizeof(out));
		CHECK(&r->env, !algs[a / 2](&k, in, out, 1, mpii_type_get(h),
					    mpii_op_get(op), ex));
		CHECK(&r->env, memcmp(out, want, sizeof(out)) == 0);
		free(v);
		free(w);
	}
	MPI_Op_free(&op);
	MPI_Type_free(&h);
}

static void scan__every_algorithm(void **state)
{
	for (int n = 1; n <= 17; n++)
		run_ranks(n, scan_body, 0, 0);
}

/* --- wrong arguments --- */

static void arguments_body(struct rank *r)
{
	MPI_Comm comm = r->comm.handle;
	int a[4] = { 0 }, b[4], neg[] = { -1 }, zero[] = { 0 };
	struct env *e = &r->env;
	MPI_Datatype h;

	MPI_Type_contiguous(2, MPI_INT, &h);
	e->what = "arguments";
	CHECK(e, MPI_Barrier(MPI_COMM_NULL) == MPI_ERR_COMM);
	CHECK(e, MPI_Bcast(a, -1, MPI_INT, 0, comm) == MPI_ERR_COUNT);
	CHECK(e, MPI_Bcast(a, 1, MPI_INT, 1, comm) == MPI_ERR_ROOT);
	CHECK(e, MPI_Bcast(a, 1, MPI_INT, -1, comm) == MPI_ERR_ROOT);
	CHECK(e, MPI_Bcast(a, 1, MPI_INT, MPI_ROOT, comm) == MPI_ERR_ROOT);
	CHECK(e, MPI_Bcast(NULL, 1, MPI_INT, 0, comm) == MPI_ERR_BUFFER);
	CHECK(e, MPI_Bcast(NULL, 0, MPI_INT, 0, comm) == MPI_SUCCESS);
	CHECK(e, MPI_Bcast(a, 1, h, 0, comm) == MPI_ERR_TYPE);
	CHECK(e, MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, comm) == MPI_ERR_TYPE);
	CHECK(e, MPI_Bcast(MPI_IN_PLACE, 1, MPI_INT, 0, comm) ==
			 MPI_ERR_BUFFER);
	CHECK(e, MPI_Reduce(a, a, 1, MPI_INT, MPI_SUM, 0, comm) ==
			 MPI_ERR_BUFFER);
	CHECK(e, MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, 0, comm) ==
			 MPI_ERR_OP);
	CHECK(e, MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_BAND, comm) ==
			 MPI_ERR_OP);
	CHECK(e, MPI_Allreduce(a, b, 1, MPI_WCHAR, MPI_SUM, comm) ==
			 MPI_ERR_OP);
	CHECK(e, MPI_Allreduce(a, b, 1, MPI_INT, MPI_REPLACE, comm) ==
			 MPI_ERR_OP);
	CHECK(e, MPI_Allreduce(a, b, 1, MPI_INT, MPI_MAXLOC, comm) ==
			 MPI_ERR_OP);
	MPI_Type_commit(&h);
	CHECK(e, MPI_Allreduce(a, b, 1, h, MPI_SUM, comm) == MPI_ERR_OP);
	CHECK(e, MPI_Gatherv(a, 0, MPI_INT, b, neg, zero, MPI_INT, 0, comm) ==
			 MPI_ERR_COUNT);
	CHECK(e, MPI_Gatherv(a, 0, MPI_INT, b, NULL, zero, MPI_INT, 0, comm) ==
			 MPI_ERR_ARG);
	CHECK(e, MPI_Allgather(a, 1, MPI_INT, a, 1, MPI_INT, comm) ==
			 MPI_ERR_BUFFER);
	CHECK(e, MPI_Alltoallv(a, zero, zero, MPI_INT, b, neg, zero, MPI_INT,
			       comm) == MPI_ERR_COUNT);
	CHECK(e, MPI_Scan(a, b, 1, MPI_INT, MPI_OP_NULL, comm) == MPI_ERR_OP);
	MPI_Type_free(&h);
}

static void arguments__wrong_ones_are_named(void **state)
{
	run_ranks(1, arguments_body, 0, 0);
}

/* --- ranks that disagree --- */

static atomic_int noticed; /* ranks whose call has failed */

/* Counts of both sides of whatever the collective is. */
static int call_with(int which, int *in, int *out, int count, MPI_Comm c)
{
	switch (which) {
	case 0:
		return PMPI_Bcast(out, count, MPI_INT, 0, c);
	case 1:
		return PMPI_Reduce(in, out, count, MPI_INT, MPI_SUM, 0, c);
	case 2:
		return PMPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, c);
	case 3:
		return PMPI_Gather(in, count, MPI_INT, out, count, MPI_INT, 0,
				   c);
	case 4:
		return PMPI_Scatter(in, count, MPI_INT, out, count, MPI_INT, 0,
				    c);
	case 5:
		return PMPI_Allgather(in, count, MPI_INT, out, count, MPI_INT,
				      c);
	case 6:
		return PMPI_Alltoall(in, count, MPI_INT, out, count, MPI_INT,
				     c);
	case 7:
		return PMPI_Scan(in, out, count, MPI_INT, MPI_SUM, c);
	case 8:
		return PMPI_Exscan(in, out, count, MPI_INT, MPI_SUM, c);
	default:
		return PMPI_Reduce_scatter_block(in, out, count, MPI_INT,
						 MPI_SUM, c);
	}
}
#define DISAGREE_CASES 10

/* One rank has another count than all others: every call ends, one with words. */
static void disagree_body(struct rank *r)
{
	int n = r->comm.size, odd = r->arg % 2 ? n - 1 : 0;
	int count = r->arg / 2 % 2 ? 5000 : 5;
	int *in = calloc(n * (count + 1), sizeof(int));
	int *out = calloc(n * (count + 1), sizeof(int));
	int err;

	if (r->comm.rank == odd)
		count += r->arg / 4 % 2 ? 1 : -1;
	err = call_with(r->arg / 8, in, out, count, r->comm.handle);
	if (err) {
		CHECK(&r->env, err == MPI_ERR_TRUNCATE || err == MPI_ERR_COUNT);
		atomic_fetch_add(&noticed, 1);
	}
	free(in);
	free(out);
}

static void collectives__ranks_that_disagree(void **state)
{
	for (int n = 2; n <= 33; n += n < 5 ? 1 : 14)
		for (int arg = 0; arg < 8 * DISAGREE_CASES; arg++) {
			atomic_store(&noticed, 0);
			run_ranks(n, disagree_body, arg, 0);
			assert_int_not_equal(atomic_load(&noticed), 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collectives__random_calls),
		cmocka_unit_test(collectives__long_messages),
		cmocka_unit_test(collectives__many_ranks),
		cmocka_unit_test(allgather__every_algorithm),
		cmocka_unit_test(alltoall__every_algorithm),
		cmocka_unit_test(gather_scatter__trees),
		cmocka_unit_test(allreduce__every_algorithm),
		cmocka_unit_test(reduce_scatter__every_algorithm),
		cmocka_unit_test(scan__every_algorithm),
		cmocka_unit_test(collectives__ranks_that_disagree),
		cmocka_unit_test(arguments__wrong_ones_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
