/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Messages for other kernel modules: what libo2g is to a process, o2g.ko is to a module
 * that includes this. The module is an endpoint with a number; its peers are other
 * modules and processes with libo2g, on this host or another. docs/driver.md has the
 * limits, and driver/examples/ a model.
 *
 * Callbacks of an endpoint are called one at a time, with softirqs off and without
 * any lock of the driver, unless they are said to come from a worker. They must not sleep.
 * They may use every call here that is said to be for any context. A request may end,
 * and its callback be called, before the call that has started it returns: so hold no
 * lock across a call that the callback takes as well.
 */
#ifndef O2G_KERNEL_H
#define O2G_KERNEL_H

#include <linux/gfp.h>
#include <linux/types.h>

struct iov_iter;
struct mm_struct;
struct net;
struct o2gk_ep; /* an endpoint */
struct page;
struct sockaddr;
struct socket;

#define O2GK_ANY 0xffffffffu /* source of a receive: any */
#define O2GK_SECRET 32	     /* bytes of a job's secret */

/* --- endpoints --- */

/**
 * struct o2gk_msg - a message that no receive was posted for
 * @source: number of the peer
 * @tag: its tag
 * @length: its length
 * @data: all of it, for as long as the handler runs; NULL when it is long and has only
 *	been announced: o2gk_mrecv() fetches it
 */
struct o2gk_msg {
	u32 source;
	u64 tag;
	u64 length;
	const void *data;
};

/**
 * struct o2gk_owner - whose endpoint it is
 * @connected: a peer has got a connection: before anything else is told of it. May be
 *	NULL.
 * @lost: a peer is lost, and all that needed it has ended. The number can be
 *	connected again, in process context. @error is a negative errno: -ESHUTDOWN for a
 *	peer that has closed in order. Not called for o2gk_close() and o2gk_disconnect().
 *	May be NULL.
 * @unposted: a message has come that no receive was posted for. True: it is dealt with,
 *	by what the handler has read of @msg->data, or by o2gk_mrecv(). False: it waits
 *	for a receive. May be NULL: all wait.
 *
 * All are called with what o2gk_open() was given as @private.
 */
struct o2gk_owner {
	void (*connected)(struct o2gk_ep *ep, void *private, u32 peer);
	void (*lost)(struct o2gk_ep *ep, void *private, u32 peer, int error);
	bool (*unposted)(struct o2gk_ep *ep, void *private,
			 const struct o2gk_msg *msg);
};

/**
 * struct o2gk_config - what an endpoint is like
 * @rank: its own number in its job
 * @size: of the job: numbers of peers are below this
 * @gfp: GFP_KERNEL, GFP_NOFS or GFP_NOIO, for all that it allocates where it may
 *	sleep: what a file system or a block device under memory pressure needs. 0: GFP_KERNEL
 * @memory: bytes that messages may take that wait for a receive; 0: 4 MiB
 * @secret: O2GK_SECRET bytes that all of the job know, for o2gk_listen() and
 *	o2gk_connect(), or NULL; copied
 * @job: the job's name, likewise, of up to 63 bytes; NULL: an empty one
 */
struct o2gk_config {
	u32 rank;
	u32 size;
	gfp_t gfp;
	u64 memory;
	const u8 *secret;
	const char *job;
};

/**
 * o2gk_open() - make an endpoint
 * @net: where its connections are
 * @config: what it is like
 * @owner: whose it is; stays valid until it is closed
 * @private: for the owner's functions
 *
 * What it holds is charged to the caller's memory cgroup. Process context.
 *
 * Return: the endpoint, or an ERR_PTR.
 */
struct o2gk_ep *o2gk_open(struct net *net, const struct o2gk_config *config,
			  const struct o2gk_owner *owner, void *private);

/**
 * o2gk_close() - end it
 * @ep: the endpoint
 *
 * Says goodbye to its peers. Every request that is under way ends with -ECANCELED or
 * -ECONNRESET, and its callback is called, before this returns; so a module that
 * closes its endpoints can be unloaded. Process context, not from a callback.
 */
void o2gk_close(struct o2gk_ep *ep);

/* --- peers --- */

/**
 * o2gk_listen() - let peers of the job connect
 * @ep: the endpoint
 * @addr: where: IPv4 or IPv6; port 0: any
 * @len: of @addr
 *
 * Whoever knows the secret becomes a peer, with the number that it says it is, unless
 * that has a connection. Once for an endpoint, until it is closed. Process context.
 *
 * Return: the port, or a negative errno: -ENOKEY: the endpoint has no secret; -EALREADY:
 * it listens; what binding to @addr fails with.
 */
int o2gk_listen(struct o2gk_ep *ep, const struct sockaddr *addr, int len);

/**
 * o2gk_connect() - connect to a peer that listens
 * @ep: the endpoint
 * @peer: the number that it must have
 * @addr: where it listens
 * @len: of @addr
 * @timeout_ms: how long this may take; 0: without limit
 *
 * Also a peer that was lost. As long as nobody answers there it is tried again, after
 * 100 ms first and 5 s at last. Process context; can be killed.
 *
 * Return: 0: there is a connection, which may be one that the peer has made meanwhile.
 * A negative errno: -EISCONN: there was one before; -EALREADY: another caller connects
 * to it; -ENOKEY: the endpoint has no secret; -EINTR; or what the last try came to:
 * -EKEYREJECTED: one end does not know the secret; -ENXIO: it is not @peer who listens
 * there; -ESTALE: it has given this endpoint up; -EPROTO, -EBADMSG: it is another version
 * of O2G, or none; -ETIMEDOUT, -ECONNREFUSED and other errors of TCP.
 */
int o2gk_connect(struct o2gk_ep *ep, u32 peer, const struct sockaddr *addr,
		 int len, unsigned int timeout_ms);

/**
 * o2gk_attach() - use a connection that was made elsewhere
 * @ep: the endpoint
 * @peer: the number of whom it leads to
 * @sock: a TCP connection, over which no packet has gone yet, and that has a file:
 *	from sockfd_lookup() of what a process has handed over, or sock_alloc_file()
 *
 * Also for a peer that was lost. Process context.
 *
 * Return: 0, and the reference to the file is the endpoint's; or a negative errno:
 * -EISCONN when the peer has a connection.
 */
int o2gk_attach(struct o2gk_ep *ep, u32 peer, struct socket *sock);

/**
 * o2gk_disconnect() - give a peer up
 * @ep: the endpoint
 * @peer: its number
 *
 * What needs it ends with -ECONNRESET before this returns, and messages of it that wait
 * for a receive are gone. Process context, not from a callback.
 *
 * Return: 0, or -ENOENT.
 */
int o2gk_disconnect(struct o2gk_ep *ep, u32 peer);

/**
 * o2gk_is_connected() - has a peer a connection?
 * @ep: the endpoint
 * @peer: its number
 *
 * Any context.
 */
bool o2gk_is_connected(struct o2gk_ep *ep, u32 peer);

/**
 * o2gk_queued() - how much is in line for a peer?
 * @ep: the endpoint
 * @peer: its number
 *
 * A peer that does not read what it is sent makes this grow. Any context.
 *
 * Return: packets that have not been given to TCP yet; 0 for a peer of the same host.
 */
u64 o2gk_queued(struct o2gk_ep *ep, u32 peer);

/* --- memory --- */

enum o2gk_memory {
	O2GK_KERNEL, /* kmalloc, vmalloc, static data, a stack that stays */
	O2GK_PAGE,   /* a page or a folio, from an offset on */
	O2GK_USER, /* of any process: pinned meanwhile. Process context only */
	O2GK_ITER, /* what an iov_iter has left. It is not moved on */
};

/**
 * struct o2gk_seg - a piece of a buffer; a buffer is an array of them, of any kinds
 * @kind: enum o2gk_memory
 * @length: bytes; of an iterator at most iov_iter_count()
 * @addr: kernel memory
 * @page: a page, and
 * @offset: ... where in it
 * @user: user memory, and
 * @mm: ... whose. The caller has a reference for as long as the call takes
 * @iter: of kvecs, bvecs, or user memory of the current process
 *
 * The array is read during the call. The memory stays the caller's, and must be there
 * until the request has ended. What is sent is copied once, by TCP, or between two
 * endpoints of a host straight to where it is received.
 */
struct o2gk_seg {
	u32 kind;
	u32 offset;
	size_t length;
	union {
		void *addr;
		struct page *page;
		void __user *user;
		struct iov_iter *iter;
	};
	struct mm_struct *mm;
};

/* --- requests --- */

enum o2gk_flags {
	O2GK_ATOMIC = 1,      /* start it without sleeping: any context */
	O2GK_FROM_WORKER = 2, /* done() is called by a worker, and may sleep */
};

#define O2GK_REQUEST_ROOM 112 /* longs */

/**
 * struct o2gk_request - something under way; the caller's memory
 * @done: called when it has ended; the request is the caller's again. NULL: o2gk_wait()
 * @context: the caller's
 * @flags: enum o2gk_flags
 * @status: 0; -EMSGSIZE: the message was longer than the buffer, which is full;
 *	-ECANCELED; -ECONNRESET: the peer is lost; for a put or get also what the peer
 *	says of the key: -ENOENT, -EACCES, -ERANGE
 * @source: a receive: from whom
 * @tag: ... and with which tag
 * @length: bytes that were sent or received
 * @message: a receive: length of the message
 * @room: the driver's
 *
 * @done, @context and @flags are set by the caller before each use; all else is set
 * when it ends. It must not move or be freed before. It may come from a slab or a mempool
 * of the caller's; what is sent needs memory of the driver's own only for up to 4 KiB,
 * or for a list of pages.
 */
struct o2gk_request {
	void (*done)(struct o2gk_request *req);
	void *context;
	u32 flags;
	int status;
	u32 source;
	u64 tag;
	u64 length;
	u64 message;
	unsigned long room[O2GK_REQUEST_ROOM];
};

/**
 * o2gk_isend() - send a message
 * @ep: the endpoint
 * @peer: to whom
 * @tag: with this tag
 * @segs: the message
 * @n: of @segs
 * @req: ends when the memory can be used again
 *
 * Messages to a peer are matched in the order in which they were sent.
 *
 * Return: 0, and @req will end, or has ended; or a negative errno, and nothing has
 * happened: -ENOTCONN: there is no connection; -ENOMEM; -EFAULT: no such memory;
 * -EINVAL. No connection is lost for any of them.
 */
int o2gk_isend(struct o2gk_ep *ep, u32 peer, u64 tag,
	       const struct o2gk_seg *segs, unsigned int n,
	       struct o2gk_request *req);

/**
 * o2gk_issend() - the same; ends when the message has met its receive
 * @ep: the endpoint
 * @peer: to whom
 * @tag: with this tag
 * @segs: the message
 * @n: of @segs
 * @req: the request
 *
 * Return: as o2gk_isend().
 */
int o2gk_issend(struct o2gk_ep *ep, u32 peer, u64 tag,
		const struct o2gk_seg *segs, unsigned int n,
		struct o2gk_request *req);

/**
 * o2gk_irecv() - receive a message
 * @ep: the endpoint
 * @source: from whom, or O2GK_ANY
 * @tag: with which tag
 * @mask: bits of the tag that count
 * @segs: where to
 * @n: of @segs
 * @req: ends when it is there
 *
 * A receive from one peer needs its connection, as o2gk_isend() does, or a message of it
 * that is here already. One from any stays until it is cancelled.
 *
 * Return: as o2gk_isend().
 */
int o2gk_irecv(struct o2gk_ep *ep, u32 source, u64 tag, u64 mask,
	       const struct o2gk_seg *segs, unsigned int n,
	       struct o2gk_request *req);

/**
 * o2gk_mrecv() - receive the message that the handler was called for
 * @ep: the endpoint
 * @msg: what the handler was given
 * @segs: where to
 * @n: of @segs
 * @req: ends when it is there; its flags have O2GK_ATOMIC
 *
 * From struct o2gk_owner's unposted() only, which then returns true.
 *
 * Return: as o2gk_isend(); -ENOENT: it is gone, with its peer or to a receive.
 */
int o2gk_mrecv(struct o2gk_ep *ep, const struct o2gk_msg *msg,
	       const struct o2gk_seg *segs, unsigned int n,
	       struct o2gk_request *req);

/**
 * o2gk_cancel() - end a request that is not needed any more
 * @ep: its endpoint
 * @req: the request
 *
 * Any context, as o2gk_isend() with the flags of the request. Whatever is returned, the
 * request ends as any other does, once.
 *
 * Return: 0: with -ECANCELED. -EINPROGRESS: a send; the peer is asked. -EBUSY: too
 * late, it has ended or ends as if nothing had been said.
 */
int o2gk_cancel(struct o2gk_ep *ep, struct o2gk_request *req);

/**
 * o2gk_wait() - wait until a request without a callback has ended
 * @ep: its endpoint
 * @req: the request
 * @timeout: in jiffies, or MAX_SCHEDULE_TIMEOUT
 *
 * Can be killed. Process context, not from a callback.
 *
 * Return: the request's status; -ETIME or -EINTR, and it is still under way: cancel it,
 * and wait again until it has ended, by o2gk_wait_end().
 */
int o2gk_wait(struct o2gk_ep *ep, struct o2gk_request *req, long timeout);

/**
 * o2gk_wait_end() - the same, without limit
 * @ep: its endpoint
 * @req: the request
 *
 * Return: the request's status.
 */
int o2gk_wait_end(struct o2gk_ep *ep, struct o2gk_request *req);

/**
 * o2gk_probe() - is there a message that no receive was posted for?
 * @ep: the endpoint
 * @source: from whom, or O2GK_ANY
 * @tag: with which tag
 * @mask: bits of the tag that count
 * @msg: what it is like; @data is NULL
 *
 * Any context. The oldest such message is told; it stays where it is.
 *
 * Return: is there one?
 */
bool o2gk_probe(struct o2gk_ep *ep, u32 source, u64 tag, u64 mask,
		struct o2gk_msg *msg);

/* --- registered memory --- */

enum o2gk_access {
	O2GK_READ = 1,	/* peers may get */
	O2GK_WRITE = 2, /* peers may put */
};

/**
 * o2gk_reg() - let peers put to and get from memory
 * @ep: the endpoint
 * @segs: the memory
 * @n: of @segs
 * @access: enum o2gk_access
 * @key: what it is known by, as peers need it
 *
 * Process context.
 *
 * Return: 0, or a negative errno as o2gk_isend().
 */
int o2gk_reg(struct o2gk_ep *ep, const struct o2gk_seg *segs, unsigned int n,
	     u32 access, u64 *key);

/**
 * o2gk_dereg() - end that
 * @ep: the endpoint
 * @key: of the memory
 *
 * Nobody uses the memory any more when this returns: what is under way is waited for,
 * which takes until its peer goes on with it or is lost. Process context.
 *
 * Return: 0, or -ENOENT.
 */
int o2gk_dereg(struct o2gk_ep *ep, u64 key);

/**
 * o2gk_put() - write to registered memory of a peer
 * @ep: the endpoint
 * @peer: whose
 * @key: the memory
 * @offset: where in it
 * @segs: what
 * @n: of @segs
 * @req: ends when it is there
 *
 * Return: as o2gk_isend().
 */
int o2gk_put(struct o2gk_ep *ep, u32 peer, u64 key, u64 offset,
	     const struct o2gk_seg *segs, unsigned int n,
	     struct o2gk_request *req);

/**
 * o2gk_get() - read registered memory of a peer
 * @ep: the endpoint
 * @peer: whose
 * @key: the memory
 * @offset: where in it
 * @segs: where to
 * @n: of @segs
 * @req: ends when it is here
 *
 * Return: as o2gk_isend().
 */
int o2gk_get(struct o2gk_ep *ep, u32 peer, u64 key, u64 offset,
	     const struct o2gk_seg *segs, unsigned int n,
	     struct o2gk_request *req);

#endif
