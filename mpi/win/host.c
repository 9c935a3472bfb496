/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The memory that ranks of one host share, made by the first of them. The others
 * open it through that one's process. Where they cannot, each is on its own: lines
 * are private then, and everybody is asked by messages.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coll/calls.h"
#include "datatype/datatype.h"
#include "env/errors.h"
#include "win/host.h"

#define PAGE 4096
#define NUDGED 32 /* peers at a time; so many are tried when a window is made */

int win_host_index(const struct win_host *h, int rank)
{
	int a = 0, b = h->n;

	while (b - a > 1) {
		int m = a + (b - a) / 2;

		if (win_host_rank(h, m) <= rank)
			a = m;
		else
			b = m;
	}
	return win_host_rank(h, a) == rank ? a : -1;
}

/* --- layout --- */

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static size_t words_bytes(int n)
{
	return round_up(sizeof(struct win_line) * (size_t)(n + 1) +
				sizeof(atomic_uint) * (size_t)n * (size_t)n,
			PAGE);
}

/* Where the memory of each rank begins: one after the other where the program
 * relies on that, else each on its own pages. Returns the end. */
static size_t place_data(struct win_host *h, const struct win_card *cards,
			 size_t *at)
{
	size_t end = words_bytes(h->n);

	for (int i = 0; i < h->n; i++) {
		const struct win_card *c = &cards[win_host_rank(h, i)];

		if ((size_t)c->align > h->align)
			h->align = (size_t)c->align;
		if (!c->contiguous)
			end = round_up(end, c->align > PAGE ? (size_t)c->align :
							      PAGE);
		at[i] = end;
		end += (size_t)c->size;
	}
	return round_up(end, PAGE);
}

/* --- mapping --- */

/* How others find the file: through the process that made it. */
struct where {
	int32_t pid, fd;
};

/* Addresses that are aligned as the program wants them, or NULL: any will do. */
static void *reserve(const struct win_host *h)
{
	char *all, *p;

	if (h->align <= PAGE)
		return NULL;
	all = mmap(NULL, h->bytes + h->align, PROT_NONE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (all == MAP_FAILED)
		return NULL;
	p = (char *)round_up((uintptr_t)all, h->align);
	if (p > all)
		munmap(all, (size_t)(p - all));
	munmap(p + h->bytes, (size_t)(all + h->align - p));
	return p;
}

/* fd -1: memory of our own. */
static bool map(struct win_host *h, int fd)
{
	int kind = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
	void *at = reserve(h), *p;

	p = mmap(at, h->bytes, PROT_READ | PROT_WRITE,
		 kind | MAP_NORESERVE | (at ? MAP_FIXED : 0), fd, 0);
	if (p == MAP_FAILED)
		return false;
	h->memory = p;
	return true;
}

static int make_file(struct win_host *h)
{
	int fd = memfd_create("o2g-win", MFD_CLOEXEC);

	if (fd >= 0 && (ftruncate(fd, (off_t)h->bytes) || !map(h, fd))) {
		close(fd);
		return -1;
	}
	return fd;
}

static void open_file(struct win_host *h, const struct where *w)
{
	char path[64];
	int fd;

	if (w->fd < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", w->pid, w->fd);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	map(h, fd);
	close(fd);
}

int win_host_nudge(const struct mpii_win *w, bool few)
{
	const struct win_host *h = w->host;
	int peers[NUDGED], n = 0, err = 0;

	for (int i = 0; i < h->n && !err; i++) {
		if (i != h->me)
			peers[n++] =
				mpii_comm_peer(w->comm, win_host_rank(h, i));
		if (n == NUDGED || (n && i == h->n - 1)) {
			err = o2g_nudge(mpii.ep, peers, (size_t)n);
			n = 0;
			if (few)
				break;
		}
	}
	return err;
}

static void divide(struct win_host *h)
{
	h->lines = (struct win_line *)h->memory + 1;
	h->posts = (atomic_uint *)(h->lines + h->n);
	h->asleep = (unsigned *)h->memory;
}

/* --- who is here --- */

static bool together(const struct mpii_win *w, const struct win_card *a,
		     const struct win_card *b)
{
	return a->host == b->host &&
	       (w->flavor == MPI_WIN_FLAVOR_SHARED || a->node == b->node);
}

/* The next rank of this host, from @from on; n: there is none. */
static int next_here(const struct mpii_win *w, const struct win_card *cards,
		     int from)
{
	while (from < w->n && !together(w, &cards[w->rank], &cards[from]))
		from++;
	return from;
}

/* Are those of this host at equal distances, as hosts in a row or in turns are? */
static bool are_regular(struct win_host *h, const struct mpii_win *w,
			const struct win_card *cards)
{
	int at = next_here(w, cards, 0), i = 0;

	h->first = at;
	h->step = next_here(w, cards, at + 1) - at;
	for (; at < w->n; at = next_here(w, cards, at + 1), i++)
		if (at != h->first + i * h->step)
			return false;
	return true;
}

static bool list_ranks(struct win_host *h, const struct mpii_win *w,
		       const struct win_card *cards)
{
	if (are_regular(h, w, cards))
		return true;
	h->ranks = malloc((size_t)h->n * sizeof(int));
	for (int i = 0, k = 0; h->ranks && i < w->n; i++)
		if (together(w, &cards[w->rank], &cards[i]))
			h->ranks[k++] = i;
	return h->ranks;
}

static struct win_host *gather(struct mpii_win *w, const struct win_card *cards)
{
	struct win_host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	for (int i = next_here(w, cards, 0); i < w->n;
	     i = next_here(w, cards, i + 1)) {
		if (i == w->rank)
			h->me = h->n;
		h->n++;
	}
	if (list_ranks(h, w, cards))
		return h;
	free(h);
	return NULL;
}

/* --- meeting --- */

static int tell_all(struct mpii_win *w, const void *mine, void *all, int bytes)
{
	struct mpii_type *t = mpii_type_get(MPI_BYTE);

	return mpii_allgather(mine, bytes, t, all, bytes, t, w->comm);
}

/* The first of the host makes the file, the others open it. *fd is open until all
 * have. */
static int map_together(struct mpii_win *w, struct where *all, int *fd)
{
	struct win_host *h = w->host;
	struct where mine = { getpid(), -1 };
	int err;

	if (h->me == 0 && h->n > 1)
		mine.fd = *fd = make_file(h);
	err = tell_all(w, &mine, all, sizeof(mine));
	if (!err && h->me > 0)
		open_file(h, &all[win_host_rank(h, 0)]);
	return err;
}

enum { MAPPED = 1, REACHED = 2 };

/* What all of this host can do. */
static int agree(struct mpii_win *w, uint8_t *all)
{
	struct win_host *h = w->host;
	uint8_t mine = 0, common = MAPPED | REACHED;
	int err;

	if (h->n > 1 && h->memory)
		mine = MAPPED | (win_host_nudge(w, true) ? 0 : REACHED);
	err = tell_all(w, &mine, all, 1);
	for (int i = 0; i < h->n; i++)
		common &= all[win_host_rank(h, i)];
	h->mapped = !err && common & MAPPED;
	h->reached = h->mapped && common & REACHED;
	return err;
}

static int meet(struct mpii_win *w)
{
	struct where *all = malloc((size_t)w->n * sizeof(*all));
	int fd = -1, err;

	if (!all)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	err = map_together(w, all, &fd);
	if (!err)
		err = agree(w, (uint8_t *)all);
	if (fd >= 0)
		close(fd);
	free(all);
	return err;
}

/* Memory that others have not got after all. */
static int be_alone(struct mpii_win *w)
{
	struct win_host *h = w->host;

	if (h->memory)
		munmap(h->memory, h->bytes);
	h->memory = NULL;
	return map(h, -1) ? MPI_SUCCESS :
			    mpii_fail(MPI_ERR_NO_MEM,
				      "no memory for a window of %lld bytes",
				      (long long)w->size);
}

/* Who has which line, and whose memory we see. */
static void point(struct mpii_win *w, const size_t *at)
{
	struct win_host *h = w->host;
	bool see = h->reached ||
		   (h->mapped && w->flavor == MPI_WIN_FLAVOR_SHARED);

	divide(h);
	for (int i = 0; i < h->n; i++) {
		struct win_peer *p = &w->peers[win_host_rank(h, i)];

		if (i == h->me || h->reached)
			p->line = &h->lines[i];
		if (win_is_allocated(w) && (i == h->me || see))
			p->direct = h->memory + at[i];
	}
	if (win_is_allocated(w))
		w->base = h->memory + at[h->me];
	else if (w->flavor == MPI_WIN_FLAVOR_CREATE)
		w->peers[w->rank].direct = w->base;
}

int win_host_make(struct mpii_win *w, const struct win_card *cards)
{
	struct win_host *h = w->host = gather(w, cards);
	size_t *at = h ? malloc((size_t)h->n * sizeof(*at)) : NULL;
	int err;

	if (!at)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	h->bytes = win_is_allocated(w) ? place_data(h, cards, at) :
					 words_bytes(h->n);
	err = meet(w);
	if (!err && !h->mapped)
		err = be_alone(w);
	if (!err && w->flavor == MPI_WIN_FLAVOR_SHARED && h->n > 1 &&
	    !h->mapped)
		err = mpii_fail(MPI_ERR_RMA_SHARED,
				"the ranks of comm cannot map each other's "
				"memory here");
	if (!err)
		point(w, at);
	free(at);
	return err;
}

void win_host_free(struct mpii_win *w)
{
	struct win_host *h = w->host;

	if (!h)
		return;
	if (h->memory)
		munmap(h->memory, h->bytes);
	free(h->ranks);
	free(h);
	w->host = NULL;
}
