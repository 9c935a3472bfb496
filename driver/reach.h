/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How an endpoint of the kernel comes to its connections: it listens (listen.c) and dials
 * (dial.c), says hello (hello.c) over a socket that is nobody's yet (call.c), and hands
 * the socket over to its owner once both ends have proved who they are.
 *
 * Everything is done by workers, and nothing waits for the network: a socket's callbacks
 * and timers start a worker, which does what can be done and ends. reach->mutex is held
 * meanwhile, so that each pair is decided on once. It is taken before all locks of the
 * endpoint and its sockets.
 */
#ifndef O2GK_REACH_H
#define O2GK_REACH_H

#include <linux/completion.h>

#include "call.h"

struct o2gk_listener;

enum o2gk_reachable {
	O2GK_REACH_NONE, /* it has no connection, and may get one */
	O2GK_REACH_HAS,	 /* it has one */
	O2GK_REACH_GONE, /* it has none, and gets none any more */
};

/* In process context, with reach->mutex. */
struct o2gk_reach_ops {
	enum o2gk_reachable (*state)(void *owner, u32 peer);
	/* @peer is at the other end of @sock: take it, or leave it to the caller. */
	int (*attach)(void *owner, u32 peer, struct socket *sock);
};

struct o2gk_reach {
	const struct o2gk_reach_ops *ops;
	void *owner;
	struct net *net;
	struct mem_cgroup *memcg; /* pays */
	struct workqueue_struct *wq;
	gfp_t gfp; /* GFP_NOFS or GFP_NOIO: workers heed it; else 0 */
	u32 rank;
	char host[TCP_HOST_SIZE];
	struct o2gk_key key;

	struct mutex mutex;
	bool closing;
	struct list_head dials; /* struct o2gk_dial */
	struct work_struct lost_work;
	struct o2gk_listener *listener;
};

/* reach.c */
/*
 * net, memcg, wq, gfp, rank and host are set and stay, ops and owner as well. Whom
 * attach() waits for has no work in wq.
 */
int o2gk_reach_open(struct o2gk_reach *r, const u8 *secret, const char *job);
/* Nobody dials or listens any more, and no function of ops is called. */
void o2gk_reach_close(struct o2gk_reach *r);
/* A worker takes the mutex, and those who pay; until it is done. */
struct o2gk_reach_scope {
	struct mem_cgroup *memcg;
	unsigned int alloc;
};
void o2gk_reach_enter(struct o2gk_reach *r, struct o2gk_reach_scope *s);
void o2gk_reach_leave(struct o2gk_reach *r, struct o2gk_reach_scope *s);
/* A peer was lost, in any context: those that are to be dialled again are. */
void o2gk_reach_lost(struct o2gk_reach *r);
/* With r->mutex: @sock, with a file, has said its hello. The owner has it, or it is closed. */
int o2gk_reach_attach(struct o2gk_reach *r, u32 peer, struct socket *sock);

/* dial.c */
/* For whoever waits for the end of dialling. */
struct o2gk_dialled {
	struct completion done;
	int err; /* 0: there is a connection, or what the last try came to */
};
struct o2gk_dialling {
	u32 peer;
	struct sockaddr_storage to;
	int to_len;
	unsigned int timeout_ms;      /* of all tries together; 0: for ever */
	bool again;		      /* and again when it was lost */
	struct o2gk_dialled *dialled; /* NULL: nobody does */
};
/* -EALREADY: it is being dialled, or would be again. */
int o2gk_reach_dial(struct o2gk_reach *r, const struct o2gk_dialling *a);
/* For good; 0, or -ENOENT. Waits for its worker: never in one of r->wq. */
int o2gk_reach_dial_stop(struct o2gk_reach *r, u32 peer);
void o2gk_dial_stop_all(struct o2gk_reach *r);
/* The rest with r->mutex. Those who lost their peer. */
void o2gk_dial_again(struct o2gk_reach *r);
/* @peer calls: does our own call of it, if there is one, make way? Then it has. */
bool o2gk_dial_yields(struct o2gk_reach *r, u32 peer);

/* listen.c */
/* *@port: where, if @addr has left that open. */
int o2gk_reach_listen(struct o2gk_reach *r, const struct sockaddr_storage *addr,
		      int len, u16 *port);
void o2gk_reach_unlisten(struct o2gk_reach *r);

#endif
