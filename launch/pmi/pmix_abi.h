/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The part of libpmix.so.2 that we call, so that O2G can be built where no PMIx
 * is installed. The layouts have been the same since PMIx 2; what the library
 * allocates is only read up to where it has always been.
 */
#ifndef PMIX_ABI_H
#define PMIX_ABI_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMIX_ABI_LIBRARY "libpmix.so.2"

enum { PMIX_ABI_OK = 0 };
enum { PMIX_ABI_GLOBAL = 3 }; /* a scope: for all, near and far */
enum { PMIX_ABI_ALL_RANKS = -2 };

enum pmix_abi_type {
	PMIX_ABI_BOOL = 1,
	PMIX_ABI_STRING = 3,
	PMIX_ABI_UINT32 = 14,
};

struct pmix_abi_proc {
	char nspace[256];
	uint32_t rank;
};

struct pmix_abi_value {
	uint16_t type;
	union {
		bool flag;
		char *string;
		uint32_t uint32;
		void *room[3]; /* as long as its longest member */
	} data;
};

struct pmix_abi_info {
	char key[512];
	uint32_t flags;
	struct pmix_abi_value value;
};

static_assert(sizeof(struct pmix_abi_proc) == 260, "pmix_proc_t");
static_assert(sizeof(struct pmix_abi_value) == 32, "pmix_value_t");
static_assert(sizeof(struct pmix_abi_info) == 552, "pmix_info_t");

#endif
