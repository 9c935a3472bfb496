// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "pmi.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "pmi_int.h"

/* A launcher answers the first line at once; anything else that holds the
 * other end of the descriptor never does. */
#define HELLO_TIMEOUT_MS 60000
/* What a launcher that says nothing about its limits is sure to take. */
#define KEY_MAX_DEFAULT 64
#define VALUE_MAX_DEFAULT 256
#define VALUE_MAX 1024
/* Hydra (MPICH 4.2) promises 1024, and dies of a line that holds so much. */
#define VALUE_MAX_PUT 768

static struct {
	pthread_mutex_t lock; /* one question and its answer */
	struct pmi_conn conn;
	bool singleton;
	int key_max, value_max; /* with the closing NUL */
	char kvsname[PMI_KVSNAME_MAX];
} pmi = {.lock = PTHREAD_MUTEX_INITIALIZER, .conn.fd = -1};

static int bad_answer(const char *line, const char *expected)
{
	o2g_error("the launcher answered \"%.200s\", but %s was expected", line,
		  expected);
	return -EPROTO;
}

/* Sends a line and waits for the one that answers it, "cmd=@answer ...". */
static int ask(const char *question, const char *answer, int timeout_ms,
	       char **line)
{
	char cmd[64];
	int err;

	err = pmi_conn_send(&pmi.conn, question);
	if (!err)
		err = pmi_conn_recv(&pmi.conn, timeout_ms, line);
	if (err == -ETIMEDOUT)
		o2g_error(
			"the launcher does not answer within %d s; start the program with mpiexec, or unset PMI_FD and PMI_PORT to run it alone",
			timeout_ms / 1000);
	if (err)
		return err;
	if (pmi_field(*line, "cmd", cmd, sizeof(cmd)) || strcmp(cmd, answer))
		return bad_answer(*line, answer);
	return 0;
}

static int say_hello(void)
{
	int rc = 0, version = 1, err;
	char *line;

	err = ask("cmd=init pmi_version=1 pmi_subversion=1\n",
		  "response_to_init", HELLO_TIMEOUT_MS, &line);
	if (err)
		return err;
	pmi_field_int(line, "rc", &rc);
	pmi_field_int(line, "pmi_version", &version);
	if (rc == 0 && version == 1)
		return 0;
	o2g_error(
		"the launcher speaks PMI version %d and refuses PMI-1, which is all that O2G speaks",
		version);
	o2g_error(
		"start the program with O2G's mpiexec or with MPICH's mpiexec.hydra");
	return -ENOTSUP;
}

/* Launchers that are reached by PMI_PORT first tell us who we are. */
static int introduce(struct pmi_job *job)
{
	const char *id = getenv("PMI_ID");
	char question[64], *line;
	int err;

	snprintf(question, sizeof(question), "cmd=initack pmiid=%.20s\n",
		 id ? id : "0");
	err = ask(question, "initack", HELLO_TIMEOUT_MS, &line);
	for (int i = 0; i < 3 && !err; i++) {
		err = pmi_conn_recv(&pmi.conn, HELLO_TIMEOUT_MS, &line);
		if (!err) {
			pmi_field_int(line, "size", &job->size);
			pmi_field_int(line, "rank", &job->rank);
		}
	}
	return err;
}

static int env_int(const char *name, int *value)
{
	const char *text = getenv(name);
	char *end;

	if (!text)
		return -ENOENT;
	*value = strtol(text, &end, 10);
	return end == text || *end ? -EINVAL : 0;
}

static int check_place(const struct pmi_job *job)
{
	if (job->size >= 1 && job->rank >= 0 && job->rank < job->size)
		return 0;
	o2g_error(
		"the launcher says rank %d of %d; PMI_RANK and PMI_SIZE must say which of how many processes this is",
		job->rank, job->size);
	return -EINVAL;
}

static int connect_launcher(struct pmi_job *job)
{
	const char *fd = getenv("PMI_FD"), *port = getenv("PMI_PORT");
	int err;

	job->rank = job->size = -1;
	if (fd) {
		err = pmi_conn_use_fd(&pmi.conn, fd);
		env_int("PMI_RANK", &job->rank);
		env_int("PMI_SIZE", &job->size);
	} else {
		err = pmi_conn_use_port(&pmi.conn, port);
		if (!err)
			err = introduce(job);
	}
	if (!err)
		err = say_hello();
	return err ? err : check_place(job);
}

static int clamp(int v, int low, int high)
{
	return v < low ? low : v > high ? high : v;
}

static int ask_about_job(struct pmi_job *job)
{
	char *line;
	int err;

	pmi.key_max = KEY_MAX_DEFAULT;
	pmi.value_max = VALUE_MAX_DEFAULT;
	err = ask("cmd=get_maxes\n", "maxes", -1, &line);
	if (err)
		return err;
	pmi_field_int(line, "keylen_max", &pmi.key_max);
	pmi_field_int(line, "vallen_max", &pmi.value_max);
	pmi.key_max = clamp(pmi.key_max, 16, VALUE_MAX);
	pmi.value_max = clamp(pmi.value_max, 32, VALUE_MAX);

	err = ask("cmd=get_my_kvsname\n", "my_kvsname", -1, &line);
	if (err)
		return err;
	if (pmi_field(line, "kvsname", pmi.kvsname, sizeof(pmi.kvsname)))
		return bad_answer(line, "kvsname=NAME");
	strcpy(job->kvsname, pmi.kvsname);

	job->appnum = job->universe_size = -1;
	err = ask("cmd=get_appnum\n", "appnum", -1, &line);
	if (err)
		return err;
	pmi_field_int(line, "appnum", &job->appnum);
	err = ask("cmd=get_universe_size\n", "universe_size", -1, &line);
	if (err)
		return err;
	pmi_field_int(line, "size", &job->universe_size);
	return 0;
}

static void be_alone(struct pmi_job *job)
{
	*job = (struct pmi_job){
		.size = 1, .universe_size = 1, .singleton = true};
	snprintf(job->kvsname, sizeof(job->kvsname), "singleton_%ld",
		 (long)getpid());
	pmi.singleton = true;
}

static int init_locked(struct pmi_job *job)
{
	int err;

	if (!getenv("PMI_FD") && !getenv("PMI_PORT")) {
		err = pmi_detect_foreign();
		if (!err)
			be_alone(job);
		return err;
	}
	job->singleton = false;
	err = connect_launcher(job);
	if (!err)
		err = ask_about_job(job);
	if (err)
		pmi_conn_close(&pmi.conn);
	return err;
}

int pmi_init(struct pmi_job *job)
{
	struct pmi_job j;
	int err;

	pthread_mutex_lock(&pmi.lock);
	err = pmi.singleton || pmi.conn.fd >= 0 ? -EALREADY : init_locked(&j);
	pthread_mutex_unlock(&pmi.lock);
	if (!err)
		*job = j;
	else if (err == -EALREADY)
		o2g_error("pmi_init was called twice");
	return err;
}

/* One key, one value that fits. */
static int put_part(const char *key, int part, const char *value)
{
	char question[PMI_KVSNAME_MAX + 3 * VALUE_MAX], *line;
	int rc = 0, err;

	if (part)
		snprintf(question, sizeof(question),
			 "cmd=put kvsname=%s key=%s~%d value=%s\n", pmi.kvsname,
			 key, part, value);
	else
		snprintf(question, sizeof(question),
			 "cmd=put kvsname=%s key=%s value=%s\n", pmi.kvsname,
			 key, value);
	err = ask(question, "put_result", -1, &line);
	if (err)
		return err;
	pmi_field_int(line, "rc", &rc);
	if (rc == 0)
		return 0;
	o2g_error("the launcher refused to keep the key %s: %.200s", key, line);
	return -EIO;
}

static int put_encoded(const char *key, const char *text)
{
	char part[VALUE_MAX];
	size_t room = clamp(pmi.value_max, 32, VALUE_MAX_PUT) - 1;
	size_t len = strlen(text);
	size_t each = room - 16; /* "%*COUNT:" in the first */
	int count = len <= room ? 1 : (len + each - 1) / each, err = 0;

	if (count == 1)
		return put_part(key, 0, text);
	for (int i = 0; i < count && !err; i++) {
		int n = i ? 0 : sprintf(part, "%%*%d:", count);

		snprintf(part + n, sizeof(part) - n, "%.*s", (int)each,
			 text + i * each);
		err = put_part(key, i, part);
	}
	return err;
}

static int check_key(const char *key)
{
	/* "~COUNT" may follow. */
	if (key[0] && !key[strcspn(key, " \t\n=;~")] &&
	    (pmi.singleton || strlen(key) + 8 < (size_t)pmi.key_max))
		return 0;
	o2g_error(
		"\"%s\" cannot be a PMI key: it must be 1 to %d characters without space, =, ; and ~",
		key, pmi.key_max - 9);
	return -EINVAL;
}

int pmi_put(const char *key, const char *value)
{
	char *text = pmi_value_encode(value);
	int err;

	if (!text)
		return -ENOMEM;
	pthread_mutex_lock(&pmi.lock);
	err = check_key(key);
	if (!err)
		err = pmi.singleton ? pmi_local_put(key, value)
				    : put_encoded(key, text);
	pthread_mutex_unlock(&pmi.lock);
	free(text);
	return err;
}

int pmi_barrier(void)
{
	char *line;
	int err = 0;

	pthread_mutex_lock(&pmi.lock);
	if (!pmi.singleton)
		err = ask("cmd=barrier_in\n", "barrier_out", -1, &line);
	pthread_mutex_unlock(&pmi.lock);
	return err;
}

static int get_part(const char *key, int part, char *value, size_t size)
{
	char question[PMI_KVSNAME_MAX + 2 * VALUE_MAX], suffix[16] = "", *line;
	int rc = 0, err;

	if (part)
		snprintf(suffix, sizeof(suffix), "~%d", part);
	snprintf(question, sizeof(question), "cmd=get kvsname=%s key=%s%s\n",
		 pmi.kvsname, key, suffix);
	err = ask(question, "get_result", -1, &line);
	if (err)
		return err;
	pmi_field_int(line, "rc", &rc);
	if (rc)
		return -ENOENT;
	err = pmi_field(line, "value", value, size);
	return err == -ENOENT ? bad_answer(line, "value=TEXT") : err;
}

/* The whole value, still encoded, allocated. */
static int get_encoded(const char *key, char **value)
{
	char part[PMI_LINE_MAX];
	const char *text;
	int count, err;
	char *all;

	err = get_part(key, 0, part, sizeof(part));
	if (err)
		return err;
	count = pmi_value_parts(part, &text);
	if (count > 65536)
		return bad_answer(part, "fewer parts");
	all = malloc((size_t)count * VALUE_MAX + sizeof(part));
	if (!all)
		return -ENOMEM;
	strcpy(all, text);
	for (int i = 1; i < count && !err; i++) {
		err = get_part(key, i, part, VALUE_MAX);
		if (!err)
			strcat(all, part);
	}
	if (err)
		free(all);
	else
		*value = all;
	return err;
}

static int copy_out(const char *from, char *value, size_t size)
{
	if (strlen(from) >= size)
		return -ENOSPC;
	strcpy(value, from);
	return 0;
}

static int get_remote(const char *key, char *value, size_t size)
{
	char *text;
	int err;

	err = get_encoded(key, &text);
	if (err)
		return err;
	err = pmi_value_decode(text);
	if (err)
		o2g_error(
			"the key %s holds \"%.200s\", which is not what was put there",
			key, text);
	else
		err = copy_out(text, value, size);
	free(text);
	return err;
}

int pmi_get(const char *key, char *value, size_t size)
{
	int err;

	pthread_mutex_lock(&pmi.lock);
	err = check_key(key);
	if (!err && pmi.singleton) {
		const char *text = pmi_local_get(key);

		err = text ? copy_out(text, value, size) : -ENOENT;
	} else if (!err) {
		err = get_remote(key, value, size);
	}
	pthread_mutex_unlock(&pmi.lock);
	return err;
}

int pmi_finalize(void)
{
	char *line;
	int err = 0;

	pthread_mutex_lock(&pmi.lock);
	if (pmi.singleton) {
		pmi_local_clear();
		pmi.singleton = false;
	} else {
		err = ask("cmd=finalize\n", "finalize_ack", -1, &line);
		pmi_conn_close(&pmi.conn);
	}
	pthread_mutex_unlock(&pmi.lock);
	return err;
}

void pmi_abort(int code, const char *text)
{
	char line[64];

	if (text)
		o2g_error("%s", text);
	/* Hydra throws away what its ranks have written and it has not read. */
	if (pmi.conn.fd >= 0 && !getenv("O2G_LAUNCHER"))
		usleep(50000);
	snprintf(line, sizeof(line), "cmd=abort exitcode=%d\n", code);
	/* Without the lock: its holder may be waiting for a barrier that will
	 * never come, and no answer is expected. The line is short enough to
	 * go out in one write. */
	if (pmi.conn.fd < 0 || pmi_conn_send(&pmi.conn, line))
		return;
	/* Our own launcher ends us in a moment, with all the others. Until then
	 * our connections stay open, so that nobody reports a lost peer where
	 * there was an abort. */
	if (getenv("O2G_LAUNCHER"))
		poll(&(struct pollfd){.fd = pmi.conn.fd}, 1, 1000);
}
