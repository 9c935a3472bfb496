/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * libo2g: tagged messages, one-sided operations and calls of handlers between the
 * endpoints of a job.
 *
 * Every call returns 0 (or a count) or a negative errno, which o2g_strerror()
 * describes. Calls may be made from any thread. Each has a man page.
 */
#ifndef O2G_H
#define O2G_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define O2G_API_VERSION 1

/* A peer that died, was lost or has closed: what pending requests end with. */
#define O2G_ERR_PEER 200 /* returned negative, outside errno's range */
/* A receive buffer was too small; the first bytes are in it. */
#define O2G_ERR_TRUNCATED 201
/* The request was cancelled. */
#define O2G_ERR_CANCELLED 202
/* This is the child of a fork, and the endpoint is its parent's. */
#define O2G_ERR_FORKED 203

#define O2G_ANY_SOURCE (-1)

struct o2g_ep;	/* an endpoint */
struct o2g_req; /* an operation under way */
struct o2g_msg; /* a message taken by a matched probe */
struct o2g_mem; /* registered memory */

/* A piece of memory; same layout as struct iovec. */
struct o2g_seg {
	void *base;
	size_t len;
};

/*
 * Data that lies in many small pieces: instead of a list of segments, the program
 * gives functions that copy any part of it. `read` fetches bytes [off, off + n) of
 * the message into one piece of memory, `write` puts them where they belong. They
 * are called as the message moves, from any thread, with internal
 * locks held: they must not call libo2g. Pass { &view, length } as the segment
 * and O2G_VIEW as their number; the view stays until the request is complete.
 * -EOPNOTSUPP: where the driver carries the message; it knows addresses only.
 */
struct o2g_view {
	void (*read)(const struct o2g_view *view, uint64_t off, void *to,
		     size_t n);
	void (*write)(const struct o2g_view *view, uint64_t off,
		      const void *from, size_t n);
};
#define O2G_VIEW (~0u)

struct o2g_status {
	int error;    /* 0 or negative: -O2G_ERR_TRUNCATED, -O2G_ERR_PEER … */
	int source;   /* who sent it */
	uint64_t tag; /* its tag */
	uint64_t length; /* bytes put into the buffer; for a probe, of the message */
	uint64_t message_length; /* length as sent, also when truncated */
};

/* --- endpoints --- */

#define O2G_ADDRESS_MAX 1024
#define O2G_SECRET_SIZE 32

/* An endpoint that has ended. */
struct o2g_ended {
	int rank;
	int finished; /* in order: it had said goodbye to its peers */
	char host[64];
	char how[128]; /* "it was killed by signal 9" */
};

/* What o2g_attr.doomed is asked about. */
enum o2g_doomed {
	O2G_DOOMED_ONE,	   /* a send, or a receive from one source */
	O2G_DOOMED_ANY,	   /* a receive or probe from any; yes: it is told */
	O2G_DOOMED_ANY_ASK /* the same, but it may be too late to tell it */
};

struct o2g_attr {
	int rank;	 /* this endpoint, 0 … size-1 */
	int size;	 /* endpoints in the job */
	const char *job; /* a name both ends share, for messages */
	unsigned char secret[O2G_SECRET_SIZE]; /* proves membership of the job */
	unsigned local_size; /* endpoints of the job on this host; 0 unknown */
	/*
	 * Finds the address (a string from o2g_address) of a peer; called on
	 * first use, with internal locks held: it must not call libo2g, and
	 * should not wait. -EINPROGRESS: it is not there yet; ask again in a
	 * moment. Until then messages for the peer are held back.
	 */
	int (*resolve)(void *arg, int rank, char *address, size_t size);
	/*
	 * The next endpoint that has ended, each one once; -EAGAIN: no more so
	 * far; -EINPROGRESS: ask again in a moment. Asked now and then, in the
	 * same way. NULL: nobody knows; then
	 * peers that are waited for are connected to, to find out.
	 */
	int (*ended)(void *arg, struct o2g_ended *ended);
	/*
	 * A peer is lost, or has finished in order. What needs it has ended.
	 */
	void (*lost)(void *arg, int rank, int finished);
	/*
	 * After that: must a receive or a send with this tag also end with
	 * O2G_ERR_PEER, although its own peer is alive? Asked again now and then
	 * while there are such requests. NULL: only receives from any source that
	 * are posted when a peer dies.
	 */
	int (*doomed)(void *arg, uint64_t tag, int which);
	void *arg; /* of all four */
	/*
	 * Where it is to be found: "ADDRESS:PORT", with an IPv6 address in brackets,
	 * or ":PORT" for all addresses of the host; port 0 is any. NULL: where
	 * O2G_TCP_INTERFACES and O2G_TCP_PORTS say.
	 */
	const char *listen;
	/*
	 * Whoever waits sleeps at once, as a thread does that only serves others: it is
	 * woken before those who compute, and need not spin or offer them its core.
	 */
	int sleeps;
};

int o2g_open(const struct o2g_attr *attr, struct o2g_ep **ep);
/*
 * A secret in place of the one it was opened with, for jobs whose members agree on
 * one later. To be called before any peer knows the address.
 */
void o2g_set_secret(struct o2g_ep *ep, const unsigned char *secret);
/* Says goodbye to the peers and frees everything; pending requests are lost. */
void o2g_close(struct o2g_ep *ep);
/* The string that other endpoints need to reach this one. */
int o2g_address(struct o2g_ep *ep, char *address, size_t size);
int o2g_rank(const struct o2g_ep *ep);
int o2g_size(const struct o2g_ep *ep);

/* --- peers of other jobs --- */

/* Who an endpoint is, everywhere. */
struct o2g_identity {
	uint64_t job; /* a number that follows from the job's secret and name */
	int rank;
};
void o2g_identify(const struct o2g_ep *ep, struct o2g_identity *who);
/*
 * Make an endpoint of another job known, by its address; *peer is its number in
 * all calls. It must do the same with us, with the same secret, before either is sent
 * anything. 0; or 1: it was known already, or is of our own job.
 */
int o2g_peer_add(struct o2g_ep *ep, const struct o2g_identity *who,
		 const char *address, const unsigned char *secret, int *peer);
/*
 * Say goodbye to it and forget it; its requests end with O2G_ERR_PEER. A rank of our own
 * job may connect again afterwards, as if it had never been there. -EOPNOTSUPP: it is of
 * our own job, and the driver carries that.
 */
int o2g_peer_del(struct o2g_ep *ep, int peer);
/*
 * A peer of another job that we know to have forgotten us: 1 when it is lost, with all
 * that it had sent before, 0 when there may be more, which @now does not wait for. Its
 * number is not given to another until it is deleted; whoever adds it again gets a new one.
 */
int o2g_peer_over(struct o2g_ep *ep, int peer, int now);

/*
 * A port, where somebody who knows nothing but its name can find us. The name is
 * printable, has no blanks and fits in O2G_PORT_NAME_MAX bytes; whoever has it may
 * call. Both calls return a connected socket, which is the caller's, and a secret
 * that the two ends share. -ETIMEDOUT after so many milliseconds; negative: no limit.
 * Several threads may accept at one port. Before it is closed they have to be back:
 * o2g_port_stop() sends them, now and from now on, with -ECANCELED.
 */
#define O2G_PORT_NAME_MAX 1024
struct o2g_port;
int o2g_port_open(struct o2g_ep *ep, struct o2g_port **port, char *name,
		  size_t size);
void o2g_port_stop(struct o2g_port *port);
void o2g_port_close(struct o2g_port *port);
int o2g_port_accept(struct o2g_port *port, int timeout_ms,
		    unsigned char secret[O2G_SECRET_SIZE]);
/* -EINVAL: that is no port's name. -ECONNREFUSED: it was closed. */
int o2g_port_connect(const char *name, int timeout_ms,
		     unsigned char secret[O2G_SECRET_SIZE]);

/* --- messages --- */

enum o2g_flags {
	O2G_SYNC = 1, /* send: complete only once a receive has matched */
	O2G_SERVED =
		2 /* send: for a handler (o2g_serve), never for a receive */
};

int o2g_isend(struct o2g_ep *ep, int peer, uint64_t tag,
	      const struct o2g_seg *segs, unsigned nsegs, unsigned flags,
	      struct o2g_req **req);
/* A small message that can leave at once does, without a request: 0. -EAGAIN:
 * nothing was done, use o2g_isend or o2g_send. */
int o2g_inject(struct o2g_ep *ep, int peer, uint64_t tag, const void *buf,
	       size_t len);
/* As o2g_isend, but returns when the buffer may be reused. */
int o2g_send(struct o2g_ep *ep, int peer, uint64_t tag, const void *buf,
	     size_t len, unsigned flags);
int o2g_irecv(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	      const struct o2g_seg *segs, unsigned nsegs, struct o2g_req **req);
int o2g_recv(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	     void *buf, size_t len, struct o2g_status *status);
/* 0: cancelled, or the peer is being asked; the request still has to be
 * completed with test or wait. -EBUSY: too late, it completes as usual. */
int o2g_cancel(struct o2g_req *req);

/* -EAGAIN: no such message. */
int o2g_iprobe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	       struct o2g_status *status);
int o2g_probe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	      struct o2g_status *status);
int o2g_improbe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
		struct o2g_msg **msg, struct o2g_status *status);
int o2g_mprobe(struct o2g_ep *ep, int source, uint64_t tag, uint64_t ignore,
	       struct o2g_msg **msg, struct o2g_status *status);
int o2g_imrecv(struct o2g_msg *msg, const struct o2g_seg *segs, unsigned nsegs,
	       struct o2g_req **req);

/* --- completion; a request is freed by the call that reports it done --- */

/* 1 done (status filled, request freed), 0 not yet. */
int o2g_test(struct o2g_req *req, struct o2g_status *status);
/* Has it completed? No progress, no freeing: a memory read. */
int o2g_is_done(const struct o2g_req *req);
/* What o2g_test would report of a completed request, without freeing it. */
void o2g_peek_status(const struct o2g_req *req, struct o2g_status *status);
/* How many receives, or else sends, with that tag have completed, and nobody has asked
 * for them yet. Looks at all requests. */
unsigned o2g_count_done(struct o2g_ep *ep, int receives, uint64_t tag,
			uint64_t ignore);
/* The request will be freed when it completes; nobody asks for it any more. */
void o2g_detach(struct o2g_req *req);
int o2g_wait(struct o2g_req *req, struct o2g_status *status);
/* Waits for all and frees them; NULL entries are skipped. The first error;
 * statuses may be NULL, else it has n. */
int o2g_wait_all(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		 struct o2g_status *statuses);
/* As o2g_wait_all where only failures are of interest: statuses is filled when
 * one failed, and then `error` of those that went well is 0. */
int o2g_wait_errors(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		    struct o2g_status *statuses);
/* NULL entries are skipped. -ENOENT when all are NULL. */
int o2g_wait_any(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
		 size_t *index, struct o2g_status *status);
/* Makes progress, then sleeps, until cond(arg) is true, after which it is not
 * asked again. -ETIMEDOUT after timeout_us microseconds; negative: no limit.
 * cond must not block. */
int o2g_wait_until(struct o2g_ep *ep, int (*cond)(void *arg), void *arg,
		   int64_t timeout_us);
/*
 * The same for what peers write into memory that is shared with them: that is
 * looked at before messages are. Whoever sleeps is counted in *asleep, which all
 * of them share; a peer that has written passes a full fence, and if it then finds
 * somebody asleep, wakes them with o2g_nudge.
 */
int o2g_wait_shared(struct o2g_ep *ep, int (*cond)(void *arg), void *arg,
		    unsigned *asleep);
/* Runs fn(arg) when the request completes (at once if it has), from whichever
 * thread completes it, with internal locks held: it may start operations with
 * the i-calls, and nothing else of libo2g. */
void o2g_on_done(struct o2g_req *req, void (*fn)(void *arg), void *arg);
/*
 * Have work->fn called, once, when all n requests are done; NULL entries are
 * skipped. It is called without locks, by a thread that makes progress or by the
 * library's own unless that is not wanted, and may take its time, but must not
 * wait. Returns 0; or 1 when all are done already, and then does not call it.
 * Until then work and requests must stay; the requests have no other callback and
 * are freed as usual.
 */
struct o2g_work {
	void (*fn)(struct o2g_work *work);
	int callers_only; /* not by the library's own thread */
	/* libo2g's */
	struct o2g_work *next;
	struct o2g_ep *ep;
	size_t pending;
};
int o2g_after(struct o2g_ep *ep, struct o2g_req *const *reqs, size_t n,
	      struct o2g_work *work);
/*
 * For those who share memory with peers on the same host and wait for what a
 * peer writes there: having written, wake the peers that sleep. -EOPNOTSUPP when
 * one of them is not reached through shared memory.
 */
int o2g_nudge(struct o2g_ep *ep, const int *peers, size_t n);
/* How many peers have been lost: a number to watch while waiting like that. */
unsigned o2g_losses(const struct o2g_ep *ep);
/* One round of progress; returns the number of packets handled. */
int o2g_progress(struct o2g_ep *ep);
/* A descriptor that polls readable when something has completed since
 * o2g_fd_clear. */
int o2g_fd(struct o2g_ep *ep);
void o2g_fd_clear(struct o2g_ep *ep);

/* --- put and get --- */

/* What a peer needs to name registered memory; send it in a message. */
struct o2g_key {
	uint64_t key;
	uint64_t base; /* address at the owner */
	uint64_t len;
};

enum o2g_access { O2G_READ = 1, O2G_WRITE = 2 };

int o2g_mem_register(struct o2g_ep *ep, void *base, size_t len, unsigned access,
		     struct o2g_mem **mem, struct o2g_key *key);
void o2g_mem_deregister(struct o2g_mem *mem);
/* Complete when the data is in the remote memory. */
int o2g_put(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req);
int o2g_get(struct o2g_ep *ep, int peer, const struct o2g_seg *segs,
	    unsigned nsegs, const struct o2g_key *key, uint64_t offset,
	    struct o2g_req **req);

/* --- operations on registered memory --- */

/*
 * What is done to an element of registered memory. LAND to LXOR give 0 or 1. Floating
 * point has REPLACE, NO_OP, SUM, PROD, MIN and MAX; a NaN wins MIN and MAX.
 */
enum o2g_op {
	O2G_REPLACE,
	O2G_NO_OP, /* only the result is of interest */
	O2G_SUM,
	O2G_PROD,
	O2G_MIN,
	O2G_MAX,
	O2G_LAND,
	O2G_LOR,
	O2G_LXOR,
	O2G_BAND,
	O2G_BOR,
	O2G_BXOR,
	O2G_OPS
};

/* Elements are in the byte order of the host, which is the same at all ends. */
enum o2g_type {
	O2G_I8,
	O2G_U8,
	O2G_I16,
	O2G_U16,
	O2G_I32,
	O2G_U32,
	O2G_I64,
	O2G_U64,
	O2G_F32,
	O2G_F64,
	O2G_TYPES
};
/* Bytes of an element; 0: there is no such type. */
size_t o2g_type_size(enum o2g_type type);
/* Does the operation exist for the type? */
int o2g_op_exists(enum o2g_op op, enum o2g_type type);

/*
 * Counts operations, so that many can be waited for without a request each. It is
 * the caller's, zeroed before its first use, and stays until all that it counts
 * is done. libo2g writes it with the endpoint's lock; anybody may read `pending`
 * and `local` with __atomic_load_n(..., __ATOMIC_ACQUIRE) at any time.
 */
struct o2g_counter {
	uint32_t pending; /* operations that are not done at the target */
	uint32_t local;	  /* ... whose data at the origin must stay as it is */
	int error;	  /* of the first that failed since the last flush */
};

/*
 * Where an operation goes, and who learns that it is done: a counter, a request, or
 * both. With neither it is -EINVAL. The key is only read during the call.
 */
struct o2g_target {
	int peer;
	const struct o2g_key *key;
	uint64_t offset;
	struct o2g_counter *counter; /* or NULL */
	struct o2g_req **req;	     /* or NULL */
};

/*
 * Done by whoever receives packets at the target: a thread in the library, the progress
 * thread or the driver, so the program there need not call anything. An element of
 * 1, 2, 4 or 8 bytes that is naturally aligned is read and written by one instruction
 * of the CPU (or a loop around compare-and-exchange), everywhere: by peers, by the
 * driver, by o2g_apply() and by the program's own __atomic builtins. Elements that are
 * not aligned are updated by their owner alone, one after the other.
 *
 * Order. Operations of one endpoint on memory of one peer are done in the order in
 * which they were started, with one exception: o2g_rma_get and o2g_get are not ordered
 * with others until these are done. Nor are messages ordered with operations, unless
 * o2g_in_order() says so.
 *
 * Errors come with the request, and with o2g_flush: -ENOENT there is no such key
 * (any more), -EACCES it does not allow that (put needs O2G_WRITE, get O2G_READ,
 * and all others both), -ERANGE it does not reach so far, -O2G_ERR_PEER. The call itself
 * returns -EINVAL for an operation that does not exist and -ERANGE by what the key
 * says. Segments may be a view (O2G_VIEW).
 */
int o2g_rma_put(struct o2g_ep *ep, const struct o2g_target *to,
		const struct o2g_seg *segs, unsigned nsegs);
int o2g_rma_get(struct o2g_ep *ep, const struct o2g_target *from,
		const struct o2g_seg *segs, unsigned nsegs);
/* One element. The operand is read during the call; result, which may be NULL,
 * gets the value from before when it is done. */
int o2g_fetch_op(struct o2g_ep *ep, const struct o2g_target *at, enum o2g_op op,
		 enum o2g_type type, const void *operand, void *result);
/* Put `swap` there if the bits are those of `compare`. */
int o2g_compare_swap(struct o2g_ep *ep, const struct o2g_target *at,
		     enum o2g_type type, const void *compare, const void *swap,
		     void *result);
/*
 * Many elements, each as by o2g_fetch_op; as a whole they are not atomic. Their bytes
 * are a multiple of the type's size. The values from before go to the result, which is
 * as long, or nowhere if result is NULL.
 */
int o2g_accumulate(struct o2g_ep *ep, const struct o2g_target *at,
		   enum o2g_op op, enum o2g_type type,
		   const struct o2g_seg *segs, unsigned nsegs,
		   const struct o2g_seg *result, unsigned nresult);

/* Wait until all that is counted is done at its target. The error of the first that
 * failed since the last time, or 0. */
int o2g_flush(struct o2g_ep *ep, struct o2g_counter *counter);
/* ... until all data at the origin may be changed or read. Errors stay for o2g_flush. */
int o2g_flush_local(struct o2g_ep *ep, struct o2g_counter *counter);
/* Will a message that is sent now be received after all operations on this peer's
 * memory that were started so far (gets excepted) are done there? 1 or 0. */
int o2g_in_order(struct o2g_ep *ep, int peer);

/*
 * The same on memory of this process or mapped by it, now: n elements at `target`.
 * result may be NULL, or be the operand. Aligned elements are updated as above;
 * others are not atomic. 0 or -EINVAL.
 */
int o2g_apply(enum o2g_op op, enum o2g_type type, void *target,
	      const void *operand, void *result, size_t n);

/* --- handlers: messages that call a function at the peer --- */

/* The longest message that a handler can be sent. */
#define O2G_SERVED_MAX (64u << 20)

/*
 * From now on fn is called with messages that were sent with O2G_SERVED and whose tag
 * equals `tag` in all bits but those in `ignore`. Messages of one peer are handed over
 * in the order in which they were sent; one at a time in the whole endpoint. Those that
 * nobody serves yet wait, and so do those of the same peer behind them. fn is called
 * without locks by a thread that makes progress or by the progress thread. It may start
 * operations and messages, and must not wait. The data is in one piece, aligned to 16
 * bytes, and gone when it returns. -EEXIST: some tag would be served twice.
 */
typedef void o2g_handler(void *arg, int peer, uint64_t tag, const void *data,
			 size_t len);
int o2g_serve(struct o2g_ep *ep, uint64_t tag, uint64_t ignore, o2g_handler *fn,
	      void *arg);
/* No more; when it returns, fn is not running, unless it is called from inside it. */
void o2g_serve_end(struct o2g_ep *ep, uint64_t tag, uint64_t ignore);
/*
 * Send to a handler, without a request and without waiting: what cannot leave at once is
 * copied. May be called from handlers and callbacks. -EMSGSIZE: above O2G_SERVED_MAX.
 */
int o2g_call(struct o2g_ep *ep, int peer, uint64_t tag,
	     const struct o2g_seg *segs, unsigned nsegs);

/* --- looking inside --- */

struct o2g_peer_info {
	char channel[16]; /* "shm", "bpf", "tcp", "self"; "" before first use */
	char host[64];
	char address[128]; /* both ends, as the channel writes them */
	int alive;
	int unreached; /* lost: no connection to it could be made */
	uint64_t messages_sent, bytes_sent, messages_received, bytes_received;
};
int o2g_peer_info(struct o2g_ep *ep, int peer, struct o2g_peer_info *info);

struct o2g_ep_info {
	const char *engine; /* "user" or "kernel" */
	uint64_t posted, unexpected, unexpected_bytes, unexpected_peak;
};
int o2g_ep_info(struct o2g_ep *ep, struct o2g_ep_info *info);

/* What a request does, and how far it has come. */
enum o2g_doing { O2G_SENDS, O2G_RECEIVES, O2G_PUTS, O2G_GETS, O2G_PROBES };
enum o2g_stage {
	O2G_UNMATCHED, /* receive, probe: there is no such message */
	O2G_NO_ROOM,   /* send: the receiver has no memory for it, so far */
	O2G_ANNOUNCED, /* send: the receiver has not asked for it, so far */
	O2G_MOVING
};

struct o2g_pending {
	int doing, stage;
	int peer; /* or O2G_ANY_SOURCE */
	uint64_t tag, ignore;
	uint64_t length, moved; /* bytes, in all and so far */
};

/* What a thread waits for. */
struct o2g_waits {
	const struct o2g_pending *pending; /* the first n of total; not those of
					    * a condition of the program, */
	size_t n, total;
	int any;		/* one of them is enough */
	int (*cond)(void *arg); /* ... which is this one; else NULL */
	void *arg;
	uint64_t since_ns; /* CLOCK_MONOTONIC */
};

/* A message that nobody has asked for. */
struct o2g_unexpected {
	int source;
	uint64_t tag, length;
	int announced; /* its data is still at the sender */
};

struct o2g_looked {
	uint64_t calls; /* into the library */
	uint64_t sent, received, bytes;
	uint64_t unexpected, unexpected_bytes;
	const struct o2g_unexpected *messages; /* the first n of unexpected */
	size_t n;
};

/*
 * Somebody who wants to know why threads wait. Of waits that last for less than a
 * tenth of a second it hears nothing. But for `begins`, its functions are called
 * with internal locks held and may only call o2g_look_at().
 */
struct o2g_watch {
	/* In the thread that waits, without locks; NULL: no interest. */
	void *(*begins)(void *arg);
	/* Afterwards, with what that returned, and again when something has
	 * changed. */
	void (*waits)(void *arg, void *mine, const struct o2g_waits *waits);
	void (*ends)(void *arg, void *mine);
	/* Now and then, from any thread, when there is something new. */
	void (*look)(void *arg, const struct o2g_looked *looked);
	const unsigned *news; /* changes when the watch has something new */
	void *arg;
};
/* NULL: nobody from now on. */
void o2g_watch(struct o2g_ep *ep, const struct o2g_watch *watch);
/* A request that is not done. */
void o2g_look_at(const struct o2g_req *req, struct o2g_pending *pending);

/* Describes a negative return value. Never NULL. */
const char *o2g_strerror(int error);
/* A sentence about the latest loss of this peer: which, where and why. */
int o2g_peer_error(struct o2g_ep *ep, int peer, char *text, size_t size);

/* --- the eight calls of the 2004 driver, which need no endpoint --- */

/*
 * These return 0 or, like the driver's, a positive errno: EAGAIN from
 * o2g_put_entry says that the message is in the dump area already, or is
 * arriving there; from o2g_cancel_entry, that the entry was matched.
 */

/*
 * A receive, or an unexpected message in the dump area. A posted entry belongs
 * to the library until done is set or it is cancelled.
 */
struct queue_entry {
	int rank;	  /* source; O2G_ANY_SOURCE in a receive takes any */
	uint32_t context; /* with tag: the message tag is context << 32 | tag */
	int tag;	  /* -1 in a receive takes any */
	void *buf;	  /* unexpected: where in the dump area the data is */
	size_t size;	  /* room in buf; unexpected: length of the message */
	size_t received;  /* bytes that have arrived */
	int error;	  /* 0 or a positive errno / O2G_ERR_ value */
	volatile int done;	  /* set last, when all else is valid */
	struct queue_entry *next; /* unexpected: in order of arrival */
	void *reserved;
};

int o2g_init(int n_socks);
int o2g_register_socket(int sock, int rank);
int o2g_set_dump_area(void *area, size_t size);
int o2g_start_dumper_thread(int n_thrds);
int o2g_put_entry(struct queue_entry *e);
int o2g_cancel_entry(struct queue_entry *e);
int o2g_free_entry(struct queue_entry *e);
int o2g_poll(void);

/* The first unexpected message in a dump area, or NULL; e->next goes on. */
struct queue_entry *o2g_dump_first(void *area);
/*
 * Sending stays the program's own business: it writes this header, then the
 * data, to the socket.
 */
#define O2G_MESSAGE_HEADER_SIZE 48
void o2g_message_header(void *header48, int from, int to, uint32_t context,
			int tag, size_t len);

#ifdef __cplusplus
}
#endif

#endif
