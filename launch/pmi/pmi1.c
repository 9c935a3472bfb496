// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* PMI-1: a question of one line, an answer of one line. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "pmi.h"
#include "pmi_int.h"

/* What a launcher that says nothing about its limits is sure to take. */
#define VALUE_MAX_DEFAULT 256

static struct pmi_conn conn = { .fd = -1, .patience_ms = PMI_JOIN_MS };
static int value_max; /* with the closing NUL */
static int shares;    /* it is our own launcher, which can do more */
static char kvsname[PMI_KVSNAME_MAX];
static char map[PMI_MAP_MAX]; /* empty: the launcher has none */

/* The line that answers a question, "cmd=@answer ...". */
static int take_answer(const char *answer, char **line)
{
	char cmd[64];
	int err = pmi_conn_recv(&conn, line);

	if (err)
		return err;
	if (pmi_field(*line, "cmd", cmd, sizeof(cmd)) || strcmp(cmd, answer))
		return pmi_bad_answer(*line, answer);
	return 0;
}

static int ask(const char *question, const char *answer, char **line)
{
	int err = pmi_conn_send(&conn, question);

	return err ? err : take_answer(answer, line);
}

/* The same, when nothing in the answer is of interest. */
static int request(const char *question, const char *answer)
{
	char *line;

	return ask(question, answer, &line);
}

/* Launchers that are reached by PMI_PORT first tell us who we are. */
static int introduce(struct pmi_job *job)
{
	const char *id = getenv("PMI_ID");
	char question[64], *line;
	int err;

	snprintf(question, sizeof(question), "cmd=initack pmiid=%.20s\n",
		 id ? id : "0");
	err = ask(question, "initack", &line);
	for (int i = 0; i < 3 && !err; i++) {
		err = pmi_conn_recv(&conn, &line);
		if (!err) {
			pmi_field_int(line, "size", &job->size);
			pmi_field_int(line, "rank", &job->rank);
		}
	}
	return err;
}

static void env_int(const char *name, int *value)
{
	const char *text = getenv(name);
	char *end;
	long v;

	if (!text)
		return;
	v = strtol(text, &end, 10);
	if (end != text && !*end)
		*value = (int)v;
}

static int connect_launcher(struct pmi_job *job)
{
	int err = pmi_conn_open(&conn);

	if (err)
		return err;
	if (getenv("PMI_FD")) {
		env_int("PMI_RANK", &job->rank);
		env_int("PMI_SIZE", &job->size);
	} else {
		err = introduce(job);
	}
	if (!err)
		err = pmi_conn_hello(&conn, 1);
	if (err <= 1)
		return err < 0 ? err : 0;
	o2g_error(
		"the launcher speaks PMI version %d here, and not PMI-1 as was expected",
		err);
	o2g_error(
		"set O2G_LAUNCHER=pmi2, or start the program with O2G's mpiexec");
	return -ENOTSUP;
}

static int clamp(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

static int ask_limits(void)
{
	int key_max = PMI_KEY_SIZE, err;
	char *line;

	value_max = VALUE_MAX_DEFAULT;
	err = ask("cmd=get_maxes\n", "maxes", &line);
	if (err)
		return err;
	pmi_field_int(line, "keylen_max", &key_max);
	pmi_field_int(line, "vallen_max", &value_max);
	pmi_field_int(line, "o2g_share", &shares);
	value_max = clamp(value_max, 32, PMI_VALUE_MAX);
	if (key_max >= PMI_KEY_SIZE)
		return 0;
	o2g_error("the launcher keeps keys of %d bytes only, but %d are needed",
		  key_max, PMI_KEY_SIZE);
	return -ENOTSUP;
}

static int ask_part(const char *key)
{
	char question[PMI_KVSNAME_MAX + 128];

	snprintf(question, sizeof(question), "cmd=get kvsname=%s key=%s\n",
		 kvsname, key);
	return pmi_conn_send(&conn, question);
}

static int part_answer(char *value, size_t size)
{
	int rc = 0, err;
	char *line;

	err = take_answer("get_result", &line);
	if (err)
		return err;
	pmi_field_int(line, "rc", &rc);
	if (rc)
		return -ENOENT;
	err = pmi_field(line, "value", value, size);
	return err == -ENOENT ? pmi_bad_answer(line, "value=TEXT") : err;
}

static int ask_about_job(struct pmi_job *job)
{
	char *line;
	int err;

	err = ask("cmd=get_my_kvsname\n", "my_kvsname", &line);
	if (err)
		return err;
	if (pmi_field(line, "kvsname", kvsname, sizeof(kvsname)))
		return pmi_bad_answer(line, "kvsname=NAME");
	strcpy(job->kvsname, kvsname);

	err = ask("cmd=get_appnum\n", "appnum", &line);
	if (err)
		return err;
	pmi_field_int(line, "appnum", &job->appnum);
	err = ask("cmd=get_universe_size\n", "universe_size", &line);
	if (err)
		return err;
	pmi_field_int(line, "size", &job->universe_size);
	err = ask_part(PMI_MAP_KEY);
	if (!err)
		err = part_answer(map, sizeof(map));
	if (err)
		map[0] = '\0';
	job->local_size = pmi_local_size(map, job->rank, job->size);
	return err == -ENOENT || err == -ENOSPC ? 0 : err;
}

static bool pmi1_offered(void)
{
	return getenv("PMI_FD") || getenv("PMI_PORT");
}

static int pmi1_init(struct pmi_job *job)
{
	int err;

	err = connect_launcher(job);
	if (!err)
		err = ask_limits();
	if (!err)
		err = ask_about_job(job);
	if (err)
		pmi_conn_close(&conn);
	else
		conn.patience_ms = -1;
	return err;
}

static int put_part(const char *key, const char *text)
{
	char question[PMI_KVSNAME_MAX + PMI_VALUE_MAX + 128], *line;
	int rc = 0, err;

	snprintf(question, sizeof(question),
		 "cmd=put kvsname=%s key=%s value=%s\n", kvsname, key, text);
	err = ask(question, "put_result", &line);
	if (err)
		return err;
	pmi_field_int(line, "rc", &rc);
	if (rc == 0)
		return 0;
	o2g_error("the launcher refused to keep the key %s: %.200s", key, line);
	return -EIO;
}

static const struct pmi_wire wire = { .conn = &conn,
				      .put = put_part,
				      .ask = ask_part,
				      .answer = part_answer };
static struct pmi_parts asked;

static int pmi1_put(const char *key, const char *value)
{
	return pmi_parts_put(&wire, value_max, key, value);
}

static int pmi1_barrier(void)
{
	return request("cmd=barrier_in\n", "barrier_out");
}

static int pmi1_ask(int owner, const char *key)
{
	return pmi_parts_ask(&asked, &wire, key);
}

static int pmi1_answered(bool wait, char **value)
{
	return pmi_parts_answered(&asked, wait, value);
}

static bool pmi1_shares(void)
{
	return shares;
}

static int pmi1_share(void)
{
	return request("cmd=share\n", "share_result");
}

static int pmi1_await(int owner)
{
	char question[64];

	snprintf(question, sizeof(question), "cmd=await rank=%d\n", owner);
	return request(question, "await_result");
}

static int pmi1_leave(void)
{
	return request("cmd=leave\n", "leave_result");
}

static int pmi1_spawn(const char *text, int *child, char *why, size_t size)
{
	int rc = -1, err;
	char *line;

	err = ask(text, "spawn_result", &line);
	if (err)
		return err;
	*child = 0;
	pmi_field_int(line, "rc", &rc);
	pmi_field_int(line, "id", child);
	if (!rc)
		return 0;
	if (pmi_field(line, "msg", why, size) || pmi_value_decode(why))
		*why = '\0';
	return -EIO;
}

static int pmi1_child_runs(int child)
{
	char question[64], *line;
	int runs = 1;

	snprintf(question, sizeof(question), "cmd=child id=%d\n", child);
	if (!ask(question, "child_result", &line))
		pmi_field_int(line, "runs", &runs);
	return runs;
}

static int pmi1_nodes(int *node, int size)
{
	return pmi_map_nodes(map, node, size);
}

static int pmi1_finalize(void)
{
	int err = request("cmd=finalize\n", "finalize_ack");

	pmi_conn_close(&conn);
	return err;
}

/* Other launchers exit with that number; ours is told all of it. */
static void describe_abort(char *text, size_t size, int code, bool error)
{
	int n = snprintf(text, size, "cmd=abort exitcode=%d",
			 pmi_exit_code(code));

	if (shares)
		snprintf(text + n, size - n, " code=%d error=%d", code, error);
}

static void pmi1_abort(int code, bool error)
{
	char line[128];

	describe_abort(line, sizeof(line) - 1, code, error);
	strcat(line, "\n");
	/* Short enough to go out in one write, whoever else writes. */
	if (pmi_conn_send(&conn, line))
		return;
	/* Our own launcher ends us in a moment, with all the others. Until then
	 * our connections stay open, so that nobody reports a lost peer where
	 * there was an abort. */
	if (pmi_launched_by_us())
		poll(&(struct pollfd){ .fd = conn.fd }, 1, 1000);
}

static void pmi1_abort_some(int code, bool error, const char *ranks)
{
	char line[PMI_LINE_MAX], what[128];

	describe_abort(what, sizeof(what), code, error);
	snprintf(line, sizeof(line), "%s ranks=%s\n", what, ranks);
	pmi_conn_send(&conn, line);
}

const struct pmi_client pmi1_client = {
	.name = "pmi1",
	.offered = pmi1_offered,
	.init = pmi1_init,
	.put = pmi1_put,
	.barrier = pmi1_barrier,
	.ask = pmi1_ask,
	.answered = pmi1_answered,
	.nodes = pmi1_nodes,
	.finalize = pmi1_finalize,
	.abort = pmi1_abort,
	.shares = pmi1_shares,
	.share = pmi1_share,
	.await = pmi1_await,
	.leave = pmi1_leave,
	.abort_some = pmi1_abort_some,
	.spawn = pmi1_spawn,
	.child_runs = pmi1_child_runs,
};
