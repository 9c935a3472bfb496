/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/fs/p9c.c fs/server/cred.c fs/server/dispatch.c fs/server/export.c fs/server/fid.c fs/server/lock.c fs/server/fsd_log.c fs/server/op_attr.c fs/server/op_io.c fs/server/op_lock.c fs/server/op_names.c fs/server/op_open.c fs/server/op_walk.c fs/server/op_xattr.c fs/server/place.c fs/server/session.c fs/server/store.c */
#define _GNU_SOURCE
#include "fsd_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cred.h"
#include "place.h"
#include "unit.h"

#define MEMORY (FS_MSIZE_DEFAULT + 4096)

static ssize_t call(struct p9c *c, u64 seq, u16 tag, const u8 *msg, size_t len,
		    u8 *answer, size_t room)
{
	struct world *w = c->arg;
	u8 fields[FSD_OUT_ROOM];
	const u8 *kept;
	u32 kept_len;
	struct fsd_req r = { .s = w->s,
			     .run = { .seq = seq, .tag = tag },
			     .out = { fields, 0, sizeof(fields), false },
			     .data = w->memory + 4096,
			     .data_room = MEMORY - 4096 };
	bool keep;

	w->how = fsd_request_begin(w->s, &r.run, &kept, &kept_len);
	if (w->how == FSD_BEGIN_KEPT) {
		memcpy(answer, kept, kept_len);
		fsd_request_answer(w->s, &r.run, NULL, 0, false);
		fsd_request_end(w->s, &r.run);
		return kept_len;
	}
	assert_int_not_equal(w->how, FSD_BEGIN_DROP);
	r.again = w->how == FSD_BEGIN_AGAIN;
	memcpy(w->memory + 4096 - FS_TWRITE_HDR, msg, len);
	fsd_dispatch(&r, w->memory + 4096 - FS_TWRITE_HDR, len, &keep);
	assert_true(r.out.len + r.data_len <= room);
	memcpy(answer, fields, r.out.len);
	memcpy(answer + r.out.len, r.data, r.data_len);
	fsd_request_answer(w->s, &r.run, answer, (u32)(r.out.len + r.data_len),
			   keep);
	fsd_request_end(w->s, &r.run);
	return (ssize_t)(r.out.len + r.data_len);
}

static void enter(struct world *w, struct fsd_server *server,
		  struct fsd_export *exports, u32 uid)
{
	bool known;

	w->memory = malloc(MEMORY);
	if (getrandom(w->uuid, sizeof(w->uuid), 0) != sizeof(w->uuid))
		fail();
	assert_int_equal(
		fsd_session_open(server, w->uuid, exports, &w->s, &known), 0);
	assert_false(known);
	p9c_init(&w->c);
	w->c.call = call;
	w->c.arg = w;
	assert_int_equal(p9c_version(&w->c, FS_MSIZE_DEFAULT, "9P2000.L"), 0);
	assert_int_equal(p9c_attach(&w->c, ROOT, uid, "data"), 0);
}

void world_open(struct world *w, u32 uid)
{
	memset(w, 0, sizeof(*w));
	strcpy(w->dir, "/tmp/fsd-test-XXXXXX");
	assert_non_null(mkdtemp(w->dir));
	assert_int_equal(chmod(w->dir, 0755), 0);
	snprintf(w->path, sizeof(w->path), "%s/data", w->dir);
	snprintf(w->state, sizeof(w->state), "%s/state", w->dir);
	umask(0);
	assert_int_equal(mkdir(w->path, 0777), 0);
	assert_int_equal(mkdir(w->state, 0700), 0);
	assert_int_equal(fsd_place_init(), 0);
	fsd_cred_init();
	w->server.state_dir = w->state;
	w->server.limits = (struct fsd_limits){ .fids = 1000,
						.sessions = 4,
						.msize = FS_MSIZE_DEFAULT,
						.keep_s = 1000,
						.grace_s = 100 };
	fsd_server_init(&w->server);
	strcpy(w->export.name, "data");
	strcpy(w->export.path, w->path);
	w->export.anon_uid = w->export.anon_gid = 65534;
	w->export.squash = FSD_SQUASH_NONE;
	assert_int_equal(fsd_export_open(&w->export), 0);
	enter(w, &w->server, &w->export, uid);
}

void world_join(struct world *w, const struct world *first, u32 uid)
{
	memset(w, 0, sizeof(*w));
	enter(w, (struct fsd_server *)&first->server,
	      (struct fsd_export *)&first->export, uid);
}

void world_restart(struct world *w)
{
	bool known;

	fsd_session_unref(w->s);
	fsd_sessions_close(&w->server);
	fsd_server_init(&w->server);
	assert_int_equal(fsd_session_open(&w->server, w->uuid, &w->export,
					  &w->s, &known),
			 0);
	assert_true(known);
}

void world_close(struct world *w)
{
	char command[120];

	fsd_session_unref(w->s);
	p9c_cleanup(&w->c);
	free(w->memory);
	fsd_cred_own();
	if (!w->dir[0])
		return;
	fsd_sessions_close(&w->server);
	fsd_export_close(&w->export);
	snprintf(command, sizeof(command), "rm -rf %s", w->dir);
	assert_int_equal(system(command), 0);
}

const char *below(const struct world *w, const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", w->path, name);
	return path;
}
