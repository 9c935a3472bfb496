/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Memory that ranks of one host share. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "io/memory.h"

static bool map(struct io_memory *m, int fd, size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return false;
	m->p = p;
	m->bytes = bytes;
	return true;
}

bool io_memory_make(struct io_memory *m, size_t bytes, struct io_where *where)
{
	uint64_t secret;

	*m = io_memory_none();
	m->fd = memfd_create("o2g-file", MFD_CLOEXEC);
	if (m->fd < 0 || ftruncate(m->fd, (off_t)bytes) ||
	    !map(m, m->fd, bytes)) {
		io_memory_free(m);
		return false;
	}
	if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) < 0)
		secret = (uintptr_t)m->p;
	memcpy(m->p, &secret, sizeof(secret));
	*where = (struct io_where){ getpid(), m->fd, secret };
	return true;
}

/* In another namespace of processes that is nothing, or another file. */
bool io_memory_find(struct io_memory *m, size_t bytes,
		    const struct io_where *where)
{
	char path[64];
	int fd;

	*m = io_memory_none();
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", where->pid, where->fd);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (lseek(fd, 0, SEEK_END) == (off_t)bytes)
		map(m, fd, bytes);
	close(fd);
	if (m->p && memcmp(m->p, &where->secret, sizeof(where->secret)) != 0)
		io_memory_free(m);
	return m->p;
}

void io_memory_seal(struct io_memory *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

void io_memory_free(struct io_memory *m)
{
	if (m->p)
		munmap(m->p, m->bytes);
	m->p = NULL;
	io_memory_seal(m);
}
