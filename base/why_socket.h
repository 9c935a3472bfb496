/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Where `o2g why` finds mpiexec: an abstract name, of the user and the process. */
#ifndef BASE_WHY_SOCKET_H
#define BASE_WHY_SOCKET_H

#define WHY_SOCKET "o2g-why/%u/%d"
#define WHY_VERSION 1

#endif
