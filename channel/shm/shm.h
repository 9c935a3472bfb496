/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The shared-memory channel: what its files share.
 *
 *	seg.c	    segments: create, open another's, map rings
 *	file.c	    the file of a segment that is not in the hall
 *	hall.c	    one file for the segments of all ranks of this host
 *	place.c	    who has which place for a ring in them
 *	shm.c	    open, close, card; the table of functions
 *	half.c	    the halves of a link: one ring each
 *	conn.c	    links: connect, attend, disconnect
 *	death.c	    noticing that a process has ended
 *	send.c	    into rings
 *	recv.c	    out of rings
 *	doorbell.c  sleeping and waking
 *	cma.c	    reading and writing a peer's memory
 *	keys.c	    what of it has been registered
 */
#ifndef SHM_H
#define SHM_H

#include "ring.h"
#include "settings.h"

/* A segment of this process or, mapped, of another. */
struct shm_seg {
	int fd; /* own: open for others to open; another's: -1 once mapped */
	u64 at; /* where it starts in the file */
	char *base; /* in the hall: where all of it is mapped; else NULL */
	u32 seat;   /* ... and whose it is */
	u32 nseats; /* places that belong to those with a seat there */
	u32 max_places;
	struct shm_head *head;
	u64 **groups; /* tables of places beyond the head's, NULL: not mapped */
	u32 ngroups;
	char path[256]; /* file that must be unlinked, or "" */
};

/* Where a segment is, from a card. */
struct shm_where {
	char node[40];
	u32 pid;
	int fd;
	u64 at, token;
	char path[256];
};

/* The file for all ranks of this host. */
struct shm_hall {
	int fd;
	char *base; /* NULL: we are not in it */
	u64 bytes, extent;
	u32 seats, mine;
	u32 max_places; /* of every segment */
	u64 job;
	bool can_get; /* it was possible with another rank */
};

struct shm;

/* One peer. It has two halves that come and go on their own. */
struct shm_link {
	/* hot */
	struct shm_end tx; /* in the peer's segment */
	bool fence;	   /* a full fence before looking whether it sleeps */
	struct shm_head *theirs;
	struct o2g_list queue; /* struct o2g_tx that did not fit */
	struct shm_end rx;     /* in our segment */
	struct chan_peer *p;
	struct shm *shm;

	/* the packet being received */
	bool in_body;
	u64 body_left;
	struct o2g_rx rxp;

	struct o2g_sink source;	 /* cursor of the first queued tx's body */
	struct o2g_list pending; /* shm->pending while queue is not empty */
	struct o2g_list all;	 /* shm->links */

	/* cold */
	bool bound;  /* p->link is this; else another channel sends to p */
	bool dead;   /* disconnected; freed when no loop can hold it */
	u32 answers; /* in the queue, without a request: O2G_ANSWERS_MAX */
	bool failed; /* out of memory: to be lost at the next poll */
	bool scanned;
	bool gone; /* it had ended before we could reach it */
	bool saw_close;
	u32 scan_index;
	struct shm_seg seg; /* the peer's */
	u64 name;	    /* of it, in places of ours */
	u64 *tx_word;	    /* the place of tx */
	u32 tx_place, rx_place;
	bool rx_held;	/* the sender has not taken it yet */
	bool is_silent; /* its process has ended: nobody writes to rx */
	u32 pid;
	bool can_get; /* its memory can be read and written */
	bool polled;  /* death.c looks by timer whether it lives */
	bool has_watch;
	struct chan_watch watch; /* pidfd */
};

/* What poll looks at: dense, so that idle rings cost one load each. */
struct shm_scan {
	const struct shm_cell *cell;
	u32 pos;
	struct shm_link *link;
};

/* What the owner knows of a place. */
struct shm_mine {
	struct shm_link *link; /* whose ring it has, NULL: none */
	bool seen;	       /* since its sender attached */
};

struct shm {
	struct chan chan;
	struct shm_hall hall;
	struct shm_seg own;
	u32 attention;	       /* as last seen */
	struct shm_mine *mine; /* by place */
	bool strangers; /* some were attached by peers that we do not know yet */
	u32 nmine;
	u32 nscan, max_scan;
	struct shm_scan *scan;
	struct o2g_core *core;
	struct o2g_list pending; /* links with queued tx */
	struct o2g_list links;
	struct o2g_list graves; /* dead links, by ->all */
	int depth;		/* loops that walk links */
	u32 rank;
	u32 cells, data; /* of the rings in our segment */
	bool can_barrier;
	bool use_get;
	struct chan_watch bell;
	struct chan_timer alive_timer; /* where there is no pidfd */
	bool alive_timer_set;
	char host[64];
};

/* seg.c */
int shm_seg_create(struct shm *s, char *why, size_t why_size);
u64 shm_page_round(u64 n);
u64 shm_seg_bytes(u32 cells, u32 data, u32 places);
int shm_seg_open(const struct shm_where *w, u32 rank, struct shm_seg *seg);
/* Allocate and map the ring at @place. -ENOSPC when there is no memory. */
int shm_ring_map(const struct shm_seg *seg, u32 place, struct shm_end *e);
void shm_ring_unmap(struct shm_end *e);
/* Give its memory back; whoever uses the place next finds zeros. */
int shm_ring_wipe(const struct shm_seg *seg, u32 place);
u64 *shm_group_map(const struct shm_seg *seg, u32 group);
int shm_keys_allocate(const struct shm_seg *seg);
void shm_seg_close(struct shm_seg *seg);

/* file.c */
/* Has the user named a directory for rings? */
bool shm_dir_given(void);
const char *shm_dir(void);
int shm_file_create(struct shm *s, u64 token, u64 bytes);
int shm_file_open(const struct shm_where *w);
/* Room for what is mapped from there. */
int shm_file_allocate(int fd, u64 off, u64 len);
bool shm_seg_openable(const struct shm_where *w);

/* hall.c */
/* Have our segment there, which is all zero. False: not possible. */
bool shm_hall_enter(struct shm *s);
/* Others may use our segment. */
void shm_hall_ready(struct shm *s);
void shm_hall_leave(struct shm *s);
/* The segment of a rank of our job. -ENOENT: it is not in the hall. */
int shm_hall_seg(struct shm *s, u32 rank, struct shm_seg *seg);

/* place.c */
#define SHM_ANY_PLACE UINT32_MAX
/* The sender's: in @seg, which is another's; @prefer or any. 0 or negative
 * errno. */
int shm_place_take(struct shm_seg *seg, u64 name, u32 prefer, u32 *place);
void shm_place_return(struct shm_seg *seg, u32 place);
/* The owner's. -EEXIST: that sender has taken one by itself. */
int shm_place_hold(struct shm *s, u64 name, u32 prefer, u32 *place);
/* False: the sender has taken it by now. */
bool shm_place_unhold(struct shm *s, u64 name, u32 place);
/* Its sender has closed it, or has ended. */
void shm_place_free(struct shm *s, u32 place);
u64 *shm_place_word(struct shm_seg *seg, u32 place);
u32 shm_places(const struct shm_seg *seg);
struct shm_mine *shm_mine(struct shm *s, u32 place);

static inline enum shm_state shm_state_of(u64 word)
{
	return word & SHM_STATE;
}

/* shm.c */
int shm_card(struct chan *c, char *buf, size_t size);
int shm_parse_card(const char *card, struct shm_where *w);

/* half.c */
/* Receive from @ring, which is at @place of our segment. */
int shm_rx_use(struct shm_link *l, u32 place, const struct shm_end *ring);
/* Have a ring for a peer that may not have heard of us yet. */
int shm_rx_hold(struct shm_link *l);
void shm_rx_drop(struct shm_link *l);
enum shm_state shm_rx_state(struct shm *s, u32 place);
/* Open the peer's segment, in the hall if @card is NULL, and map our ring in it;
 * a pidfd of its process. */
int shm_tx_map(struct shm_link *l, const char *card, int *pidfd);
/* It was not attached: the peer must not see it close either. */
void shm_tx_abandon(struct shm_link *l, int pidfd);
void shm_tx_attach(struct shm_link *l);
void shm_tx_close(struct shm_link *l);

/* conn.c */
int shm_connect(struct chan *c, struct chan_peer *p, const char *card);
int shm_meet(struct chan *c, struct chan_peer *p);
void shm_disconnect(struct chan *c, struct chan_peer *p, bool orderly);
/* It may have attached before we were told of it. */
void shm_known(struct chan *c, struct chan_peer *p);
void shm_drop_link(struct shm_link *l, bool orderly);
void shm_bury(struct shm *s);
/* Somebody attached or closed. */
void shm_attend(struct shm *s);

/* death.c */
void shm_watch_process(struct shm_link *l, int pidfd);
void shm_unwatch_process(struct shm_link *l);
bool shm_process_ended(u32 pid, int pidfd);
int shm_pidfd(u32 pid);

/* send.c */
int shm_inject(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	       const void *buf, u64 len);
int shm_send(struct chan *c, struct chan_peer *p, const struct o2g_hdr *h,
	     struct o2g_req *req, u64 off, u64 len);
/* Push a link's queue as far as it goes. */
int shm_push(struct shm_link *l);
bool shm_can_push(struct shm_link *l);
/* The link closes: push what fits, without telling the core. */
void shm_push_last(struct shm_link *l);

/* recv.c */
int shm_poll(struct chan *c);
bool shm_work_waits(struct shm *s);
/* Take everything that @l's process left in its ring. */
void shm_drain(struct shm_link *l);
int shm_scan_add(struct shm_link *l);
void shm_scan_del(struct shm_link *l);

/* doorbell.c */
bool shm_barrier_setup(void);
int shm_bell_open(struct shm *s, char *why, size_t why_size);
void shm_bell_close(struct shm *s);
void shm_bell_ring(struct shm *s, const struct shm_head *whose);
bool shm_arm(struct chan *c);
void shm_disarm(struct chan *c);
void shm_nudge(struct chan *c, struct chan_peer *p);

/* Having written something for the owner of @whose: wake it if it sleeps. The
 * caller has put the fence or relies on the sleeper's barrier. */
static inline void shm_wake(struct shm *s, struct shm_head *whose)
{
	if (unlikely(__atomic_load_n(&whose->sleeping, __ATOMIC_RELAXED)) &&
	    __atomic_exchange_n(&whose->sleeping, 0, __ATOMIC_ACQ_REL))
		shm_bell_ring(s, whose);
}

/* cma.c */
bool shm_can_get(struct shm *s, const struct shm_link *l);
int shm_get(struct chan *c, struct chan_peer *p, u64 addr,
	    const struct o2g_seg *segs, u32 nsegs, u64 len);
int shm_put(struct chan *c, struct chan_peer *p, u64 addr,
	    const struct o2g_seg *segs, u32 nsegs, u64 len);

/* keys.c */
void shm_set_key(struct chan *c, u32 slot, const struct o2g_key *key,
		 unsigned access);
void shm_deny(struct chan *c, const void *base, size_t len);
int shm_find_key(struct chan *c, struct chan_peer *p, u64 key, u64 offset,
		 u64 len, bool write, u64 *addr);

#endif
