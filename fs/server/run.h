/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef FSD_RUN_H
#define FSD_RUN_H

/* All of the program; returns its exit code. Tests run it in a child. */
int fsd_run(int argc, char **argv);

#endif
