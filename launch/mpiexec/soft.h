/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* How many processes will do: -soft, and the key "soft" of MPI_Comm_spawn. */
#ifndef EXEC_SOFT_H
#define EXEC_SOFT_H

/* The largest number of the set @spec, a list of A, A:B and A:B:STEP, that is at most
 * @most and for which @slots are enough. Exits with a message if there is none. */
int soft_number(const char *spec, int most, int slots);

#endif
