/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Operations on targets that are asked by messages. They are collected, in pieces
 * if they are long; a long put or get of one piece goes straight between the
 * buffers instead, where the target has registered its memory.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/op/op_loops.h"
#include "datatype/contents.h"
#include "env/errors.h"
#include "pt2pt/transfer.h"
#include "win/op.h"
#include "win/out.h"
#include "win/remote.h"

#define PIECE (256 << 10)     /* packed bytes in one wire operation */
#define FLYING_MAX (4 << 20)  /* that may be under way unanswered */
#define DIRECT_FROM (4 << 10) /* longer ones are not copied */
#define BLOCKS_MAX (64 << 10) /* of a layout that is sent as a whole */

/* --- what the target is told --- */

static void name_basic(struct win_wire_op *op, const struct mpii_type *basic)
{
	if (!basic)
		return;
	if (basic->kind == MPII_K_PAIR) {
		op->basic = (uint32_t)(uintptr_t)basic->made->types[0]->handle;
		op->index = (uint32_t)(uintptr_t)basic->made->types[1]->handle;
	} else {
		op->basic = (uint32_t)(uintptr_t)basic->handle;
	}
}

static uint8_t op_number(const struct win_op *o)
{
	return o->op ? (uint8_t)((uintptr_t)o->op->handle - MPII_OP_FIRST) : 0;
}

static bool reads_origin(const struct win_op *o)
{
	return o->from.t &&
	       !(o->kind == WIN_ACC && o->op->index == MPII_OP_NO_OP);
}

/* A part of an operation: bytes [off, off + n) of what the origin has, packed. */
struct part {
	uint64_t at;	  /* where the target's buffer begins */
	MPI_Count off, n; /* of the origin */
	MPI_Count at_off; /* of the target, in its packed form */
	uint32_t layout;
};

/* The numbers of its operation and of its elements' type; false: these have none that
 * is short. */
static bool brief_acc(const struct win_op *o, struct win_brief_acc *acc)
{
	uintptr_t basic = (uintptr_t)o->basic->handle - MPII_TYPE_FIRST;

	if (basic >= MPII_TYPE_COUNT)
		return false;
	*acc = (struct win_brief_acc){ .op = op_number(o),
				       .basic = (uint8_t)basic };
	return true;
}

static void write_data(const struct win_op *o, const struct part *p, char *to)
{
	size_t size = (size_t)p->n;

	if (o->kind == WIN_CAS) {
		memcpy(to, o->compare, size);
		to += size;
	}
	mpii_pack(o->from.t, o->from.buf, o->from.count, p->off, to, size);
}

static uint64_t data_bytes(const struct win_op *o, const struct part *p)
{
	uint64_t n = reads_origin(o) ? (uint64_t)p->n : 0;

	return o->kind == WIN_CAS ? 2 * n : n;
}

static bool add_long(const struct win_op *o, struct win_out *out,
		     const struct part *p)
{
	uint64_t data = data_bytes(o, p);
	struct win_wire_op *op = win_out_add(o->w, out, data);

	if (!op)
		return false;
	op->kind = (uint8_t)o->kind;
	op->op = op_number(o);
	op->fetch = o->to.t != NULL;
	op->layout = p->layout;
	name_basic(op, o->basic);
	op->at = p->at;
	op->off = (uint64_t)p->at_off;
	op->bytes = (uint64_t)p->n;
	op->count = (uint64_t)o->count;
	if (data)
		write_data(o, p, (char *)(op + 1));
	return true;
}

static bool add_brief(const struct win_op *o, struct win_out *out,
		      const struct part *p, const struct win_brief_acc *acc)
{
	uint64_t data = data_bytes(o, p), head = sizeof(struct win_brief);
	struct win_brief b =
		win_brief(o->kind | (o->to.t ? WIN_BRIEF_FETCH : 0),
			  p->at + (uint64_t)p->at_off, (uint64_t)p->n);
	char *at;

	head += o->basic ? sizeof(*acc) : 0;
	at = win_out_room(o->w, out, head + win_padded(data));
	if (!at)
		return false;
	memcpy(at, &b, sizeof(b));
	if (o->basic)
		memcpy(at + sizeof(b), acc, sizeof(*acc));
	if (data)
		write_data(o, p, at + head);
	return true;
}

static bool is_brief(const struct win_op *o, const struct part *p,
		     struct win_brief_acc *acc)
{
	return !p->layout && p->n <= WIN_BRIEF_MAX &&
	       !((p->at + (uint64_t)p->at_off) >> WIN_BRIEF_AT) &&
	       (!o->basic || brief_acc(o, acc));
}

/* With the lock of out. */
static int add_part(const struct win_op *o, struct win_out *out,
		    const struct part *p)
{
	struct win_result result = { o->to.buf, o->to.count, o->to.t, p->off,
				     p->n };
	struct win_brief_acc acc;
	bool added = is_brief(o, p, &acc) ? add_brief(o, out, p, &acc) :
					    add_long(o, out, p);

	if (!added || (o->to.t && !win_out_add_result(out, &result)))
		return MPI_ERR_NO_MEM;
	return MPI_SUCCESS;
}

/* Not too much at once: neither side is to keep all of a long operation. */
static int throttle(const struct win_op *o, struct win_out *out)
{
	int err;

	if (mpii_likely(__atomic_load_n(&out->flying, __ATOMIC_RELAXED) <=
			FLYING_MAX))
		return MPI_SUCCESS;
	pthread_mutex_unlock(&out->lock);
	err = win_remote_flush(o->w, o->rank, false);
	pthread_mutex_lock(&out->lock);
	return err;
}

/* In pieces, of whole elements. */
static int add_pieces(const struct win_op *o, struct win_out *out,
		      struct part whole)
{
	MPI_Count unit = o->basic ? o->basic->size : 1;
	MPI_Count step = PIECE / unit * unit, end = whole.off + whole.n;
	struct part p = whole;
	int err = MPI_SUCCESS;

	for (; p.off < end && !err; p.off += p.n, p.at_off += p.n) {
		p.n = end - p.off < step ? end - p.off : step;
		err = add_part(o, out, &p);
		if (!err)
			err = throttle(o, out);
	}
	return err;
}

/* --- targets that are not one piece --- */

struct scatter {
	const struct win_op *o;
	struct win_out *out;
	MPI_Count off;
	int err;
};

/* Each piece on its own: of a layout that is too long to be sent. */
static void add_segment(void *arg, char *piece, MPI_Count len)
{
	struct scatter *s = arg;
	struct part p = { .at = (uintptr_t)piece, .off = s->off, .n = len };

	if (!s->err)
		s->err = add_pieces(s->o, s->out, p);
	s->off += len;
}

static int add_all(const struct win_op *o, struct win_out *out)
{
	struct part p = { .at = (uint64_t)o->disp, .n = o->bytes };
	struct scatter s = { o, out, 0, MPI_SUCCESS };

	if (o->t->contiguous)
		return add_pieces(o, out, p);
	if (o->t->nblocks > BLOCKS_MAX && (!o->basic || o->basic->nsegs == 1)) {
		mpii_type_each(o->t, (char *)o->disp, 0, o->bytes, add_segment,
			       &s);
		return s.err;
	}
	p.layout = win_out_layout(o->w, out, o->t);
	return p.layout ? add_pieces(o, out, p) : MPI_ERR_NO_MEM;
}

/* --- requests --- */

struct asked_for {
	struct mpii_win *w; /* while there is no answer */
	struct win_out *out;
	uint32_t seq;
	atomic_int error; /* class that its batch was answered with */
};

static int poll_reply(struct mpii_req *r)
{
	struct asked_for *a = r->state;
	int err;

	if ((int)(atomic_load(&a->out->answered) - a->seq) >= 0) {
		err = atomic_load(&a->error);
		r->status.MPI_ERROR =
			err ? mpii_fail(err,
					"rank %d was asked for memory that "
					"does not belong to the window",
					a->out->rank) :
			      MPI_SUCCESS;
		return 1;
	}
	err = win_look_who_died(a->w);
	r->status.MPI_ERROR = err;
	return err != MPI_SUCCESS;
}

static void release(struct mpii_req *r)
{
	struct asked_for *a = r->state;

	pthread_mutex_lock(&a->out->lock);
	win_out_forget(a->out, &a->error);
	pthread_mutex_unlock(&a->out->lock);
	win_out_put(a->out);
	free(a);
}

/* What is fetched is to come without another call: the batch leaves now. It may be alone
 * in it. */
static int give_request(const struct win_op *o, struct win_out *out, bool alone)
{
	struct mpii_req *r = mpii_req_noop();
	struct asked_for *a = malloc(sizeof(*a));
	int err;

	if (!r || !a) {
		free(a);
		if (r)
			mpii_req_put(r);
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	err = win_out_send(o->w, out, WIN_BATCH_REPLY);
	*a = (struct asked_for){ .w = o->w, .out = out, .seq = out->seq };
	win_out_answers(out, &a->error, alone);
	win_out_hold(out);
	r->kind = MPII_REQ_COLL; /* completes by its poll function */
	r->state = a;
	r->poll = poll_reply;
	r->release = release;
	r->comm = o->w->comm;
	mpii_comm_hold(r->comm);
	*o->request = (MPI_Request)r;
	return err;
}

/* --- straight between the buffers --- */

static bool is_locked_now(const struct win_op *o)
{
	const struct win_peer *p = &o->w->peers[o->rank];

	if (o->w->access == WIN_LOCK_ALL)
		return o->w->unchecked || p->line || p->all;
	return p->held != WIN_WANTED;
}

static bool goes_straight(const struct win_op *o)
{
	const struct win_side *s = o->kind == WIN_PUT ? &o->from : &o->to;

	return o->kind <= WIN_GET && o->bytes >= DIRECT_FROM &&
	       o->w->peers[o->rank].key && o->t->contiguous && s->t->contiguous;
}

static int straight(const struct win_op *o, struct win_out *out)
{
	const struct win_peer *p = &o->w->peers[o->rank];
	const struct win_side *s = o->kind == WIN_PUT ? &o->from : &o->to;
	struct o2g_key key = { p->key, p->base, (uint64_t)p->size };
	struct o2g_req *req = NULL;
	struct o2g_target to = { .peer = mpii_comm_peer(o->w->comm, o->rank),
				 .key = &key,
				 .offset = (uint64_t)o->disp,
				 .counter = &out->counter,
				 .req = o->request ? &req : NULL };
	struct o2g_seg seg = { s->buf, (size_t)o->bytes };
	struct mpii_req *r = NULL;
	int err;

	if (o->request && !(r = mpii_req_plain(MPII_REQ_SEND, o->w->comm)))
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = o->kind == WIN_PUT ? o2g_rma_put(mpii.ep, &to, &seg, 1) :
				   o2g_rma_get(mpii.ep, &to, &seg, 1);
	if (err) {
		if (r)
			mpii_req_put(r);
		return mpii_call_error(o->w->comm, o->rank, err);
	}
	if (r) {
		r->o2g = req;
		r->peer = o->rank;
		*o->request = (MPI_Request)r;
	}
	return MPI_SUCCESS;
}

int win_remote_op(const struct win_op *o)
{
	struct win_out *out = win_out_get(o->w, o->rank);
	int err = MPI_SUCCESS;
	bool alone;

	if (!out)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	if (goes_straight(o)) {
		if (!is_locked_now(o))
			err = win_remote_lock(o->w, o->rank);
		return err ? err : straight(o, out);
	}
	pthread_mutex_lock(&out->lock);
	alone = !out->nops && !out->unanswered;
	err = add_all(o, out);
	if (!err && o->request && o->to.t)
		err = give_request(o, out, alone);
	pthread_mutex_unlock(&out->lock);
	return err;
}
