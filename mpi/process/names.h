/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Names of services that this process has published. */
#ifndef MPII_PROCESS_NAMES_H
#define MPII_PROCESS_NAMES_H

void mpii_names_unpublish_all(void);

#endif
