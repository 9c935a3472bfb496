/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The program: runs for every piece that arrives on a connection of the seat's
 * sockmap, in the kernel's receive path, and moves it to the seat (seat.h).
 *
 * For one connection it runs on one processor at a time, since the kernel holds
 * the socket; for two connections it may run on two. Pieces are what the network
 * made of the stream: several messages in one, or a part of one.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "seat.h"

#define TRIES 16

/* The whole of .bss: mapped by the process. */
struct bpf_seat seat;

/* The connections, and at BPF_CLAIM a socket of the process that has the seat. */
struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, BPF_CONNS + 1);
	__type(key, __u32);
	__type(value, __u64);
} socks SEC(".maps");

/* Socket cookie to generation << BPF_CONN_BITS | index. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 2 * BPF_CONNS);
	__type(key, __u64);
	__type(value, __u32);
} conns SEC(".maps");

/* Carries nothing; its descriptor becomes readable. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} bell SEC(".maps");

#define READ(x) (*(volatile typeof(x) *)&(x))
#define WRITE(x, v) (*(volatile typeof(x) *)&(x) = (v))

/* One descriptor and @units of the ring; false when there is no room. */
static __always_inline int reserve(__u32 units, __u64 *got)
{
	for (int i = 0; i < TRIES; i++) {
		__u64 tail = READ(seat.tail), head = READ(seat.head);
		__u32 number = tail >> 32, at = tail, next = number + 1;
		__u64 then = (__u64)next << 32 | (__u32)(at + units);

		if ((__u32)(next - (__u32)(head >> 32)) > BPF_DESCS ||
		    (__u32)(at + units - (__u32)head) > BPF_UNITS)
			return 0;
		if (__sync_val_compare_and_swap(&seat.tail, tail, then) ==
		    tail) {
			*got = tail;
			return 1;
		}
	}
	return 0;
}

/*
 * The exchange makes the rest of the descriptor visible first. It is a full
 * barrier, as wake() needs.
 */
static __always_inline void commit(__u64 got, __u32 conn, __u32 len, __u32 at)
{
	__u32 number = got >> 32;
	struct bpf_desc *d = &seat.descs[number & (BPF_DESCS - 1)];

	d->conn = conn;
	d->len = len;
	d->at = at;
	__sync_lock_test_and_set(&d->seq, number + 1);
}

/* The process arms and then looks; we write and then look whether it is armed. */
static __always_inline void wake(void)
{
	__u8 nothing = 0;

	if (!READ(seat.armed))
		return;
	if (__sync_lock_test_and_set(&seat.armed, 0))
		bpf_ringbuf_output(&bell, &nothing, sizeof(nothing),
				   BPF_RB_FORCE_WAKEUP);
}

static __always_inline int pass(struct bpf_conn *c, __u32 id, __u32 len)
{
	__u64 got;

	__sync_fetch_and_add(&c->passed, len);
	if (!__sync_lock_test_and_set(&c->told, 1)) {
		if (reserve(0, &got))
			commit(got, id, 0, 0);
		else
			__sync_lock_test_and_set(&seat.missed, 1);
	}
	wake();
	return SK_PASS;
}

/*
 * Older verifiers forget that a number is not 0, but not that it is at least 1:
 * the compiler must not know that the two are the same here.
 */
static __always_inline int copy(struct __sk_buff *skb, __u32 at, __u32 len)
{
	__s64 n = len;

	asm volatile("" : "+r"(n));
	if (n < 1 || n > BPF_PIECE)
		return -1;
	return bpf_skb_load_bytes(skb, 0, seat.ring + at, n);
}

SEC("sk_skb/stream_verdict")
int o2g_verdict(struct __sk_buff *skb)
{
	__u64 cookie = bpf_get_socket_cookie(skb), got;
	__u32 len = skb->len, *id, at;
	struct bpf_conn *c;

	if (!len) /* FIN: the process hears of it from the socket */
		return SK_DROP;
	id = bpf_map_lookup_elem(&conns, &cookie);
	if (!id)
		return SK_PASS;
	c = &seat.conns[*id & (BPF_CONNS - 1)];
	if (len > BPF_PIECE || READ(c->pass) ||
	    READ(c->passed) != READ(c->taken) ||
	    !reserve((len + BPF_UNIT - 1) / BPF_UNIT, &got))
		return pass(c, *id, len);
	at = (__u32)got % BPF_UNITS * BPF_UNIT;
	if (copy(skb, at, len)) {
		commit(got, *id | BPF_VOID, len, at);
		return pass(c, *id, len);
	}
	commit(got, *id, len, at);
	wake();
	return SK_DROP;
}

/* Helpers want a licence that goes with the kernel's: the second of our two. */
char LICENSE[] SEC("license") = "GPL";
