// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * word [NAMESPACE NAMESPACE]: adds to a word of another process, and learns what it was:
 * a question and an answer over tcp, by send() and by recv() until it has come. What is
 * left of MPI_Fetch_and_op and MPI_Win_flush if nothing is in between.
 */
#include "plain.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { TIMES = 20000, WARM = 2000 };

struct packet {
	char header[PLAIN_HEADER];
	uint64_t value;
};

static void take(int fd, struct packet *p)
{
	ssize_t n;

	for (size_t have = 0; have<sizeof(*p); have += n> 0 ? (size_t)n : 0) {
		n = recv(fd, (char *)p + have, sizeof(*p) - have, MSG_DONTWAIT);
		plain_check(n > 0 || (n < 0 && errno == EAGAIN), "receiving");
	}
}

static void answer(const struct plain_pair *p)
{
	static uint64_t word;
	struct packet packet;

	for (int i = 0; i < WARM + TIMES; i++) {
		take(p->fd, &packet);
		packet.value = __atomic_fetch_add(&word, packet.value,
						  __ATOMIC_SEQ_CST);
		plain_send(p->out, &packet, sizeof(packet));
	}
}

/* Seconds for one, the median. */
static double ask(const struct plain_pair *p)
{
	struct packet packet = { .value = 1 };
	static double took[TIMES];

	for (int i = 0; i < WARM + TIMES; i++) {
		double start = plain_now();

		packet.value = 1;
		plain_send(p->out, &packet, sizeof(packet));
		take(p->fd, &packet);
		plain_check(packet.value == (uint64_t)i, "adding");
		if (i >= WARM)
			took[i - WARM] = plain_now() - start;
	}
	return plain_median(took, TIMES);
}

int main(int argc, char **argv)
{
	struct plain_pair p;

	plain_check(argc == 1 || argc == 3,
		    "usage: word [NAMESPACE NAMESPACE]");
	p = plain_pair(argc == 3 ? argv + 1 : NULL);
	if (p.side == 0)
		plain_row(0, "usec", ask(&p) * 1e6);
	else
		answer(&p);
	return 0;
}
