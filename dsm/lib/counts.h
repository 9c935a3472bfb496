/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What a process counts of a region, in a memory file that `o2g dsm` finds by its name
 * and maps. The process alone writes, or the module for it; whoever reads may see a count that is a moment old.
 */
#ifndef DSM_COUNTS_H
#define DSM_COUNTS_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define DSM_COUNTS_FILE "o2g-dsm"
#define DSM_COUNTS_MAGIC 0x306d736467326fULL

struct dsm_page_counts {
	uint64_t writers;   /* at its home: who was allowed to write */
	uint32_t handovers; /* ... and how often that went to another */
	uint32_t faults, taken;
	uint32_t came; /* microseconds of the clock when it came here last */
};

struct dsm_counts {
	uint64_t magic;
	uint64_t base, pages;
	uint32_t rank, size;
	int32_t fd;    /* of the file itself, in the process */
	uint32_t lost; /* somebody has died, as the module says */
	char name[64];
	uint64_t read_faults, write_faults, taken, messages, bytes, moved;
	struct dsm_page_counts page[];
};

#endif
