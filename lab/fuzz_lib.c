// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#define GUARD (1ul << 32)

char *memory, *read_only;

char *guarded(size_t n)
{
	char *p = mmap(NULL, n + GUARD, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED || mprotect(p, n, PROT_READ | PROT_WRITE))
		_exit(1);
	return p;
}

static _Thread_local uint64_t state;

void fuzz_seed(uint64_t seed)
{
	state = seed;
}

uint64_t rnd(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

uint64_t below(uint64_t n)
{
	return rnd() % n;
}

int one_in(unsigned int n)
{
	return below(n) == 0;
}

uint64_t odd_number(void)
{
	static const uint64_t edges[] = {
		0,
		1,
		2,
		15,
		16,
		17,
		255,
		256,
		4095,
		4096,
		4097,
		65535,
		65536,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		0x100000000ull,
		1ull << 47,
		1ull << 48,
		INT64_MAX,
		1ull << 63,
		UINT64_MAX,
	};

	if (one_in(3))
		return rnd();
	return edges[below(sizeof(edges) / sizeof(edges[0]))] + below(3) - 1;
}

uint64_t number(uint64_t n)
{
	return one_in(20) ? odd_number() : below(n);
}

uint64_t length(void)
{
	switch (below(6)) {
	case 0:
		return below(17);
	case 1:
		return below(O2GD_SMALL + 2);
	case 2:
		return below(200000);
	case 3:
		return one_in(4) ? odd_number() : 8;
	default:
		return below(512);
	}
}

uint64_t address(uint64_t len)
{
	switch (below(16)) {
	case 0:
		return odd_number();
	case 1:
		return (uint64_t)(uintptr_t)read_only;
	case 2:
		return (uint64_t)(uintptr_t)memory + MEMORY - below(4096);
	default:
		return (uint64_t)(uintptr_t)memory +
		       below(len < MEMORY ? MEMORY - len : MEMORY);
	}
}

uint64_t tag(void)
{
	return one_in(10) ? rnd() : below(4);
}
