/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* An abort reaches all connected processes: those of other jobs as well. */
#ifndef MPII_PROCESS_END_OTHERS_H
#define MPII_PROCESS_END_OTHERS_H

/* From now on this peer of another job can end us. */
void mpii_end_listen(int peer);
/* We are about to abort with this exit code: have the others know. Takes a second at
 * most. */
void mpii_end_others(int status);

#endif
