/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the info of MPI_Comm_spawn says to the launcher. */
#ifndef MPII_PROCESS_SPAWN_INFO_H
#define MPII_PROCESS_SPAWN_INFO_H

#include "mpii.h"

/* Its keys and values, those of the file that "file" names, and the working directory
 * if there is none: key, value ..., NULL, allocated. MPI code, words recorded. */
int mpii_spawn_info(MPI_Info info, const char *const **list);
void mpii_spawn_info_free(const char *const *list);
const char *mpii_spawn_info_value(const char *const *list, const char *key);

#endif
