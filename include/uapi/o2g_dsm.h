/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/o2g_dsm: memory that processes of a job share, served by o2g_dsm.ko.
 *
 * An open file is a node: O2GS_SETUP says who it is, O2GS_CONNECT gives it its peers.
 * O2GS_REGION makes a region and returns a file of its own; that is mapped shared, at
 * the same address in all processes. docs/dsm.md says what happens then.
 *
 * Every structure begins with its size: a longer one than the module knows is taken if
 * the rest is zeros.
 */
#ifndef _UAPI_O2G_DSM_H
#define _UAPI_O2G_DSM_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define O2GS_VERSION 1
#define O2GS_NODES 64
#define O2GS_SECRET 32
#define O2GS_JOB 32
#define O2GS_ADDRESS 128 /* sizeof(struct sockaddr_storage) */

/**
 * struct o2gs_setup - who the node is
 * @size: of this structure
 * @version: O2GS_VERSION; EPROTO: the module's is another
 * @rank: its own number
 * @nodes: how many there are, at most O2GS_NODES
 * @secret: what all of them have, and nobody else
 * @job: a name that they have in common, ending with a zero
 * @port: out: where the others reach it
 * @pad: 0
 *
 * EUSERS: the user has too many.
 */
struct o2gs_setup {
	__u32 size;
	__u32 version;
	__u32 rank;
	__u32 nodes;
	__u8 secret[O2GS_SECRET];
	char job[O2GS_JOB];
	__u32 port;
	__u32 pad;
};

/**
 * struct o2gs_connect - have a connection to a peer
 * @size: of this structure
 * @peer: its number
 * @timeout_ms: how long to try; at most a minute
 * @addr_len: bytes of @addr; 0: it calls, wait for that
 * @addr: a struct sockaddr_in or sockaddr_in6
 *
 * ETIMEDOUT, or what connecting came to.
 */
struct o2gs_connect {
	__u32 size;
	__u32 peer;
	__u32 timeout_ms;
	__u32 addr_len;
	__u8 addr[O2GS_ADDRESS];
};

/**
 * struct o2gs_region - a new region
 * @size: of this structure
 * @id: its number, the same at all nodes, at most 0xffff
 * @bytes: a multiple of 4096
 * @founders: who made it, a bit for each node: its homes
 * @counts: address of the struct dsm_counts that the module counts in
 * @hold_us: how long a page that has come stays
 * @move_after: writes in a row that move a home; 0: never
 * @fd: out: its file
 * @pad: 0
 *
 * EEXIST: there is one of that number. EDQUOT: it takes more than the user may have.
 */
struct o2gs_region {
	__u32 size;
	__u32 id;
	__u64 bytes;
	__u64 founders;
	__u64 counts;
	__u32 hold_us;
	__u32 move_after;
	__s32 fd;
	__u32 pad;
};

/**
 * struct o2gs_dead - nodes that have died
 * @size: of this structure
 * @pad: 0
 * @dead: a bit for each. In: those the caller knows of; out: those the module does
 */
struct o2gs_dead {
	__u32 size;
	__u32 pad;
	__u64 dead;
};

/**
 * struct o2gs_want - of a region's file: have pages come, without waiting
 * @size: of this structure
 * @access: 1: to be read, 2: also written
 * @first: page
 * @pages: how many
 * @home: 1: this node shall be their home
 * @pad: 0
 *
 * EIO: one of them has died with another node.
 */
struct o2gs_want {
	__u32 size;
	__u32 access;
	__u32 first;
	__u32 pages;
	__u32 home;
	__u32 pad;
};

/**
 * struct o2gs_page - of a region's file: a page as this node sees it
 * @size: of this structure
 * @page: which
 * @home: out: whom it takes for the home
 * @access: out: 0, 1: it can be read here, 2: also written
 */
struct o2gs_page {
	__u32 size;
	__u32 page;
	__u32 home;
	__u32 access;
};

#define O2GS_SETUP _IOWR('S', 1, struct o2gs_setup)
#define O2GS_CONNECT _IOW('S', 2, struct o2gs_connect)
#define O2GS_REGION _IOWR('S', 3, struct o2gs_region)
#define O2GS_DEAD _IOWR('S', 4, struct o2gs_dead)
#define O2GS_WANT _IOW('S', 5, struct o2gs_want)
#define O2GS_PAGE _IOWR('S', 6, struct o2gs_page)

#endif
