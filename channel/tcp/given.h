/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Where to listen, if whoever opens the endpoint says so: o2g_attr.listen. */
#ifndef TCP_GIVEN_H
#define TCP_GIVEN_H

#include "addr.h"

struct tcp_given {
	struct tcp_addr at;
	u16 port;      /* 0: any */
	bool anywhere; /* no address was given */
};

/* "10.0.0.1:5640", "[fd00::1]:5640" or ":5640". 0 or -EINVAL. */
int tcp_given_parse(const char *text, struct tcp_given *g);

#endif
