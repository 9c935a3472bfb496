/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sending. A packet that fits in one record goes straight into the ring. One
 * that does not, because it is long or the ring is full, is a struct o2g_tx
 * that is pushed piece by piece: a first record with the header, then SHM_MORE
 * records.
 */
#include "shm.h"

#include <stdlib.h>

/* Tx keep the decoded header where other channels keep the encoded one. */
_Static_assert(sizeof(struct o2g_hdr) <= O2G_HDR_SIZE, "header fits in a tx");

static inline bool is_brief(const struct o2g_hdr *h, u64 bytes)
{
	return h->type == O2G_PKT_EAGER && !h->cookie && !h->aux &&
	       h->length == bytes;
}

static inline void fill_header(struct shm_cell *cell, const struct o2g_hdr *h,
			       bool brief)
{
	cell->full.tag = h->tag;
	if (brief)
		return;
	cell->full.length = h->length;
	cell->full.cookie = h->cookie;
	cell->full.aux = h->aux;
}

/*
 * Hand the filled cell to the receiver and wake it. Without l->fence the store
 * and the load may be exchanged by the processor; the receiver's membarrier
 * makes up for that (see doorbell.c).
 */
static inline void publish(struct shm_link *l, struct shm_cell *cell, u8 type,
			   u8 flags, u8 form)
{
	u64 ctl = shm_ctl(l->tx.cell + 1, type, flags, form);

	l->tx.cell += form == SHM_TINY ? 1 : 2;
	/* Ask for the next line now; it saves a tenth of a round trip. */
	__builtin_prefetch(shm_cell(&l->tx), 1);
	__atomic_store_n(&cell->ctl, ctl, __ATOMIC_RELEASE);
	if (unlikely(l->fence))
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
	else
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	shm_wake(l->shm, l->theirs);
}

/* The next whole cell; half a cell is left free if need be. */
static inline struct shm_cell *whole_cell(struct shm_link *l)
{
	struct shm_cell *cell = shm_cell(&l->tx);

	if (likely(!(l->tx.cell & 1)))
		return cell;
	l->tx.cell++;
	__atomic_store_n(&cell->ctl, shm_ctl(l->tx.cell, SHM_PAD, 0, SHM_TINY),
			 __ATOMIC_RELEASE);
	return shm_cell(&l->tx);
}

/* Half a cell. The other half is looked at next and must not look published. */
static inline struct shm_cell *half_cell(struct shm_link *l)
{
	struct shm_cell *cell = shm_cell(&l->tx);

	if (!(l->tx.cell & 1))
		*(u64 *)((char *)cell + SHM_HALF) = 0;
	return cell;
}

/* Copy @n bytes from the cursor and move it on, dropping passed segments. */
static void source_read(struct o2g_sink *s, char *to, size_t n)
{
	if (unlikely(s->view) && n) {
		s->view->read(s->view, s->off, to, n);
		s->off += n;
		return;
	}
	while (n && s->nsegs) {
		size_t piece;

		if (s->off >= s->segs->len) {
			s->off -= s->segs->len;
			s->segs++;
			s->nsegs--;
			continue;
		}
		piece = s->segs->len - s->off;
		if (piece > n)
			piece = n;
		memcpy(to, (const char *)s->segs->base + s->off, piece);
		s->off += piece;
		to += piece;
		n -= piece;
	}
}

static void data_write(struct shm_end *e, struct o2g_sink *from, u32 n)
{
	u32 at = e->at & e->data_mask;
	u32 first = e->data_mask + 1 - at;

	if (first > n)
		first = n;
	source_read(from, e->data + at, first);
	source_read(from, e->data, n - first);
	e->at += shm_round(n);
}

/* --- in pieces --- */

static u32 tx_piece(const struct shm_link *l, const struct o2g_tx *tx)
{
	u32 max = shm_piece(&l->tx);

	return tx->left < max ? tx->left : max;
}

/* Bytes of the next piece that would lie in the cell, 0 when none do. */
static u32 tx_inline(const struct o2g_tx *tx, const struct o2g_hdr *h, u32 n)
{
	const struct shm_cell *cell;
	u32 max = tx->hdr_done	 ? sizeof(cell->more) :
		  is_brief(h, n) ? sizeof(cell->brief.body) :
				   sizeof(cell->full.body);

	return n <= max ? n : 0;
}

static bool tx_fits(struct shm_link *l, const struct o2g_tx *tx)
{
	struct o2g_hdr h;
	u32 n = tx_piece(l, tx);

	memcpy(&h, tx->hdr, sizeof(h));
	return shm_get_room(&l->tx, tx_inline(tx, &h, n) ? 0 : shm_round(n));
}

static void tx_record(struct shm_link *l, struct o2g_tx *tx)
{
	struct shm_cell *cell = whole_cell(l);
	u32 n = tx_piece(l, tx);
	struct o2g_hdr h;
	bool brief;
	u8 *body;

	memcpy(&h, tx->hdr, sizeof(h));
	brief = !tx->hdr_done && is_brief(&h, n);
	body = tx->hdr_done ? cell->more :
	       brief	    ? cell->brief.body :
			      cell->full.body;
	cell->credit = h.credit;
	cell->bytes = n;
	if (!tx->hdr_done) {
		fill_header(cell, &h, brief);
		if (tx->req) {
			l->source.segs = tx->req->segs;
			l->source.nsegs = tx->req->nsegs;
			l->source.off = tx->off;
			l->source.view = tx->req->view;
		}
	}
	if (tx_inline(tx, &h, n))
		source_read(&l->source, (char *)body, n);
	else
		data_write(&l->tx, &l->source, n);
	publish(l, cell, tx->hdr_done ? SHM_MORE : h.type, h.flags,
		brief ? SHM_BRIEF : SHM_FULL);
	tx->hdr_done = O2G_HDR_SIZE;
	tx->left -= n;
}

/* True when all of it is out. */
static bool tx_push(struct shm_link *l, struct o2g_tx *tx)
{
	while (!tx->hdr_done || tx->left) {
		if (!tx_fits(l, tx))
			return false;
		tx_record(l, tx);
	}
	return true;
}

static void tx_enqueue(struct shm_link *l, struct o2g_tx *tx)
{
	if (o2g_list_empty(&l->queue)) {
		o2g_list_add_tail(&l->pending, &l->shm->pending);
		/* From now on the receiver wakes us when it made room. */
		__atomic_store_n(&l->tx.ring->waits, 1, __ATOMIC_SEQ_CST);
	}
	o2g_list_add_tail(&tx->link, &l->queue);
}

static void tx_idle(struct shm_link *l)
{
	o2g_list_del(&l->pending);
	__atomic_store_n(&l->tx.ring->waits, 0, __ATOMIC_RELAXED);
}

bool shm_can_push(struct shm_link *l)
{
	return l->failed ||
	       tx_fits(l, o2g_list_first(&l->queue, struct o2g_tx, link));
}

int shm_push(struct shm_link *l)
{
	int n = 0;

	if (unlikely(l->failed)) {
		chan_peer_lost(l->p, -ENOMEM, "out of memory");
		return 1;
	}
	while (!l->dead && !o2g_list_empty(&l->queue)) {
		struct o2g_tx *tx =
			o2g_list_first(&l->queue, struct o2g_tx, link);

		if (!tx_push(l, tx))
			return n;
		o2g_list_del(&tx->link);
		if (o2g_list_empty(&l->queue))
			tx_idle(l);
		n++;
		if (tx->req) {
			o2g_proto_sent(l->shm->core, tx->req);
		} else {
			l->answers--;
			free(tx);
		}
	}
	return n;
}

void shm_push_last(struct shm_link *l)
{
	while (!o2g_list_empty(&l->queue)) {
		struct o2g_tx *tx =
			o2g_list_first(&l->queue, struct o2g_tx, link);

		if (!tx_push(l, tx))
			return;
		o2g_list_del(&tx->link);
		if (!tx->req)
			free(tx);
	}
}

/* --- */

static int send_slow(struct shm_link *l, const struct o2g_hdr *h,
		     struct o2g_req *req, u64 off, u64 len)
{
	struct o2g_tx local = { .req = req, .off = off, .left = len }, *tx;

	if (!l->tx.ring) /* it has gone without waiting for us */
		return req ? -O2G_ERR_PEER : 0;
	memcpy(local.hdr, h, sizeof(*h));
	if (o2g_list_empty(&l->queue) && tx_push(l, &local))
		return 0;
	tx = req ? &req->tx : NULL;
	if (!req && l->answers < O2G_ANSWERS_MAX)
		tx = malloc(sizeof(*tx));
	if (!tx) {
		/* Not now: the core may be in the middle of something. */
		l->failed = true;
		if (o2g_list_empty(&l->pending))
			o2g_list_add_tail(&l->pending, &l->shm->pending);
		return -ENOMEM;
	}
	*tx = local;
	l->answers += !req;
	tx_enqueue(l, tx);
	return req ? 1 : 0;
}

int shm_send(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	     struct o2g_req *req, u64 off, u64 len)
{
	struct shm_link *l = p->link;
	struct shm_cell *cell;
	bool brief = is_brief(h, len);
	u32 in_cell = brief ? sizeof(cell->brief.body) :
			      sizeof(cell->full.body);

	if (unlikely(!l->tx.ring || !o2g_list_empty(&l->queue) ||
		     len > shm_piece(&l->tx)) ||
	    !shm_get_room(&l->tx, len <= in_cell ? 0 : shm_round(len)))
		return send_slow(l, h, req, off, len);

	cell = whole_cell(l);
	cell->credit = h->credit;
	cell->bytes = len;
	fill_header(cell, h, brief);
	if (len) {
		u8 *body = brief ? cell->brief.body : cell->full.body;
		struct o2g_sink from = { req->segs, req->nsegs, off, len,
					 req->view };

		if (len > in_cell)
			data_write(&l->tx, &from, len);
		else if (likely(req->nsegs == 1))
			shm_copy_short(body, (char *)req->segs->base + off,
				       len);
		else
			source_read(&from, (char *)body, len);
	}
	publish(l, cell, h->type, h->flags, brief ? SHM_BRIEF : SHM_FULL);
	/* The next one is likely to be as long. */
	if (len > in_cell)
		shm_prefetch_data(&l->tx, len, 1);
	return 0;
}

/* A whole message in half a cell, a cell, or a cell and its data. */
int shm_inject(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	       const void *buf, u64 len)
{
	struct shm_link *l = p->link;
	struct shm_cell *cell;
	bool in_cell = len <= sizeof(cell->brief.body);

	if (unlikely(!l->tx.ring || !o2g_list_empty(&l->queue) ||
		     len > shm_piece(&l->tx)) ||
	    !shm_get_room(&l->tx, in_cell ? 0 : shm_round(len)))
		return -EAGAIN;
	cell = len <= SHM_TINY_MAX ? half_cell(l) : whole_cell(l);
	cell->credit = h->credit;
	cell->bytes = len;
	cell->brief.tag = h->tag;
	if (likely(in_cell)) {
		shm_copy_short(cell->brief.body, buf, len);
	} else {
		struct o2g_seg seg = { (void *)buf, len };
		struct o2g_sink from = { &seg, 1, 0, len, NULL };

		data_write(&l->tx, &from, len);
	}
	publish(l, cell, O2G_PKT_EAGER, 0,
		len <= SHM_TINY_MAX ? SHM_TINY : SHM_BRIEF);
	return 0;
}
