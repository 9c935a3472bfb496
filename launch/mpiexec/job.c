// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "allocation.h"
#include "reap.h"
#include "spawned.h"
#include "util.h"
#include "why.h"

#define GREETING_MS 60000
/* Of what a login script says, this much is shown. */
#define TEXT_LINES 100

struct job job;

static struct buf fence; /* what the nodes that have come brought along */
static int fence_count;
static struct timer greeting_timer, timeout_timer;

void job_send_all(enum frame_type type, int rank, const void *data, size_t n)
{
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].done)
			chan_send(&job.nodes[i].chan, type, rank, data, n);
}

void job_send_all_u32(enum frame_type type, uint32_t v)
{
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].done)
			chan_send_u32(&job.nodes[i].chan, type, -1, v);
}

void job_check_done(void)
{
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].done && chan_is_open(&job.nodes[i].chan))
			return;
	if (!spawned_any())
		job.stop = true;
}

static void on_fence_in(struct node *n, int rank, struct reader *data)
{
	if (n->in_fence)
		return;
	n->in_fence = true;
	buf_append(&fence, data->at, data->end - data->at);
	if (++fence_count < job.nnodes)
		return;
	job.waiting = false;
	for (int r = 0; r < job.place.size; r++)
		job.ranks[r].shared = true;
	job_send_all(FRAME_FENCE_OUT, -1, buf_head(&fence), buf_len(&fence));
	buf_consume(&fence, buf_len(&fence));
	fence_count = 0;
	for (int i = 0; i < job.nnodes; i++)
		job.nodes[i].in_fence = false;
}

/* Ranks that others can reach leave together. */
static void check_leaving(void)
{
	bool some = false;

	for (int r = 0; r < job.place.size; r++) {
		struct job_rank *k = &job.ranks[r];

		if (k->shared && !k->leaving && !k->exited)
			return;
		some |= k->leaving;
	}
	if (!some)
		return;
	for (int r = 0; r < job.place.size; r++)
		job.ranks[r].leaving = false;
	job_send_all(FRAME_LEAVE, -1, NULL, 0);
}

/* --- frames of the proxies: what each does --- */

static void on_stdout(struct node *n, int rank, struct reader *data)
{
	io_output(n, FRAME_STDOUT, rank, data);
}

static void on_stderr(struct node *n, int rank, struct reader *data)
{
	io_output(n, FRAME_STDERR, rank, data);
}

static void on_stdin_taken(struct node *n, int rank, struct reader *data)
{
	io_stdin_taken();
}

static void on_waiting(struct node *n, int rank, struct reader *data)
{
	job.waiting = true;
	verdict_check_waiting();
}

static void on_share(struct node *n, int rank, struct reader *data)
{
	job.ranks[rank].shared = true;
	job_send_all(FRAME_SHARED, -1, data->at, data->end - data->at);
}

static void on_await(struct node *n, int rank, struct reader *data)
{
	uint32_t awaited = read_u32(data);

	if (awaited >= (uint32_t)job.place.size) {
		data->bad = 1;
		return;
	}
	job.ranks[awaited].awaited = true;
	verdict_check_waiting();
}

static void on_leaving(struct node *n, int rank, struct reader *data)
{
	job.ranks[rank].leaving = true;
	verdict_check_waiting();
	check_leaving();
}

static void on_abort(struct node *n, int rank, struct reader *data)
{
	int code = (int)read_u32(data);
	bool error = read_u32(data);
	const char *ranks = read_str(data);

	if (*ranks)
		verdict_abort_some(rank, code, ranks);
	else
		verdict_abort(rank, code, error);
}

static void on_exit_of(struct node *n, int rank, struct reader *data)
{
	int status = read_u32(data);
	enum rank_state state = read_u32(data);

	if (job.ranks[rank].exited)
		return;
	job.ranks[rank].exited = true;
	job.ranks[rank].state = state;
	job.ranks[rank].status = status;
	job.running--;
	if (job.opt->verbose && WIFEXITED(status))
		say("rank %d on %s exited with code %d", rank, job_host(rank),
		    WEXITSTATUS(status));
	verdict_exit(rank, status, state);
	verdict_tell();
	verdict_check_waiting();
	check_leaving();
}

static void on_cannot(struct node *n, int rank, struct reader *data)
{
	int code = read_u32(data);

	verdict_fail(CAUSE_OTHER, rank, code, xstrdup(read_str(data)));
}

static void on_line(struct node *n, int rank, struct reader *data)
{
	say("%s", read_str(data));
}

static void on_done(struct node *n, int rank, struct reader *data)
{
	n->done = true;
	job_check_done();
}

static void on_started(struct node *n, int rank, struct reader *data)
{
	parent_node_started();
	under_node_started();
}

static void on_spawn(struct node *n, int rank, struct reader *data)
{
	if (under_is())
		under_spawn(rank, data);
	else
		spawned_start(&n->chan, rank, read_str(data));
}

static void on_tunnel(struct node *n, int rank, struct reader *data)
{
	tunnel_take(n, rank, data);
}

static const struct {
	void (*fn)(struct node *n, int rank, struct reader *data);
	bool names_rank;
} handlers[] = {
	[FRAME_STDOUT] = { on_stdout, true },
	[FRAME_STDERR] = { on_stderr, true },
	[FRAME_STDIN_TAKEN] = { on_stdin_taken, false },
	[FRAME_WAITING] = { on_waiting, false },
	[FRAME_FENCE_IN] = { on_fence_in, false },
	[FRAME_ABORT] = { on_abort, true },
	[FRAME_EXIT] = { on_exit_of, true },
	[FRAME_CANNOT] = { on_cannot, true },
	[FRAME_TEXT] = { on_line, false },
	[FRAME_DONE] = { on_done, false },
	[FRAME_SHARE] = { on_share, true },
	[FRAME_AWAIT] = { on_await, true },
	[FRAME_LEAVING] = { on_leaving, true },
	[FRAME_STARTED] = { on_started, false },
	[FRAME_SPAWN] = { on_spawn, true },
	[FRAME_TUNNEL] = { on_tunnel, false },
	[FRAME_STATE] = { why_state, false },
	[FRAME_STIRRED] = { why_stirred, false },
};

#define NHANDLERS (sizeof(handlers) / sizeof(*handlers))

static void on_frame(struct chan *c, enum frame_type type, int rank,
		     struct reader *data)
{
	if (type >= NHANDLERS || !handlers[type].fn ||
	    (handlers[type].names_rank &&
	     (rank < 0 || rank >= job.place.size))) {
		data->bad = 1;
		return;
	}
	handlers[type].fn(c->arg, rank, data);
}

static void on_text(struct chan *c, const char *line)
{
	struct node *n = c->arg;

	if (++n->lines <= TEXT_LINES)
		say_plain("%s: %s", n->name, line);
	else if (n->lines == TEXT_LINES + 1)
		say_plain("%s: (more lines are not shown)", n->name);
}

static char *why_not_started(struct node *n)
{
	if (chan_babbles(&n->chan))
		return xprintf(
			"cannot start on host %s: the agent keeps printing (\"%s...\") and does not start o2g-proxy; check that `%s %s true` prints nothing and ends",
			n->name, n->chan.said, remote_agent(), n->name);
	if (n->here)
		return xprintf("the proxy on this host did not start (%s)",
			       remote_fate(n));
	return xprintf(
		"cannot start on host %s: the agent %s; check that `%s %s true` works without a prompt, and that o2g-proxy is there (-proxy PATH)",
		n->name, remote_fate(n), remote_agent(), n->name);
}

static void on_end(struct chan *c)
{
	struct node *n = c->arg;

	tunnel_node_lost(n);
	spawned_origin_lost(c);
	if (n->done)
		return;
	n->done = n->lost = true;
	verdict_fail(CAUSE_OTHER, -1, EXIT_TROUBLE,
		     c->greeted ? xprintf("lost host %s (%s); the job is ended",
					  n->name, remote_fate(n)) :
				  why_not_started(n));
	job_check_done();
}

static void on_greeting_time(struct timer *t)
{
	for (int i = 0; i < job.nnodes; i++) {
		const struct chan *c = &job.nodes[i].chan;

		if (!c->greeted)
			verdict_fail(
				CAUSE_OTHER, -1, EXIT_TROUBLE,
				xprintf("host %s does not answer after %d s%s%s%s; the job is ended",
					job.nodes[i].name, GREETING_MS / 1000,
					c->preface ? ", but prints \"" : "",
					c->said, c->preface ? "...\"" : ""));
	}
}

static void on_timeout(struct timer *t)
{
	verdict_fail(CAUSE_OTHER, -1, EXIT_TIMEOUT,
		     xprintf("the job has run for %d s (-timeout); it is ended",
			     job.opt->timeout));
}

static void start_timers(void)
{
	greeting_timer.fn = on_greeting_time;
	timer_set(&greeting_timer, GREETING_MS);
	timeout_timer.fn = on_timeout;
	if (job.opt->timeout)
		timer_set(&timeout_timer, job.opt->timeout * 1000u);
}

static char *make_name(void)
{
	unsigned r[2] = { 0, 0 };

	if (getrandom(r, sizeof(r), 0) < 0)
		r[0] = getpid();
	return xprintf("kvs_%ld_%08x%08x", (long)getpid(), r[0], r[1]);
}

/* What ranks prove with that they belong to this job: 32 bytes, in hex. */
static char *make_secret(void)
{
	unsigned long long r[4];

	if (getrandom(r, sizeof(r), 0) != sizeof(r))
		fail(EXIT_TROUBLE, "no random numbers: %s", strerror(errno));
	return xprintf("%016llx%016llx%016llx%016llx", r[0], r[1], r[2], r[3]);
}

static bool is_here(const char *name)
{
	return !job.opt->force_agent && host_is_here(name);
}

static void start_nodes(void)
{
	job.nnodes = job.place.nnodes;
	job.nodes = xmalloc(job.nnodes * sizeof(*job.nodes));
	for (int i = 0; i < job.nnodes; i++) {
		struct node *n = &job.nodes[i];

		n->name = job.place.nodes[i];
		n->index = i;
		n->here = is_here(n->name);
		n->chan.arg = n;
		n->chan.on_frame = on_frame;
		n->chan.on_text = on_text;
		n->chan.on_end = on_end;
		remote_start(n);
		share_send(n);
	}
}

/* A proxy of this host that was killed could not end what ranks had started:
 * that is ours now. */
static void sweep(void)
{
	for (int i = 0; i < job.nnodes; i++)
		if (job.nodes[i].here && job.nodes[i].lost)
			reap_all(500);
}

/* Hosts that the user names are used and no others. */
static void use_allocation(struct options *opt)
{
	const char *agent = NULL, *system;

	if (opt->hosts.n || opt->no_allocation)
		return;
	system = allocation_find(&opt->hosts, &agent);
	if (!system)
		return;
	if (agent && !opt->agent)
		opt->agent = (char *)agent;
	if (opt->verbose)
		say("in a job of %s, with %zu host%s", system, opt->hosts.n,
		    opt->hosts.n > 1 ? "s" : "");
}

static void say_placement(void)
{
	for (int i = 0; i < job.place.nnodes; i++) {
		int n = 0;

		for (int r = 0; r < job.place.size; r++)
			n += job.place.ranks[r].node == i;
		say("%d of %d ranks on %s, %s", n, job.place.size,
		    job.place.nodes[i],
		    is_here(job.place.nodes[i]) ? "this host" : remote_agent());
	}
}

int job_run(struct options *opt)
{
	job.opt = opt;
	under_init();
	use_allocation(opt);
	hosts_place(opt, &job.place);
	under_placed();
	if (opt->verbose)
		say_placement();
	if (opt->stdin_rank >= job.place.size)
		fail(EXIT_USAGE, "-stdin %d, but there are only %d ranks",
		     opt->stdin_rank, job.place.size);
	job.kvsname = make_name();
	job.secret = make_secret();
	job.mapping = hosts_mapping(&job.place);
	job.ranks = xmalloc(job.place.size * sizeof(*job.ranks));
	job.running = job.place.size;
	verdict_init();
	signals_init();
	reap_adopt();
	parent_init();
	start_nodes();
	io_init();
	start_timers();
	why_init();
	loop_run(&job.stop);
	verdict_finish();
	io_finish();
	remote_finish();
	sweep();
	under_finish();
	return job.code;
}
