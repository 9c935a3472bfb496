// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Nobody is left behind. A rank leads its own session and dies with the
 * proxy (PR_SET_PDEATHSIG); what it leaves when it dies becomes a child of the
 * proxy (PR_SET_CHILD_SUBREAPER), which ends it when the job ends. The proxy
 * ends when its control stream does: when mpiexec ends, however that comes.
 */
#define _GNU_SOURCE
#include "proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bind.h"
#include "reap.h"
#include "util.h"
#include "why.h"

struct proxy proxy;

static struct timer kill_timer, kill_some_timer;
static struct watch signals;

static void signal_ranks(int sig)
{
	for (int i = 0; i < proxy.nranks; i++)
		if (proxy.ranks[i].pid > 0)
			kill(-proxy.ranks[i].pid, sig);
}

static void pass_signal(int sig)
{
	if (sig == SIGCONT)
		stop_over();
	if (sig == SIGTSTP)
		stop_ranks();
	else
		signal_ranks(sig);
}

static void report_exit(struct rank *r, int status)
{
	struct buf b = { 0 };

	buf_put_u32(&b, status);
	buf_put_u32(&b, r->state);
	chan_send(&proxy.up, FRAME_EXIT, r->spec->rank, b.data, buf_len(&b));
	buf_cleanup(&b);
}

/* All ranks have gone, and jobs that they have spawned: so must what they started and
 * left running. */
void proxy_finish(void)
{
	if (proxy.alive || proxy.stop || proxy_tunnel_any())
		return;
	timer_clear(&kill_timer);
	reap_all(500);
	for (int i = 0; i < proxy.nranks; i++)
		proxy_io_drain(&proxy.ranks[i]);
	chan_send(&proxy.up, FRAME_DONE, -1, NULL, 0);
}

static void rank_gone(struct rank *r, int status)
{
	pmi_server_drain(r);
	proxy_io_flush(r); /* its last words before its end */
	r->pid = 0;
	report_exit(r, status);
	proxy.alive--;
}

static void reap_ranks(void)
{
	int status;
	pid_t pid;
	bool some = false;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (int i = 0; i < proxy.nranks; i++) {
			if (proxy.ranks[i].pid == pid) {
				rank_gone(&proxy.ranks[i], status);
				some = true;
			}
		}
	}
	if (some)
		proxy_finish();
}

void proxy_reap_others(const struct rank *r)
{
	static bool busy; /* what they have said before may ask for the same */
	int status;

	for (int i = 0; !busy && i < proxy.nranks; i++) {
		struct rank *k = &proxy.ranks[i];

		if (k == r || k->pid <= 0 ||
		    waitpid(k->pid, &status, WNOHANG) != k->pid)
			continue;
		busy = true;
		rank_gone(k, status);
		busy = false;
	}
}

static void die(void)
{
	signal_ranks(SIGKILL);
	reap_all(2000);
	_exit(EXIT_TROUBLE);
}

static void on_signal(struct watch *w, short revents)
{
	struct signalfd_siginfo info;

	while (read(w->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			reap_ranks();
		else
			die();
	}
}

static void on_kill_time(struct timer *t)
{
	reap_ranks(); /* so that no exit status is lost to reap_all */
	for (int i = 0; i < proxy.nranks; i++)
		if (proxy.ranks[i].pid > 0)
			kill(-proxy.ranks[i].pid, SIGKILL);
}

static void end_ranks(unsigned grace_ms)
{
	proxy.ending = true;
	if (grace_ms) {
		signal_ranks(SIGTERM);
		signal_ranks(SIGCONT);
		timer_set(&kill_timer, grace_ms);
	} else {
		on_kill_time(&kill_timer);
	}
}

static void on_kill_some_time(struct timer *t)
{
	for (int i = 0; i < proxy.nranks; i++)
		if (proxy.ranks[i].aborted && proxy.ranks[i].pid > 0)
			kill(-proxy.ranks[i].pid, SIGKILL);
}

static void end_rank(int rank, unsigned grace_ms)
{
	for (int i = 0; i < proxy.nranks; i++) {
		struct rank *r = &proxy.ranks[i];

		if (r->spec->rank != rank || r->pid <= 0)
			continue;
		r->aborted = true;
		kill(-r->pid, SIGTERM);
		kill(-r->pid, SIGCONT);
		timer_set(&kill_some_timer, grace_ms);
	}
}

static void cannot(const struct rank *r, int code, const char *why)
{
	struct buf b = { 0 };

	buf_put_u32(&b, code);
	buf_put_str(&b, why);
	chan_send(&proxy.up, FRAME_CANNOT, r->spec->rank, b.data, buf_len(&b));
	buf_cleanup(&b);
}

/* Before thousands of ranks are started to find out. */
static bool enough_files(int nranks)
{
	struct rlimit limit;
	rlim_t needed = nranks * 3ull + 8; /* out, err and pmi of each */
	char *why;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
		return true;
	why = xprintf(
		"%d ranks on %s need %llu open files, but the limit is %llu; raise it (ulimit -n), or use more hosts",
		nranks, proxy.start.host, (unsigned long long)needed,
		(unsigned long long)limit.rlim_cur);
	cannot(&proxy.ranks[0], EXIT_TROUBLE, why);
	free(why);
	return false;
}

static bool bind_ranks(void)
{
	char *why = bind_init();

	if (!why)
		return true;
	cannot(&proxy.ranks[0], EXIT_TROUBLE, why);
	free(why);
	return false;
}

static void start_ranks(struct reader *data)
{
	char *why;
	int code;

	if (start_read(&proxy.start, data))
		return;
	pmi_server_init();
	proxy.ranks = xmalloc(proxy.start.nranks * sizeof(*proxy.ranks));
	proxy.ranks[0].spec = &proxy.start.ranks[0];
	if (!bind_ranks() || !enough_files(proxy.start.nranks)) {
		proxy_finish();
		return;
	}
	hall_prepare();
	state_init(proxy.start.nranks);
	for (int i = 0; i < proxy.start.nranks; i++) {
		struct rank *r = &proxy.ranks[i];

		r->spec = &proxy.start.ranks[i];
		r->local = i;
		r->in.fd = r->out.fd = r->err.fd = r->pmi.fd = -1;
		proxy.nranks = i + 1;
		code = spawn_rank(r, &why);
		if (code) {
			cannot(r, code, why);
			free(why);
			break;
		}
		proxy.alive++;
		stranger_look(r);
	}
	if (proxy.alive == proxy.start.nranks)
		chan_send(&proxy.up, FRAME_STARTED, -1, NULL, 0);
	proxy_finish();
}

static void on_frame(struct chan *c, enum frame_type type, int rank,
		     struct reader *data)
{
	switch (type) {
	case FRAME_START:
		if (!proxy.start.host)
			start_ranks(data);
		break;
	case FRAME_STDIN:
		proxy_io_stdin(rank, data);
		break;
	case FRAME_SIGNAL:
		pass_signal(read_u32(data));
		break;
	case FRAME_END:
		end_ranks(read_u32(data));
		break;
	case FRAME_KILL:
		end_rank(rank, read_u32(data));
		break;
	case FRAME_FENCE_OUT:
		pmi_server_fence(data);
		break;
	case FRAME_SHARED:
		pmi_server_take(data);
		break;
	case FRAME_LEAVE:
		pmi_server_leave();
		break;
	case FRAME_LOOK:
		state_look();
		break;
	case FRAME_STIR:
		state_stir();
		break;
	case FRAME_SPAWNED:
		pmi_spawn_done(rank, data);
		break;
	case FRAME_OVER:
		pmi_spawn_over(data);
		break;
	case FRAME_TUNNEL_OPEN:
		proxy_tunnel_open(rank);
		break;
	case FRAME_TUNNEL:
		proxy_tunnel_take(rank, data);
		break;
	case FRAME_TAKEN:
		proxy_io_taken(read_u32(data));
		break;
	default:
		data->bad = 1;
	}
}

static void on_end(struct chan *c)
{
	if (proxy.alive || proxy_tunnel_any())
		die();
	proxy.stop = true;
}

/* The control stream moves out of the way, so that nothing printed by
 * accident gets into it. */
static void open_control(void)
{
	int in = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (in < 0 || out < 0 || null < 0)
		fail(EXIT_TROUBLE,
		     "the proxy cannot use its stdin and stdout: %s",
		     strerror(errno));
	dup2(null, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close(null);
	proxy.up.greeted = true;
	proxy.up.on_frame = on_frame;
	proxy.up.on_end = on_end;
	chan_open(&proxy.up, in, out);
	chan_send_raw(&proxy.up, FRAME_GREETING, strlen(FRAME_GREETING));
}

static void catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals.fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signals.fd < 0)
		fail(EXIT_TROUBLE, "cannot wait for signals: %s",
		     strerror(errno));
	signals.events = POLLIN;
	signals.fn = on_signal;
	watch_add(&signals);
	signal(SIGPIPE, SIG_IGN);
	kill_timer.fn = on_kill_time;
	kill_some_timer.fn = on_kill_some_time;
}

/* Four descriptors a rank; the ranks get the limit that we found. */
static void raise_limit(void)
{
	struct rlimit all;

	if (getrlimit(RLIMIT_NOFILE, &proxy.files) < 0)
		return;
	all = proxy.files;
	all.rlim_cur = all.rlim_max;
	setrlimit(RLIMIT_NOFILE, &all);
}

int proxy_main(void)
{
	prctl(PR_SET_NAME, "o2g-proxy"); /* and not "exe" */
	raise_limit();
	setsid(); /* fails harmlessly if we lead a session already */
	reap_adopt();
	catch_signals();
	open_control();
	loop_run(&proxy.stop);
	reap_all(2000);
	return 0;
}
