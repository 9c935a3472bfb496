// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A job that a process of another job has spawned: -parent FD. That process hears on
 * the descriptor when all ranks run ("S"), and sees its end when we end. If it goes
 * without having said that we may go on ("F"), its job was cut short, and so is ours.
 */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "job.h"
#include "util.h"

static struct watch parent = { .fd = -1 };
static int started; /* nodes */

static void on_parent(struct watch *w, short revents)
{
	char said = 0;
	ssize_t n = recv(w->fd, &said, 1, MSG_DONTWAIT);

	if (n == 1 && said != 'F')
		return;
	watch_del(w);
	if (n == 1)
		return;
	verdict_fail(CAUSE_OTHER, -1, EXIT_TROUBLE,
		     xstrdup("the process that has spawned this job is gone; "
			     "the job is ended"));
}

void parent_init(void)
{
	if (!job.opt->parent)
		return;
	fcntl(job.opt->parent, F_SETFD, FD_CLOEXEC);
	parent.fd = job.opt->parent;
	parent.events = POLLIN;
	parent.fn = on_parent;
	watch_add(&parent);
}

void parent_node_started(void)
{
	if (++started == job.nnodes && parent.fd >= 0)
		send(parent.fd, "S", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}
