/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_CHANNELS_H
#define ENG_CHANNELS_H

#include "peer.h"

extern const struct chan_ops *const eng_channel_table[]; /* NULL ends it */
extern const struct chan_ops self_chan_ops;		 /* self.c */

/* Does O2G_CHANNELS ask for it, by name or by what it implies? */
bool eng_channel_wanted(const struct chan_ops *ops);
int eng_channels_open(struct o2g_ep *ep);
void eng_channels_close(struct o2g_ep *ep);
int eng_channels_card(struct o2g_ep *ep, char *buf, size_t size);
/* The name of the host in an address; "": none. */
void eng_channels_host(const char *address, char *host, size_t size);
int eng_channels_connect(struct o2g_ep *ep, struct eng_peer *p,
			 const char *address);
/* Is one open that reaches the ranks of this host by memory? */
bool eng_channels_local(const struct o2g_ep *ep);
void eng_node_id(char *buf, size_t size);

#endif
