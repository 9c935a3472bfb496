/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The event loop of the launcher and of its proxies. poll and not epoll: the
 * launcher's stdin and stdout may be files, which epoll refuses, and a few
 * hundred descriptors are all there will be.
 */
#ifndef EXEC_LOOP_H
#define EXEC_LOOP_H

#include <stdbool.h>
#include <stdint.h>

struct watch {
	int fd;
	short events; /* may be changed at any time; 0 waits for nothing */
	void (*fn)(struct watch *w, short revents);
	void *arg;
	bool active;
};
void watch_add(struct watch *w);
void watch_del(struct watch *w);

struct timer {
	uint64_t at; /* ns, o2g_now_ns */
	void (*fn)(struct timer *t);
	bool active;
};
void timer_set(struct timer *t, unsigned ms);
void timer_clear(struct timer *t);

/* Until *stop. */
void loop_run(const bool *stop);

#endif
