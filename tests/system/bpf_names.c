// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * bpf_names SEAT: does the program know each of many connections by its ends, over
 * IPv4, IPv6 and IPv4 in IPv6, and no longer when it has left? SEAT is the folder of
 * a seat that nobody uses.
 */
#define _GNU_SOURCE
#include "bpf_pair.h"

#include <poll.h>
#include <time.h>

#define MANY 361

static struct bpf_seat *seat;
static int socks;
static __u32 seen; /* descriptors */

struct end {
	int here, there;
};

static void connect_v6(const char *address, struct end *e)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6 };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET6, SOCK_STREAM, 0), off = 0;

	check(inet_pton(AF_INET6, address, &a.sin6_addr) == 1, address);
	e->there = socket(AF_INET6, SOCK_STREAM, 0);
	setsockopt(listener, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	setsockopt(e->there, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	check(!bind(listener, (struct sockaddr *)&a, len) &&
		      !listen(listener, 1) &&
		      !getsockname(listener, (struct sockaddr *)&a, &len) &&
		      !connect(e->there, (struct sockaddr *)&a, len),
	      address);
	e->here = accept(listener, NULL, NULL);
	check(e->here >= 0, "accepting");
	close(listener);
}

static void enter(__u32 index, const struct end *e)
{
	__u64 value = (__u64)e->here;

	memset(&seat->conns[index], 0, sizeof(seat->conns[index]));
	seat->conns[index].id = index;
	check(!bpf_name_set(seat, index, e->here), "naming");
	check(!bpf_sys_update(socks, &index, &value, BPF_NOEXIST), "joining");
}

static void expect(__u32 index, char byte)
{
	struct bpf_desc *d = &seat->descs[seen % BPF_DESCS];
	struct timespec ms = { 0, 1000000 };

	for (int i = 0; i < 2000; i++, nanosleep(&ms, NULL)) {
		if (__atomic_load_n(&d->seq, __ATOMIC_ACQUIRE) != seen + 1)
			continue;
		seen++;
		check((d->what & BPF_ID_MASK) == index, "it is another one's");
		check(bpf_desc_len(d) == 1 &&
			      *(const char *)bpf_desc_bytes(seat, d) == byte,
		      "it is something else");
		return;
	}
	check(false, "nothing came");
}

static void say(__u32 index, const struct end *e, char byte)
{
	check(send(e->there, &byte, 1, 0) == 1, "sending");
	expect(index, byte);
}

/* The one like it cannot be told from it. */
static void no_twins(__u32 index, const struct end *e)
{
	check(bpf_name_set(seat, index + 1, e->here) == -EADDRINUSE,
	      "two connections with the same ends");
}

/* Without a name all is left to the socket, and the program says nothing. */
static void leave(__u32 index, const struct end *e)
{
	struct pollfd p = { .fd = e->here, .events = POLLIN };
	char byte = 0;

	bpf_name_clear(seat, index);
	check(send(e->there, "z", 1, 0) == 1 && poll(&p, 1, 2000) == 1 &&
		      recv(e->here, &byte, 1, MSG_DONTWAIT) == 1 && byte == 'z',
	      "the socket of one that left");
	check((__u32)(seat->tail >> 32) == seen, "it was told of");
}

static void try_all(struct end *all, __u32 n)
{
	for (__u32 i = 0; i < n; i++)
		enter(i, &all[i]);
	for (__u32 i = 0; i < n; i++) /* not in the order of joining */
		say((i * 7) % n, &all[(i * 7) % n], (char)('a' + i % 20));
	no_twins(n - 1, &all[n - 1]);
	for (__u32 i = 0; i < n; i += 2)
		leave(i, &all[i]);
	for (__u32 i = 1; i < n; i += 2)
		say(i, &all[i], 'q');
	for (__u32 i = 0; i < BPF_NAMES; i++)
		if (seat->names[i])
			bpf_name_clear(seat, seat->names[i] - 1u);
}

static bool have_v6(void)
{
	struct sockaddr_in6 a = { .sin6_family = AF_INET6,
				  .sin6_addr = in6addr_loopback };
	int fd = socket(AF_INET6, SOCK_STREAM, 0);
	bool yes = fd >= 0 && !bind(fd, (struct sockaddr *)&a, sizeof(a));

	close(fd);
	return yes;
}

static void connect_nth(int i, bool v6, struct end *e)
{
	if (!v6 || i % 3 == 0)
		connect_pair(&e->here, &e->there);
	else
		connect_v6(i % 3 == 1 ? "::1" : "::ffff:127.0.0.1", e);
}

int main(int argc, char **argv)
{
	static struct end all[MANY];
	bool v6 = have_v6();

	check(argc == 2, "the folder of a seat is needed");
	seat = open_seat(argv[1]);
	socks = open_map(argv[1], "socks");
	seen = seat->tail >> 32; /* from the trial when it was loaded */
	seat->head = seat->tail;
	for (int i = 0; i < MANY; i++)
		connect_nth(i, v6, &all[i]);
	try_all(all, MANY);
	return 0;
}
