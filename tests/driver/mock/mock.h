/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What tests of the driver see of the mock kernel. */
#ifndef MOCK_H
#define MOCK_H

#include "mock_kernel.h"

struct mock {
	/* the n-th call that may fail does; 0: none. Which one, and as what */
	unsigned int fail_at, calls;
	const char *failed; /* NULL: it was not reached */
	const char *failed_in;
	int failed_err;

	/* how the world is */
	size_t segment;	   /* data arrives in pieces of this size; 0: as sent */
	size_t send_space; /* what a connection holds before it is full */
	size_t pin_at_most; /* pages pinned by one call; 0: any number */
	bool pins_move; /* those that are only read: the process may get others */
	unsigned int pin_flags; /* of the last call */
	bool no_pins;		/* the user has pinned what he may */
	unsigned long ram;	/* pages */
	bool compat;		/* calls are those of a 32-bit program */
	unsigned int refuse;	/* so many allocations that others cause fail */
	size_t refuse_longer;	/* ... all that are longer than this; 0: none */
	bool near;  /* connections are of this host, as their addresses tell */
	bool lifo;  /* of all work, the latest is done first */
	bool later; /* what is sent arrives later, not in the sender's call */
	int send_error; /* what sending fails with */
	bool silent;	/* nobody answers who is called */
	u32 caller;	/* the address that calls come from */
	bool privileged;
	bool setuid;	/* its program is root's, and runs with those rights */
	bool own_pages; /* of the kernel are used, and not only pinned ones */
	void (*on_copy)(void); /* called once, when pages are copied to pages */
	void (*on_wait)(void); /* called whenever a while is slept */
	bool dying;	       /* the process was killed, and is in a call */
	bool may_kill;	       /* workers in the middle of something */
	unsigned int kills;
	unsigned int waits;

	/* what must be as before at the end */
	int creds, spins, holds, mutexes, rcu, atomic, softirq, socks;
	unsigned int live, pinned, charged;
	size_t bytes;		/* of what is live */
	unsigned int dirtied;	/* pages marked so */
	unsigned int rests;	/* calls of cond_resched() */
	unsigned long searched; /* bits of maps that were passed over */
	unsigned long longest;	/* calls of functions with softirqs off */
	size_t largest; /* that was allocated in one piece, for tests to look */
	size_t copied;	/* bytes, by TCP and by those who copy for the driver */
	unsigned int workers; /* of the workqueue made last */
	int maps;
	bool signal; /* one is pending */
	bool nofs;   /* memory must not come from file systems */
	bool in_use; /* from the first open on, what is allocated is charged */
};
extern struct mock mock;
extern struct mm_struct mock_mm, mock_other_mm;
extern struct net mock_net, mock_other_net;

/* A new world, in which the n-th call fails; check that nothing of it is left. */
void mock_start(unsigned int fail_at);
void mock_end(void);
/* Let data arrive and workers work until all is quiet; false: it was. */
bool mock_run(void);
/* Let what has been sent arrive, but no worker work. */
bool mock_net_run(void);
/* For the mock itself: softirqs are held off between the two. */
void mock_hold(void);
void mock_let_go(void);
/* The calls are those of another process, until it is changed back. */
void mock_as(struct mm_struct *mm, unsigned int uid);
/* Its last thread is about to close its descriptors; false: it is not. */
void mock_process_ends(bool ends);

/* Two ends of a connection, as descriptors. */
void mock_tcp_pair(int fd[2]);
struct sock *mock_sock(int fd);
void mock_close(int fd);
void mock_reset(struct sock *sk); /* the other side does */
void mock_write(struct sock *sk, const void *data, size_t n); /* by hand */
/* The same by the process that has @fd: nothing else happens meanwhile. */
void mock_raw(int fd, const void *data, size_t n);

/* Likewise: it reads all there is; how much that was. */
size_t mock_read(int fd);
/* What a process may do with its descriptor: connect(AF_UNSPEC), listen(), and
 * accept() of somebody's connection, as a descriptor. */
void mock_disconnect(int fd);
int mock_listen(int fd);
int mock_accept(int fd);
/* The protocol that a process asks for by setsockopt(TCP_ULP), 0 or -EEXIST. */
int mock_set_ulp(int fd, const struct tcp_ulp_ops *ops);

/* A process that calls whoever listens, by the driver or a process, or listens itself;
 * descriptors, or -errno. A listener is closed by the last. */
int mock_connect(u16 port);
int mock_serve(u16 port);
int mock_take_call(int fd);
void mock_unserve(int fd);
size_t mock_recv(int fd, void *to, size_t n);
/* Time passes; until the next timer: false, there is none. */
void mock_pass(unsigned int ms);
bool mock_pass_next(void);
bool mock_timers(void);

int mock_module_init(void);
void mock_module_exit(void);

#endif
