/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The processes that share memory: an endpoint of its own beside MPI's, whose addresses
 * MPI brings to all.
 *
 * MPI's endpoint would not do. A thread inside MPI that copies into a shared page holds
 * the lock of that endpoint; the page has to come while it does, so it must come on
 * another one. And MPI knows every launcher there is, so nothing of that is needed here.
 *
 * A thread sits in the endpoint all the time: it answers others while the program
 * computes, and it learns who has died. Everybody is called once at the beginning, so
 * there is a connection to everybody, whose end is noticed.
 */
#define _GNU_SOURCE
#include "dsm.h"

#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "log.h"
#include "settings.h"

#define NAP_US 1000000

struct dsm_job dsm = { .lock = PTHREAD_MUTEX_INITIALIZER };

static MPI_Comm comm = MPI_COMM_NULL;
static char *cards; /* the addresses of all, O2G_ADDRESS_MAX bytes each */

static int resolve(void *arg, int rank, char *address, size_t size)
{
	const char *card = cards + (size_t)rank * O2G_ADDRESS_MAX;

	if (strlen(card) >= size)
		return -ENOSPC;
	strcpy(address, card);
	return 0;
}

/* With the endpoint's lock: the thread looks after the rest. */
static void lost(void *arg, int rank, int finished)
{
	if (rank >= 0 && rank < DSM_NODES)
		atomic_fetch_or(&dsm.dead, dsm_only((unsigned)rank));
}

static void page_arrived(int from, u64 tag, const void *data, size_t len)
{
	struct o2g_dsm *r;

	pthread_mutex_lock(&dsm.lock); /* so it is not closed meanwhile */
	r = dsm_region_find((u32)tag);
	if (r)
		dsm_page_arrived(r, from, data, len);
	pthread_mutex_unlock(&dsm.lock);
}

static void arrived(void *arg, int from, uint64_t tag, const void *data,
		    size_t len)
{
	switch (tag & DSM_TAG_KIND) {
	case DSM_TAG_PAGE:
		page_arrived(from, tag, data, len);
		break;
	case DSM_TAG_CALL:
		if (len == sizeof(struct dsm_call))
			dsm_call_arrived(from, data);
		break;
	case DSM_TAG_ANSWER:
		if (len == sizeof(struct dsm_answer))
			dsm_answer_arrived(data);
		break;
	}
}

static int news(void *arg)
{
	return atomic_load(&dsm.ends) ||
	       atomic_load(&dsm.dead) != atomic_load(&dsm.noted);
}

/* One whose program has not been told yet; that may call us, so without the lock. */
static bool tell_one(int rank)
{
	void (*fn)(void *, int) = NULL;
	void *arg = NULL;
	struct o2g_dsm *r;

	pthread_mutex_lock(&dsm.lock);
	for (r = dsm.regions; r && !r->tell; r = r->next)
		;
	if (r) {
		r->tell = false;
		fn = r->on_loss;
		arg = r->on_loss_arg;
	}
	pthread_mutex_unlock(&dsm.lock);
	if (fn)
		fn(arg, rank);
	return r;
}

static void tell_regions(int rank)
{
	pthread_mutex_lock(&dsm.lock);
	for (struct o2g_dsm *r = dsm.regions; r; r = r->next) {
		dsm.engine->lost(r, rank);
		r->tell = true;
		atomic_store(&r->lost, true);
	}
	pthread_mutex_unlock(&dsm.lock);
	while (tell_one(rank))
		;
}

static void note_losses(void)
{
	dsm_set fresh = atomic_load(&dsm.dead) & ~atomic_load(&dsm.noted);

	for (; fresh; fresh &= fresh - 1) {
		tell_regions((int)dsm_first(fresh));
		atomic_fetch_or(&dsm.noted, dsm_only(dsm_first(fresh)));
		dsm_callers_lost();
	}
}

static void *serve(void *arg)
{
	while (!atomic_load(&dsm.ends)) {
		o2g_wait_until(dsm.ep, news, NULL, NAP_US);
		atomic_fetch_or(&dsm.dead,
				dsm.engine->dead(atomic_load(&dsm.dead)));
		note_losses();
	}
	return NULL;
}

/* --- beginning and end --- */

static int begin_mpi(void)
{
	int yes, got, err;

	if (MPI_Initialized(&yes) || yes)
		return yes ? 0 : -EIO;
	err = MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &got);
	dsm.began_mpi = !err;
	return err ? -EIO : 0;
}

static int open_endpoint(void)
{
	struct o2g_attr attr = { .rank = dsm.rank,
				 .size = dsm.size,
				 .job = "dsm",
				 .sleeps = 1,
				 .resolve = resolve,
				 .lost = lost };
	MPI_Comm here;
	int near;

	if (!dsm.rank &&
	    getrandom(dsm.secret, sizeof(dsm.secret), 0) != sizeof(dsm.secret))
		return -EIO;
	MPI_Bcast(dsm.secret, sizeof(dsm.secret), MPI_BYTE, 0, comm);
	memcpy(attr.secret, dsm.secret, sizeof(attr.secret));
	MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			    &here);
	MPI_Comm_size(here, &near);
	MPI_Comm_free(&here);
	attr.local_size = (unsigned)near;
	return o2g_open(&attr, &dsm.ep);
}

static int exchange_cards(void)
{
	char mine[O2G_ADDRESS_MAX] = "";
	int err = o2g_address(dsm.ep, mine, sizeof(mine));

	MPI_Allgather(mine, sizeof(mine), MPI_CHAR, cards, sizeof(mine),
		      MPI_CHAR, comm);
	return err < 0 ? err : 0;
}

static int start_thread(void)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&dsm.thread, NULL, serve, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static void greet_all(void)
{
	for (int rank = 0; rank < dsm.size; rank++)
		if (rank != dsm.rank)
			o2g_call(dsm.ep, rank, DSM_TAG_HELLO, NULL, 0);
}

/* All use the same one: the module, if it is asked for and all have it. */
static int choose_engine(void)
{
	const char *want = o2g_settings()->dsm;
	bool forced = !strcmp(want, "kernel");
	int there = forced && dsm_kernel_there(), all;

	MPI_Allreduce(&there, &all, 1, MPI_INT, MPI_MIN, comm);
	dsm.engine = all ? &dsm_kernel_engine : &dsm_user_engine;
	if (!forced || all)
		return 0;
	if (there)
		o2g_error(
			"O2G_DSM=kernel: other hosts do not have the module o2g_dsm");
	else
		o2g_error("O2G_DSM=kernel: the module o2g_dsm is not there");
	return -ENOTSUP;
}

static int check_setting(void)
{
	const char *want = o2g_settings()->dsm;

	if (!strcmp(want, "auto") || !strcmp(want, "user") ||
	    !strcmp(want, "kernel"))
		return 0;
	o2g_error("O2G_DSM=%s: it is auto, user or kernel", want);
	return -EINVAL;
}

static int begin(void)
{
	int err;

	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_rank(comm, &dsm.rank);
	MPI_Comm_size(comm, &dsm.size);
	if (dsm.size > DSM_NODES) {
		o2g_error("dsm: %d processes; %d can share memory", dsm.size,
			  DSM_NODES);
		return -EINVAL;
	}
	cards = calloc((size_t)dsm.size, O2G_ADDRESS_MAX);
	err = cards ? choose_engine() : -ENOMEM;
	if (!err)
		err = open_endpoint();
	if (!err)
		err = exchange_cards();
	if (!err)
		err = o2g_serve(dsm.ep, 0, ~0ull, arrived, NULL);
	if (!err)
		err = dsm.engine->begin(comm);
	if (!err)
		err = start_thread();
	if (err)
		return err;
	greet_all();
	MPI_Barrier(comm);
	return 0;
}

int o2g_dsm_init(void)
{
	int err = dsm.ep ? -EALREADY : check_setting();

	if (!err)
		err = begin_mpi();
	return err ? err : begin();
}

/* Nobody leaves while others may still ask; the dead are not waited for. */
int o2g_dsm_finalize(void)
{
	bool whole = !atomic_load(&dsm.noted);

	if (!dsm.ep)
		return -ENODEV;
	if (dsm.regions)
		return -EBUSY;
	if (whole)
		MPI_Barrier(comm);
	atomic_store(&dsm.ends, true);
	o2g_call(dsm.ep, dsm.rank, DSM_TAG_HELLO, NULL, 0);
	pthread_join(dsm.thread, NULL);
	dsm.engine->end();
	o2g_close(dsm.ep);
	dsm.ep = NULL;
	if (whole)
		MPI_Comm_free(&comm);
	free(cards);
	if (dsm.began_mpi)
		MPI_Finalize();
	return 0;
}

int o2g_dsm_rank(void)
{
	return dsm.rank;
}

int o2g_dsm_size(void)
{
	return dsm.size;
}
