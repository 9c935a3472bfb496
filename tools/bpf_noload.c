/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* For builds without the program; bpf_load.c is the other. */
#include "bpf.h"

#include <errno.h>
#include <stdio.h>

int bpf_load_seat(const char *path, uid_t uid, char *why, size_t why_size)
{
	snprintf(
		why, why_size,
		"this o2g was built without the program: clang, bpftool or libbpf-dev was missing");
	return -EOPNOTSUPP;
}
