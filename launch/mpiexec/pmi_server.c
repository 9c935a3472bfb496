// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * PMI-1 as the ranks of one host see it. A get is answered here, from memory.
 * A put stays here until the barrier: when all ranks of the host have come,
 * their new keys go to mpiexec in one frame, and what comes back when all hosts
 * have come is everybody's. So a fence costs one message each way per host,
 * however many ranks and keys there are.
 *
 * Ours beyond PMI-1, which get_maxes tells of: "share" makes a rank's keys
 * known at once, with nobody waiting; "await" says that a rank looks for what
 * another has to share, so that it need not do so without end; "leave" is a
 * barrier of those who have shared; "child" asks about a job that was spawned.
 */
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kvs.h"
#include "pmi_int.h"
#include "proxy.h"
#include "util.h"

#define KEY_MAX 64
#define VALUE_MAX 1024
#define UNREAD_MAX (64u << 10)

static struct buf fresh; /* key, value ... since the last fence */
static int in_barrier;

void pmi_server_init(void)
{
	if (strlen(proxy.start.mapping) < VALUE_MAX)
		kvs_put("PMI_process_mapping", proxy.start.mapping);
	kvs_put("o2g-secret", proxy.start.secret);
	for (size_t i = 0; i + 1 < proxy.start.keys.n; i += 2)
		kvs_put(proxy.start.keys.at[i], proxy.start.keys.at[i + 1]);
}

static void flush(struct rank *r)
{
	while (buf_len(&r->pmi_out)) {
		ssize_t n = write(r->pmi.fd, buf_head(&r->pmi_out),
				  buf_len(&r->pmi_out));

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0 && errno == EINTR)
			continue;
		/* It is dying; waitpid will tell. */
		buf_consume(&r->pmi_out,
			    n < 0 ? buf_len(&r->pmi_out) : (size_t)n);
	}
	/* Whoever does not read its answers is not asked for more questions. */
	r->pmi.events = (buf_len(&r->pmi_out) < UNREAD_MAX ? POLLIN : 0) |
			(buf_len(&r->pmi_out) ? POLLOUT : 0);
}

void pmi_server_answer(struct rank *r, const char *fmt, ...)
{
	char line[VALUE_MAX + 256];
	va_list ap;
	int n;

	if (r->pmi.fd < 0)
		return;
	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	buf_append(&r->pmi_out, line, n);
	flush(r);
}

static void do_init(struct rank *r, const char *line)
{
	int version = 1;

	pmi_field_int(line, "pmi_version", &version);
	r->state = version == 1 ? RANK_IN_MPI : r->state;
	pmi_server_answer(
		r,
		"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=%d\n",
		version == 1 ? 0 : -1);
}

static void do_get_maxes(struct rank *r, const char *line)
{
	pmi_server_answer(
		r,
		"cmd=maxes rc=0 kvsname_max=256 keylen_max=%d vallen_max=%d o2g_share=1\n",
		KEY_MAX, VALUE_MAX);
}

static void do_get_my_kvsname(struct rank *r, const char *line)
{
	pmi_server_answer(r, "cmd=my_kvsname rc=0 kvsname=%s\n",
			  proxy.start.kvsname);
}

static void do_get_appnum(struct rank *r, const char *line)
{
	pmi_server_answer(r, "cmd=appnum rc=0 appnum=%d\n", r->spec->app);
}

static void do_get_universe_size(struct rank *r, const char *line)
{
	pmi_server_answer(r, "cmd=universe_size rc=0 size=%d\n",
			  proxy.start.universe);
}

static void do_put(struct rank *r, const char *line)
{
	char key[KEY_MAX], value[VALUE_MAX];

	if (pmi_field(line, "key", key, sizeof(key))) {
		pmi_server_answer(
			r,
			"cmd=put_result rc=-1 msg=key_missing_or_too_long\n");
		return;
	}
	if (pmi_field(line, "value", value, sizeof(value))) {
		pmi_server_answer(
			r,
			"cmd=put_result rc=-1 msg=value_missing_or_too_long\n");
		return;
	}
	kvs_put(key, value);
	buf_put_str(&fresh, key);
	buf_put_str(&fresh, value);
	pmi_server_answer(r, "cmd=put_result rc=0 msg=success\n");
}

static void do_get(struct rank *r, const char *line)
{
	char key[KEY_MAX] = "";
	const char *value;

	pmi_field(line, "key", key, sizeof(key));
	value = kvs_get(key);
	if (value)
		pmi_server_answer(
			r, "cmd=get_result rc=0 msg=success value=%s\n", value);
	else
		pmi_server_answer(
			r,
			"cmd=get_result rc=-1 msg=key_not_found value=unknown\n");
}

static void do_share(struct rank *r, const char *line)
{
	chan_send(&proxy.up, FRAME_SHARE, r->spec->rank, buf_head(&fresh),
		  buf_len(&fresh));
	buf_consume(&fresh, buf_len(&fresh));
	pmi_server_answer(r, "cmd=share_result rc=0\n");
}

static void do_await(struct rank *r, const char *line)
{
	int owner;

	if (!pmi_field_int(line, "rank", &owner) && owner >= 0 &&
	    owner < proxy.start.size)
		chan_send_u32(&proxy.up, FRAME_AWAIT, r->spec->rank, owner);
	pmi_server_answer(r, "cmd=await_result rc=0\n");
}

static void do_leave(struct rank *r, const char *line)
{
	r->leaving = true;
	chan_send(&proxy.up, FRAME_LEAVING, r->spec->rank, NULL, 0);
}

void pmi_server_leave(void)
{
	for (int i = 0; i < proxy.nranks; i++) {
		if (!proxy.ranks[i].leaving)
			continue;
		proxy.ranks[i].leaving = false;
		pmi_server_answer(&proxy.ranks[i], "cmd=leave_result rc=0\n");
	}
}

static void do_barrier(struct rank *r, const char *line)
{
	if (r->in_barrier)
		return;
	r->in_barrier = true;
	if (in_barrier++ == 0)
		chan_send(&proxy.up, FRAME_WAITING, r->spec->rank, NULL, 0);
	if (in_barrier < proxy.start.nranks)
		return;
	chan_send(&proxy.up, FRAME_FENCE_IN, -1, buf_head(&fresh),
		  buf_len(&fresh));
	buf_consume(&fresh, buf_len(&fresh));
}

void pmi_server_take(struct reader *data)
{
	while (data->at < data->end && !data->bad) {
		const char *key = read_str(data);
		const char *value = read_str(data);

		kvs_put(key, value);
	}
}

void pmi_server_fence(struct reader *data)
{
	pmi_server_take(data);
	in_barrier = 0;
	for (int i = 0; i < proxy.nranks; i++) {
		proxy.ranks[i].in_barrier = false;
		pmi_server_answer(&proxy.ranks[i], "cmd=barrier_out rc=0\n");
	}
}

static void do_finalize(struct rank *r, const char *line)
{
	r->state = RANK_FINALIZED;
	pmi_server_answer(r, "cmd=finalize_ack rc=0\n");
}

static void do_abort(struct rank *r, const char *line)
{
	char ranks[PMI_LINE_MAX] = "";
	struct buf b = { 0 };
	int code = 1, error = 0;

	pmi_field_int(line, "exitcode", &code);
	pmi_field_int(line, "code", &code);
	pmi_field_int(line, "error", &error);
	pmi_field(line, "ranks", ranks, sizeof(ranks));
	proxy_reap_others(r);
	proxy_io_flush(r); /* its own words come first */
	buf_put_u32(&b, code);
	buf_put_u32(&b, error != 0);
	buf_put_str(&b, ranks);
	chan_send(&proxy.up, FRAME_ABORT, r->spec->rank, b.data, buf_len(&b));
	buf_cleanup(&b);
}

static void do_publish(struct rank *r, const char *line)
{
	pmi_server_answer(
		r, "cmd=publish_result rc=-1 info=failed msg=not_supported\n");
}

static void do_unpublish(struct rank *r, const char *line)
{
	pmi_server_answer(
		r,
		"cmd=unpublish_result rc=-1 info=failed msg=not_supported\n");
}

static void do_lookup(struct rank *r, const char *line)
{
	pmi_server_answer(
		r, "cmd=lookup_result rc=-1 info=failed msg=not_supported\n");
}

static const struct command {
	const char *name;
	void (*fn)(struct rank *r, const char *line);
} commands[] = {
	{ "init", do_init },
	{ "get_maxes", do_get_maxes },
	{ "get_my_kvsname", do_get_my_kvsname },
	{ "get_appnum", do_get_appnum },
	{ "get_universe_size", do_get_universe_size },
	{ "put", do_put },
	{ "get", do_get },
	{ "barrier_in", do_barrier },
	{ "share", do_share },
	{ "await", do_await },
	{ "leave", do_leave },
	{ "finalize", do_finalize },
	{ "abort", do_abort },
	{ "child", pmi_spawn_child },
	{ "publish_name", do_publish },
	{ "unpublish_name", do_unpublish },
	{ "lookup_name", do_lookup },
};

static void unknown(struct rank *r, const char *line)
{
	char *text = xprintf(
		"rank %d on %s sent the PMI command \"%.100s\", which is not supported",
		r->spec->rank, proxy.start.host, line);

	chan_send(&proxy.up, FRAME_TEXT, r->spec->rank, text, strlen(text) + 1);
	free(text);
	pmi_server_answer(r, "cmd=error rc=-1 msg=not_supported\n");
}

static void handle(struct rank *r, const char *line)
{
	char name[32] = "";

	if (r->in_spawn || !strncmp(line, "mcmd=spawn", 10)) {
		pmi_spawn_line(r, line);
		return;
	}
	pmi_field(line, "cmd", name, sizeof(name));
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (!strcmp(name, commands[i].name)) {
			commands[i].fn(r, line);
			return;
		}
	}
	unknown(r, line);
}

static void handle_lines(struct rank *r)
{
	while (buf_len(&r->pmi_in)) {
		char *line = buf_head(&r->pmi_in);
		char *nl = memchr(line, '\n', buf_len(&r->pmi_in));

		if (!nl)
			return;
		*nl = '\0';
		handle(r, line);
		buf_consume(&r->pmi_in, nl + 1 - line);
	}
}

static void close_pmi(struct rank *r)
{
	watch_del(&r->pmi);
	if (r->pmi.fd >= 0)
		close(r->pmi.fd);
	r->pmi.fd = -1;
}

/* False: no more bytes now. */
static bool read_some(struct rank *r)
{
	ssize_t n = read(r->pmi.fd, buf_tail(&r->pmi_in, 4096), 4096);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0 || buf_len(&r->pmi_in) + n > PMI_LINE_MAX * 64) {
		close_pmi(r);
		return false;
	}
	buf_added(&r->pmi_in, n);
	handle_lines(r);
	return true;
}

static void on_pmi(struct watch *w, short revents)
{
	struct rank *r = w->arg;

	if (revents & POLLOUT)
		flush(r);
	if (revents & ~POLLOUT)
		read_some(r);
}

void pmi_server_start(struct rank *r, int fd)
{
	set_nonblock(fd);
	r->pmi = (struct watch){ .fd = fd,
				 .events = POLLIN,
				 .fn = on_pmi,
				 .arg = r };
	watch_add(&r->pmi);
}

void pmi_server_drain(struct rank *r)
{
	while (r->pmi.fd >= 0 && read_some(r))
		;
	close_pmi(r);
}
