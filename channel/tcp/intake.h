/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Another way in than recv(), for a channel that is this one in all else (bpf/).
 * What it brings goes to tcp_feed(). Some bytes may still come by recv(); then
 * tcp_read() fetches them, and the intake sees to the order of the two. What it
 * has to know of a connection it keeps in tcp_in.joined.
 */
#ifndef TCP_INTAKE_H
#define TCP_INTAKE_H

#include "env.h"

struct tcp_conn;

struct tcp_intake {
	/* The connection stands. 0: taken over, from the next byte on;
	 * negative: it is read with recv(), as ever. Either way what it has
	 * read is in tcp_in.early. */
	int (*join)(struct tcp_conn *k);
	/* Its socket is about to be closed; until it is, recv() finds what
	 * still comes. */
	void (*leave)(struct tcp_conn *k);
	/* Something is there, or it was closed. Packets handled; the
	 * connection may be gone afterwards. */
	int (*recv)(struct tcp_conn *k);
	/* recv() gave @n bytes. True: there is more, and it comes next. */
	bool (*took)(struct tcp_conn *k, u64 n);
	/* recv() has nothing or, if @closed, says that this was all. True: there
	 * will be more, and the intake asks again. */
	bool (*waits)(struct tcp_conn *k, bool closed);
};

#endif
