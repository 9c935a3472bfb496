// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *perf_alloc(size_t size)
{
	void *p;

	size = (size + 4095) & ~(size_t)4095;
	if (posix_memalign(&p, 4096, size ? size : 4096))
		perf_fail("no memory for %zu bytes", size);
	memset(p, 1, size ? size : 4096);
	return p;
}

/* The finalizer of splitmix64: a different word for every number. */
uint64_t perf_hash(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static size_t piece(size_t size, size_t at)
{
	return size - at < sizeof(uint64_t) ? size - at : sizeof(uint64_t);
}

void perf_fill(void *buf, size_t size, uint64_t seed)
{
	char *p = buf;

	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t word = perf_hash(seed + at);

		memcpy(p + at, &word, piece(size, at));
	}
}

void perf_check(const void *buf, size_t size, uint64_t seed)
{
	const char *p = buf;

	for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
		uint64_t word = perf_hash(seed + at);

		if (memcmp(p + at, &word, piece(size, at)))
			perf_fail("wrong data at byte %zu of %zu, or in the 7 "
				  "after it",
				  at, size);
	}
}

double perf_memory(const char *name)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = -1;

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			kb = atol(line + strlen(name) + 1);
	if (f)
		fclose(f);
	if (kb < 0)
		perf_fail("no %s in /proc/self/status", name);
	return kb * 1024.0;
}
