/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * An experiment: what if the program also parsed and matched? It copies a piece
 * to the ring, as the channel's program does, then walks over the messages in it
 * and looks each up among the posted receives.
 *
 * It is given every advantage. Messages are whole in a piece and small, receives
 * are exact and one to a bin, there is one connection, and nothing is unexpected
 * for long: no headers cut in two, no wildcards, no order between receives, no
 * credit. What it cannot do at any price is put a message where it belongs, which
 * is memory of the process: the process still copies.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "bpf_match.h"

struct match_area area;

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} socks SEC(".maps");

/* The message at @off of the piece at @at; the bytes it takes, 0 to stop. */
static __always_inline __u32 one(__u32 at, __u32 off)
{
	struct match_hdr *h;
	struct match_posted *p;
	struct match_done *d;
	__u64 number;
	__u32 bin;

	at += off & (MATCH_PIECE - 1); /* may run on behind the end */
	h = (struct match_hdr *)(area.ring + at);
	if (h->version != 1 || h->size != MATCH_HDR || h->length > MATCH_PIECE)
		return 0;
	bin = MATCH_BIN(h->src, h->tag);
	p = &area.posted[bin];
	number = __sync_fetch_and_add(&area.done_tail, 1);
	d = &area.done[number % MATCH_DONE];
	d->bin = ~0u;
	if (p->tag == h->tag && p->src == h->src &&
	    __sync_val_compare_and_swap(&p->state, 1, 2) == 1)
		d->bin = bin;
	d->at = at + MATCH_HDR;
	d->length = h->length;
	__sync_lock_test_and_set(&d->seq, (__u32)number + 1);
	return MATCH_HDR + h->length;
}

SEC("sk_skb/stream_verdict")
int match_verdict(struct __sk_buff *skb)
{
	__u64 tail;
	__u32 len = skb->len, at, off = 0;

	if (!len)
		return SK_DROP;
	if (len > MATCH_PIECE) {
		area.bad++;
		return SK_DROP;
	}
	tail = __sync_fetch_and_add(&area.tail, (len + 63) & ~63u);
	at = tail & (MATCH_RING - 1);
	if (bpf_skb_load_bytes(skb, 0, area.ring + at, len))
		return SK_DROP;
	for (int i = 0; i < MATCH_MOST && off < len; i++) {
		__u32 n = one(at, off);

		if (!n || n > MATCH_HDR + MATCH_PIECE)
			break;
		off += n;
	}
	if (off != len)
		area.bad++;
	return SK_DROP;
}

char LICENSE[] SEC("license") = "GPL";
