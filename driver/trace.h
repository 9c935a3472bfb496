/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Tracepoints, in /sys/kernel/tracing/events/o2g: docs/driver.md tells what they
 * mean. The rank is the endpoint's own; -1 for the eight calls, which have none.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM o2g

#if !defined(O2GK_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define O2GK_TRACE_H

#include <linux/tracepoint.h>

#include "uapi/o2g.h"
#include "wire.h"

/* Macros that read like declarations: laid out by hand. */
/* clang-format off */
#define O2GK_DROP_ENUM(name, words) TRACE_DEFINE_ENUM(O2GD_DROP_##name);
O2GD_DROPS(O2GK_DROP_ENUM, O2GK_DROP_ENUM)
#undef O2GK_DROP_ENUM

#ifndef O2GK_TRACE_WORDS
#define O2GK_TRACE_WORDS
#define O2GK_DROP_WORD(name, words) { O2GD_DROP_##name, words },
#define O2GK_DROP_LAST(name, words) { O2GD_DROP_##name, words }
#define O2GK_DROP_WORDS O2GD_DROPS(O2GK_DROP_WORD, O2GK_DROP_LAST)
/* enum o2g_pkt and enum o2gd_lost, whose values never change. */
#define O2GK_PKT_WORDS                                                    \
	{ 1, "EAGER" }, { 2, "RTS" }, { 3, "CTS" }, { 4, "DATA" },        \
	{ 5, "FIN" }, { 6, "CREDIT" }, { 7, "PUT" }, { 8, "GET" },        \
	{ 9, "NAK" }, { 10, "CANCEL" }, { 11, "CANCEL_ACK" }, { 12, "BYE" }, \
	{ 16, "ATOMIC" }
#define O2GK_LOST_WORDS                                                   \
	{ 1, "closed" }, { 2, "bye" }, { 3, "error" }, { 4, "header" },   \
	{ 5, "packet" }, { 6, "memory" }, { 7, "local" }
#endif

DECLARE_EVENT_CLASS(o2g_packet,
	TP_PROTO(u32 rank, u32 peer, const struct o2g_hdr *h),
	TP_ARGS(rank, peer, h),
	TP_STRUCT__entry(
		__field(u32, rank)
		__field(u32, peer)
		__field(u8, type)
		__field(u64, tag)
		__field(u64, length)
	),
	TP_fast_assign(
		__entry->rank = rank;
		__entry->peer = peer;
		__entry->type = h->type;
		__entry->tag = h->tag;
		__entry->length = h->length;
	),
	TP_printk("rank %d peer %u %s tag %#llx length %llu",
		  (int)__entry->rank, __entry->peer,
		  __print_symbolic(__entry->type, O2GK_PKT_WORDS),
		  __entry->tag, __entry->length)
);

/* A header has come. */
DEFINE_EVENT(o2g_packet, o2g_receive,
	TP_PROTO(u32 rank, u32 peer, const struct o2g_hdr *h),
	TP_ARGS(rank, peer, h)
);

/* ... of a message that a posted receive takes. */
DEFINE_EVENT(o2g_packet, o2g_match,
	TP_PROTO(u32 rank, u32 peer, const struct o2g_hdr *h),
	TP_ARGS(rank, peer, h)
);

/* ... of a message that nobody has asked for. */
DEFINE_EVENT(o2g_packet, o2g_unexpected,
	TP_PROTO(u32 rank, u32 peer, const struct o2g_hdr *h),
	TP_ARGS(rank, peer, h)
);

/* A packet is queued for its socket. */
DEFINE_EVENT(o2g_packet, o2g_send,
	TP_PROTO(u32 rank, u32 peer, const struct o2g_hdr *h),
	TP_ARGS(rank, peer, h)
);

/* A request is complete; slot -1 for the eight calls. */
TRACE_EVENT(o2g_complete,
	TP_PROTO(u32 rank, u32 slot, int status, u32 source, u64 tag,
		 u64 length),
	TP_ARGS(rank, slot, status, source, tag, length),
	TP_STRUCT__entry(
		__field(u32, rank)
		__field(u32, slot)
		__field(int, status)
		__field(u32, source)
		__field(u64, tag)
		__field(u64, length)
	),
	TP_fast_assign(
		__entry->rank = rank;
		__entry->slot = slot;
		__entry->status = status;
		__entry->source = source;
		__entry->tag = tag;
		__entry->length = length;
	),
	TP_printk("rank %d slot %d status %d source %d tag %#llx length %llu",
		  (int)__entry->rank, (int)__entry->slot, __entry->status,
		  (int)__entry->source, __entry->tag, __entry->length)
);

/* Something was refused or dropped: the counter of that name has grown. */
TRACE_EVENT(o2g_refuse,
	TP_PROTO(u32 rank, u32 peer, u32 why, u64 count),
	TP_ARGS(rank, peer, why, count),
	TP_STRUCT__entry(
		__field(u32, rank)
		__field(u32, peer)
		__field(u32, why)
		__field(u64, count)
	),
	TP_fast_assign(
		__entry->rank = rank;
		__entry->peer = peer;
		__entry->why = why;
		__entry->count = count;
	),
	TP_printk("rank %d peer %u %s: %llu", (int)__entry->rank,
		  __entry->peer,
		  __print_symbolic(__entry->why, O2GK_DROP_WORDS),
		  __entry->count)
);

/* A socket is ours. */
TRACE_EVENT(o2g_take,
	TP_PROTO(u32 rank, u32 peer),
	TP_ARGS(rank, peer),
	TP_STRUCT__entry(
		__field(u32, rank)
		__field(u32, peer)
	),
	TP_fast_assign(
		__entry->rank = rank;
		__entry->peer = peer;
	),
	TP_printk("rank %d peer %u", (int)__entry->rank, __entry->peer)
);

/* A peer is lost. */
TRACE_EVENT(o2g_lose,
	TP_PROTO(u32 rank, u32 peer, u32 why, u64 detail),
	TP_ARGS(rank, peer, why, detail),
	TP_STRUCT__entry(
		__field(u32, rank)
		__field(u32, peer)
		__field(u32, why)
		__field(u64, detail)
	),
	TP_fast_assign(
		__entry->rank = rank;
		__entry->peer = peer;
		__entry->why = why;
		__entry->detail = detail;
	),
	TP_printk("rank %d peer %u %s %llu", (int)__entry->rank, __entry->peer,
		  __print_symbolic(__entry->why, O2GK_LOST_WORDS),
		  __entry->detail)
);

#endif

/* clang-format on */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
