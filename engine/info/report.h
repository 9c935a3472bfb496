/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_REPORT_H
#define ENG_REPORT_H

#include <stdbool.h>
#include <stddef.h>

/* Seen by the o2g command, which prints it. */
#pragma GCC visibility push(default)

/* What became of opening a channel on this host. */
struct o2g_channel_report {
	const char *name;
	bool wanted; /* O2G_CHANNELS has it */
	bool usable;
	char addresses[512]; /* that peers are told of, with commas; or "" */
	char why[256];	     /* why not; "" when usable */
};

/*
 * Opens every channel, as an endpoint of a job would, and reports on each. 0,
 * or a negative errno when there can be no endpoint at all.
 */
int o2g_report_channels(void (*fn)(const struct o2g_channel_report *r,
				   void *arg),
			void *arg);

/* One line about O2G_ENCRYPT. 0, or negative errno: it is asked for and cannot be. */
int o2g_report_encryption(char *text, size_t size);

#pragma GCC visibility pop

#endif
