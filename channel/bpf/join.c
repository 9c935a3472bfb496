/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Connections join the seat and leave it.
 *
 * A socket joins when it has been read empty. The program is given whole pieces,
 * also those of which recv() has already taken a part; the last message of the
 * hello may well be the beginning of one. What arrives while it joins stays in the
 * socket, unseen by the program, until the next piece comes or somebody calls
 * recv(). So that is done at once, only to look: the program then runs on what is
 * there.
 *
 * A socket that leaves stays in the sockmap until it is closed, for the goodbye
 * still reads from it: what was passed and not read would be gone if it were taken
 * out, with TCP's own count of what was read, and the kernel would complain about
 * that. Only its name is taken away: the program then passes all there is.
 *
 * The index of a connection that left is used again, once the socket is closed.
 * What it left in the ring is told apart by the generation, and the program cannot
 * be running for it under that name any more: the kernel runs it with the socket
 * locked, and leaving ends with a call that takes that lock.
 */
#include "chan.h"

#include <linux/bpf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>

#include "log.h"
#include "name.h"
#include "sys.h"

static int free_index(struct bpf_chan *b)
{
	struct bpf_seat *s = b->place.seat;

	for (u32 i = 0; i < BPF_CONNS; i++) {
		u32 at = (s->next_conn + i) % BPF_CONNS;

		if (b->members[at])
			continue;
		s->next_conn = at + 1;
		return (int)at;
	}
	return -ENOSPC;
}

void bpf_conn_sync(int fd)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);

	getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len);
}

/* Have the program see what is in the socket. */
static void look(int fd)
{
	char byte;

	while (recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
	       errno == EINTR)
		;
}

#define EARLY_STEP 16384

/*
 * Read what is there; it goes to the parser with the next turn, not from here,
 * where a malformed packet could not be reported.
 */
static int read_empty(struct tcp_in *in)
{
	for (;;) {
		u8 *more = realloc(in->early, in->early_len + EARLY_STEP);
		ssize_t n;

		if (!more)
			return -ENOMEM;
		in->early = more;
		n = recv(in->sock.watch.fd, in->early + in->early_len,
			 EARLY_STEP, MSG_DONTWAIT);
		if (n > 0)
			in->early_len += (u32)n;
		else if (n == 0 || errno != EINTR)
			return 0; /* an error will be seen again */
	}
}

static u32 new_id(struct bpf_seat *s, u32 index)
{
	struct bpf_conn *c = &s->conns[index];

	c->gen = (c->gen + 1) & BPF_GEN_MASK;
	c->id = c->gen << BPF_CONN_BITS | index;
	c->pass = 0;
	c->wake_at = 0;
	c->calm = 0;
	c->told = 0;
	c->taken = 0;
	c->passed = 0;
	c->known = 0;
	c->lost = 0;
	return c->id;
}

static int enter(struct bpf_chan *b, int fd, u32 index)
{
	u64 value = (u64)fd;
	int err = bpf_name_set(b->place.seat, index, fd);

	if (err)
		return err;
	err = bpf_sys_update(b->place.socks, &index, &value, BPF_NOEXIST);
	if (err)
		bpf_name_clear(b->place.seat, index);
	return err;
}

/* Its index or negative errno. */
static int find_place(struct bpf_chan *b, struct bpf_member *m, int fd)
{
	int index, err;

	/* One that lingers has its place until it is closed. */
	for (u32 i = 0; i < BPF_CONNS; i++) {
		index = free_index(b);
		if (index < 0)
			return index;
		m->id = new_id(b->place.seat, (u32)index);
		err = enter(b, fd, (u32)index);
		if (err != -EEXIST)
			return err ? err : index;
	}
	return -ENOSPC;
}

static int become_member(struct bpf_chan *b, struct tcp_conn *k)
{
	struct bpf_member *m = calloc(1, sizeof(*m));
	int index;

	if (!m)
		return -ENOMEM;
	index = find_place(b, m, k->in.sock.watch.fd);
	if (index < 0) {
		free(m);
		return index;
	}
	m->conn = k;
	k->in.joined = m;
	b->members[index] = m;
	return 0;
}

static int join(struct tcp_conn *k)
{
	struct bpf_chan *b = bpf_of_conn(k);
	int err = read_empty(&k->in);

	if (k->in.early_len)
		bpf_read_soon(k);
	if (!err)
		err = become_member(b, k);
	if (!err)
		look(k->in.sock.watch.fd);
	else if (!b->refused++)
		o2g_info(
			"bpf: a connection to rank %u is read without the program: %s",
			k->peer->core.rank, strerror(-err));
	return err;
}

static void leave(struct tcp_conn *k)
{
	struct bpf_chan *b = bpf_of_conn(k);
	struct bpf_member *m = bpf_member_of(k);
	u32 index = bpf_index(m->id);

	bpf_name_clear(b->place.seat, index);
	bpf_conn_sync(k->in.sock.watch.fd);
	b->members[index] = NULL;
	if (b->busy == m)
		b->busy = NULL;
	k->in.joined = NULL;
	free(m);
}

const struct tcp_intake bpf_intake = {
	.join = join,
	.leave = leave,
	.recv = bpf_conn_recv,
	.took = bpf_conn_took,
	.waits = bpf_conn_waits,
};
