/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of the TCP channel over real sockets: two or more endpoints in one
 * process, and sockets of the test's own that misbehave.
 */
#ifndef TCP_FIXTURE_H
#define TCP_FIXTURE_H

#include "unit.h"

#include "settings.h"
#include "tcp/conn.h"
#include "tcp/tcp.h"
#include "host.h"

extern struct o2g_settings *settings;
extern struct host *a, *b, *both[2]; /* ranks 0 and 1 */

/* Before the first test. */
int loopback_only(void **state);
int setup(void **state);
int teardown(void **state);
#define S(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

struct tcp_chan *tc(struct host *h);
struct host *open_host(u32 rank);
/* Have its card offer ::1 alone; false where there is no IPv6. */
bool only_ipv6(struct host *h);
bool both_run(const bool *flag, int ms);
bool none_lost(const struct host *h);
u32 conns(struct host *h);
void fill(u8 *p, size_t n, u32 seed);
/* One message from @x to @y, checked; leaves both connected. */
void exchange(struct host *x, struct host *y, size_t len);

/* --- sockets of the test --- */

int dial_raw(struct host *h);
/* Read exactly @n bytes while @h works; false at EOF or after 3 s. */
bool read_raw(struct host *h, int fd, void *buf, size_t n);
bool closed_raw(struct host *h, int fd);
/* The whole hello by hand, as @src. The verdict, or 0. */
u32 hello_raw(struct host *h, int fd, u32 src, u32 dst,
	      struct tcp_answer *answer, u32 step);
/* Have @h dial a listener of the test's, as if it were @rank. */
int dialled_by(struct host *h, u32 rank, int *listener);
/* A peer of `a` made by hand: connected and believed. */
int believed(u32 rank);

#endif
