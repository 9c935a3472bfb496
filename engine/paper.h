/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls of the 2004 driver. eight.c has the calls; there are two forms
 * of what is behind them. paper_kernel.c leaves it to today's driver. paper.c
 * (the calls) and paper_rx.c (the sockets) do it in user space:
 *
 * The driver receives in the kernel's protocol handler. Here threads stand in
 * for it: they sleep in one epoll, and the one that is told about a socket owns
 * it (EPOLLONESHOT) until it has emptied it. Parsing and copying need no lock
 * therefore, and several threads copy from several sockets at a time; only
 * matching, the dump area and what waits for them are under paper.lock.
 *
 * A message without a receive and without room in the dump area is held: its
 * header is known, its body stays in the socket, and TCP makes the sender wait.
 * A held socket has no owner; whoever makes room or posts the receive takes it.
 */
#ifndef ENG_PAPER_H
#define ENG_PAPER_H

#include <pthread.h>

#include "dump.h"
#include "stream.h"

#define PAPER_READ_AHEAD 16384

/* What is behind the calls, when o2g_init was called and arguments make sense.
 * 0 or a positive errno. */
struct paper_form {
	int (*init)(int n_socks);
	int (*register_socket)(int sock, int rank);
	int (*set_dump_area)(void *area, size_t size);
	void (*dump)(void); /* a dumper thread repeats it without end */
	void (*dumper_started)(void); /* there is one more; may be NULL */
	int (*put_entry)(struct queue_entry *e);
	int (*cancel_entry)(struct queue_entry *e);
	int (*free_entry)(struct queue_entry *e);
	int (*poll)(void);
};
extern const struct paper_form paper_user, paper_kernel;

/* A posted receive. */
struct paper_recv {
	struct o2g_match_entry match;
	struct queue_entry *entry;
};

struct paper_sock {
	/* set at registration */
	int fd;
	u32 rank;
	/* under paper.lock */
	bool open;
	struct o2g_list held; /* in paper.held */
	/* orders what one owner wrote before what the next one reads */
	unsigned turns;
	/* the owner's */
	struct o2g_stream stream;
	u32 from, to;		   /* bytes of ahead that are not consumed */
	struct queue_entry *entry; /* takes the body; NULL between messages */
	u64 room;		   /* bytes that still fit into it */
	u8 *ahead;		   /* PAPER_READ_AHEAD bytes */
};

struct paper {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* news has grown, or nobody drives */
	struct o2g_match match;
	struct eng_dump *dump;
	struct o2g_list held;
	u64 news;     /* messages begun and ended, connections lost */
	u64 seen;     /* news as of the last o2g_poll */
	bool driving; /* a caller of o2g_poll receives itself */
	int nthreads, nopen;
	int nsocks, max_socks;
	int epoll, wake; /* wake: an eventfd, for the caller that drives */
	struct paper_sock *socks;
	struct paper_sock **by_rank; /* hash table */
	u32 rank_mask;
};
extern struct paper paper;

/* Wait for a socket at most @timeout ms and run it. */
void paper_receive(int timeout);
/*
 * Lock held, after room was made or a receive posted: begin what was held and
 * can go on. The caller owns those sockets now and runs them, unlocked.
 */
void paper_resume(struct o2g_list *runnable);
void paper_run_all(struct o2g_list *runnable);

#endif
