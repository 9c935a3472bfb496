/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * One suite for every channel: each case is run over each kind, that is, over a
 * table of functions and the settings to open it with. A case gets two
 * endpoints that live in this process and are pumped by turns, not connected
 * yet. A kind that cannot be opened here is skipped with its reason; named as
 * an argument of the program it must be there, and only those named are run.
 */
#ifndef CHANNELS_FIXTURE_H
#define CHANNELS_FIXTURE_H

#include "unit.h"

#include "host.h"
#include "settings.h"

struct kind {
	const char *name;
	const struct chan_ops *ops;
	void (*set)(struct o2g_settings *s); /* or NULL */
};

/* Does the process encrypt? */
bool encrypts(void);

struct chan_case {
	const char *name;
	void (*fn)(void);
};
#define CASE(f)       \
	{             \
#f, f \
	}

extern const struct kind *kind;	     /* of the case that runs */
extern struct host *a, *b, *both[2]; /* ranks 0 and 1 */

/* What main() returns. */
int run_cases(const struct chan_case *cases, size_t n, int argc, char **argv);

/* Choose the settings of the kind, here and now. */
void kind_settings(void);
/* A third endpoint, of the same kind. */
struct host *open_host(u32 rank);
/* Ends @h, which is a or b or another; NULL is left in a or b. */
void end_host(struct host *h, bool orderly);
/* Works on with what there is of both until *flag. */
bool both_run(const bool *flag);
/* ... until @q is done, and checks that it ended well. */
void finish(struct host_req *q);
/* For a few milliseconds. */
void both_idle(int ms);

void fill(u8 *p, size_t n, u32 seed);
/* One message of @len bytes from @x to @y, checked; leaves both connected. */
void exchange(struct host *x, struct host *y, size_t len);
struct chan_peer *peer_of(struct host *x, struct host *y);

#endif
