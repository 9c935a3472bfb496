/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What differs between kernels, from 6.1 on. */
#ifndef O2GFS_COMPAT_H
#define O2GFS_COMPAT_H

#if __has_include(<linux/unaligned.h>)
#include <linux/unaligned.h>
#else
#include <asm/unaligned.h>
#endif
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <net/net_namespace.h>
#include <net/9p/9p.h>
#include <net/9p/client.h>
#include <net/9p/transport.h>

/*
 * Transports got a string of options first, and now a context, of which only the port
 * is for them. With it came P9_FD_PORT, the port when none was given.
 */
#ifdef P9_FD_PORT
#include <linux/fs_context.h>

#define O2GFS_CREATE_ARGS struct fs_context *fc
#define O2GFS_VMALLOC .supports_vmalloc = true,

#define o2gfs_mount_source() (fc->source)
#define o2gfs_mount_net() (fc->net_ns)
#define o2gfs_mount_options() NULL

#define o2gfs_mount_port() o2gfs_context_port(fc->fs_private)

/* 0: none was given. */
static inline int o2gfs_context_port(const struct v9fs_context *c)
{
	return c->fd_opts.port == P9_FD_PORT ? 0 : c->fd_opts.port;
}
#else
#define O2GFS_CREATE_ARGS const char *source, char *options
#define O2GFS_VMALLOC

#define o2gfs_mount_source() source
#define o2gfs_mount_net() (current->nsproxy->net_ns)
#define o2gfs_mount_options() options
#define o2gfs_mount_port() 0
#endif

#endif
