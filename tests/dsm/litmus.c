/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Litmus tests between processes: in a sequentially consistent memory some outcomes never
 * happen. `litmus ROUNDS`, with 2 to 4 processes; IRIW needs 4.
 *
 * A round has its own variables, so nothing is reset; sixteen rounds follow each other
 * without a barrier, and pages go back and forth meanwhile. Each pair of variables is
 * once on two pages and once on one. Those who have no part in a test read.
 */
#include "dsm_test.h"

#define BATCH 16
#define STRIDE (O2G_DSM_PAGE / BATCH / 4)

struct round {
	volatile int *x, *y;
	int seen[2]; /* what this rank has read */
};

struct litmus {
	const char *name;
	int ranks; /* at least */
	void (*play)(int rank, struct round *r);
	/* Seen by ranks 0 to 3: may that be? */
	int (*forbidden)(int seen[][2]);
};

static void watch(struct round *r)
{
	r->seen[0] = *r->x;
	r->seen[1] = *r->y;
}

static void mp_play(int rank, struct round *r)
{
	if (rank == 0) {
		*r->x = 1;
		*r->y = 1;
		return;
	}
	r->seen[0] = *r->y;
	r->seen[1] = *r->x;
}

static int mp_forbidden(int seen[][2])
{
	for (int i = 1; i < 4; i++)
		if (seen[i][0] == 1 && seen[i][1] == 0)
			return 1;
	return 0;
}

static void sb_play(int rank, struct round *r)
{
	if (rank > 1) {
		watch(r);
	} else if (rank) {
		*r->y = 1;
		r->seen[0] = *r->x;
	} else {
		*r->x = 1;
		r->seen[0] = *r->y;
	}
}

static int sb_forbidden(int seen[][2])
{
	return !seen[0][0] && !seen[1][0];
}

static void lb_play(int rank, struct round *r)
{
	if (rank > 1) {
		watch(r);
	} else if (rank) {
		r->seen[0] = *r->y;
		*r->x = 1;
	} else {
		r->seen[0] = *r->x;
		*r->y = 1;
	}
}

static int lb_forbidden(int seen[][2])
{
	return seen[0][0] && seen[1][0];
}

static void iriw_play(int rank, struct round *r)
{
	if (rank == 0) {
		*r->x = 1;
	} else if (rank == 1) {
		*r->y = 1;
	} else if (rank == 2) {
		watch(r);
	} else {
		r->seen[0] = *r->y;
		r->seen[1] = *r->x;
	}
}

static int iriw_forbidden(int seen[][2])
{
	return seen[2][0] && !seen[2][1] && seen[3][0] && !seen[3][1];
}

/* Two write one variable; all who read it twice agree on which way it went. */
static void co_play(int rank, struct round *r)
{
	if (rank < 2)
		*r->x = rank + 1;
	r->seen[0] = *r->x;
	r->seen[1] = *r->x;
}

static int co_forbidden(int seen[][2])
{
	int up = 0, down = 0;

	for (int i = 0; i < 4; i++) {
		up |= seen[i][0] == 1 && seen[i][1] == 2;
		down |= seen[i][0] == 2 && seen[i][1] == 1;
		if (seen[i][0] && !seen[i][1])
			return 1;
	}
	return up && down;
}

static const struct litmus tests[] = {
	{ "message passing", 2, mp_play, mp_forbidden },
	{ "store buffering", 2, sb_play, sb_forbidden },
	{ "load buffering", 2, lb_play, lb_forbidden },
	{ "IRIW", 4, iriw_play, iriw_forbidden },
	{ "coherence", 2, co_play, co_forbidden },
};

static int rank, size;

/* Results of a batch go to rank 0 by MPI. How many are wrong. */
static int judge(const struct litmus *t, const struct round *rounds)
{
	int mine[BATCH][2], all[4][BATCH][2] = { 0 }, wrong = 0;

	for (int i = 0; i < BATCH; i++)
		memcpy(mine[i], rounds[i].seen, sizeof(mine[i]));
	MPI_Gather(mine, 2 * BATCH, MPI_INT, all, 2 * BATCH, MPI_INT, 0,
		   MPI_COMM_WORLD);
	for (int i = 0; i < BATCH && !rank; i++) {
		int seen[4][2];

		for (int j = 0; j < 4; j++)
			memcpy(seen[j], all[j][i], sizeof(seen[j]));
		wrong += t->forbidden(seen);
	}
	return wrong;
}

static int run(const struct litmus *t, struct o2g_dsm *region, long rounds,
	       int apart)
{
	size_t pages = o2g_dsm_bytes(region) / O2G_DSM_PAGE;
	char *base = o2g_dsm_base(region);
	int wrong = 0;

	for (long n = 0; n < rounds; n += BATCH) {
		struct round r[BATCH] = { 0 };
		/* other pages in each batch, zeroed when they come round again */
		size_t page = (size_t)(n / BATCH) % (pages / 2) * 2;
		char *x = base + page * O2G_DSM_PAGE;
		char *y = apart ? x + O2G_DSM_PAGE : x + O2G_DSM_PAGE / 2;

		if (rank == n / BATCH % size)
			memset(x, 0, 2 * O2G_DSM_PAGE);
		MPI_Barrier(MPI_COMM_WORLD);
		for (int i = 0; i < BATCH; i++) {
			r[i].x = (int *)(x + i * STRIDE);
			r[i].y = (int *)(y + i * STRIDE);
			t->play(rank, &r[i]);
		}
		wrong += judge(t, r);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
	struct o2g_dsm *region;
	int wrong = 0;

	MPI_Init(&argc, &argv);
	OK(o2g_dsm_init());
	rank = o2g_dsm_rank();
	size = o2g_dsm_size();
	OK(o2g_dsm_create("litmus", 64 * O2G_DSM_PAGE, 0, &region));
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		if (size < tests[i].ranks)
			continue;
		for (int apart = 0; apart < 2; apart++) {
			int bad = run(&tests[i], region, rounds / 2, apart);

			wrong += bad;
			if (bad)
				printf("%s: %d of %ld rounds are forbidden\n",
				       tests[i].name, bad, rounds / 2);
		}
	}
	OK(o2g_dsm_close(region));
	OK(o2g_dsm_finalize());
	MPI_Finalize();
	return wrong != 0;
}
