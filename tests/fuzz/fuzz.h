/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the fuzz targets share: a reader of the input. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "check_abort.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *at;
	size_t left;
};

/* The next byte; 0 forever after the last one. */
static inline uint8_t in_u8(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static inline uint16_t in_u16(struct input *in)
{
	uint16_t low = in_u8(in);

	return low | (uint16_t)(in_u8(in) << 8);
}

#endif
