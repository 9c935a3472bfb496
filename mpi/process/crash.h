/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef MPII_PROCESS_CRASH_H
#define MPII_PROCESS_CRASH_H

/* A signal that ends the program says from where, on stderr, unless the program
 * handles it itself (O2G_BACKTRACE). @who is "rank 3 on node7". */
void mpii_crash_watch(const char *who);

#endif
