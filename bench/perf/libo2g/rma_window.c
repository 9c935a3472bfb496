// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * perf_window by libo2g's own calls, on an endpoint beside MPI's: rank 1
 * registers memory and tells rank 0 its key.
 */
#include "../rma_window.h"

#include <o2g.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PENDING = 1024, RELEASE_TAG = 1 };

struct perf_window {
	struct o2g_ep *ep;
	struct o2g_mem *mem;
	struct o2g_key key; /* rank 1's */
	struct o2g_req *pending[MOST_PENDING];
	int n_pending;
	int rank, ranks;
	void *memory;
	char *addresses; /* O2G_ADDRESS_MAX for each rank */
};

static void check(int err, const char *doing)
{
	if (err < 0)
		perf_fail("%s: %s", doing, o2g_strerror(err));
}

static int resolve(void *arg, int rank, char *address, size_t size)
{
	const struct perf_window *w = arg;

	(void)size; /* O2G_ADDRESS_MAX */
	strcpy(address, w->addresses + (size_t)rank * O2G_ADDRESS_MAX);
	return 0;
}

static unsigned ranks_of_this_host(void)
{
	MPI_Comm host;
	int n;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &host);
	MPI_Comm_size(host, &n);
	MPI_Comm_free(&host);
	return n;
}

static void open_endpoint(struct perf_window *w)
{
	struct o2g_attr attr = { .rank = w->rank,
				 .size = w->ranks,
				 .job = "perf",
				 .resolve = resolve,
				 .arg = w };
	char mine[O2G_ADDRESS_MAX] = "";

	attr.local_size = ranks_of_this_host();
	if (w->rank == 0)
		perf_fill(attr.secret, sizeof(attr.secret),
			  (uint64_t)(perf_now() * 1e9));
	MPI_Bcast(attr.secret, sizeof(attr.secret), MPI_BYTE, 0,
		  MPI_COMM_WORLD);
	check(o2g_open(&attr, &w->ep), "opening an endpoint");
	check(o2g_address(w->ep, mine, sizeof(mine)), "its address");
	MPI_Allgather(mine, sizeof(mine), MPI_CHAR, w->addresses, sizeof(mine),
		      MPI_CHAR, MPI_COMM_WORLD);
}

struct perf_window *perf_window_open(size_t size)
{
	struct perf_window *w = calloc(1, sizeof(*w));

	if (!w)
		perf_fail("no memory for a window");
	MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &w->ranks);
	w->addresses = perf_alloc((size_t)w->ranks * O2G_ADDRESS_MAX);
	open_endpoint(w);
	if (w->rank == 1) {
		w->memory = perf_alloc(size);
		check(o2g_mem_register(w->ep, w->memory, size,
				       O2G_READ | O2G_WRITE, &w->mem, &w->key),
		      "registering memory");
	}
	MPI_Bcast(&w->key, sizeof(w->key), MPI_BYTE, 1, MPI_COMM_WORLD);
	return w;
}

void perf_window_close(struct perf_window *w)
{
	MPI_Barrier(MPI_COMM_WORLD);
	if (w->mem)
		o2g_mem_deregister(w->mem);
	o2g_close(w->ep);
	free(w->memory);
	free(w->addresses);
	free(w);
}

void *perf_window_memory(struct perf_window *w)
{
	return w->memory;
}

void perf_window_transfer(struct perf_window *w, void *local, size_t size,
			  bool get)
{
	struct o2g_seg seg = { local, size };
	struct o2g_req **req;

	if (w->n_pending == MOST_PENDING)
		perf_window_flush(w);
	req = &w->pending[w->n_pending++];
	if (get)
		check(o2g_get(w->ep, 1, &seg, 1, &w->key, 0, req), "o2g_get");
	else
		check(o2g_put(w->ep, 1, &seg, 1, &w->key, 0, req), "o2g_put");
}

void perf_window_flush(struct perf_window *w)
{
	check(o2g_wait_all(w->ep, w->pending, w->n_pending, NULL),
	      "completing transfers");
	w->n_pending = 0;
}

void perf_window_release(struct perf_window *w)
{
	check(o2g_send(w->ep, 1, RELEASE_TAG, NULL, 0, 0), "o2g_send");
}

/* Here and not in MPI's barrier, where another endpoint is looked after. */
void perf_window_attend(struct perf_window *w)
{
	check(o2g_recv(w->ep, 0, RELEASE_TAG, 0, NULL, 0, NULL), "o2g_recv");
}

/* o2g_put completes when the data is there, and the barrier orders the rest. */
void perf_window_sync(struct perf_window *w)
{
	(void)w;
}
