/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* 9P2000.L: the numbers of the protocol, as Linux's client uses them. */
#ifndef FSD_P9_H
#define FSD_P9_H

#include "env.h"

enum p9_type {
	P9_RLERROR = 7,
	P9_TSTATFS = 8,
	P9_TLOPEN = 12,
	P9_TLCREATE = 14,
	P9_TSYMLINK = 16,
	P9_TMKNOD = 18,
	P9_TRENAME = 20,
	P9_TREADLINK = 22,
	P9_TGETATTR = 24,
	P9_TSETATTR = 26,
	P9_TXATTRWALK = 30,
	P9_TXATTRCREATE = 32,
	P9_TREADDIR = 40,
	P9_TFSYNC = 50,
	P9_TLOCK = 52,
	P9_TGETLOCK = 54,
	P9_TLINK = 70,
	P9_TMKDIR = 72,
	P9_TRENAMEAT = 74,
	P9_TUNLINKAT = 76,
	P9_TVERSION = 100,
	P9_TAUTH = 102,
	P9_TATTACH = 104,
	P9_TFLUSH = 108,
	P9_TWALK = 110,
	P9_TREAD = 116,
	P9_TWRITE = 118,
	P9_TCLUNK = 120,
	P9_TREMOVE = 122,
	P9_TYPES = 128
};

#define P9_HDR 7 /* size[4] type[1] tag[2] */
#define P9_NOTAG 0xffff
#define P9_NOFID 0xffffffffu
#define P9_NONUNAME 0xffffffffu
#define P9_WALK_MAX 16
#define P9_NAME_MAX 255

enum p9_qid_type { P9_QTDIR = 0x80, P9_QTSYMLINK = 0x02, P9_QTFILE = 0x00 };

struct p9_qid {
	u8 type;
	u32 version;
	u64 path;
};
#define P9_QID_SIZE 13

/* Flags of lopen and lcreate: those of x86 Linux, in octal as it has them. */
enum p9_open {
	P9_ACCMODE = 03,
	P9_EXCL = 0200,
	P9_TRUNC = 01000,
	P9_APPEND = 02000,
	P9_NONBLOCK = 04000,
	P9_DSYNC = 010000,
	P9_DIRECTORY = 0200000,
	P9_NOFOLLOW = 0400000,
	P9_NOATIME = 01000000,
	P9_SYNC = 04000000
};

enum p9_getattr {
	P9_ATTR_BASIC = 0x7ff,
	P9_ATTR_BTIME = 0x800,
};

enum p9_setattr {
	P9_SET_MODE = 1,
	P9_SET_UID = 2,
	P9_SET_GID = 4,
	P9_SET_SIZE = 8,
	P9_SET_ATIME = 0x10,
	P9_SET_MTIME = 0x20,
	P9_SET_CTIME = 0x40,
	P9_SET_ATIME_TO = 0x80, /* to what is given, not to now */
	P9_SET_MTIME_TO = 0x100
};

#define P9_REMOVEDIR 0x200

enum p9_lock { P9_RDLCK, P9_WRLCK, P9_UNLCK };
enum p9_lock_status { P9_LOCKED, P9_BLOCKED, P9_LOCK_ERROR };

#endif
