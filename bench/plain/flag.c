// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * flag [NAMESPACE NAMESPACE]: half a round trip of 8 bytes over tcp, by send() and
 * by a program on a sockmap that only says that something came, with a socket for
 * each direction. Nothing that receives in such a program is faster. Root.
 */
#include "plain.h"

#include <bpf/bpf.h>

#include "clock.h"

#include "bench_flag.skel.h"

enum { SIZE = 8 };

static struct bench_flag *bpf;
static __u64 seen;

static void join(int fd)
{
	__u64 value = (__u64)fd;
	__u32 zero = 0;

	bpf = bench_flag__open_and_load();
	plain_check(bpf && !bpf_prog_attach(
				   bpf_program__fd(bpf->progs.flag_verdict),
				   bpf_map__fd(bpf->maps.socks),
				   BPF_SK_SKB_STREAM_VERDICT, 0),
		    "loading the program (are you root?)");
	plain_check(!bpf_map_update_elem(bpf_map__fd(bpf->maps.socks), &zero,
					 &value, BPF_ANY),
		    "joining");
}

/* One message comes in one packet. */
static void take(int fd, size_t len)
{
	(void)fd, (void)len;
	while (__atomic_load_n(&bpf->bss->pieces, __ATOMIC_ACQUIRE) == seen)
		o2g_cpu_relax();
	seen++;
}

int main(int argc, char **argv)
{
	struct plain_pair p;
	double us;

	plain_check(argc == 1 || argc == 3,
		    "usage: flag [NAMESPACE NAMESPACE]");
	p = plain_two_ways(argc == 3 ? argv + 1 : NULL);
	join(p.fd);
	plain_meet(&p, 0); /* what comes before the other joined is not seen */
	us = plain_half_trip(&p, SIZE, take);
	if (p.side == 0)
		plain_row(SIZE, "usec", us);
	return 0;
}
