/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Random programs against a sequential reference.
 *
 * Every origin has a region of its own at every target, and knows what must be in
 * it; a few cells at the end of each window belong to all, who add to them. An
 * epoch of random kind has either operations that keep their order, anywhere in the
 * region, or puts and gets on parts that do not overlap; with random datatypes on
 * both sides, with requests and without.
 */
#include "check.h"

#define REGION 96 /* ints */
#define COMMON 8  /* longs */
#define MAX_OPS 24
#define MAX_RANKS 16

static unsigned long long state;

static unsigned rnd(unsigned n)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33) % n;
}

static MPI_Win win;
static char *memory;
static MPI_Aint where[MAX_RANKS]; /* of dynamic windows, else 0 */
static int dynamic;
static int ref[MAX_RANKS][REGION]; /* ours at each target */
static long added[MAX_RANKS][COMMON];

/* What is fetched, and what it must be; looked at when the epoch has ended. */
static struct {
	int got[3 * REGION], want[3 * REGION];
} fetched[MAX_OPS];
static int source[MAX_OPS][3 * REGION];
static MPI_Request reqs[MAX_OPS];
static int nreqs;

/* --- layouts: cells of the region, from first on --- */

struct layout {
	MPI_Datatype t;
	int count;	  /* instances */
	int cell[REGION]; /* in the order of the type map */
	int n;
	int span; /* cells that it reaches over */
};

static struct layout choose(int room)
{
	struct layout l = { .count = 1 };
	int blocks, len, stride, lens[4], displs[4];

	switch (room >= 12 ? rnd(4) : 0) {
	case 0: /* in a row */
		l.n = l.span = 1 + (int)rnd((unsigned)(room < 20 ? room : 20));
		l.count = l.n;
		OK(MPI_Type_dup(MPI_INT, &l.t));
		for (int i = 0; i < l.n; i++)
			l.cell[i] = i;
		break;
	case 1: /* a vector */
		len = 1 + (int)rnd(2);
		stride = len + 1 + (int)rnd(2);
		blocks = 1 + (int)rnd((unsigned)(room / stride));
		OK(MPI_Type_vector(blocks, len, stride, MPI_INT, &l.t));
		for (int b = 0; b < blocks; b++)
			for (int i = 0; i < len; i++)
				l.cell[l.n++] = b * stride + i;
		l.span = blocks * stride;
		break;
	case 2: /* blocks in any order */
		lens[0] = 2, displs[0] = 6;
		lens[1] = 1, displs[1] = 0;
		lens[2] = 3, displs[2] = 2;
		lens[3] = 1, displs[3] = 10;
		OK(MPI_Type_indexed(4, lens, displs, MPI_INT, &l.t));
		for (int b = 0; b < 4; b++)
			for (int i = 0; i < lens[b]; i++)
				l.cell[l.n++] = displs[b] + i;
		l.span = 12;
		break;
	default: /* several instances of one with gaps */
		OK(MPI_Type_create_resized(MPI_INT, 0, 8, &l.t));
		l.count = 1 + (int)rnd((unsigned)(room / 2));
		for (int i = 0; i < l.count; i++)
			l.cell[l.n++] = 2 * i;
		l.span = 2 * l.count;
	}
	OK(MPI_Type_commit(&l.t));
	return l;
}

/* The same number of ints in a buffer of ours: in a row, or with gaps. */
static MPI_Datatype own_layout(int n, int *step)
{
	MPI_Datatype t;

	*step = 1 + (int)rnd(2);
	OK(MPI_Type_vector(n, 1, *step, MPI_INT, &t));
	OK(MPI_Type_commit(&t));
	return t;
}

static MPI_Aint disp(int target, int cell)
{
	return where[target] + (MPI_Aint)sizeof(int) * (rank * REGION + cell);
}

static MPI_Request *maybe_request(int passive)
{
	return passive && rnd(3) == 0 ? &reqs[nreqs++] : NULL;
}

/* --- operations --- */

static const MPI_Op ordered[] = { MPI_SUM, MPI_REPLACE, MPI_BXOR, MPI_MIN,
				  MPI_NO_OP };

static int apply(MPI_Op op, int in, int old)
{
	if (op == MPI_SUM)
		return (int)((unsigned)in + (unsigned)old);
	if (op == MPI_REPLACE)
		return in;
	if (op == MPI_BXOR)
		return in ^ old;
	if (op == MPI_MIN)
		return in < old ? in : old;
	return old;
}

static void accumulate(int k, int target, int passive)
{
	int first = (int)rnd(REGION), step, fstep;
	struct layout l = choose(REGION - first);
	MPI_Datatype own = own_layout(l.n, &step), to;
	MPI_Op op = ordered[rnd(5)];
	int fetch = op == MPI_NO_OP || rnd(2);
	MPI_Request *r = maybe_request(passive);
	MPI_Aint at = disp(target, first);

	to = own_layout(l.n, &fstep);
	for (int i = 0; i < l.n; i++) {
		int *cell = &ref[target][first + l.cell[i]];

		source[k][i * step] = (int)rnd(1000) - 500;
		if (fetch)
			fetched[k].want[i * fstep] = *cell;
		*cell = apply(op, source[k][i * step], *cell);
	}
	if (fetch && r)
		OK(MPI_Rget_accumulate(source[k], 1, own, fetched[k].got, 1, to,
				       target, at, l.count, l.t, op, win, r));
	else if (fetch)
		OK(MPI_Get_accumulate(source[k], 1, own, fetched[k].got, 1, to,
				      target, at, l.count, l.t, op, win));
	else if (r)
		OK(MPI_Raccumulate(source[k], 1, own, target, at, l.count, l.t,
				   op, win, r));
	else
		OK(MPI_Accumulate(source[k], 1, own, target, at, l.count, l.t,
				  op, win));
	OK(MPI_Type_free(&l.t));
	OK(MPI_Type_free(&own));
	OK(MPI_Type_free(&to));
}

static void one_cell(int k, int target)
{
	int cell = (int)rnd(REGION), *now = &ref[target][cell];
	MPI_Aint at = disp(target, cell);
	MPI_Op op = ordered[rnd(5)];
	static int compare[MAX_OPS];

	fetched[k].want[0] = *now;
	source[k][0] = (int)rnd(100);
	if (rnd(2)) {
		OK(MPI_Fetch_and_op(source[k], fetched[k].got, MPI_INT, target,
				    at, op, win));
		*now = apply(op, source[k][0], *now);
		return;
	}
	compare[k] = rnd(2) ? *now : (int)rnd(100);
	OK(MPI_Compare_and_swap(source[k], &compare[k], fetched[k].got, MPI_INT,
				target, at, win));
	if (*now == compare[k])
		*now = source[k][0];
}

static void put_or_get(int k, int target, int first, struct layout *l,
		       int passive)
{
	MPI_Request *r = maybe_request(passive);
	MPI_Aint at = disp(target, first);
	int step, put = (int)rnd(2);
	MPI_Datatype own = own_layout(l->n, &step);

	for (int i = 0; i < l->n; i++) {
		int *cell = &ref[target][first + l->cell[i]];

		source[k][i * step] = (int)rnd(100000);
		if (put)
			*cell = source[k][i * step];
		else
			fetched[k].want[i * step] = *cell;
	}
	if (put && r)
		OK(MPI_Rput(source[k], 1, own, target, at, l->count, l->t, win,
			    r));
	else if (put)
		OK(MPI_Put(source[k], 1, own, target, at, l->count, l->t, win));
	else if (r)
		OK(MPI_Rget(fetched[k].got, 1, own, target, at, l->count, l->t,
			    win, r));
	else
		OK(MPI_Get(fetched[k].got, 1, own, target, at, l->count, l->t,
			   win));
	OK(MPI_Type_free(&own));
}

static void add_common(int target)
{
	int cell = (int)rnd(COMMON);
	long v = rnd(1000);

	OK(MPI_Accumulate(&v, 1, MPI_LONG, target,
			  where[target] +
				  (MPI_Aint)sizeof(int) * REGION * size +
				  (MPI_Aint)sizeof(long) * cell,
			  1, MPI_LONG, MPI_SUM, win));
	added[target][cell] += v;
}

/* Everything on one target within an epoch. */
static int access_target(int k, int target, int passive)
{
	int n = 1 + (int)rnd(5), first = 0;

	if (rnd(2)) {
		for (int i = 0; i < n && k < MAX_OPS; i++, k++)
			if (rnd(3))
				accumulate(k, target, passive);
			else
				one_cell(k, target);
	} else {
		for (; k < MAX_OPS && first < REGION - 12 && n--; k++) {
			struct layout l;

			first += (int)rnd(8);
			l = choose(REGION - first);
			put_or_get(k, target, first, &l, passive);
			first += l.span;
			OK(MPI_Type_free(&l.t));
		}
	}
	if (rnd(2))
		add_common(target);
	return k;
}

/* --- epochs --- */

static void lock_one(int *k, int target)
{
	OK(MPI_Win_lock(rnd(2) ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, target,
			0, win));
	*k = access_target(*k, target, 1);
	if (rnd(3) == 0)
		OK(MPI_Win_flush(target, win));
	OK(MPI_Waitall(nreqs, reqs, MPI_STATUSES_IGNORE));
	nreqs = 0;
	OK(MPI_Win_unlock(target, win));
}

static void lock_all(int *k, int a, int b)
{
	OK(MPI_Win_lock_all(0, win));
	*k = access_target(*k, a, 1);
	OK(MPI_Win_flush(a, win));
	*k = access_target(*k, b, 1);
	OK(MPI_Waitall(nreqs, reqs, MPI_STATUSES_IGNORE));
	nreqs = 0;
	if (rnd(2))
		OK(MPI_Win_flush_all(win));
	OK(MPI_Win_unlock_all(win));
}

/* @kind is the same at all ranks; the rest is not. */
static void epoch(unsigned kind, MPI_Group all)
{
	int k = 0, a = (int)rnd((unsigned)size), b = (int)rnd((unsigned)size);

	memset(fetched, 0, sizeof(fetched));
	switch (kind) {
	case 0:
		OK(MPI_Win_fence(0, win));
		k = access_target(k, a, 0);
		if (a != b)
			k = access_target(k, b, 0);
		OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
		break;
	case 1:
		OK(MPI_Win_post(all, 0, win));
		OK(MPI_Win_start(all, 0, win));
		k = access_target(k, a, 0);
		if (a != b)
			k = access_target(k, b, 0);
		OK(MPI_Win_complete(win));
		OK(MPI_Win_wait(win));
		break;
	case 2:
		lock_one(&k, a);
		lock_one(&k, b);
		break;
	default:
		lock_all(&k, a, b);
	}
	for (int i = 0; i < k; i++)
		CHECK(!memcmp(fetched[i].got, fetched[i].want,
			      sizeof(fetched[i].got)));
}

/* --- from the beginning to the end --- */

static void make_window(int kind, MPI_Aint bytes)
{
	MPI_Aint mine = 0;

	dynamic = kind == 2;
	if (kind == 0) {
		OK(MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, WORLD, &memory,
				    &win));
	} else {
		OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
	}
	if (kind == 1)
		OK(MPI_Win_create(memory, bytes, 1, MPI_INFO_NULL, WORLD,
				  &win));
	if (kind == 2) {
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &win));
		OK(MPI_Win_attach(win, memory, bytes));
		OK(MPI_Get_address(memory, &mine));
	}
	OK(MPI_Allgather(&mine, 1, MPI_AINT, where, 1, MPI_AINT, WORLD));
	memset(memory, 0, (size_t)bytes);
	memset(ref, 0, sizeof(ref));
	memset(added, 0, sizeof(added));
	OK(MPI_Barrier(WORLD));
}

static void check_all(void)
{
	long total[COMMON];
	int mine[MAX_RANKS][REGION];

	OK(MPI_Barrier(WORLD));
	for (int t = 0; t < size; t++) {
		OK(MPI_Gather(ref[t], REGION, MPI_INT, mine, REGION, MPI_INT, t,
			      WORLD));
		OK(MPI_Reduce(added[t], total, COMMON, MPI_LONG, MPI_SUM, t,
			      WORLD));
		if (t != rank)
			continue;
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
		CHECK(!memcmp(memory, mine,
			      sizeof(int) * REGION * (size_t)size));
		CHECK(!memcmp(memory + sizeof(int) * REGION * (size_t)size,
			      total, sizeof(total)));
		OK(MPI_Win_unlock(rank, win));
	}
	OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
	int epochs = argc > 1 ? atoi(argv[1]) : 60;
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1, kind;
	MPI_Group all;

	start(&argc, &argv);
	CHECK(size <= MAX_RANKS);
	for (int w = 0; w < 3; w++) {
		make_window(w, (MPI_Aint)(sizeof(int) * REGION * (size_t)size +
					  sizeof(long) * COMMON));
		OK(MPI_Win_get_group(win, &all));
		for (int e = 0; e < epochs; e++) {
			state = seed + 1000u * (unsigned)w + (unsigned)e;
			rnd(2);
			kind = rnd(4);
			state += 7919u * (unsigned)(rank + 1);
			rnd(2);
			epoch(kind, all);
		}
		OK(MPI_Group_free(&all));
		check_all();
		if (dynamic)
			OK(MPI_Win_detach(win, memory));
		OK(MPI_Win_free(&win));
		if (w > 0)
			OK(MPI_Free_mem(memory));
	}
	return finish();
}
