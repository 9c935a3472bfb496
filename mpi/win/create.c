/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Windows are made and freed.
 *
 * All members tell each other what they bring, those of one host find each other
 * (host.c), and when all know how the memory of each is reached, the window may
 * be used.
 */
#include <stdlib.h>
#include <string.h>

#include "coll/calls.h"
#include "comm/attr.h"
#include "comm/comm_split.h"
#include "env/errhandler.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/nodes.h"
#include "tools/events.h"
#include "win/create.h"
#include "win/host.h"
#include "win/remote.h"

/* --- the object --- */

static void destroy(struct mpii_win *w)
{
	if (w->mem)
		o2g_mem_deregister(w->mem);
	win_out_free(w);
	win_served_free(w);
	win_regions_free(w);
	win_host_free(w);
	mpii_info_destroy(w->info);
	if (w->errh)
		mpii_errh_put(w->errh);
	if (w->comm) {
		w->comm->win = NULL; /* requests may outlive us */
		mpii_comm_put(w->comm);
	}
	pthread_mutex_destroy(&w->owner);
	pthread_mutex_destroy(&w->serving);
	win_pscw_free(w);
	free(w->peers);
	free(w);
}

/* A communicator of our own, with the same members. */
static int own_comm(struct mpii_win *w, struct mpii_comm *c)
{
	uint32_t context;
	int err = mpii_context_agree(c, &context);

	if (err)
		return err;
	mpii_group_hold(c->group);
	w->comm = mpii_comm_build(c->group, context);
	if (!w->comm) {
		mpii_context_free(context);
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	}
	mpii_context_own(w->comm);
	w->comm->win = w;
	return MPI_SUCCESS;
}

static struct mpii_win *create(const struct win_args *a, struct mpii_comm *c)
{
	struct mpii_win *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->obj.magic = MPII_WIN;
	w->obj.refs = 1;
	w->handle = (MPI_Win)w;
	w->flavor = a->flavor;
	w->model = MPI_WIN_UNIFIED;
	w->base = a->base;
	w->size = a->size;
	w->disp_unit = (int)a->disp_unit;
	w->n = c->size;
	w->rank = c->rank;
	w->errh = mpii_errh_get(MPI_ERRORS_ARE_FATAL);
	w->losses = o2g_losses(mpii.ep);
	pthread_mutex_init(&w->owner, NULL);
	pthread_mutex_init(&w->serving, NULL);
	w->peers = calloc((size_t)w->n, sizeof(*w->peers));
	if (w->peers && win_info_take(w, mpii_info_get(a->info)))
		return w;
	destroy(w);
	return NULL;
}

/* --- what the members tell each other --- */

static struct win_card card(const struct mpii_win *w, const struct win_args *a)
{
	int peer = mpii_comm_peer(w->comm, w->rank);
	bool known = peer < mpii.size && mpii_nodes_known();

	return (struct win_card){
		.host = mpii_host_id(),
		.node = known ? mpii_node_of(peer) : -1 - w->rank,
		.size = a->size,
		.disp_unit = a->disp_unit,
		.align = win_info_alignment(w),
		.contiguous = win_info_contiguous(w),
	};
}

/* Without shared memory this makes no sense. */
static int check_shared(const struct mpii_win *w, const struct win_card *cards)
{
	if (w->flavor != MPI_WIN_FLAVOR_SHARED)
		return MPI_SUCCESS;
	for (int i = 1; i < w->n; i++)
		if (cards[i].host != cards[0].host)
			return mpii_fail(MPI_ERR_RMA_SHARED,
					 "rank %d of comm is not on the host "
					 "of rank 0: MPI_Comm_split_type makes "
					 "a communicator of those that can "
					 "share memory",
					 i);
	return MPI_SUCCESS;
}

static void fill_peers(struct mpii_win *w, const struct win_card *cards)
{
	for (int i = 0; i < w->n; i++) {
		w->peers[i].size = cards[i].size;
		w->peers[i].disp_unit = cards[i].disp_unit;
	}
}

struct reach {
	uint64_t base, key;
};

/* Memory that others write to by o2g_put. */
static void register_memory(struct mpii_win *w, struct reach *mine)
{
	struct o2g_key key;

	*mine = (struct reach){ (uintptr_t)w->base, 0 };
	if (w->size == 0 || w->flavor == MPI_WIN_FLAVOR_DYNAMIC ||
	    win_all_direct(w))
		return;
	if (!o2g_mem_register(mpii.ep, w->base, (size_t)w->size,
			      O2G_READ | O2G_WRITE, &w->mem, &key))
		mine->key = key.key;
}

/* The last meeting: after it the window may be used. */
static int exchange_memory(struct mpii_win *w)
{
	struct reach mine, *all;
	void *p = NULL;
	int err;

	register_memory(w, &mine);
	err = mpii_comm_hear_all(w->comm, &mine, sizeof(mine), &p);
	if (err)
		return err;
	all = p;
	for (int i = 0; i < w->n; i++) {
		w->peers[i].base = all[i].base;
		w->peers[i].key = all[i].key;
	}
	free(p);
	return MPI_SUCCESS;
}

static int connect_all(struct mpii_win *w, const struct win_args *a)
{
	struct win_card mine = card(w, a), *cards;
	void *all = NULL;
	int err = mpii_comm_hear_all(w->comm, &mine, sizeof(mine), &all);

	if (err)
		return err;
	cards = all;
	err = check_shared(w, cards);
	if (!err) {
		fill_peers(w, cards);
		err = win_host_make(w, cards);
	}
	free(all);
	if (!err)
		err = win_serve_add(w);
	return err ? err : exchange_memory(w);
}

/* --- the calls --- */

static int check(const struct win_args *a, MPI_Comm comm, struct mpii_comm **c)
{
	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_bad_comm(comm, a->func);
	if ((*c)->inter)
		return mpii_error(*c, MPI_ERR_COMM, a->func,
				  "comm is an intercommunicator");
	if (!a->win)
		return mpii_bad_null(*c, a->func, "win");
	if (a->size < 0)
		return mpii_error(*c, MPI_ERR_SIZE, a->func,
				  "size is %lld, but must not be negative",
				  (long long)a->size);
	if (a->disp_unit <= 0)
		return mpii_error(*c, MPI_ERR_DISP, a->func,
				  "disp_unit is %lld, but must be positive",
				  (long long)a->disp_unit);
	if (a->info != MPI_INFO_NULL && !mpii_info_get(a->info))
		return mpii_error(*c, MPI_ERR_INFO, a->func,
				  "info is not an info object or was freed");
	return MPI_SUCCESS;
}

int win_make(const struct win_args *a, MPI_Comm comm)
{
	struct mpii_comm *c;
	struct mpii_win *w;
	int err = check(a, comm, &c);

	if (err)
		return err;
	w = create(a, c);
	if (!w)
		return mpii_no_mem(c, a->func);
	err = own_comm(w, c);
	if (!err)
		err = connect_all(w, a);
	if (err) {
		win_serve_del(w);
		destroy(w);
		return mpii_raise(c, err, a->func);
	}
	if (a->baseptr)
		*(void **)a->baseptr = w->base;
	*a->win = w->handle;
	mpii_event(MPII_EVENT_WIN_NEW, (int)w->comm->context, w->n);
	return MPI_SUCCESS;
}

static int create_window(void *base, MPI_Aint size, MPI_Aint disp_unit,
			 MPI_Info info, MPI_Comm comm, MPI_Win *win,
			 const char *func)
{
	struct win_args a = { func,	 MPI_WIN_FLAVOR_CREATE,
			      base,	 size,
			      disp_unit, info,
			      NULL,	 win };
	struct mpii_comm *c = mpii_comm_get(comm);

	if (c && !base && size > 0)
		return mpii_error(c, MPI_ERR_BUFFER, func,
				  "base is a null pointer, but size is %lld",
				  (long long)size);
	return win_make(&a, comm);
}

static int allocate(int flavor, MPI_Aint size, MPI_Aint disp_unit,
		    MPI_Info info, MPI_Comm comm, void *baseptr, MPI_Win *win,
		    const char *func)
{
	struct win_args a = { func,	 flavor, NULL,	  size,
			      disp_unit, info,	 baseptr, win };
	struct mpii_comm *c = mpii_comm_get(comm);

	if (c && !baseptr)
		return mpii_bad_null(c, func, "baseptr");
	return win_make(&a, comm);
}

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info,
		    MPI_Comm comm, MPI_Win *win)
{
	return create_window(base, size, disp_unit, info, comm, win,
			     "MPI_Win_create");
}
MPII_ALIAS(Win_create);

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit,
		      MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	return create_window(base, size, disp_unit, info, comm, win,
			     "MPI_Win_create_c");
}
MPII_ALIAS(Win_create_c);

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info,
		      MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm,
			baseptr, win, "MPI_Win_allocate");
}
MPII_ALIAS(Win_allocate);

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
			MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm,
			baseptr, win, "MPI_Win_allocate_c");
}
MPII_ALIAS(Win_allocate_c);

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info,
			     MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm,
			baseptr, win, "MPI_Win_allocate_shared");
}
MPII_ALIAS(Win_allocate_shared);

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info,
			       MPI_Comm comm, void *baseptr, MPI_Win *win)
{
	return allocate(MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm,
			baseptr, win, "MPI_Win_allocate_shared_c");
}
MPII_ALIAS(Win_allocate_shared_c);

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
	struct win_args a = { "MPI_Win_create_dynamic",
			      MPI_WIN_FLAVOR_DYNAMIC,
			      NULL,
			      0,
			      1,
			      info,
			      NULL,
			      win };

	return win_make(&a, comm);
}
MPII_ALIAS(Win_create_dynamic);

/* --- the end --- */

static int check_closed(struct mpii_win *w)
{
	if (win_is_locked(w) || w->access == WIN_LOCK_ALL)
		return mpii_fail(MPI_ERR_RMA_SYNC,
				 "this rank still holds a lock of the window");
	return win_check_pscw_ended(w);
}

int PMPI_Win_free(MPI_Win *win)
{
	static const char func[] = "MPI_Win_free";
	struct mpii_win *w;
	int err;

	if (!win)
		return mpii_bad_null(NULL, func, "win");
	w = mpii_win_get(*win);
	if (!w)
		return mpii_bad_win(*win, func);
	err = check_closed(w);
	if (!err)
		err = mpii_attr_delete_all(MPII_ATTR_WIN, w->handle, &w->attrs);
	if (!err)
		err = win_flush_all(w);
	if (!err)
		err = mpii_barrier(w->comm);
	if (err)
		return win_raise(w, err, func);
	mpii_event(MPII_EVENT_WIN_FREE, (int)w->comm->context, w->n);
	win_serve_del(w);
	mpii_obj_end(&w->obj);
	destroy(w);
	*win = MPI_WIN_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Win_free);
