/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The TCP channel's own state. One connection per pair of endpoints, made on
 * first use; it may get a second socket later (split.c):
 *
 *	DIALING --verdict or peer's own dial--> OPEN --disconnect--> (linger)
 *	   \--timeout, all addresses fail--> lost      \--error, FIN--> lost
 *
 * An engine that wants the socket for itself gets it instead: HANDED, not OPEN.
 *
 * A tcp_conn is the pair; it outlives the sockets tried for it. Packets sent
 * while it dials queue in it. Nothing frees a tcp_conn but disconnect() and
 * close(), and the channel reports a loss only from the outermost level (a watch
 * callback, a timer, poll), never from send(): whoever is further up the stack
 * may still hold the connection. send() leaves a note in tx_err instead, and the
 * timer does the rest.
 */
#ifndef TCP_TCP_H
#define TCP_TCP_H

#include "addr.h"
#include "burst.h"
#include "channel.h"
#include "hello.h"
#include "stream.h"

#define TCP_HELLO_SLOTS 32
#define TCP_HELLO_US 5000000  /* time a stranger has for its hello */
#define TCP_STAGGER_US 250000 /* before the next address is tried as well */
#define TCP_RETRY_US 100000   /* before the whole list is tried again */
#define TCP_REFUSALS 5	      /* of the whole list: nobody is there */
#define TCP_LINGER_US 2000000
#define TCP_LATE_US 200000 /* what an intake expects may come this late */
#define TCP_STAGE_MIN 4096
#define TCP_STAGE_MAX 65536
#define TCP_VIEW (128u << 10) /* of a view, in one call */
#define TCP_OUT_SIZE 16384    /* batch of small packets */
#define TCP_SMALL 1024	      /* body that may be batched */
/* A packet between two of us: what follows comes on the second socket. */
#define TCP_PKT_MOVED O2G_PKT_CHANNEL
#define TCP_IOV 32
#define TCP_WORK_BYTES (1u << 20) /* per connection and call */
#define TCP_LARGE (24 << 10)  /* a body worth one more call to copy it once */
#define TCP_LONG (32u << 10)  /* a body worth waiting for ... */
#define TCP_LOWAT (128 << 10) /* ... in pieces like this */
#define TCP_LOWAT_AWAY (1 << 20) /* ... while the program computes */
#define TCP_HOT 2
#define TCP_SPLITS 64 /* connections that have two sockets, at most */
#define TCP_STREAK 16 /* then watching is a waste until the next sleep */

struct tcp_conn;
struct tcp_chan;
struct tcp_dial;
struct tcp_split;

/*
 * Another way in than recv(), for a channel that is this one in all else (bpf/).
 * What it brings goes to tcp_feed(). Some bytes may still come by recv(); then
 * tcp_read() fetches them, and the intake sees to the order of the two.
 */
struct tcp_intake {
	/* The connection stands. 0: taken over, from the next byte on;
	 * negative: it is read with recv(), as ever. */
	int (*join)(struct tcp_conn *k);
	/* Its socket is about to be closed; until it is, recv() finds what
	 * still comes. */
	void (*leave)(struct tcp_conn *k);
	/* Something is there, or it was closed. Packets handled; the
	 * connection may be gone afterwards. */
	int (*recv)(struct tcp_conn *k);
	/* recv() gave @n bytes. True: there is more, and it comes next. */
	bool (*took)(struct tcp_conn *k, u64 n);
	/* Is there something for recv()? */
	bool (*expects)(const struct tcp_conn *k);
	/* recv() has nothing, but the intake expects something of it. */
	void (*later)(struct tcp_conn *k);
};

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

/* An accepted socket that has not proved anything yet. */
struct tcp_slot {
	struct chan_watch watch; /* fd -1: free */
	struct tcp_chan *chan;
	u64 since_us;
	u32 have;
	struct tcp_challenge challenge;
	struct tcp_answer answer;
};

/* A socket after disconnect: its last bytes are still on their way. */
struct tcp_linger {
	struct chan_watch watch;
	int in; /* of a split connection; -1: the same */
	struct tcp_chan *chan;
	struct o2g_list link;
	u64 deadline_us;
};

struct tcp_chan {
	struct chan chan; /* first */
	struct o2g_core *core;
	const struct tcp_intake *intake; /* of connections that can join it */
	bool splits; /* busy connections get a socket for each direction */
	char host[64];
	struct tcp_addr addrs[TCP_ADDRS];
	u32 naddrs;
	u16 port;
	struct tcp_hello_key key;

	/* listening */
	struct chan_watch listener;
	struct chan_timer accept_timer;
	bool accept_waits; /* for a free slot */
	int reserve_fd; /* given up to refuse a connection when none is left */
	struct tcp_slot slots[TCP_HELLO_SLOTS];
	struct chan_timer slot_timer;
	u64 strangers; /* connections dropped before they proved anything */
	u64 stranger_log_us, fd_log_us;

	/* connections */
	struct o2g_list conns;
	u32 nconns;		       /* in it */
	struct tcp_conn *hot[TCP_HOT]; /* last active first; may be NULL */
	bool armed; /* somebody sleeps: everything is watched */
	struct o2g_list more, dirty;
	struct chan_timer flush_timer;
	struct o2g_batch batch; /* the oldest, and this timer */
	bool in_recv;		/* the staging area is in use */
	u64 turn;		/* counts poll and flush: they end a burst */

	struct chan_timer alive_timer; /* looks for silent hosts ... */
	bool alive_set;		       /* ... while there are connections */
	struct o2g_list lingering;
	struct chan_timer linger_timer;

	u8 stage[TCP_STAGE_MAX];
	u8 view[TCP_VIEW]; /* what goes out of one */
};

static inline struct tcp_chan *tcp_chan_of(struct chan *c)
{
	return container_of(c, struct tcp_chan, chan);
}

/* tcp.c: for channels that begin with a tcp_chan */
/* On an error one line is in @why and nothing is left to clean up. */
int tcp_chan_init(struct tcp_chan *c, const struct chan_ops *ops,
		  struct chan_ep *ep, char *why, size_t why_size);
void tcp_chan_cleanup(struct tcp_chan *c);
int tcp_card(struct chan *chan, char *buf, size_t size);
bool tcp_reaches(struct chan *chan, const char *text);

/* listen.c */
int tcp_listen(struct tcp_chan *c, char *why, size_t why_size);
void tcp_unlisten(struct tcp_chan *c);
/* Out of descriptors: say so, with what to do, but not a thousand times. */
void tcp_no_fds(struct tcp_chan *c, int err, const char *what);
void tcp_stranger(struct tcp_chan *c, int fd, const char *what);

/* dial.c */
int tcp_dial_start(struct tcp_conn *k, const struct tcp_addr *to, u32 n,
		   u16 port);
void tcp_dial_stop(struct tcp_conn *k);
void tcp_dial_timer(struct tcp_conn *k);
/* Has this side proved itself on a connection of its own already? */
bool tcp_dial_committed(const struct tcp_conn *k);

/* conn.c */
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

/* watch.c */
/* Have the engine's epoll look at it, or not. */
void tcp_conn_watch(struct tcp_conn *k);
void tcp_conn_unwatch(struct tcp_conn *k);
/* The socket is full: EPOLLOUT will tell when it is not. */
void tcp_conn_block(struct tcp_conn *k);
int tcp_conn_ready(struct chan_watch *w, u32 events);
int tcp_outlet_ready(struct chan_watch *w, u32 events);
/* One of its two sockets, for the first time. */
int tcp_watch_add(struct tcp_conn *k, struct chan_watch *w);
/* Be told of room where it sends, or not. */
void tcp_watch_room(struct tcp_conn *k, bool yes);

/* sock.c */
/* Sizes count from the first segment on: set before listen or connect. */
void tcp_sock_buffers(int fd);
void tcp_sock_options(int fd);
/* One to connect with, or negative errno. */
int tcp_sock_create(int family);
/* Why it broke: negative errno, or 0 if it did not. */
int tcp_sock_error(int fd);
/* A message of @size bytes, of which there are *have. 1: all there, 0: not yet,
 * negative: closed. */
int tcp_sock_read(int fd, void *to, u32 size, u32 *have);
/* "10.0.0.1:4711 -> 10.0.0.2:4001" */
void tcp_sock_describe(int fd, char *buf, size_t size);
u64 tcp_timeout_us(void);
unsigned tcp_silence_s(void);
/* @in: a socket for receiving only that goes with it, or -1. */
void tcp_linger_add(struct tcp_chan *c, int fd, int in);
void tcp_linger_finish(struct tcp_chan *c);
int tcp_connect(struct chan *c, struct chan_peer *p, const char *card);
void tcp_disconnect(struct chan *c, struct chan_peer *p, bool orderly);
void tcp_forget(struct chan *c, struct chan_peer *p);
void tcp_describe(struct chan *c, struct chan_peer *p, char *buf, size_t size);

/* split.c */
/* A second socket is worth it. It takes its time, and may come to nothing. */
void tcp_split_start(struct tcp_conn *k);
void tcp_split_stop(struct tcp_conn *k);
/* The same, and the socket that was called for is the caller's; -1: none. */
int tcp_split_take(struct tcp_conn *k);
/* MOVED has come. */
enum o2g_proto_reason tcp_split_moved(struct tcp_conn *k,
				      const struct o2g_hdr *h);
/* An accepted socket, @fd, has proved to be @rank's second. */
enum tcp_verdict tcp_split_offer(struct tcp_chan *c, u32 rank, int fd,
				 struct tcp_conn **conn);

/* alive.c */
void tcp_alive_start(struct tcp_chan *c);
void tcp_alive_stop(struct tcp_chan *c);

/* card.c */
struct tcp_card {
	char host[64];
	char node[24];
	u16 port;
	u32 naddrs;
	struct tcp_addr addrs[TCP_ADDRS];
};
int tcp_card_write(const struct tcp_card *card, u32 rank, char *buf,
		   size_t size);
int tcp_card_read(const char *text, struct tcp_card *card);

/* send.c */
int tcp_send(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	     struct o2g_req *req, u64 off, u64 len);
int tcp_inject(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	       const void *buf, u64 len);
/* The last packet on this socket: see tcp_conn.last_here. */
void tcp_send_moved(struct tcp_conn *k);
void tcp_flush(struct chan *c);
/* Send what is queued until it is out or the socket is full. */
void tcp_push(struct tcp_conn *k);
void tcp_flush_timer(struct chan_timer *t);
void tcp_send_drop(struct tcp_conn *k);

/* recv.c */
/* Take what is there, until there is nothing more or the turn is over. Packets
 * handled. The connection may be gone afterwards. */
int tcp_recv(struct tcp_conn *k);
/* The same, by recv() in any case. */
int tcp_read(struct tcp_conn *k);
/* Bytes that came another way. Packets handled, or negative: the connection is
 * gone. */
int tcp_feed(struct tcp_conn *k, const void *data, size_t n);
/* How many bytes more have to come until waking somebody is worth it: 1 outside
 * of long bodies. */
static inline u64 tcp_worth_waking(const struct tcp_conn *k)
{
	u64 left = k->stream.in_body ? k->stream.body_left : 0, most;

	if (likely(left < TCP_LONG))
		return 1;
	most = chan_ep_away(k->chan->chan.ep) ? TCP_LOWAT_AWAY : TCP_LOWAT;
	return left < most ? left : most;
}
int tcp_poll(struct chan *c);
/* Only the connections that were active last. */
int tcp_poll_hot(struct tcp_chan *c);
bool tcp_arm(struct chan *c);
void tcp_disarm(struct chan *c);

#endif
