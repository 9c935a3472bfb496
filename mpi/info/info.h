/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Info objects. */
#ifndef MPII_INFO_INFO_H
#define MPII_INFO_INFO_H

#include "mpii.h"

struct mpii_info;
struct mpii_info *mpii_info_get(MPI_Info h); /* NULL: not an info */
/* Also of NULL, which is empty. NULL: out of memory. */
struct mpii_info *mpii_info_copy(const struct mpii_info *from);
/* To an info that no other thread knows. False: out of memory. */
bool mpii_info_add(struct mpii_info *i, const char *key, const char *value);
/* The value of @key, or NULL. */
const char *mpii_info_value(const struct mpii_info *i, const char *key);
void mpii_info_destroy(struct mpii_info *i);

/* The keys that the standard names, as far as we know their values, to an info
 * that no other thread knows. False: out of memory. */
bool mpii_info_describe(struct mpii_info *i, int argc, char **argv);
/* The same for this process: MPI_INFO_ENV. */
void mpii_info_describe_self(struct mpii_info *i);

#endif
