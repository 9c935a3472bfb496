/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* For tests of the driver: two endpoints, and what to send from one to the other. */
#ifndef TEST_DRIVER_PAIR_H
#define TEST_DRIVER_PAIR_H

#include "dev.h"

#define MIB (1 << 20)

extern struct dev a, b; /* ranks 0 and 1 */
extern unsigned char data[8 * MIB], buf[8 * MIB];

void open_pair(void);
void close_pair(void);

/* The next completion of @d is this receive, with these bytes. */
void got(struct dev *d, uint32_t slot, uint64_t tag, uint64_t len);
/* A send that is or will be over. */
void send_all(struct dev *d, uint32_t slot, uint32_t peer, uint64_t tag,
	      uint64_t len);
/* The next completion of @d says that @peer is gone, and why. */
void lost(struct dev *d, uint32_t peer, enum o2gd_lost why);

#endif
