/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The public calls: checks, then the engine's table. */
#include "choose.h"
#include "engine.h"
#include "log.h"

static inline const struct eng_ops *ops(const struct o2g_ep *ep)
{
	return ((const struct eng_ep *)ep)->ops;
}

/* Requests, messages and memory start with a pointer to their endpoint. */
static inline const struct eng_ops *part_ops(const void *part)
{
	return ((const struct eng_part *)part)->ep->ops;
}

int o2g_open(const struct o2g_attr *attr, struct o2g_ep **ep)
{
	const char *name;
	char why[160];
	int err;

	if (!attr || attr->size < 1 || attr->rank < 0 ||
	    attr->rank >= attr->size)
		return -EINVAL;
	err = o2g_choose_engine(&name, why, sizeof(why));
	if (err) {
		o2g_error("no engine: %s", why);
		return err;
	}
	o2g_debug("engine %s: %s", name, why);
	return !strcmp(name, "kernel") ? kern_open(attr, ep) :
					 user_open(attr, ep);
}

void o2g_close(struct o2g_ep *ep)
{
	if (ep)
		ops(ep)->close(ep);
}

void o2g_set_secret(struct o2g_ep *ep, const unsigned char *secret)
{
	ops(ep)->set_secret(ep, secret);
}

int o2g_address(struct o2g_ep *ep, char *address, size_t size)
{
	return ops(ep)->address(ep, address, size);
}

int o2g_rank(const struct o2g_ep *ep)
{
	return ((const struct eng_ep *)ep)->rank;
}

int o2g_size(const struct o2g_ep *ep)
{
	return ((const struct eng_ep *)ep)->size;
}

int o2g_isend(struct o2g_ep *ep, int peer, uint64_t tag,
	      const struct o2g_seg *segs, unsigned nsegs, unsigned flags,
	      struct o2g_req **req)
{
	if (unlikely(flags & ~(unsigned)O2G_SYNC))
		return -EINVAL;
	return ops(ep)->isend(ep, peer, tag, segs, nsegs, flags, req);
}

int o2g_inject(struct o2g_ep *ep, int peer, uint64_t tag, const void *buf,
	       size_t len)
{
	return ops(ep)->inject(ep, peer, tag, buf, len);
}

int o2g_send(struct o2g_ep *ep, int peer, uint64_t tag, const void *buf,
	     size_t len, unsigned flags)
{
	if (unlikely(flags & ~(unsigned)O2G_SYNC))
		return -EINVAL;
	return ops(ep)->send(ep, peer, tag, buf, len, flags);
}

int o2g_irecv(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	      const struct o2g_seg *segs, unsigned nsegs, struct o2g_req **req)
{
	return ops(ep)->irecv(ep, source, tag, ignore, segs, nsegs, req);
}

int o2g_recv(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	     void *buf, size_t len, struct o2g_status *status)
{
	return ops(ep)->recv(ep, source, tag, ignore, buf, len, status);
}

int o2g_cancel(struct o2g_req *req)
{
	return part_ops(req)->cancel(req);
}

int o2g_iprobe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	       struct o2g_status *status)
{
	return ops(ep)->probe(ep, source, tag, ignore, false, NULL, status);
}

int o2g_probe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	      struct o2g_status *status)
{
	return ops(ep)->probe(ep, source, tag, ignore, true, NULL, status);
}

int o2g_improbe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
		struct o2g_msg **msg, struct o2g_status *status)
{
	return ops(ep)->probe(ep, source, tag, ignore, false, msg, status);
}

int o2g_mprobe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	       struct o2g_msg **msg, struct o2g_status *status)
{
	return ops(ep)->probe(ep, source, tag, ignore, true, msg, status);
}

int o2g_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
	       struct o2g_req **req)
{
	return part_ops(msg)->imrecv(msg, segs, nsegs, req);
}

int o2g_test(struct o2g_req *req, struct o2g_status *status)
{
	return part_ops(req)->test(req, status);
}

int o2g_is_done(const struct o2g_req *req)
{
	return part_ops(req)->is_done(req);
}

void o2g_peek_status(const struct o2g_req *req, struct o2g_status *status)
{
	part_ops(req)->peek_status(req, status);
}

void o2g_detach(struct o2g_req *req)
{
	part_ops(req)->detach(req);
}

int o2g_wait(struct o2g_req *req, struct o2g_status *status)
{
	return part_ops(req)->wait(req, status);
}

int o2g_wait_all(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		 struct o2g_status *statuses)
{
	return ops(ep)->wait_all(ep, reqs, n, statuses);
}

int o2g_wait_errors(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		    struct o2g_status *statuses)
{
	return ops(ep)->wait_errors(ep, reqs, n, statuses);
}

struct any {
	struct o2g_req *const *reqs;
	size_t n, index;
};

static int any_done(void *arg)
{
	struct any *a = arg;

	for (size_t i = 0; i < a->n; i++) {
		if (a->reqs[i] && o2g_is_done(a->reqs[i])) {
			a->index = i;
			return 1;
		}
	}
	return 0;
}

int o2g_wait_any(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		 size_t *index, struct o2g_status *status)
{
	struct any a = { reqs, n, 0 };
	size_t i = 0;

	while (i < n && !reqs[i])
		i++;
	if (i == n)
		return -ENOENT;
	if (!any_done(&a))
		ops(ep)->wait_until(ep, any_done, &a, -1);
	*index = a.index;
	return o2g_wait(reqs[a.index], status);
}

int o2g_wait_until(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		   int64_t timeout_us)
{
	return ops(ep)->wait_until(ep, cond, arg, timeout_us);
}

int o2g_wait_shared(struct o2g_ep *ep, int (*cond)(void *), void *arg,
		    unsigned *asleep)
{
	return ops(ep)->wait_shared(ep, cond, arg, asleep);
}

void o2g_on_done(struct o2g_req *req, void (*fn)(void *), void *arg)
{
	part_ops(req)->on_done(req, fn, arg);
}

int o2g_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
	      struct o2g_work *work)
{
	return ops(ep)->after(ep, reqs, n, work);
}

int o2g_nudge(struct o2g_ep *ep, const int *peers, size_t n)
{
	return ops(ep)->nudge(ep, peers, n);
}

unsigned o2g_losses(const struct o2g_ep *ep)
{
	return ops(ep)->losses(ep);
}

int o2g_progress(struct o2g_ep *ep)
{
	return ops(ep)->progress(ep);
}

int o2g_fd(struct o2g_ep *ep)
{
	return ops(ep)->fd(ep);
}

void o2g_fd_clear(struct o2g_ep *ep)
{
	ops(ep)->fd_clear(ep);
}

int o2g_mem_register(struct o2g_ep *ep, void *base, size_t len, unsigned access,
		     struct o2g_mem **mem, struct o2g_key *key)
{
	return ops(ep)->mem_register(ep, base, len, access, mem, key);
}

void o2g_mem_deregister(struct o2g_mem *mem)
{
	part_ops(mem)->mem_deregister(mem);
}

int o2g_put(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req)
{
	if (nsegs == O2G_VIEW)
		return -EOPNOTSUPP;
	return ops(ep)->rma(ep, true, peer, segs, nsegs, key, offset, req);
}

int o2g_get(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req)
{
	if (nsegs == O2G_VIEW)
		return -EOPNOTSUPP;
	return ops(ep)->rma(ep, false, peer, segs, nsegs, key, offset, req);
}

int o2g_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info)
{
	return ops(ep)->peer_info(ep, peer, info);
}

int o2g_ep_info(struct o2g_ep *ep, struct o2g_ep_info *info)
{
	return ops(ep)->ep_info(ep, info);
}

int o2g_peer_error(struct o2g_ep *ep, int peer, char *text, size_t size)
{
	return ops(ep)->peer_error(ep, peer, text, size);
}

const char *o2g_strerror(int error)
{
	switch (-error) {
	case 0:
		return "success";
	case O2G_ERR_PEER:
		return "the peer is gone";
	case O2G_ERR_TRUNCATED:
		return "the message is longer than the receive buffer";
	case O2G_ERR_CANCELLED:
		return "cancelled";
	case O2G_ERR_FORKED:
		return "the child of a fork has no MPI: use MPI in the parent only, or exec";
	default:
		return strerror(error < 0 ? -error : error);
	}
}
