/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the files of mock_engine.h share. */
#ifndef MOCK_IMPL_H
#define MOCK_IMPL_H

#include "mock_engine.h"
#include "check_abort.h"

#include <sanitizer/asan_interface.h>

static inline void *mock_bytes(size_t n)
{
	void *p = malloc(n ? n : 1);

	CHECK(p);
	return p;
}

/* For structures: what nobody sets shows. */
static inline void *mock_memory(size_t n)
{
	return memset(mock_bytes(n), 0xcd, n);
}

static inline struct mock *mock_of(struct o2g_core *c)
{
	return container_of(c, struct mock, core);
}

static inline struct mock_conn *mock_conn_of(struct o2g_peer *p)
{
	return container_of(p, struct mock_conn, peer);
}

/* mock_packets.c */
struct mock_pkt *mock_new_pkt(const struct o2g_hdr *h, u64 len);
void mock_drop_pkts(struct o2g_list *l);

/* mock_ops.c */
extern const struct o2g_core_ops mock_core_ops;

#endif
