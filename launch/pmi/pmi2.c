// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * PMI-2, as Slurm's `srun --mpi=pmi2` serves it: a hello as in PMI-1, and from
 * then on messages "cmd=NAME;key=value;...", each behind its length in six
 * characters. The answer to NAME is NAME-response with rc=0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "pmi.h"
#include "pmi_int.h"

#define MESSAGE_MAX (PMI_KVSNAME_MAX + PMI_VALUE_MAX + 256)

static struct pmi_conn conn = { .fd = -1, .patience_ms = PMI_JOIN_MS };
static char jobid[PMI_KVSNAME_MAX];
static char map[PMI_MAP_MAX]; /* empty: the launcher has none */

static int send_message(const char *text)
{
	char message[MESSAGE_MAX + PMI2_COUNT + 1];

	snprintf(message, sizeof(message), "%*zu%s", PMI2_COUNT, strlen(text),
		 text);
	return pmi_conn_send(&conn, message);
}

static int send_question(const char *cmd, const char *rest)
{
	char message[MESSAGE_MAX];

	snprintf(message, sizeof(message), "cmd=%s;%s", cmd, rest);
	return send_message(message);
}

/* The answer to @cmd. -EREMOTEIO: the launcher says that it failed; the caller
 * knows how to say that. */
static int take_answer(const char *cmd, char **answer)
{
	char want[64], got[64];
	int rc = 0, err;

	err = pmi_conn_recv_counted(&conn, answer);
	if (err)
		return err;
	snprintf(want, sizeof(want), "%s-response", cmd);
	if (pmi2_field(*answer, "cmd", got, sizeof(got)) || strcmp(got, want))
		return pmi_bad_answer(*answer, want);
	pmi2_field_int(*answer, "rc", &rc);
	return rc ? -EREMOTEIO : 0;
}

static int ask(const char *cmd, const char *rest, char **answer)
{
	int err = send_question(cmd, rest);

	return err ? err : take_answer(cmd, answer);
}

static int refused(const char *what, const char *answer)
{
	o2g_error("the launcher refused %s: %.200s", what, answer);
	return -EIO;
}

/* Is the field "found" there and true? Not all launchers send it. */
static bool found(const char *answer)
{
	char text[8];

	return pmi2_field(answer, "found", text, sizeof(text)) ||
	       !strcmp(text, "TRUE");
}

static int say_who(struct pmi_job *job)
{
	const char *id = getenv("PMI_JOBID"), *rank = getenv("PMI_RANK");
	char rest[PMI_KVSNAME_MAX + 64], *answer;
	int used = 0, err;

	/* Hydra does not name the job, and gives up on a field without value. */
	if (id && *id)
		used = snprintf(rest, sizeof(rest), "pmijobid=%.*s;",
				PMI_KVSNAME_MAX - 1, id);
	snprintf(rest + used, sizeof(rest) - used,
		 "pmirank=%.20s;threaded=FALSE;", rank ? rank : "0");
	err = ask("fullinit", rest, &answer);
	if (err == -EREMOTEIO)
		return refused("to let us join", answer);
	if (err)
		return err;
	pmi2_field_int(answer, "rank", &job->rank);
	pmi2_field_int(answer, "size", &job->size);
	pmi2_field_int(answer, "appnum", &job->appnum);
	return 0;
}

/* -ENOENT: the launcher does not say. */
static int job_attribute(const char *key, char *value, size_t size)
{
	char rest[64], *answer;
	int err;

	snprintf(rest, sizeof(rest), "key=%s;", key);
	err = ask("info-getjobattr", rest, &answer);
	if (err == -EREMOTEIO)
		return -ENOENT;
	if (err)
		return err;
	if (!found(answer) || pmi2_field(answer, "value", value, size))
		return -ENOENT;
	return 0;
}

static int ask_about_job(struct pmi_job *job)
{
	char text[PMI_VALUE_MAX], *answer;
	int err;

	err = ask("job-getid", "", &answer);
	if (err == -EREMOTEIO)
		return refused("to name the job", answer);
	if (err)
		return err;
	if (pmi2_field(answer, "jobid", jobid, sizeof(jobid)))
		return pmi_bad_answer(answer, "jobid=NAME");
	strcpy(job->kvsname, jobid);
	err = job_attribute("universeSize", text, sizeof(text));
	if (!err)
		job->universe_size = atoi(text);
	else if (err != -ENOENT)
		return err;
	err = job_attribute(PMI_MAP_KEY, map, sizeof(map));
	if (err)
		map[0] = '\0';
	job->local_size = pmi_local_size(map, job->rank, job->size);
	return err == -ENOENT ? 0 : err;
}

/* PMI-1 launchers do not name the job. */
static bool pmi2_offered(void)
{
	return getenv("PMI_FD") && getenv("PMI_JOBID");
}

static int pmi2_init(struct pmi_job *job)
{
	int err = pmi_conn_open(&conn);

	if (!err)
		err = pmi_conn_hello(&conn, 2);
	if (err >= 0 && err != 2) {
		o2g_error(
			"the launcher speaks PMI version %d and refuses PMI-2",
			err);
		o2g_error(
			"set O2G_LAUNCHER=pmi1, or start the program with O2G's mpiexec");
		err = -ENOTSUP;
	}
	if (err >= 0)
		err = say_who(job);
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
	char rest[PMI_VALUE_MAX + 128], *answer;
	int err;

	snprintf(rest, sizeof(rest), "key=%s;value=%s;", key, text);
	err = ask("kvs-put", rest, &answer);
	return err == -EREMOTEIO ? refused("to keep a key", answer) : err;
}

static int ask_part(const char *key)
{
	char rest[PMI_KVSNAME_MAX + 128];

	snprintf(rest, sizeof(rest), "jobid=%s;srcid=-1;key=%s;", jobid, key);
	return send_question("kvs-get", rest);
}

static int part_answer(char *value, size_t size)
{
	char *answer;
	int err = take_answer("kvs-get", &answer);

	if (err == -EREMOTEIO)
		return -ENOENT;
	if (err)
		return err;
	if (!found(answer))
		return -ENOENT;
	err = pmi2_field(answer, "value", value, size);
	return err == -ENOENT ? pmi_bad_answer(answer, "value=TEXT") : err;
}

static const struct pmi_wire wire = { .conn = &conn,
				      .put = put_part,
				      .ask = ask_part,
				      .answer = part_answer };
static struct pmi_parts asked;

static int pmi2_put(const char *key, const char *value)
{
	return pmi_parts_put(&wire, PMI_VALUE_MAX, key, value);
}

static int pmi2_barrier(void)
{
	char *answer;
	int err = ask("kvs-fence", "", &answer);

	return err == -EREMOTEIO ? refused("a barrier", answer) : err;
}

static int pmi2_ask(int owner, const char *key)
{
	return pmi_parts_ask(&asked, &wire, key);
}

static int pmi2_answered(bool wait, char **value)
{
	return pmi_parts_answered(&asked, wait, value);
}

static int pmi2_nodes(int *node, int size)
{
	return pmi_map_nodes(map, node, size);
}

static int pmi2_finalize(void)
{
	char *answer;
	int err = ask("finalize", "", &answer);

	pmi_conn_close(&conn);
	return err == -EREMOTEIO ? refused("to let us go", answer) : err;
}

/* The protocol has no place for the code, but for a text: that says it. */
static void pmi2_abort(int code, bool error)
{
	char text[96];

	snprintf(text, sizeof(text),
		 "cmd=abort;isworld=TRUE;msg=aborted with exit code %d;", code);
	send_message(text);
}

const struct pmi_client pmi2_client = {
	.name = "pmi2",
	.offered = pmi2_offered,
	.init = pmi2_init,
	.put = pmi2_put,
	.barrier = pmi2_barrier,
	.ask = pmi2_ask,
	.answered = pmi2_answered,
	.nodes = pmi2_nodes,
	.finalize = pmi2_finalize,
	.abort = pmi2_abort,
};
