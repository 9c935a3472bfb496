/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef DSM_WHERE_H
#define DSM_WHERE_H

#include <stdint.h>
#include <sys/socket.h>

#define DSM_ADDRESSES 6

/* As processes tell it to each other. */
struct dsm_where {
	char host[128]; /* the same: they reach each other by loopback */
	uint16_t port;
	uint16_t n;
	struct sockaddr_storage addresses[DSM_ADDRESSES];
};

void dsm_where_am_i(uint16_t port, struct dsm_where *w);
/* The addresses to try, DSM_ADDRESSES at most; how many. */
unsigned dsm_where_is(const struct dsm_where *mine,
		      const struct dsm_where *other,
		      struct sockaddr_storage *addresses);

#endif
