/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * 9pnet_o2g.ko: the kernel's 9P client over O2G.
 *
 * A mount is a session. It has one endpoint at a time, with one peer, the server; when
 * the connection is lost the session's worker closes the endpoint and opens another. A
 * request of 9P is an rpc: a receive for its reply, and a message. What was not
 * answered when the connection was lost is sent again, with its number, over the next.
 *
 * Who starts an rpc again differs. One of o2gfs_request() has its memory in the kernel,
 * and the worker does it. One of o2gfs_zc_request() may have user memory, which only
 * its own process can pin; that process waits in o2gfs_zc_request(), and does it there.
 *
 * Locks: session->gate, then session->lock. The gate is held for reading by whoever uses
 * session->ep, and for writing by the worker when it takes it away. Whoever reads may be
 * held up by memory of its own that does not come, so nobody else waits for the gate:
 * where it is taken, or wanted by the worker, a request waits for the next connection,
 * and can be killed there. The lock is taken in
 * callbacks of O2G too, with softirqs off, and nothing of O2G is called with it.
 */
#ifndef O2GFS_H
#define O2GFS_H

#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/list.h>
#include <linux/rwsem.h>
#include <linux/socket.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "compat.h"
#include "o2g_kernel.h"
#include "wire.h"

#define O2GFS_NAME 64		/* of a key */
#define O2GFS_PAGES 16		/* segments that need no memory but the rpc's */
#define O2GFS_ERRAND 16		/* bytes: Tflush, Tclunk, their answers */
#define O2GFS_ERRAND_TAG 0xfffe /* 9p takes the lowest that is free */

/* Seconds: an answer to Tflush, an end of what was cancelled, a word of the server. */
#define O2GFS_PATIENCE 5
#define O2GFS_SILENCE 15

/* --- mounts --- */

/* What a mount's source says. */
struct o2gfs_source {
	struct sockaddr_storage addr;
	char key[O2GFS_NAME];
	u32 soft; /* seconds after which a request ends with an error; 0: never */
};

struct o2gfs_stats {
	u64 requests;
	u64 sent;     /* bytes, */
	u64 received; /* with headers */
	u64 again;    /* requests that were sent again */
	u64 flushed;
	u64 broken; /* replies that are not valid */
	u32 connections;
};

struct o2gfs_session {
	struct p9_client *client;
	struct net *net;
	struct o2gfs_source from;
	u8 secret[O2GK_SECRET];
	u8 uuid[FS_UUID_SIZE];
	u64 epoch;
	struct list_head known; /* o2gfs_sessions */

	struct rw_semaphore gate;
	struct o2gk_ep *ep; /* NULL: there is no connection */

	spinlock_t lock;
	u64 seq;
	int dead;    /* a negative errno for all requests from now on */
	bool broken; /* the connection is of no use any more */
	bool watching;
	unsigned long heard;	    /* jiffies: the server's last word */
	struct list_head waiting;   /* rpcs: for a connection */
	struct list_head under_way; /* ... for their messages' ends */
	struct list_head
		abandoned; /* ... that were killed; the server may answer */
	struct o2gfs_stats stats;

	bool mounted;		/* the worker may make connections */
	wait_queue_head_t wait; /* for ep, or dead */
	struct delayed_work work;
	struct delayed_work watch;
	unsigned int tries;
	int said; /* the last error that was logged */
};

/* --- requests --- */

enum o2gfs_place {
	O2GFS_NOWHERE, /* in no list */
	O2GFS_WAITING,
	O2GFS_UNDER_WAY,
	O2GFS_ABANDONED,
};

struct o2gfs_rpc {
	struct o2gk_request recv, send;
	struct o2gfs_session *s;
	struct p9_req_t *req; /* NULL: an errand of ours */
	struct o2gk_ep *ep;   /* that it was started at */
	struct list_head link;
	u64 seq;
	unsigned long since;	/* jiffies */
	unsigned long given_up; /* ... when it got its verdict */
	u16 tag;
	u8 type;
	u32 data;    /* bytes that are sent beside 9p's header */
	bool direct; /* o2gfs_zc_request() waits for it */
	bool mortal; /* its process is being killed: it does not wait forever */
	atomic_t pending; /* messages, and whoever starts or cancels them */
	int result;	  /* of an attempt: a negative errno */

	/* under session->lock: */
	u32 place;    /* enum o2gfs_place */
	bool started; /* both messages are under way, or over */
	int verdict;  /* what it ends with unless it is answered */

	/* of o2gfs_zc_request(): */
	struct completion ended;
	struct o2gk_seg *segs; /* header and data, of whichever way has data */
	unsigned int n;
	struct o2gk_seg own[O2GFS_PAGES + 1];

	/* of an errand: */
	u8 ask[O2GFS_ERRAND];
	u8 answer[O2GFS_ERRAND];
};

/* source.c */
int o2gfs_source_parse(struct net *net, const char *source, int port,
		       struct o2gfs_source *to);
/* "port=" among the options of a mount; 0 if it is not there. */
int o2gfs_options_port(const char *options);
int o2gfs_key_get(const char *name, u8 *secret);

/* session.c */
struct o2gfs_session *o2gfs_session_open(struct p9_client *client,
					 struct net *net,
					 const struct o2gfs_source *from);
void o2gfs_session_close(struct o2gfs_session *s);
/* Any context: the worker is to look. */
void o2gfs_session_kick(struct o2gfs_session *s, unsigned long delay);
/* Any context: what needs the connection ends, and there will be another. */
void o2gfs_session_break(struct o2gfs_session *s);
extern struct workqueue_struct *o2gfs_wq;

/* watch.c: what takes too long */
void o2gfs_watch(struct work_struct *work);
/* Under session->lock: something is under way. */
void o2gfs_watch_start(struct o2gfs_session *s);

/* rpc.c */
int o2gfs_rpc_init(void);
void o2gfs_rpc_exit(void);
struct o2gfs_rpc *o2gfs_rpc_alloc(struct o2gfs_session *s,
				  struct p9_req_t *req);
void o2gfs_rpc_free(struct o2gfs_rpc *rpc);
/* Under session->lock. */
void o2gfs_rpc_move(struct o2gfs_rpc *rpc, enum o2gfs_place place);
/* With the gate, at a connection: send it, or @out, and receive to @in. */
void o2gfs_rpc_start(struct o2gfs_rpc *rpc, const struct o2gk_seg *out,
		     unsigned int nout, const struct o2gk_seg *in,
		     unsigned int nin);
/* With the gate: is there a connection? Then it is under way, and to be started. */
bool o2gfs_rpc_enter(struct o2gfs_rpc *rpc);
/* Of a request of o2gfs_request(): now, or when there is a connection. */
void o2gfs_rpc_launch(struct o2gfs_rpc *rpc);
/* Under session->lock, which is let go of: end it, unless it is answered by now. */
void o2gfs_rpc_give_up(struct o2gfs_rpc *rpc, int verdict);
/* Nobody answers these any more: all that wait, or were abandoned. */
void o2gfs_rpc_end_waiting(struct o2gfs_session *s, int error);
void o2gfs_rpc_forget(struct o2gfs_session *s);
void o2gfs_rpc_resend(struct o2gfs_session *s);
/* A message that nobody has asked for: the answer to one that was abandoned? */
void o2gfs_rpc_late(struct o2gfs_session *s, u64 tag);
int o2gfs_request(struct p9_client *client, struct p9_req_t *req);
int o2gfs_cancel(struct p9_client *client, struct p9_req_t *req);
int o2gfs_cancelled(struct p9_client *client, struct p9_req_t *req);

/* reply.c */
/* One that is in no list: tell the client, and free it. */
void o2gfs_rpc_finish(struct o2gfs_rpc *rpc, int error);
/* Of one that was answered: 0, or what has come is no reply to it. */
int o2gfs_rpc_reply(struct o2gfs_rpc *rpc);
/* The client's request is answered by ourselves. */
void o2gfs_fake_reply(struct p9_req_t *req, u8 type);

/* errand.c: requests of our own */
/* Is the server there? */
void o2gfs_ping(struct o2gfs_session *s);
/* A Tclunk, which does not wait any more: true, @rpc is an errand, and 9p's is answered. */
bool o2gfs_errand_take(struct o2gfs_rpc *rpc);

/* zc.c */
int o2gfs_zc_request(struct p9_client *client, struct p9_req_t *req,
		     struct iov_iter *uidata, struct iov_iter *uodata,
		     int inlen, int outlen, int in_hdr_len);

/* pages.c: data as segments, in rpc->segs from 1 on */
/* How many bytes of @want they hold: 1 to @want; or a negative errno. */
int o2gfs_pages_get(struct o2gfs_rpc *rpc, struct iov_iter *iter, int want);
void o2gfs_pages_put(struct o2gfs_rpc *rpc);

/* look.c */
int o2gfs_look_init(void);
void o2gfs_look_exit(void);
void o2gfs_look_add(struct o2gfs_session *s);
void o2gfs_look_del(struct o2gfs_session *s);

#endif
