/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Threads that wait for the disk in place of the program. They are started when
 * there is something to do, at most O2G_IO_THREADS of them, and stay.
 */
#ifndef MPII_IO_POOL_H
#define MPII_IO_POOL_H

#include "mpii.h"

struct io_job {
	void (*fn)(struct io_job *j); /* the last thing that touches it */
	struct io_job *next;
};

/* Has fn called by one of them; by the caller where none can be had. */
void io_pool_submit(struct io_job *j);
/* All that was submitted is done, and the threads have ended. */
void io_pool_stop(void);

#endif
