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

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "seat.h"

#define TRIES 16
#define INTERNET 2    /* AF_INET */
#define CUT_MOST 4095 /* that the kernel takes off in one call */
#define CUTS 64

/* The whole of .bss: mapped by the process. */
struct bpf_seat seat;

/* The connections, and at BPF_CLAIM a socket of the process that has the seat. */
struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, BPF_CONNS + 1);
	__type(key, __u32);
	__type(value, __u64);
} socks SEC(".maps");

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

static __always_inline struct bpf_desc *desc_of(__u64 got)
{
	return &seat.descs[(__u32)(got >> 32) & (BPF_DESCS - 1)];
}

/*
 * The rest of the descriptor is visible first. Where the processor keeps its stores
 * in order it is enough to write the number last; elsewhere it takes an exchange,
 * which is slower to be seen.
 */
static __always_inline void commit(__u64 got, __u32 what)
{
	struct bpf_desc *d = desc_of(got);
	__u32 number = (__u32)(got >> 32) + 1;

	d->what = what;
#ifdef O2G_BPF_ORDERED
	asm volatile("" ::: "memory");
	WRITE(d->seq, number);
#else
	__sync_lock_test_and_set(&d->seq, number);
#endif
}

/* What was written is visible before anything that follows is read. */
static __always_inline void fence(void)
{
	__sync_lock_test_and_set(&seat.fence, 1);
}

static __always_inline void wake(void)
{
	__u8 nothing = 0;

	if (__sync_lock_test_and_set(&seat.armed, 0))
		bpf_ringbuf_output(&bell, &nothing, sizeof(nothing),
				   BPF_RB_FORCE_WAKEUP);
}

/* The process arms and then looks; we write and then look whether it is armed. */
static __always_inline void wake_if_armed(struct bpf_conn *c)
{
	if (READ(c->calm))
		return;
	fence();
	if (READ(seat.armed))
		wake();
}

/* --- what is left to the socket --- */

/* What we look at of the kernel's; it finds out itself where that is. */
#define KERNEL __attribute__((preserve_access_index))

typedef struct {
	int counter;
} atomic_t;

struct sock {
	int sk_rcvbuf;
	struct {
		atomic_t rmem_alloc;
	} KERNEL sk_backlog;
} KERNEL;

struct inet_sock {
	struct sock sk;
} KERNEL;

struct inet_connection_sock {
	struct inet_sock icsk_inet;
} KERNEL;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 copied_seq;
} KERNEL;

static __always_inline struct tcp_sock *socket_of(struct __sk_buff *skb)
{
	struct bpf_sock *sk = skb->sk;

	return sk ? bpf_skc_to_tcp_sock(sk) : (void *)0;
}

/* Soon the peer may send no more: whoever waits for much would never be woken. */
static __always_inline int fills_up(struct __sk_buff *skb)
{
	struct tcp_sock *tcp = socket_of(skb);
	struct sock *sk;

	if (!tcp)
		return 1;
	sk = &tcp->inet_conn.icsk_inet.sk;
	return 2 * (__u32)sk->sk_backlog.rmem_alloc.counter >
	       (__u32)sk->sk_rcvbuf;
}

static __always_inline void wake_for(struct __sk_buff *skb, struct bpf_conn *c)
{
	fence();
	if (!READ(seat.armed))
		return;
	if (READ(c->passed) < READ(c->wake_at) && !READ(c->lost) &&
	    !fills_up(skb))
		return;
	wake();
}

static __always_inline int pass(struct __sk_buff *skb, struct bpf_conn *c,
				__u32 id, __u32 len)
{
	__u64 got;

	__sync_fetch_and_add(&c->passed, len);
	if (!__sync_lock_test_and_set(&c->told, 1)) {
		if (reserve(0, &got))
			commit(got, id);
		else
			__sync_lock_test_and_set(&seat.missed, 1);
	}
	wake_for(skb, c);
	return SK_PASS;
}

/* --- bytes that came before --- */

/*
 * Where a connection begins for us: with the first byte that recv() has not taken
 * before it joined. @seq when the kernel does not tell.
 */
static __always_inline __u32 beginning(struct __sk_buff *skb, __u32 seq)
{
	struct tcp_sock *tcp = socket_of(skb);

	return tcp ? tcp->copied_seq : seq;
}

struct cutting {
	struct __sk_buff *skb;
	__u32 left;
};

static long cut_some(__u32 i, struct cutting *c)
{
	__u32 n = c->left < CUT_MOST ? c->left : CUT_MOST;

	(void)i;
	if (bpf_skb_adjust_room(c->skb, -(__s32)n, 0, 0))
		return 1;
	c->left -= n;
	return !c->left;
}

/* Take @old bytes off its front. */
static __always_inline int cut(struct __sk_buff *skb, __u32 old)
{
	struct cutting c = { skb, old };

	bpf_loop(CUTS, cut_some, &c, 0);
	return c.left ? -1 : 0;
}

/*
 * Leave only what is new. A program of this kind finds TCP's own numbers, of the
 * first byte and of the one after the last (a FIN counts), in cb[]: that is not
 * written down anywhere, so `o2g bpf load` tries it. Negative: it cannot be done.
 */
static __always_inline int make_fit(struct __sk_buff *skb, struct bpf_conn *c)
{
	__u32 seq = skb->cb[0], len = skb->len, old;

	if (skb->cb[1] - seq - len > 1)
		return 0;
	old = (READ(c->known) ? READ(c->next) : beginning(skb, seq)) - seq;
	c->known = 1;
	if (!old) {
		c->next = seq + len;
		return 0;
	}
	if ((__s32)old < 0) /* what comes next is missing: not in this world */
		return -1;
	if (old < len)
		c->next = seq + len;
	return cut(skb, old < len ? old : len);
}

/* Nothing that follows is of any use: the process hears of it and hangs up. */
static __always_inline int give_up(struct __sk_buff *skb, struct bpf_conn *c,
				   __u32 id)
{
	if (!READ(c->lost)) {
		WRITE(c->lost, 1);
		pass(skb, c, id, 0);
	}
	return SK_DROP;
}

/* --- what is moved to the seat --- */

/*
 * Older verifiers forget that a number is not 0, but not that it is at least 1:
 * the compiler must not know that the two are the same here, nor make one comparison
 * of two.
 */
static __always_inline int copy(struct __sk_buff *skb, void *to, __u32 len,
				__u32 most)
{
	__s64 n = len;

	asm volatile("" : "+r"(n));
	if (n < 1)
		return -1;
	asm volatile("" : "+r"(n));
	if (n > most)
		return -1;
	return bpf_skb_load_bytes(skb, 0, to, n);
}

/* All of its line at once, when the bytes are here: the process is looking at it. */
static __always_inline int place_short(struct __sk_buff *skb, __u32 id,
				       __u32 len)
{
	__u64 words[BPF_INSIDE / 8] = { 0 }, got;
	struct bpf_desc *d;

	if (copy(skb, words, len, BPF_INSIDE) || !reserve(0, &got))
		return -1;
	d = desc_of(got);
	for (int i = 0; i < BPF_INSIDE / 8; i++)
		WRITE(d->words[i], words[i]);
	commit(got, id | len << BPF_SHORT);
	return 0;
}

static __always_inline int place_long(struct __sk_buff *skb, __u32 id,
				      __u32 len)
{
	struct bpf_desc *d;
	__u64 got;
	__u32 at;
	int err;

	if (!reserve((len + BPF_UNIT - 1) / BPF_UNIT, &got))
		return -1;
	at = (__u32)got % BPF_UNITS * BPF_UNIT;
	err = copy(skb, seat.ring + at, len, BPF_PIECE);
	d = desc_of(got);
	d->len = len;
	d->at = at;
	commit(got, id | BPF_LONG | (err ? BPF_VOID : 0));
	return err;
}

static __always_inline struct bpf_conn *find(struct __sk_buff *skb)
{
	__u32 v4 = READ(skb->remote_ip4), v6 = READ(skb->remote_ip6[3]);
	struct bpf_ends ends = {
		.address = skb->family == INTERNET ? v4 : v6,
		.peer_port = bpf_ntohl(skb->remote_port),
		.port = skb->local_port,
	};

	for (__u32 i = 0; i < BPF_PROBES; i++) {
		__u32 n = READ(seat.names[bpf_ends_place(&ends, i)]);
		struct bpf_conn *c = &seat.conns[(n - 1) & (BPF_CONNS - 1)];

		if (n && bpf_ends_same(&c->ends, &ends))
			return c;
	}
	return (void *)0;
}

SEC("sk_skb/stream_verdict")
int o2g_verdict(struct __sk_buff *skb)
{
	struct bpf_conn *c;
	__u32 id, len;

	if (!skb->len) /* FIN: the process hears of it from the socket */
		return SK_DROP;
	c = find(skb);
	if (!c)
		return SK_PASS;
	id = c->id & BPF_ID_MASK;
	if (READ(c->lost) || make_fit(skb, c))
		return give_up(skb, c, id);
	len = skb->len;
	if (!len)
		return SK_DROP;
	if (len > BPF_PIECE || READ(c->pass) ||
	    READ(c->passed) != READ(c->taken) ||
	    (len <= BPF_INSIDE ? place_short(skb, id, len) :
				 place_long(skb, id, len)))
		return pass(skb, c, id, len);
	wake_if_armed(c);
	return SK_DROP;
}

/* Helpers want a licence that goes with the kernel's: the second of our two. */
char LICENSE[] SEC("license") = "GPL";
