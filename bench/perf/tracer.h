/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* A child process that traces the one which starts it, with ptrace. */
#ifndef PERF_TRACER_H
#define PERF_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct perf_tracer {
	bool (*attach)(pid_t pid);
	void (*follow)(pid_t pid, void *shared); /* until it is killed */
	void *shared; /* perf_tracer_memory(): what it finds */
	pid_t child;
};

/* Memory that both processes see, filled with zeros. */
void *perf_tracer_memory(size_t size);
/* Returns when the caller is traced; ends the job where that is not possible. */
void perf_tracer_start(struct perf_tracer *t);
void perf_tracer_stop(struct perf_tracer *t);

#endif
