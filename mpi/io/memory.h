/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Memory that ranks of one host share: a file without a name, which the others find
 * among those that its maker has open.
 */
#ifndef MPII_IO_MEMORY_H
#define MPII_IO_MEMORY_H

#include "mpii.h"

/* Where it is: what its maker tells. pid 0: there is none. */
struct io_where {
	int pid, fd;
	uint64_t secret;
};

struct io_memory {
	char *p; /* NULL: not mapped. Its first word is the secret. */
	size_t bytes;
	int fd; /* the maker's, while others map it, or -1 */
};

static inline struct io_memory io_memory_none(void)
{
	return (struct io_memory){ .fd = -1 };
}
/* False: it cannot be had. */
bool io_memory_make(struct io_memory *m, size_t bytes, struct io_where *where);
/* What another rank has made. False: it is not there, or something else is. */
bool io_memory_find(struct io_memory *m, size_t bytes,
		    const struct io_where *where);
/* Nobody maps it from now on. */
void io_memory_seal(struct io_memory *m);
void io_memory_free(struct io_memory *m);

#endif
