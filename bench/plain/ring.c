// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * ring [NAMESPACE NAMESPACE]: half a round trip of 8 bytes over tcp, by send()
 * and by looking at the ring that the bpf channel's program writes, with a socket
 * for each direction. Root. With WATCHED in the environment the socket that
 * receives is in an epoll set, as it is when a rank may sleep.
 */
#include "plain.h"

#include <bpf/bpf.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "bpf/name.h"
#include "bpf/seat.h"
#include "clock.h"

#include "o2g_bpf.skel.h"

enum { SIZE = 8, GIVEN_BACK = BPF_DESCS / 8 };

static struct o2g_bpf *bpf;
static __u64 head;

static void join(int fd)
{
	__u64 value = (__u64)fd;
	__u32 i = 0;

	bpf = o2g_bpf__open_and_load();
	plain_check(
		bpf && !bpf_prog_attach(bpf_program__fd(bpf->progs.o2g_verdict),
					bpf_map__fd(bpf->maps.socks),
					BPF_SK_SKB_STREAM_VERDICT, 0),
		"loading the program (are you root?)");
	bpf->bss->seat.conns[0].calm = 1; /* nobody sleeps here */
	plain_check(!bpf_name_set(&bpf->bss->seat, 0, fd) &&
			    !bpf_map_update_elem(bpf_map__fd(bpf->maps.socks),
						 &i, &value, BPF_ANY),
		    "joining");
}

static void watch(int fd)
{
	struct epoll_event ev = { .events = EPOLLOUT | EPOLLRDHUP | EPOLLET };
	int set = epoll_create1(0);

	plain_check(!epoll_ctl(set, EPOLL_CTL_ADD, fd, &ev), "watching");
}

/* One message is one descriptor: it is short, and comes in one packet. */
static void take(int fd, size_t len)
{
	struct bpf_seat *s = &bpf->bss->seat;
	struct bpf_desc *d = &s->descs[(head >> 32) % BPF_DESCS];

	(void)fd, (void)len;
	while (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) !=
	       (__u32)(head >> 32) + 1)
		o2g_cpu_relax();
	head += 1ull << 32;
	/* The program reads it for every piece: seldom, as the channel does. */
	if ((head >> 32) % GIVEN_BACK == 0)
		__atomic_store_n(&s->head, head, __ATOMIC_RELEASE);
}

int main(int argc, char **argv)
{
	struct plain_pair p;
	double us;

	plain_check(argc == 1 || argc == 3,
		    "usage: ring [NAMESPACE NAMESPACE]");
	p = plain_two_ways(argc == 3 ? argv + 1 : NULL);
	join(p.fd);
	if (getenv("WATCHED"))
		watch(p.fd);
	plain_meet(&p, 0); /* what comes before the other joined is not seen */
	us = plain_half_trip(&p, SIZE, take);
	if (p.side == 0)
		plain_row(SIZE, "usec", us);
	return 0;
}
