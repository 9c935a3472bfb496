// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A job that was spawned in another: -under FD NUMBER. The mpiexec of that one has
 * started us and is at the other end of the descriptor (spawned.c); when it goes, so do
 * we. What our own ranks want to have spawned it does, since it knows all slots.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "spawned.h"
#include "util.h"

static struct chan up;
static int nodes_started;
static bool is_under, started;

bool under_is(void)
{
	return is_under;
}

static struct node *node_of(int rank)
{
	if (rank < 0 || rank >= job.place.size)
		return NULL;
	return &job.nodes[job.place.ranks[rank].node];
}

static void on_frame(struct chan *c, enum frame_type type, int rank,
		     struct reader *data)
{
	struct node *n = node_of(rank);

	switch (type) {
	case FRAME_END:
		verdict_fail(CAUSE_OTHER, -1, EXIT_TROUBLE, NULL);
		break;
	case FRAME_SPAWNED:
	case FRAME_OVER:
		if (n)
			chan_send(&n->chan, type, rank, data->at,
				  data->end - data->at);
		break;
	default:
		data->bad = 1;
	}
}

static void on_end(struct chan *c)
{
	verdict_fail(CAUSE_OTHER, -1, EXIT_TROUBLE, NULL);
}

/* "key=value" lines, which nobody else is to see. */
static void take_keys(void)
{
	char *text = getenv("O2G_SPAWN_KEYS"), *copy, *at, *line;

	if (!text)
		return;
	at = copy = xstrdup(text);
	while ((line = strsep(&at, "\n"))) {
		char *value = strchr(line, '=');

		if (!value)
			continue;
		*value++ = '\0';
		strings_add(&job.keys, line);
		strings_add(&job.keys, value);
	}
	free(copy);
	job.spawned = true;
	unsetenv("O2G_SPAWN_KEYS");
}

/* What ends us before anything has been started. */
static void say_last(const char *line)
{
	if (!under_cannot(line))
		return;
	chan_drain(&up, 1000);
}

void under_open(int fd, int number)
{
	is_under = true;
	up.greeted = true;
	up.on_frame = on_frame;
	up.on_end = on_end;
	chan_open(&up, fd, fd);
	say_as(xprintf("mpiexec: spawned job %d: ", number));
	fail_through(say_last);
}

void under_init(void)
{
	take_keys();
}

void under_placed(void)
{
	struct buf b = { 0 };

	for (int i = 0; i < job.place.nnodes; i++) {
		uint32_t ranks = 0;

		for (int r = 0; r < job.place.size; r++)
			ranks += job.place.ranks[r].node == i;
		buf_put_str(&b, job.place.nodes[i]);
		buf_put_u32(&b, ranks);
	}
	if (under_is())
		chan_send(&up, FRAME_PLACED, -1, b.data, buf_len(&b));
	buf_cleanup(&b);
}

void under_node_started(void)
{
	if (++nodes_started < job.nnodes || !under_is())
		return;
	started = true;
	chan_send(&up, FRAME_STARTED, -1, NULL, 0);
}

bool under_cannot(const char *text)
{
	struct buf b = { 0 };

	if (!under_is() || started || !chan_is_open(&up))
		return false;
	buf_put_str(&b, text);
	chan_send(&up, FRAME_CANNOT, -1, b.data, buf_len(&b));
	buf_cleanup(&b);
	return true;
}

void under_spawn(int rank, struct reader *data)
{
	chan_send(&up, FRAME_SPAWN, rank, data->at, data->end - data->at);
}

void under_finish(void)
{
	if (under_is())
		chan_drain(&up, 1000);
}

int under_tunnel(const char *host)
{
	for (int i = 0; i < job.opt->nways; i++)
		if (!strcmp(job.opt->ways[i].host, host))
			return job.opt->ways[i].fd;
	return -1;
}
