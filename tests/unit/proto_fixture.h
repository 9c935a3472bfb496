/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of the protocols. `a` and `b` are joined endpoints; `t` is one
 * whose peer (rank 1) is the test itself, which looks at its packets and makes
 * up the answers.
 */
#ifndef PROTO_FIXTURE_H
#define PROTO_FIXTURE_H

#include "unit.h"

#include "mock_engine.h"

#define ANY O2G_MATCH_ANY
#define OK O2G_PROTO_OK

extern struct mock a, b, t;
extern struct mock_conn *ab, *ba, *tc;
extern u8 data[1 << 17];

int setup(void **state);
int teardown(void **state);
#define S(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Whatever `a` and `b` have for each other arrives. */
void pump(void);

/* It is done with this status; gone afterwards. */
void ends(struct mock_req *r, int status);
/* It is done, with these bytes in its buffer. */
void got(struct mock_req *r, u64 len);
void cancel(struct mock_req *r);

/* The oldest packet that @c's endpoint has sent is of this type; take it. */
struct o2g_hdr next_out(struct mock_conn *c, enum o2g_pkt type);
void nothing_out(struct mock_conn *c);

/* A packet from the test's end to `t`. */
enum o2g_proto_reason to_t(struct o2g_hdr h);
#define TO_T(...) to_t((struct o2g_hdr){ __VA_ARGS__ })
/* The first @part bytes of an eager message (tag 3) of @len. */
void rx_part(u64 len, u64 part);

/* Send large ones until one stalls; returns how many RTS went out. */
int stall(struct mock_req **s);
/* The peer has taken these @n. */
void finish_all(struct mock_req **s, int n);

#endif
