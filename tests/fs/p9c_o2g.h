/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The client over an endpoint of libo2g, as 9pnet_o2g.ko does it. */
#ifndef P9C_O2G_H
#define P9C_O2G_H

#include "o2g.h"
#include "p9c.h"

struct p9c_o2g {
	struct o2g_ep *ep;
	char host[16];
	int port;
	char address[O2G_ADDRESS_MAX];
	u8 uuid[FS_UUID_SIZE];
	unsigned char key[O2G_SECRET_SIZE];
	int timeout_ms;
	struct fs_welcome welcome; /* as it came */
};

/* Where a server on this host listens: 127.…. */
void p9c_o2g_at(struct p9c_o2g *o, const char *host, int port);
/* A new number for the session. */
void p9c_o2g_new_session(struct p9c_o2g *o);
/* Connect as a new endpoint and say hello: 0, or what the server has answered, or
 * -ETIMEDOUT. */
int p9c_o2g_connect(struct p9c_o2g *o);
/* Without a word, as if the machine had gone. */
void p9c_o2g_close(struct p9c_o2g *o);
/* The transport of a client. */
ssize_t p9c_o2g_call(struct p9c *c, u64 seq, u16 tag, const u8 *msg, size_t len,
		     u8 *answer, size_t room);

#endif
