/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g fs: its parts. */
#ifndef TOOLS_FS_H
#define TOOLS_FS_H

#define FS_TOOL_CONF "/etc/o2gfsd.conf"
#define FS_TOOL_KEY "/etc/o2gfs.key"
#define FS_TOOL_SOCKET "/run/o2gfsd.sock"
#define FS_KEY_SIZE 32

/* argv[0] is the word after "fs". Each returns an exit code. */
int fs_key(int argc, char **argv);
int fs_export(int argc, char **argv);
int fs_mount(int argc, char **argv);
int fs_umount(int argc, char **argv);
int fs_status(int argc, char **argv);

/* 0, or a line on standard error and -1. */
int fs_key_read(const char *path, unsigned char key[FS_KEY_SIZE]);

#endif
