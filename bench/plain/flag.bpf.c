/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The least that a program on a sockmap can do and still be of use: it says that
 * something came, and throws it away.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

__u64 pieces;

struct {
	__uint(type, BPF_MAP_TYPE_SOCKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} socks SEC(".maps");

SEC("sk_skb/stream_verdict")
int flag_verdict(struct __sk_buff *skb)
{
	if (skb->len)
		*(volatile __u64 *)&pieces = pieces + 1;
	return SK_DROP;
}

char LICENSE[] SEC("license") = "GPL";
