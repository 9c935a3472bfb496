/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The connection of a pair of endpoints, made on first use. It outlives the sockets
 * tried for it; packets sent while it dials queue in it.
 *
 * Nothing frees a tcp_conn but disconnect(), forget() and close(), and the channel
 * reports a loss only from the outermost level (a watch callback, a timer, poll),
 * never from send(): whoever is further up the stack may still hold the connection.
 * send() leaves a note in out.err instead, and the timer does the rest.
 *
 * The pair (enum tcp_state):
 *
 *	from		to	when
 *	DIALING		OPEN	a socket has passed its hello, ours or the peer's, and
 *				TLS's handshake where that is wanted (secure.c)
 *	DIALING		HANDED	... and the engine wants it for itself
 *	any		DEAD	it is lost, or the peer has closed after its goodbye
 *
 * Its way in (enum tcp_in_state):
 *
 *	NONE		BUSY	a socket has come
 *	BUSY, PLAIN	PLAIN	a turn ends between two packets, with nothing left
 *	BUSY, PLAIN	BUSY	a turn ends otherwise
 *	BUSY, PLAIN	ENDING	the peer sends no more, or we cannot send any more
 *	any that reads	MOVED	MOVED has come: the peer sends on the second socket
 *	MOVED		BUSY	... which takes the first one's place
 *	any		NONE	the pair is dead
 *
 * Its way out (enum tcp_out_state):
 *
 *	HELD		OPEN	a socket has come
 *	OPEN, BLOCKED	PUSHING	tcp_push() is at work, and send() only queues
 *	PUSHING		OPEN	... and has sent all there was
 *	OPEN, PUSHING	BLOCKED	the socket took no more: EPOLLOUT is waited for
 *	any		BROKEN	sending has failed
 *	any		CLOSED	the engine has the socket, or the pair is dead
 *
 * Its sockets (enum tcp_sockets; split.c):
 *
 *	CALLED		TWO	the peer has called again
 *	CALLER		CALLING	we call for a second socket
 *	CALLING		TWO	... and receive on it
 *	CALLER, CALLING	ALONE	it cannot be had; this is not tried again
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
struct tcp_secure;
struct tcp_split;
struct tcp_tls;

enum tcp_state { TCP_DIALING, TCP_OPEN, TCP_HANDED, TCP_DEAD };

/* From PLAIN on the socket is read. */
enum tcp_in_state {
	TCP_IN_NONE,
	TCP_IN_MOVED,
	TCP_IN_PLAIN,
	TCP_IN_BUSY,
	TCP_IN_ENDING,
};

/* Up to BLOCKED a packet may be sent; from BROKEN on it is refused. */
enum tcp_out_state {
	TCP_OUT_OPEN,
	TCP_OUT_BLOCKED,
	TCP_OUT_PUSHING,
	TCP_OUT_HELD,
	TCP_OUT_BROKEN,
	TCP_OUT_CLOSED,
};

enum tcp_sockets {
	TCP_CALLED,
	TCP_CALLER,
	TCP_CALLING,
	TCP_ALONE,
	TCP_TWO,
};

struct tcp_sock {
	struct chan_watch watch; /* fd -1: there is none */
	u32 events;		 /* that it is watched for; 0: it is not */
};

struct tcp_in {
	struct tcp_sock sock;
	u8 state;
	u8 streak; /* polls that found something, since the last sleep */
	int lowat; /* SO_RCVLOWAT, as far as we know */
	u32 stage; /* bytes of the staging area worth asking for */
	struct o2g_stream stream;
	struct o2g_rx rx;
	struct o2g_list more; /* chan->more: more to read than one turn takes */
	const struct tcp_intake *intake; /* NULL: recv() */
	void *joined;			 /* the intake's own */
	struct tcp_tls *tls;		 /* NULL: no TLS, or the kernel's */
	u8 *early; /* bytes read before the intake had it, or NULL */
	u32 early_len;
};

/* First goes buf[], then the queue. */
struct tcp_out {
	int fd;		      /* of in.sock, or of this one: */
	struct tcp_sock sock; /* the second, if the peer receives on that */
	u8 state;
	int err;		  /* why it is BROKEN */
	struct o2g_list queue;	  /* struct o2g_tx */
	u32 answers;		  /* ... without a request, O2G_ANSWERS_MAX */
	struct o2g_tx *current;	  /* being sent by send() itself */
	struct o2g_tx *last_here; /* MOVED: the rest goes to the second socket */
	u8 *buf;		  /* the batch */
	u32 head, tail;
	struct o2g_burst burst; /* of small packets */
	struct o2g_list dirty;	/* chan->dirty: buf[] waits for a flush */
	struct tcp_tls *tls;	/* NULL: no TLS, or the kernel's */
	bool lent;		/* something was: lend.h */
};

/* Lending or copying, by length: lend_choice.c. */
#define TCP_LEND_CLASSES 4
struct tcp_lend_class {
	u8 count;    /* of messages, from the first trial on */
	bool copies; /* that was quicker */
	u32 best[2]; /* ps for a byte: copied, lent */
};

struct tcp_lend_trial {
	u64 id; /* the send that is looked at; 0: none */
	u64 start, len;
	bool copies;
	struct tcp_lend_class *class;
};

struct tcp_conn {
	struct tcp_chan *chan;
	struct chan_peer *peer;
	u8 state, sockets;
	u32 secret; /* its peer is of another job: which one the hello has used */
	struct tcp_in in;
	struct tcp_out out;
	struct {
		struct tcp_lend_class of[TCP_LEND_CLASSES];
		struct tcp_lend_trial trial;
	} lend;
	struct o2g_list all;	   /* chan->conns */
	struct chan_timer timer;   /* dialling, or reporting out.err */
	struct tcp_dial *dial;	   /* while DIALING, unless the peer does */
	struct tcp_split *split;   /* while CALLING */
	struct tcp_secure *secure; /* while DIALING, after the hello */
	struct tcp_tls *tls;	   /* whoever encrypts; NULL: nobody does */
	char ends[176];		   /* "here -> there"; a dead socket forgets */
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
/* The peer sends no more: what it has sent is read, then it is lost. */
static inline void tcp_conn_ending(struct tcp_conn *k)
{
	if (k->in.state >= TCP_IN_PLAIN)
		k->in.state = TCP_IN_ENDING;
}
/* Nothing goes in or out any more. */
static inline void tcp_conn_dead(struct tcp_conn *k)
{
	k->state = TCP_DEAD;
	k->in.state = TCP_IN_NONE;
	k->out.state = TCP_OUT_CLOSED;
}
/* A second socket, for this direction only; the first one keeps the other.
 * Sending begins once MOVED is out. */
void tcp_conn_receive_on(struct tcp_conn *k, int fd);
void tcp_conn_send_on(struct tcp_conn *k, int fd);
/* MOVED is out. */
void tcp_conn_has_moved(struct tcp_conn *k);
/* An accepted socket has proved to be @p: what becomes of it. */
enum tcp_verdict tcp_conn_offer(struct tcp_chan *c, struct chan_peer *p,
				const char *host, struct tcp_conn **conn);
/* What the hello with its peer is keyed with, and our answer to a challenge of it. */
struct tcp_hello_key tcp_conn_key(const struct tcp_conn *k);
/* The same with a peer of another job and that secret. */
struct tcp_hello_key tcp_other_key(const struct chan_peer *p, u32 secret);
int tcp_conn_answer(const struct tcp_conn *k, const struct tcp_challenge *c,
		    enum tcp_purpose purpose, struct tcp_answer *a);
/* The handover to tcp_conn_open failed: the peer tries again, or is lost. */
void tcp_conn_orphan(struct tcp_conn *k);

/* chan_ops */
int tcp_connect(struct chan *c, struct chan_peer *p, const char *card);
void tcp_disconnect(struct chan *c, struct chan_peer *p, bool orderly);
void tcp_forget(struct chan *c, struct chan_peer *p);
void tcp_deny(struct chan *c, const void *base, size_t len);
void tcp_describe(struct chan *c, struct chan_peer *p, char *buf, size_t size);

#endif
