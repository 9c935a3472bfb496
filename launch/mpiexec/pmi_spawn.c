// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * PMI-1's spawn, as the ranks of one host see it: "mcmd=spawn" and many lines, up to
 * "endcmd", for each program of the new job. When all are there they go to mpiexec,
 * which does the work; its answer is the rank's.
 *
 * Ours beyond PMI-1: the answer has the number of the new job, and "child" tells
 * whether that still runs. Words that PMI-1 could not carry are encoded.
 */
#include <stdlib.h>
#include <string.h>

#include "pmi_int.h"
#include "proxy.h"
#include "util.h"

#define REQUEST_MAX (16u << 20)

/* Jobs that ranks of this host have spawned and that still run. */
static uint32_t *children;
static size_t nchildren;

void pmi_spawn_line(struct rank *r, const char *line)
{
	pmi_field_int(line, "totspawns", &r->spawns);
	pmi_field_int(line, "spawnssofar", &r->spawn);
	if (buf_len(&r->request) < REQUEST_MAX) {
		buf_append(&r->request, line, strlen(line));
		buf_append(&r->request, "\n", 1);
	}
	r->in_spawn = strcmp(line, "endcmd") != 0;
	if (r->in_spawn || r->spawn < r->spawns)
		return;
	if (buf_len(&r->request) < REQUEST_MAX) {
		buf_append(&r->request, "", 1);
		chan_send(&proxy.up, FRAME_SPAWN, r->spec->rank,
			  buf_head(&r->request), buf_len(&r->request));
	} else {
		pmi_server_answer(
			r, "cmd=spawn_result rc=-1 msg=too%%20many%%20words\n");
	}
	buf_consume(&r->request, buf_len(&r->request));
}

static void remember(uint32_t id)
{
	children = xrealloc(children, (nchildren + 1) * sizeof(*children));
	children[nchildren++] = id;
}

void pmi_spawn_done(int rank, struct reader *data)
{
	uint32_t id = read_u32(data);
	char *why = pmi_value_encode(read_str(data));

	for (int i = 0; i < proxy.nranks; i++) {
		struct rank *r = &proxy.ranks[i];

		if (r->spec->rank != rank)
			continue;
		if (id)
			pmi_server_answer(r, "cmd=spawn_result rc=0 id=%u\n",
					  id);
		else
			pmi_server_answer(r,
					  "cmd=spawn_result rc=-1 msg=%.900s\n",
					  why ? why : "");
	}
	if (id)
		remember(id);
	free(why);
}

void pmi_spawn_over(struct reader *data)
{
	uint32_t id = read_u32(data);

	for (size_t i = 0; i < nchildren; i++)
		if (children[i] == id)
			children[i--] = children[--nchildren];
}

void pmi_spawn_child(struct rank *r, const char *line)
{
	int id = 0, runs = 0;

	pmi_field_int(line, "id", &id);
	for (size_t i = 0; i < nchildren; i++)
		runs |= children[i] == (uint32_t)id;
	pmi_server_answer(r, "cmd=child_result rc=0 runs=%d\n", runs);
}
