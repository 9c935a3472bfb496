/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * libo2g without MPI: two endpoints, here in one process, say hello. A real
 * program has one endpoint per process and finds the addresses of the others
 * in its own way: a file, a database, the launcher.
 */
#include <o2g.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 7

static struct o2g_ep *ep[2];

/* Called by libo2g when a peer is used for the first time. */
static char addresses[2][O2G_ADDRESS_MAX];

static int resolve(void *arg, int rank, char *address, size_t size)
{
	snprintf(address, size, "%s", addresses[rank]);
	return 0;
}

static void check(const char *what, int rc)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, o2g_strerror(rc));
	exit(1);
}

int main(void)
{
	struct o2g_attr attr = { .size = 2,
				 .job = "hello",
				 .local_size = 2,
				 .secret = "not very secret",
				 .resolve = resolve };
	struct o2g_peer_info info;
	struct o2g_status status;
	struct o2g_seg seg;
	struct o2g_req *req;
	char text[64];

	for (int i = 0; i < 2; i++) {
		attr.rank = i;
		check("o2g_open", o2g_open(&attr, &ep[i]));
		check("o2g_address",
		      o2g_address(ep[i], addresses[i], sizeof(addresses[i])));
	}
	seg = (struct o2g_seg){ text, sizeof(text) };
	check("o2g_irecv",
	      o2g_irecv(ep[1], O2G_ANY_SOURCE, TAG, 0, &seg, 1, &req));
	check("o2g_send", o2g_send(ep[0], 1, TAG, "hello", 6, 0));
	check("o2g_wait", o2g_wait(req, &status));
	check("o2g_peer_info", o2g_peer_info(ep[1], 0, &info));
	printf("rank %d said \"%s\" over %s\n", status.source, text,
	       info.channel);
	o2g_close(ep[0]);
	o2g_close(ep[1]);
	return strcmp(text, "hello") ? 1 : 0;
}
