// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* Signals for the job: the ranks get them too. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clock.h"
#include "job.h"
#include "spawned.h"
#include "util.h"

static const int caught[] = { SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT, SIGUSR1,
			      SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD };

/* timeout(1), and some that end jobs, send a signal to mpiexec and at once to its
 * process group as well. The user who asks again takes longer. */
#define ONE_SIGNAL_MS 100

static struct watch watch;
static sigset_t before;
static uint64_t asked_ns; /* when the end was asked for first */

/* A host that is not there yet: its ranks can be passed nothing, and the others
 * would wait for them. */
static const char *missing_host(void)
{
	for (int i = 0; i < job.nnodes; i++)
		if (!job.nodes[i].chan.greeted && !job.nodes[i].done)
			return job.nodes[i].name;
	return NULL;
}

static void end_wanted(int sig)
{
	const char *missing = missing_host();

	if (job.stop) { /* only output is left, and nobody takes it */
		job.code = 128 + sig;
		io_give_up();
		return;
	}
	if (sig == job.signal &&
	    o2g_now_ns() - asked_ns < ONE_SIGNAL_MS * 1000000ull)
		return;
	if (job.signal || job.ending) {
		if (!job.ending && !under_is())
			say("signal %d (%s) again; the job is ended at once",
			    sig, strsignal(sig));
		verdict_kill(128 + sig);
		return;
	}
	if (missing) {
		verdict_fail(
			CAUSE_OTHER, -1, 128 + sig,
			xprintf("signal %d (%s) before host %s has answered; the job is ended",
				sig, strsignal(sig), missing));
		return;
	}
	job.signal = sig;
	asked_ns = o2g_now_ns();
	if (!under_is())
		say("signal %d (%s) is passed on to all ranks; a second one ends the job at once",
		    sig, strsignal(sig));
	job_send_all_u32(FRAME_SIGNAL, sig);
}

static void stop_wanted(void)
{
	job_send_all_u32(FRAME_SIGNAL, SIGTSTP);
	for (int i = 0; i < job.nnodes; i++)
		chan_drain(&job.nodes[i].chan, 100);
	raise(SIGSTOP);
}

static void handle(int sig)
{
	if (sig != SIGCHLD)
		spawned_signal(sig);
	switch (sig) {
	case SIGCHLD:
		remote_reap();
		break;
	case SIGTSTP:
		stop_wanted();
		break;
	case SIGCONT:
		io_stdin_retry();
		job_send_all_u32(FRAME_SIGNAL, sig);
		break;
	case SIGUSR1:
	case SIGUSR2:
		job_send_all_u32(FRAME_SIGNAL, sig);
		break;
	default:
		end_wanted(sig);
	}
}

static void on_signal(struct watch *w, short revents)
{
	struct signalfd_siginfo info;

	while (read(w->fd, &info, sizeof(info)) == sizeof(info))
		handle(info.ssi_signo);
}

void signals_init(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(caught) / sizeof(*caught); i++)
		sigaddset(&set, caught[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	signal(SIGPIPE, SIG_IGN);
	watch.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (watch.fd < 0)
		fail(EXIT_TROUBLE, "cannot wait for signals: %s",
		     strerror(errno));
	watch.events = POLLIN;
	watch.fn = on_signal;
	watch_add(&watch);
}

void signals_restore(void)
{
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
