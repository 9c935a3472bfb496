/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The sub-commands of o2g: one file each, listed in o2g.c. */
#ifndef TOOLS_CMD_H
#define TOOLS_CMD_H

/* argv[0] is the name of the sub-command. Returns the exit code. */
int cmd_info(int argc, char **argv);
int cmd_perf(int argc, char **argv);
int cmd_bpf(int argc, char **argv);
int cmd_top(int argc, char **argv);
int cmd_why(int argc, char **argv);
int cmd_names(int argc, char **argv);
int cmd_queues(int argc, char **argv);
int cmd_dsm(int argc, char **argv);
int cmd_fs(int argc, char **argv);

#endif
