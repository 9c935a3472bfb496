// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * mix DIR [mapped] [ROUNDS [SEED]]: reads and writes of a file by every way, in random
 * order, sizes and places: buffered, vectors, O_DIRECT, and with "mapped" also by a shared
 * mapping; truncation and appending among them. Every byte is compared with what it must be.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define ROOM (4 << 20)
#define BLOCK 4096

static unsigned char want[ROOM]; /* what the file has */
static unsigned char *data;	 /* aligned */
static size_t size;
static int plain, direct, append;
static unsigned char *map;
static int
	dirty; /* the mapping: reads go past it, so it is written back before */
static unsigned round_no;

static void check(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "mix: round %u: %s: %s\n", round_no, what,
		strerror(errno));
	exit(1);
}

static size_t dice(size_t n)
{
	return n ? (size_t)random() % n : 0;
}

/* Mostly short, now and then long. */
static size_t some(size_t most)
{
	size_t n = dice(8) ? 1 + dice(20000) : 1 + dice(1500000);

	return n < most ? n : most;
}

static void fill(size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		data[i] = random() >> 7;
}

static void wrote(size_t off, size_t n)
{
	memcpy(want + off, data, n);
	if (off + n > size)
		size = off + n;
}

/* Changes of the mapping must be there for others, and theirs for it. */
static void settle(void)
{
	if (map)
		check(!msync(map, ROOM, MS_SYNC), "msync");
	check(!fsync(plain), "fsync");
	dirty = 0;
}

static void compare(size_t off, size_t n, const char *what)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (data[i] == want[off + i])
			continue;
		fprintf(stderr,
			"mix: round %u: %s: byte %zu of %zu at %zu is %u, not %u\n",
			round_no, what, i, n, off, data[i], want[off + i]);
		exit(1);
	}
}

static void do_read(int fd, size_t off, size_t n, const char *what)
{
	ssize_t got = pread(fd, data, n, off);
	ssize_t most = off < size ? (n < size - off ? n : size - off) : 0;

	check(got >= 0, what);
	if (got != most) {
		fprintf(stderr,
			"mix: round %u: %s of %zu at %zu (%zu): %zd bytes\n",
			round_no, what, n, off, size, got);
		exit(1);
	}
	compare(off, got, what);
}

static void do_write(int fd, size_t off, size_t n, const char *what)
{
	fill(n);
	check(pwrite(fd, data, n, off) == (ssize_t)n, what);
	wrote(off, n);
}

static void do_vector(void)
{
	size_t off = dice(ROOM / 2), n = some(ROOM / 4), a = dice(n);
	struct iovec v[3] = { { data, a },
			      { data + a, 0 },
			      { data + a, n - a } };

	fill(n);
	check(pwritev(plain, v, 3, off) == (ssize_t)n, "pwritev");
	wrote(off, n);
}

static void do_append(void)
{
	size_t n = some(100000);

	if (size + n > ROOM)
		return;
	fill(n);
	check(write(append, data, n) == (ssize_t)n, "append");
	wrote(size, n);
}

static void do_truncate(void)
{
	size_t to = dice(ROOM);

	if (map)
		settle();
	check(!ftruncate(plain, to), "ftruncate");
	if (to < size)
		memset(want + to, 0, size - to);
	size = to;
}

static void do_mapped(void)
{
	size_t off = dice(size), n = size ? some(size - off) : 0;

	if (!n)
		return;
	if (dice(2)) {
		memcpy(data, map + off, n);
		compare(off, n, "mapping");
	} else {
		fill(n);
		memcpy(map + off, data, n);
		wrote(off, n);
		dirty = 1;
	}
}

static void do_size(void)
{
	struct stat st;

	check(!fstat(plain, &st), "fstat");
	if ((size_t)st.st_size != size) {
		fprintf(stderr, "mix: round %u: %zu bytes, not %zu\n", round_no,
			(size_t)st.st_size, size);
		exit(1);
	}
}

static void step(void)
{
	size_t off = dice(ROOM), n = some(ROOM - off);
	size_t block = off / BLOCK * BLOCK;
	size_t blocks = (n + BLOCK - 1) / BLOCK * BLOCK;

	if (block + blocks > ROOM)
		blocks = ROOM - block;
	if (map && dice(12) >= 9)
		return do_mapped();
	if (dirty)
		settle();
	switch (dice(9)) {
	case 0:
	case 1:
		return do_read(plain, off, n, "read");
	case 2:
		return do_write(plain, off, n, "write");
	case 3:
		settle();
		return do_read(direct, block, blocks, "direct read");
	case 4:
		settle();
		return do_write(direct, block, blocks, "direct write");
	case 5:
		return do_vector();
	case 6:
		return do_append();
	case 7:
		return dice(4) ? do_size() : do_truncate();
	default:
		return settle();
	}
}

int main(int argc, char **argv)
{
	int mapped = argc > 2 && !strcmp(argv[2], "mapped");
	unsigned rounds = argc > 2 + mapped ? atoi(argv[2 + mapped]) : 300;
	char name[4096];

	if (argc < 2)
		return 2;
	srandom(argc > 3 + mapped ? atoi(argv[3 + mapped]) : 1);
	snprintf(name, sizeof(name), "%s/mix.%d", argv[1], getpid());
	check(!posix_memalign((void **)&data, BLOCK, ROOM), "memory");
	plain = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
	check(plain >= 0, name);
	direct = open(name, O_RDWR | O_DIRECT);
	append = open(name, O_WRONLY | O_APPEND);
	check(direct >= 0 && append >= 0, "open");
	if (mapped) {
		map = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_SHARED,
			   plain, 0);
		check(map != MAP_FAILED, "mmap");
	}
	for (round_no = 0; round_no < rounds; round_no++)
		step();
	settle();
	close(plain);
	plain = open(name, O_RDONLY);
	do_read(plain, 0, ROOM, "all of it");
	check(!unlink(name), "unlink");
	printf("%u rounds, %zu bytes at the end\n", rounds, size);
	return 0;
}
