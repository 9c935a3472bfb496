/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The connection of a pair of endpoints, made on first use; it may get a second
 * socket later (split.c):
 *
 *	DIALING --verdict or peer's own dial--> OPEN --disconnect--> (linger)
 *	   \--timeout, all addresses fail--> lost      \--error, FIN--> lost
 *
 * An engine that wants the socket for itself gets it instead: HANDED, not OPEN.
 *
 * A tcp_conn outlives the sockets tried for it. Packets sent while it dials queue
 * in it. Nothing frees a tcp_conn but disconnect(), forget() and close(), and the
 * channel reports a loss only from the outermost level (a watch callback, a timer,
 * poll), never from send(): whoever is further up the stack may still hold the
 * connection. send() leaves a note in tx_err instead, and the timer does the rest.
 */
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "burst.h"
#include "channel.h"
#include "hello.h"
#include "stream.h"

struct tcp_chan;
struct tcp_dial;
struct tcp_intake;
struct tcp_split;

/* HANDED: the engine has the socket, we only keep its descriptor. */
enum tcp_state { TCP_DIALING, TCP_OPEN, TCP_HANDED, TCP_DEAD };

struct tcp_conn {
	struct chan_watch watch; /* fd -1 while there is no socket */
	int out_fd; /* where to send: the same socket, or the outlet */
	struct chan_watch outlet; /* split.c: a socket for sending, or fd -1 */
	struct tcp_chan *chan;
	struct chan_peer *peer;
	int lowat;	     /* SO_RCVLOWAT, as far as we know */
	struct o2g_list all; /* chan->conns */
	u8 state;
	bool hup;	/* the peer will send no more: read on to the end */
	bool pushing;	/* in tcp_push: send() only queues */
	bool blocked;	/* the socket took no more: wait for EPOLLOUT */
	bool asks_room; /* ... which is watched for; it may stay so a while */
	bool watched;	/* false for a hot one while the program polls */
	bool caller;	/* we have made the socket, and may make another */
	bool moved;	/* the peer sends on the other socket: follow */
	u8 streak;	/* polls that found something, since the last sleep */
	int tx_err;	/* sending failed; the timer reports it */
	struct chan_timer timer; /* dialling, or reporting tx_err */
	struct tcp_dial *dial;	 /* while dialling */
	struct tcp_split *split; /* while calling for a second socket */
	char ends[112];		 /* "here -> there"; a dead socket forgets */
	const struct tcp_intake *intake; /* NULL: recv() */
	u32 intake_id;			 /* the intake's name for it */
	u32 pieces;			 /* that it brought ... */
	u32 sleeps;    /* ... since the intake had counted so many */
	u64 closed_us; /* when recv() first said so; 0: not yet */
	u8 *early;     /* bytes read before it stood, or NULL */
	u32 early_len;

	/* receive */
	struct o2g_stream stream;
	struct o2g_rx rx;
	u32 stage;	      /* bytes of the staging area worth asking for */
	struct o2g_list more; /* chan->more: more to read than one turn takes */

	/* send: first out[], then the queue */
	struct o2g_list queue;	/* struct o2g_tx */
	struct o2g_tx *current; /* being sent by send() itself */
	struct o2g_tx
		*last_here; /* MOVED: what is behind it goes to the outlet */
	u8 *out;
	u32 out_head, out_tail;
	struct o2g_burst burst; /* of small packets */
	struct o2g_list dirty;	/* chan->dirty: out[] waits for a flush */
};

struct tcp_conn *tcp_conn_create(struct tcp_chan *c, struct chan_peer *p);
void tcp_conn_destroy(struct tcp_conn *k);
struct tcp_conn *tcp_conn_find(struct tcp_chan *c, u32 rank);
/* @fd, which has passed its hello, carries the pair from now. */
int tcp_conn_open(struct tcp_conn *k, int fd);
void tcp_conn_lost(struct tcp_conn *k, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void tcp_conn_hot(struct tcp_conn *k);
/* Sending has failed: the timer reports it, since our caller may hold @k. */
void tcp_conn_broken(struct tcp_conn *k, int err);
static inline bool tcp_conn_is_split(const struct tcp_conn *k)
{
	return k->outlet.fd >= 0;
}
/* A second socket, for this direction only; the first one keeps the other.
 * Sending begins once MOVED is out. */
void tcp_conn_receive_on(struct tcp_conn *k, int fd);
void tcp_conn_send_on(struct tcp_conn *k, int fd);
/* MOVED is out. */
void tcp_conn_has_moved(struct tcp_conn *k);
/* An accepted socket has proved to be @rank: what becomes of it. */
enum tcp_verdict tcp_conn_offer(struct tcp_chan *c, u32 rank, const char *host,
				struct tcp_conn **conn);
/* The handover to tcp_conn_open failed: the peer tries again, or is lost. */
void tcp_conn_orphan(struct tcp_conn *k);

/* chan_ops */
int tcp_connect(struct chan *c, struct chan_peer *p, const char *card);
void tcp_disconnect(struct chan *c, struct chan_peer *p, bool orderly);
void tcp_forget(struct chan *c, struct chan_peer *p);
void tcp_describe(struct chan *c, struct chan_peer *p, char *buf, size_t size);

#endif
