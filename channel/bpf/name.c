/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "name.h"

#include <errno.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "seat.h"

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* As the program sees them in the socket. */
static int ends_of(int fd, struct bpf_ends *e)
{
	union address here, there;
	socklen_t len = sizeof(here);

	if (getsockname(fd, &here.any, &len))
		return -errno;
	len = sizeof(there);
	if (getpeername(fd, &there.any, &len))
		return -errno;
	if (there.any.sa_family == AF_INET)
		e->address = there.v4.sin_addr.s_addr;
	else
		memcpy(&e->address, &there.v6.sin6_addr.s6_addr[12], 4);
	/* The ports of both families are in the same place. */
	e->peer_port = ntohs(there.v4.sin_port);
	e->port = ntohs(here.v4.sin_port);
	return 0;
}

/* A free place; NULL when there is none, or when somebody has the same ends. */
static __u16 *free_name(struct bpf_seat *s, const struct bpf_ends *e)
{
	__u16 *found = NULL;

	for (__u32 i = 0; i < BPF_PROBES; i++) {
		__u16 *name = &s->names[bpf_ends_place(e, i)];
		__u32 index = (*name - 1u) & (BPF_CONNS - 1);

		if (*name && bpf_ends_same(&s->conns[index].ends, e))
			return NULL;
		if (!*name && !found)
			found = name;
	}
	return found;
}

int bpf_name_set(struct bpf_seat *s, __u32 index, int fd)
{
	struct bpf_ends ends;
	int err = ends_of(fd, &ends);
	__u16 *name = err ? NULL : free_name(s, &ends);

	if (!name)
		return err ? err : -EADDRINUSE;
	s->conns[index].ends = ends;
	__atomic_store_n(name, (__u16)(index + 1), __ATOMIC_RELEASE);
	return 0;
}

void bpf_name_clear(struct bpf_seat *s, __u32 index)
{
	struct bpf_ends *e = &s->conns[index].ends;

	for (__u32 i = 0; i < BPF_PROBES; i++) {
		__u16 *name = &s->names[bpf_ends_place(e, i)];

		if (*name == index + 1)
			__atomic_store_n(name, 0, __ATOMIC_SEQ_CST);
	}
	memset(e, 0, sizeof(*e));
}
