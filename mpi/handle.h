/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Is a handle an object? Whatever a program may have in a variable that it has not
 * set, the answer is no and not a crash, and it costs what a comparison with the
 * magic number costs.
 *
 * Where nothing can be read, the processor refuses the comparison. Each of these
 * instructions is noted in a table (the section mpii_reads), and the handler of
 * crash.c goes on behind it, with the answer "different".
 */
#ifndef MPII_HANDLE_H
#define MPII_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

enum mpii_magic {
	MPII_COMM = 0x6d636f6d,
	MPII_GROUP = 0x6d677270,
	MPII_TYPE = 0x6d747970,
	MPII_OP = 0x6d6f7065,
	MPII_REQ = 0x6d726571,
	MPII_MSG = 0x6d6d7367,
	MPII_ERRH = 0x6d657272,
	MPII_INFO = 0x6d696e66,
	MPII_WIN = 0x6d77696e,
	MPII_FILE = 0x6d66696c,
	MPII_SESSION = 0x6d736573,
	MPII_DEAD = 0x64656164, /* freed */
};

/* Handles below are predefined; an object never lies there. */
#define MPII_PREDEFINED_END 4096

/* Where a comparison is, and how long: distances from the entry's own members. */
struct mpii_read {
	int32_t at, after;
};

#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(__SANITIZE_THREAD__)
#define MPII_READS_NOTED 1

static inline bool mpii_magic_is(const void *h, enum mpii_magic magic)
{
	bool same;

	__asm__ volatile(
		"1:	cmpl %[magic], %[object]\n"
		"2:	.pushsection mpii_reads, \"a\"\n"
		"	.balign 4\n"
		"	.long 1b - .\n"
		"	.long 2b - .\n"
		"	.popsection"
		: "=@cce"(same)
		: [object] "m"(*(const uint32_t *)h), [magic] "i"(magic));
	return same;
}
#else /* sanitizers have handlers of their own, and are to see what is read */
static inline bool mpii_magic_is(const void *h, enum mpii_magic magic)
{
	return *(const uint32_t *)h == (uint32_t)magic;
}
#endif

/* For handles that are not predefined: objects are aligned as well. */
static inline bool mpii_is_object(const void *h, enum mpii_magic magic)
{
	return (uintptr_t)h % sizeof(void *) == 0 && mpii_magic_is(h, magic);
}

#endif
