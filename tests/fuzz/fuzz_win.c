/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: mpi/win/serve_op.c mpi/win/serve_brief.c mpi/win/serve_lock.c */
/* sources: mpi/win/layout.c mpi/win/acc.c mpi/win/acc_wide.c mpi/win/dynamic.c */
/* sources: mpi/coll/op/op.c mpi/coll/op/op_loops.c mpi/coll/op/op_pairs.c */
/* sources: mpi/datatype/f90.c tests/mock/mpi_stubs.c */
/*
 * Arbitrary batches of two origins at the owner of a window. Whatever they say,
 * nothing outside of its memory is touched: that and each message lie in memory of
 * their exact size, so that ASan sees it.
 */
#include "fuzz.h"

#include "../../mpi/bindings/fortran_abi.h"
#include "../../mpi/bindings/lang.h"
#include "../../mpi/comm/attr.h"
#include "../../mpi/coll/op/op.h"
#include "../../mpi/env/errors.h"
#include "../../mpi/win/create.h"
#include "../../mpi/win/op.h"
#include "../../mpi/win/out.h"
#include "../../mpi/win/serve.h"

#define BYTES 200
#define MESSAGE_MAX 4096
#define ORIGINS 2

/* --- the rest of the library, beyond mpi_stubs.c --- */

struct mpii_process mpii;

int mpii_bad_win(MPI_Win win, const char *func)
{
	return MPI_ERR_WIN;
}

bool mpii_logical_unusual(const struct mpii_type *t)
{
	return false;
}

void mpii_logical_apply(enum mpii_op_index op, int size, const void *in,
			void *inout, MPI_Count n)
{
}

enum mpii_language mpii_language_take(void)
{
	return 0;
}

int win_raise(struct mpii_win *w, int err, const char *func)
{
	return err;
}

void win_wake(struct mpii_win *w)
{
}

/* An answer: all of it can be read. */
uint8_t answers;

int o2g_call(struct o2g_ep *ep, int peer, uint64_t tag,
	     const struct o2g_seg *segs, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		for (size_t k = 0; k < segs[i].len; k++)
			answers ^= ((const uint8_t *)segs[i].base)[k];
	return 0;
}

/* --- what an origin sends --- */

static uint64_t in_u64(struct input *in)
{
	uint64_t n = 0;

	for (int i = 0; i < 4; i++)
		n = n << 16 | in_u16(in);
	return n;
}

/* Mostly a number that makes sense somewhere. */
static uint64_t number(struct input *in)
{
	uint8_t how = in_u8(in);

	switch (how >> 6) {
	case 0:
		return how;
	case 1:
		return (uint64_t)BYTES + 32 - how;
	case 2:
		return (uint64_t)in_u8(in) * 8;
	default:
		return how & 1 ? in_u64(in) : (uint64_t)(how & 7) << 60;
	}
}

struct message {
	char data[MESSAGE_MAX];
	size_t len;
};

static void add(struct message *m, const void *data, size_t len)
{
	if (len > sizeof(m->data) - m->len)
		len = sizeof(m->data) - m->len;
	memcpy(m->data + m->len, data, len);
	m->len += len;
}

static void add_bytes(struct message *m, struct input *in, size_t len)
{
	while (len--) {
		uint8_t byte = in_u8(in);

		add(m, &byte, 1);
	}
}

static void add_brief(struct message *m, struct input *in, uint64_t base)
{
	uint8_t kind = in_u8(in), bytes = in_u8(in) % 130;
	struct win_brief b = win_brief(kind & 0x43, base + number(in), bytes);
	struct win_brief_acc what = { .op = in_u8(in) % 20,
				      .basic = in_u8(in) };

	add(m, &b, sizeof(b));
	if (kind & 2)
		add(m, &what, sizeof(what));
	if ((kind & 3) != WIN_GET)
		add_bytes(m, in, win_padded(bytes));
}

static void add_layout(struct message *m, struct input *in)
{
	struct win_wire_type t = { .nloops = in_u8(in) % 5,
				   .nblocks = in_u8(in) % 5 };
	struct win_wire_op op = { .kind = WIN_WIRE_LAYOUT,
				  .layout = in_u8(in) % 4 };
	struct mpii_block b[4];
	struct mpii_loop l[4];

	t.extent = (int64_t)number(in);
	for (unsigned i = 0; i < t.nblocks; i++) {
		b[i] = (struct mpii_block){ (MPI_Aint)number(in),
					    (MPI_Count)number(in),
					    1 + in_u8(in) % 3,
					    (MPI_Aint)number(in), t.size };
		t.size = (int64_t)((uint64_t)t.size +
				   (uint64_t)b[i].len * (uint64_t)b[i].n);
	}
	for (unsigned i = t.nloops; i-- > 0;) {
		l[i] = (struct mpii_loop){ 1 + in_u8(in) % 3,
					   (MPI_Aint)number(in), t.size };
		t.size = (int64_t)((uint64_t)t.size * (uint64_t)l[i].n);
	}
	op.data = sizeof(t) + t.nloops * sizeof(*l) + t.nblocks * sizeof(*b);
	add(m, &op, sizeof(op));
	add(m, &t, sizeof(t));
	add(m, l, t.nloops * sizeof(*l));
	add(m, b, t.nblocks * sizeof(*b));
}

static void add_long(struct message *m, struct input *in, uint64_t base)
{
	struct win_wire_op op = { .kind = in_u8(in) % 5,
				  .op = in_u8(in) % 20,
				  .fetch = in_u8(in) & 1,
				  .layout = in_u8(in) % 4,
				  .basic = MPII_TYPE_FIRST + in_u8(in),
				  .at = base + number(in),
				  .off = number(in),
				  .bytes = number(in),
				  .count = number(in) };

	if (in_u8(in) & 1)
		op.index = MPII_TYPE_FIRST + in_u8(in);
	op.data = op.kind == WIN_CAS ? 2 * op.bytes : op.bytes;
	if (in_u8(in) % 8 == 0)
		op.data = number(in);
	add(m, &op, sizeof(op));
	add_bytes(m, in, op.data < 256 ? win_padded(op.data) : 0);
}

static void make(struct message *m, struct input *in, uint64_t base)
{
	struct win_batch_head head = { .nops = in_u8(in) % 8,
				       .lock = in_u8(in) % 5,
				       .unlock = in_u8(in) % 5,
				       .flags = in_u8(in) };

	m->len = 0;
	add(m, &head, sizeof(head));
	for (unsigned i = 0; i < head.nops; i++) {
		uint8_t what = in_u8(in) % 16;

		if (what < 5)
			add_brief(m, in, base);
		else if (what < 9)
			add_layout(m, in);
		else if (what < 15)
			add_long(m, in, base);
		else
			add_bytes(m, in, in_u8(in));
	}
	if (in_u8(in) % 16 == 0)
		m->len -= in_u8(in) % m->len;
}

/* --- the window --- */

static void begin(struct mpii_win *w, struct win_peer *self,
		  struct win_line *line, bool dynamic)
{
	char *base = malloc(BYTES);

	CHECK(base);
	memset(base, 1, BYTES);
	*self = (struct win_peer){ .line = line };
	*w = (struct mpii_win){ .flavor = dynamic ? MPI_WIN_FLAVOR_DYNAMIC :
						    MPI_WIN_FLAVOR_ALLOCATE,
				.base = base,
				.size = BYTES,
				.peers = self,
				.comm = &mpii_world };
	w->obj.magic = MPII_WIN;
	w->obj.refs = 1;
	pthread_mutex_init(&w->owner, NULL);
	if (dynamic) {
		CHECK(!PMPI_Win_attach((MPI_Win)w, base, BYTES / 2));
		CHECK(!PMPI_Win_attach((MPI_Win)w, base + BYTES / 2 + 8,
				       BYTES / 2 - 8));
	}
}

static void forget(struct win_served *s)
{
	struct win_queued *q;

	while ((q = s->first)) {
		s->first = q->next;
		free(q);
	}
	for (int i = 0; i < WIN_LAYOUTS; i++)
		if (s->layouts[i])
			mpii_type_put(s->layouts[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct win_served origin[ORIGINS] = { { .next = &origin[1] } };
	bool dynamic = in_u8(&in) & 1;
	struct win_line line = { 0 };
	struct win_peer self;
	struct message m;
	struct mpii_win w;
	char *exact;

	begin(&w, &self, &line, dynamic);
	w.served = origin;
	for (int i = 0; i < ORIGINS; i++)
		origin[i].last = &origin[i].first;
	for (int i = 0; i < 32 && in.left; i++) {
		make(&m, &in, dynamic ? (uintptr_t)w.base : 0);
		exact = malloc(m.len ? m.len : 1);
		CHECK(exact);
		memcpy(exact, m.data, m.len);
		win_serve_batch(&w, &origin[in_u8(&in) % ORIGINS], exact,
				m.len);
		free(exact);
	}
	for (int i = 0; i < ORIGINS; i++)
		forget(&origin[i]);
	win_regions_free(&w);
	pthread_mutex_destroy(&w.owner);
	free(w.base);
	return 0;
}
