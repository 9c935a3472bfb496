// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * trip SIZES [NAMESPACE NAMESPACE]: half a round trip of tcp, by send() and by
 * recv() until it has come.
 */
#include "plain.h"

#include <errno.h>
#include <sys/socket.h>

static void take(int fd, size_t len)
{
	static char data[PLAIN_HEADER + PLAIN_MOST];
	ssize_t n;

	for (size_t have = 0; have<len; have += n> 0 ? (size_t)n : 0) {
		n = recv(fd, data + have, len - have, MSG_DONTWAIT);
		plain_check(n > 0 || (n < 0 && errno == EAGAIN), "receiving");
	}
}

int main(int argc, char **argv)
{
	struct plain_pair p;
	size_t sizes[16];
	double us;
	int n;

	plain_check(argc == 2 || argc == 4,
		    "usage: trip SIZES [NAMESPACE NAMESPACE]");
	n = plain_sizes(argv[1], sizes, 16);
	p = plain_pair(argc == 4 ? argv + 2 : NULL);
	for (int i = 0; i < n; i++) {
		plain_check(sizes[i] <= PLAIN_MOST, "1 MiB is the most");
		us = plain_half_trip(&p, sizes[i], take);
		if (p.side == 0)
			plain_row(sizes[i], "usec", us);
	}
	return 0;
}
