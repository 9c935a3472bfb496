/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The owner does operations that have come in brief (wire.h). */
#include <string.h>

#include "coll/op/op_loops.h"
#include "win/acc.h"
#include "win/dynamic.h"
#include "win/op.h"
#include "win/serve.h"

static unsigned kind_of(const struct win_brief *b)
{
	return b->kind & ~(WIN_BRIEF | WIN_BRIEF_FETCH);
}

static bool is_no_op(const struct win_brief_acc *what)
{
	return what->op == (uintptr_t)MPI_NO_OP - MPII_OP_FIRST;
}

static char *memory_of(struct mpii_win *w, uint64_t at, uint64_t bytes)
{
	if (mpii_unlikely(w->flavor == MPI_WIN_FLAVOR_DYNAMIC))
		return win_region_holds(w, at, bytes) ? (char *)(uintptr_t)at :
							NULL;
	return at <= (uint64_t)w->size && bytes <= (uint64_t)w->size - at ?
		       (char *)w->base + at :
		       NULL;
}

static int accumulate(struct mpii_win *w, const struct win_brief *b, char *at,
		      const char *in, char *out)
{
	struct win_acc a = { .owner = &w->owner };
	_Alignas(16) char compare[WIN_BRIEF_MAX];
	struct win_brief_acc what;
	MPI_Count n;

	memcpy(&what, in, sizeof(what));
	in += sizeof(what);
	a.basic = win_type_at(what.basic + (uint64_t)MPII_TYPE_FIRST);
	if (!a.basic || !a.basic->contiguous || b->bytes % a.basic->size)
		return MPI_ERR_TYPE;
	n = b->bytes / a.basic->size;
	if (kind_of(b) == WIN_CAS) {
		if (n != 1)
			return MPI_ERR_INTERN;
		memcpy(compare, in, b->bytes);
		a.compare = compare;
		in += b->bytes;
	} else {
		a.op = win_op_at(what.op);
		if (!a.op || mpii_op_check(a.op, a.basic))
			return MPI_ERR_OP;
	}
	if (mpii_likely(win_acc_by_cpu(a.basic, at)))
		win_acc_run(&a, at, n, in, out);
	else
		win_acc_typed(&a, at, a.basic, 0, b->bytes, in, out);
	return MPI_SUCCESS;
}

static int do_other(struct mpii_win *w, const struct win_brief *b, char *at,
		    const char *in, struct win_bytes *reply)
{
	char *out = NULL;

	if (kind_of(b) == WIN_PUT)
		return MPI_ERR_INTERN; /* nothing is fetched by it */
	if (b->kind & WIN_BRIEF_FETCH) {
		out = win_bytes_grow(reply, b->bytes);
		if (!out)
			return MPI_ERR_NO_MEM;
	}
	if (kind_of(b) != WIN_GET)
		return accumulate(w, b, at, in, out);
	if (!out)
		return MPI_ERR_INTERN;
	win_copy(out, at, b->bytes);
	return MPI_SUCCESS;
}

/* Bytes of data that come with it. */
static size_t data_bytes(const struct win_brief *b, const char *data,
			 size_t len)
{
	const struct win_brief_acc *what = (const void *)data;

	switch (kind_of(b)) {
	case WIN_PUT:
		return win_padded(b->bytes);
	case WIN_GET:
		return 0;
	case WIN_CAS:
		return sizeof(*what) + win_padded(2 * (size_t)b->bytes);
	default:
		if (len < sizeof(*what))
			return sizeof(*what); /* too much */
		return sizeof(*what) +
		       (is_no_op(what) ? 0 : win_padded(b->bytes));
	}
}

size_t win_serve_brief(struct mpii_win *w, const char *data, size_t len,
		       struct win_bytes *reply, int *err)
{
	struct win_brief b;
	size_t more;
	char *at;

	if (len < sizeof(b))
		return 0;
	memcpy(&b, data, sizeof(b));
	if (b.bytes > WIN_BRIEF_MAX || kind_of(&b) > WIN_CAS)
		return 0;
	data += sizeof(b);
	len -= sizeof(b);
	more = data_bytes(&b, data, len);
	if (more > len)
		return 0;
	at = memory_of(w, win_brief_at(&b), b.bytes);
	if (mpii_unlikely(!at))
		*err = MPI_ERR_RMA_RANGE;
	else if (mpii_likely(b.kind == (WIN_BRIEF | WIN_PUT)))
		win_copy(at, data, b.bytes);
	else
		*err = do_other(w, &b, at, data, reply);
	return sizeof(b) + more;
}
