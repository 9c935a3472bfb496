/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * o2g why [JOB]: what the ranks of a job wait for, and why that does not come.
 *
 * The job is looked at twice. What has changed in between gets on, however slowly,
 * and is not called stuck.
 */
#include "why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

#define JOBS 64
#define BETWEEN_US 400000

static int usage(void)
{
	fprintf(stderr, "usage: o2g why [--json] [JOB]\n"
			"JOB is the process id of an mpiexec of yours on this "
			"host; it may be left out if there is one only\n");
	return 2;
}

static int cannot(int pid, int err)
{
	if (err == -ECONNREFUSED || err == -ENOENT)
		fprintf(stderr,
			"o2g: process %d is no mpiexec of O2G, or none on this host; `o2g why` alone lists yours\n",
			pid);
	else if (err == -EPERM)
		fprintf(stderr,
			"o2g: the job of process %d belongs to another user\n",
			pid);
	else if (err == -ECONNRESET)
		fprintf(stderr, "o2g: the job of process %d has just ended\n",
			pid);
	else
		fprintf(stderr,
			"o2g: cannot ask the mpiexec of process %d: %s\n", pid,
			strerror(-err));
	return 1;
}

/* The only job; -1, with words, if it is not clear which. */
static int only_job(void)
{
	int pids[JOBS], n = why_find(pids, JOBS);

	if (n == 1)
		return pids[0];
	if (!n) {
		fprintf(stderr,
			"o2g: no job of yours runs on this host; ask where its mpiexec was started\n");
		return -1;
	}
	fprintf(stderr, "o2g: which of these jobs?");
	for (int i = 0; i < n; i++)
		fprintf(stderr, " %d", pids[i]);
	fputc('\n', stderr);
	return -1;
}

static int show(int pid, bool json)
{
	struct why_job before = { 0 }, job = { 0 };
	struct why_findings found = { 0 };
	int err = why_read(pid, &before);

	if (!err) {
		usleep(BETWEEN_US);
		err = why_read(pid, &job);
		if (err == -ECONNREFUSED || err == -ENOENT)
			err = -ECONNRESET; /* it was there */
	}
	if (err) {
		why_free(&before);
		return cannot(pid, err);
	}
	why_judge(&job, &before);
	why_explain(&job, &found);
	(json ? why_print_json : why_print_text)(&job, &found);
	why_findings_free(&found);
	why_free(&before);
	why_free(&job);
	return 0;
}

int cmd_why(int argc, char **argv)
{
	bool json = false;
	int pid = 0;
	char *end;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			json = true;
			continue;
		}
		pid = (int)strtol(argv[i], &end, 10);
		if (*end || end == argv[i] || pid <= 0 || i + 1 < argc)
			return usage();
	}
	if (!pid)
		pid = only_job();
	return pid < 0 ? 1 : show(pid, json);
}
