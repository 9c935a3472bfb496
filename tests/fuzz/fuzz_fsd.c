/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: fs/server/cred.c fs/server/dispatch.c fs/server/export.c fs/server/fid.c fs/server/lock.c fs/server/fsd_log.c fs/server/op_attr.c fs/server/op_io.c fs/server/op_lock.c fs/server/op_names.c fs/server/op_open.c fs/server/op_walk.c fs/server/op_xattr.c fs/server/place.c fs/server/session.c fs/server/store.c */
/*
 * A client that sends the file server whatever it likes. The input is a list of messages;
 * most have the right size and tag, so that what is behind them is reached. Every answer
 * is well formed, requests repeated are answered alike, nothing outside the export
 * changes, and afterwards all descriptors are closed.
 */
#define _GNU_SOURCE
#include "fuzz.h"
#include "ops.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cred.h"
#include "fsd_log.h"
#include "place.h"

#define MSIZE 8192
#define MEMORY (4096 + MSIZE)

static struct fsd_server server;
static struct fsd_export export;
static char dir[64], data[80], canary[80];

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	if (ftw->level)
		remove(path);
	return 0;
}

static void empty(void)
{
	chmod(data, 0777);
	nftw(data, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void at_end(void)
{
	empty();
	rmdir(data);
	unlink(canary);
	rmdir(dir);
}

static void begin(void)
{
	FILE *f;

	fsd_log_level = FSD_ERROR;
	strcpy(dir, "/tmp/fsd-fuzz-XXXXXX");
	CHECK(mkdtemp(dir));
	snprintf(data, sizeof(data), "%s/data", dir);
	snprintf(canary, sizeof(canary), "%s/canary", dir);
	CHECK(!mkdir(data, 0777));
	f = fopen(canary, "w");
	fputs("sings", f);
	fclose(f);
	CHECK(!fsd_place_init());
	fsd_cred_init();
	server.limits = (struct fsd_limits){ .fids = 64,
					     .sessions = 2,
					     .msize = MSIZE,
					     .keep_s = 1,
					     .grace_s = 1 };
	fsd_server_init(&server);
	strcpy(export.name, "data");
	strcpy(export.path, data);
	export.squash = FSD_SQUASH_NONE;
	CHECK(!fsd_export_open(&export));
	atexit(at_end);
}

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* Some files to begin with, by names that inputs find. */
static void furnish(void)
{
	static const struct {
		const char *name;
		mode_t mode;
	} things[] = { { "a", S_IFREG | 0666 },
		       { "b", S_IFDIR | 0777 },
		       { "b/c", S_IFREG | 0600 },
		       { "p", S_IFIFO | 0666 } };
	char path[120];

	for (size_t i = 0; i < sizeof(things) / sizeof(things[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", data, things[i].name);
		if (S_ISDIR(things[i].mode))
			mkdir(path, 0777);
		else
			mknod(path, things[i].mode, 0);
	}
	snprintf(path, sizeof(path), "%s/l", data);
	if (symlink("../canary", path) && errno != EEXIST)
		CHECK(0);
}

static void check_canary(void)
{
	struct stat st;

	CHECK(!stat(canary, &st));
	CHECK(st.st_size == 5);
	CHECK(st.st_nlink == 1);
}

/* --- a client --- */

struct client {
	struct fsd_session *s;
	u8 memory[MEMORY];
	u8 answer[FSD_OUT_ROOM + MSIZE];
	size_t len;
	u64 seq;
};

static void check_answer(const struct client *c, u8 type, u16 tag)
{
	struct p9_in in = { c->answer, c->answer + c->len, false };
	u8 got;

	CHECK(c->len >= P9_HDR && c->len <= MSIZE);
	CHECK(p9_get32(&in) == c->len);
	got = p9_get8(&in);
	CHECK(p9_get16(&in) == tag);
	CHECK(got == P9_RLERROR || got == (u8)(type + 1));
	if (got != P9_RLERROR)
		return;
	CHECK(p9_get32(&in) - 1 < 4095);
	CHECK(p9_in_ended(&in));
}

static void ask(struct client *c, const u8 *msg, size_t len, u16 tag)
{
	u8 *at = c->memory + 4096 - FS_TWRITE_HDR, type = len > 4 ? msg[4] : 0;
	struct fsd_req r = { .s = c->s,
			     .run = { .seq = c->seq, .tag = tag },
			     .out = { c->answer, 0, FSD_OUT_ROOM, false },
			     .data = c->memory + 4096,
			     .data_room = MEMORY - 4096 };
	const u8 *kept;
	u32 n;
	bool keep;
	enum fsd_begin how = fsd_request_begin(c->s, &r.run, &kept, &n);

	if (how == FSD_BEGIN_KEPT) {
		CHECK(n == c->len && !memcmp(kept, c->answer, n));
		keep = false;
	} else {
		r.again = how == FSD_BEGIN_AGAIN;
		memcpy(at, msg, len);
		fsd_dispatch(&r, at, len, &keep);
		memcpy(c->answer + r.out.len, r.data, r.data_len);
		c->len = r.out.len + r.data_len;
		check_answer(c, type, tag);
	}
	fsd_request_answer(c->s, &r.run, c->answer, (u32)c->len, keep);
	fsd_request_end(c->s, &r.run);
}

/* An input: for each message a byte of how, one of type, one of length, its bytes. */
static void run(struct client *c, const u8 *in, size_t n)
{
	u8 msg[P9_HDR + 255];

	while (n >= 3) {
		u8 how = in[0], type = in[1], tag = how & 7;
		size_t len = in[2] < n - 3 ? in[2] : n - 3;
		u32 size = (u32)(P9_HDR + len);

		if (how & 0x80) /* a lie */
			size += how & 0x70;
		memcpy(msg, &size, 4);
		msg[4] = type;
		msg[5] = tag;
		msg[6] = 0;
		memcpy(msg + P9_HDR, in + 3, len);
		c->seq++;
		ask(c, msg, P9_HDR + len, tag);
		if (how & 8) /* and again */
			ask(c, msg, P9_HDR + len, tag);
		in += 3 + len;
		n -= 3 + len;
	}
}

static void attach(struct client *c)
{
	u8 msg[64];
	struct p9_out out = { msg, 0, sizeof(msg), false };
	struct p9_out head = { msg, 0, 4, false };

	p9_put(&out, 0, 4);
	p9_put(&out, P9_TATTACH, 1);
	p9_put(&out, 0, 2);
	p9_put(&out, 0, 4);
	p9_put(&out, P9_NOFID, 4);
	p9_put_str(&out, "", 0);
	p9_put_str(&out, "data", 4);
	p9_put(&out, 0, 4);
	p9_put(&head, out.len, 4);
	c->seq++;
	ask(c, msg, out.len, 0);
	CHECK(c->answer[4] == P9_TATTACH + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *in, size_t n)
{
	static const u8 uuid[FS_UUID_SIZE] = { 1 };
	static struct client c;
	static unsigned rounds;
	bool known;
	int before;

	if (!dir[0])
		begin();
	if (rounds++ % 64 == 0)
		empty();
	furnish();
	before = open_files();
	c.seq = 0;
	CHECK(!fsd_session_open(&server, uuid, &export, &c.s, &known));
	CHECK(!known);
	attach(&c);
	run(&c, in, n);
	fsd_session_end(c.s);
	fsd_session_unref(c.s);
	fsd_cred_own();
	check_canary();
	CHECK(open_files() == before);
	return 0;
}
