/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sending a message by reference to its pages. */
#ifndef TCP_LEND_H
#define TCP_LEND_H

#include <sys/types.h>

#include "conn.h"

/* The pages of one channel's messages go through this. */
struct tcp_lender {
	int in, out;  /* a pipe; -1: there is none */
	int sink;     /* /dev/null: what the socket does not take ends there */
	bool refused; /* by the system: everything is copied from now on */
};

void tcp_lender_init(struct tcp_lender *l);
void tcp_lender_close(struct tcp_lender *l);

/* lend_choice.c: whether it pays. chan_ops.lend. */
bool tcp_lend_chosen(struct chan *c, struct chan_peer *p,
		     const struct o2g_req *req, u64 len);
/* The body of this request is copied all the same, for comparison? */
bool tcp_lend_compares(const struct tcp_conn *k, const struct o2g_req *req);
/* FIN has come for this request. */
void tcp_lend_answered(struct tcp_conn *k, u64 id);

/* Is what is left of this packet's body to be lent? */
bool tcp_lend_wants(const struct tcp_conn *k, const struct o2g_tx *tx);
/*
 * Lend a piece of it: bytes that went out, of *tried, or -EAGAIN: the socket is full.
 * -EOPNOTSUPP: it has to be copied. Any other negative errno: the connection is over.
 */
ssize_t tcp_lend(struct tcp_conn *k, const struct o2g_tx *tx, u64 *tried);
/* Memory is lent, and its answer is not here: the connection must not end in order. */
bool tcp_lend_open(const struct tcp_conn *k);
/* Have close() reset the connection. */
void tcp_lend_reset(int fd);
/* Is it reset? What came on it before may have been changed since. */
bool tcp_lend_is_reset(int fd);

#endif
