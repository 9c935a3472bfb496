/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The rest of the MPI library and of libo2g, as far as the collectives need it. */
#include "unit.h"

#include "../../mpi/coll/algorithms.h"
#include "../../mpi/env/errors.h"
#include "../../mpi/bindings/fortran_abi.h"
#include "../../mpi/bindings/lang.h"
#include "../../mpi/info/info.h"
#include "../../mpi/process/gone.h"
#include "../../mpi/process/nodes.h"
#include "../../mpi/pt2pt/request.h"
#include "../../mpi/tools/state.h"

int mpii_length_error(int peer, MPI_Count got, MPI_Count want)
{
	return got > want ? MPI_ERR_TRUNCATE : MPI_ERR_COUNT;
}

/* Nonblocking calls are not made here: tests/mpi has them. */
struct mpii_process mpii;

struct mpii_req *mpii_req_create(enum mpii_req_kind kind)
{
	return NULL;
}

void mpii_req_put(struct mpii_req *r)
{
}

void mpii_comm_put(struct mpii_comm *c)
{
}

const char *mpii_last_text(int code)
{
	return NULL;
}

/* Only C is spoken here. */
enum mpii_language mpii_language_take(void)
{
	return MPII_LANG_C;
}

bool mpii_logical_unusual(const struct mpii_type *t)
{
	return false;
}

void mpii_logical_apply(enum mpii_op_index op, int size, const void *in,
			void *inout, MPI_Count n)
{
	fail();
}

struct mpii_info *mpii_info_get(MPI_Info h)
{
	return NULL;
}

/* Nor is memory shared: the ranks are no processes. */
bool mpii_nodes_known(void)
{
	return false;
}

int mpii_node_of(int peer)
{
	return 0;
}

struct mpii_group *mpii_group_create(int size, int *peers)
{
	return NULL;
}

struct mpii_comm *mpii_comm_build(struct mpii_group *group, uint32_t context)
{
	return NULL;
}

int o2g_nudge(struct o2g_ep *ep, const int *peers, size_t n)
{
	return 0;
}

unsigned o2g_losses(const struct o2g_ep *ep)
{
	return 0;
}

int o2g_wait_until(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		   int64_t timeout_us)
{
	return 0;
}

int o2g_wait_shared(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    unsigned *asleep)
{
	return 0;
}

int o2g_mem_register(struct o2g_ep *ep, void *base, size_t len, unsigned access,
		     struct o2g_mem **mem, struct o2g_key *key)
{
	return -1;
}

void o2g_mem_deregister(struct o2g_mem *mem)
{
}

int o2g_get(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req)
{
	return -1;
}

int o2g_wait(struct o2g_req *req, struct o2g_status *status)
{
	return 0;
}

int o2g_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info)
{
	return 0;
}

unsigned mpii_state_news;

void mpii_state_explain(int (*cond)(void *arg), mpii_explain_fn *explain)
{
}

void mpii_state_in_coll(struct o2g_state_wait *w, const struct mpii_comm *c,
			unsigned seq)
{
}

int mpii_gone_latest(const struct mpii_comm *c)
{
	return -1;
}

int mpii_call_error(struct mpii_comm *c, int peer, int error)
{
	return MPI_ERR_OTHER;
}

int o2g_is_done(const struct o2g_req *req)
{
	return 1;
}

int o2g_cancel(struct o2g_req *req)
{
	return 0;
}

int o2g_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
	      struct o2g_work *work)
{
	return 1;
}
