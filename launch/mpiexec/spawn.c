// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bind.h"
#include "proxy.h"
#include "util.h"
#include "why.h"

extern char **environ;

/* What the parent holds, and what the rank gets, of each stream. */
struct ends {
	int ours, rank;
};

struct plumbing {
	struct ends in, out, err, pmi;
	struct ends report; /* errno of a failed exec; closed by a good one */
};

enum step { STEP_CHDIR = 1, STEP_EXEC };

struct report {
	int step, err;
};

static void close_ends(struct ends *e)
{
	if (e->ours >= 0)
		close(e->ours);
	if (e->rank >= 0)
		close(e->rank);
	e->ours = e->rank = -1;
}

static int open_pipe(struct ends *e, bool rank_writes)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) < 0)
		return -errno;
	e->ours = fd[!rank_writes];
	e->rank = fd[rank_writes];
	return 0;
}

static int open_pmi(struct ends *e)
{
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd) < 0)
		return -errno;
	e->ours = fd[0];
	e->rank = fd[1];
	return 0;
}

static void close_all(struct plumbing *p)
{
	close_ends(&p->in);
	close_ends(&p->out);
	close_ends(&p->err);
	close_ends(&p->pmi);
	close_ends(&p->report);
}

static int open_all(struct plumbing *p, bool has_stdin)
{
	int err;

	memset(p, -1, sizeof(*p));
	if (has_stdin) {
		err = open_pipe(&p->in, false);
	} else {
		p->in.rank = open("/dev/null", O_RDONLY | O_CLOEXEC);
		err = p->in.rank < 0 ? -errno : 0;
	}
	if (!err)
		err = open_pipe(&p->out, true);
	if (!err)
		err = open_pipe(&p->err, true);
	if (!err)
		err = open_pmi(&p->pmi);
	if (!err)
		err = open_pipe(&p->report, true);
	if (err)
		close_all(p);
	return err;
}

static void set_number(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 1);
}

/* An outer launcher's variables must not reach a rank of ours. */
static const char *const foreign[] = {
	"PMI_PORT",
	"PMI_ID",
	"PMI_SPAWNED",
	"PMI_CONTROL_PORT",
	"PMI2_RANK",
	"PMI2_SIZE",
	"PMIX_RANK",
	"PMIX_NAMESPACE",
	"OMPI_COMM_WORLD_SIZE",
	"OMPI_COMM_WORLD_RANK",
	"O2G_LAUNCHER",
	"O2G_STATE_FD",
	"O2G_SPAWN_KEYS",
};

static void make_environment(const struct rank *r, int pmi_fd, pid_t parent)
{
	const struct start_app *app = &proxy.start.apps[r->spec->app];
	const char *path = getenv("PATH");

	if (app->env_none) {
		char *keep = path ? xprintf("PATH=%s", path) : NULL;

		clearenv();
		if (keep)
			putenv(keep);
	}
	for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++)
		unsetenv(foreign[i]);
	for (size_t i = 0; i < app->env.n; i++)
		putenv(app->env.at[i]);
	set_number("PMI_FD", pmi_fd);
	set_number("PMI_RANK", r->spec->rank);
	set_number("PMI_SIZE", proxy.start.size);
	set_number("MPI_LOCALRANKID", r->local);
	set_number("MPI_LOCALNRANKS", proxy.start.nranks);
	if (proxy.start.spawned)
		set_number("PMI_SPAWNED", 1);
	setenv("O2G_LAUNCHER", "mpiexec", 1);
	setenv("O2G_JOB", proxy.start.kvsname, 1);
	hall_set_environment(parent, r->local);
}

static void reset_signals(void)
{
	sigset_t none;

	/* The proxy ignores this one; the others it found as they are. */
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void tell(int fd, int step)
{
	struct report r = { step, errno };

	if (write(fd, &r, sizeof(r)) < 0)
		_exit(EXIT_TROUBLE);
	_exit(EXIT_NOT_FOUND);
}

/* In the directories that the program's spawner has named, then in PATH. */
static void run(const struct start_app *app)
{
	const char *dir = app->path, *name = app->argv.at[0];

	while (*dir && !strchr(name, '/')) {
		size_t n = strcspn(dir, ":");
		char *file = xprintf("%.*s/%s", (int)n, dir, name);

		if (!access(file, X_OK))
			execv(file, app->argv.at);
		free(file);
		dir += n + (dir[n] == ':');
	}
	execvp(name, app->argv.at);
}

static _Noreturn void become_rank(const struct rank *r, struct plumbing *p,
				  pid_t parent)
{
	const struct start_app *app = &proxy.start.apps[r->spec->app];

	setsid(); /* see stop.c */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_TROUBLE);
	dup2(p->in.rank, STDIN_FILENO);
	dup2(p->out.rank, STDOUT_FILENO);
	dup2(p->err.rank, STDERR_FILENO);
	fcntl(p->pmi.rank, F_SETFD, 0);
	make_environment(r, p->pmi.rank, parent);
	state_give(r);
	bind_apply(r);
	setrlimit(RLIMIT_NOFILE, &proxy.files);
	reset_signals();
	if (app->wdir[0] && chdir(app->wdir) < 0)
		tell(p->report.rank, STEP_CHDIR);
	if (app->wdir[0])
		setenv("PWD", app->wdir, 1);
	run(app);
	tell(p->report.rank, STEP_EXEC);
}

/* "a.out" with a file of that name in the directory: the usual slip. And a script
 * may be there while what its first line names is not. */
static const char *hint(const struct start_app *app)
{
	const char *name = app->argv.at[0];
	bool absolute = name[0] == '/', there;
	char *path;

	path = xprintf("%s%s%s",
		       absolute	    ? "" :
		       app->wdir[0] ? app->wdir :
				      ".",
		       absolute ? "" : "/", name);
	there = *name && access(path, X_OK) == 0;
	free(path);
	if (strchr(name, '/') && !there && !absolute && app->wdir[0])
		return xprintf("; check the path, which begins in %s",
			       app->wdir);
	if (strchr(name, '/'))
		return there ? "; the file is there, but not what its first line names (#!), or the loader it was linked for" :
			       "; check the path";
	return there ? "; it is in the working directory: write ./ in front of it" :
		       "; give its path, or add its directory to PATH";
}

static int explain(const struct rank *r, const struct report *rep, char **why)
{
	const struct start_app *app = &proxy.start.apps[r->spec->app];
	const char *host = proxy.start.host;
	bool missing = rep->err == ENOENT || rep->err == ENOTDIR;

	if (rep->step == STEP_CHDIR) {
		*why = xprintf("cannot use the working directory %s on %s: %s",
			       app->wdir, host, strerror(rep->err));
		return EXIT_NOT_RUN;
	}
	*why = xprintf(
		"cannot start %s on %s: %s%s", app->argv.at[0], host,
		strerror(rep->err),
		missing ? hint(app) :
		rep->err == EACCES ?
			  "; is it a program, and may you run it (chmod +x)?" :
			  "");
	return missing ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

/* Waits for the exec to succeed or fail. */
static int await(struct rank *r, struct plumbing *p, char **why)
{
	struct report rep;
	ssize_t n;

	close(p->report.rank);
	p->report.rank = -1;
	do
		n = read(p->report.ours, &rep, sizeof(rep));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(rep))
		return 0;
	waitpid(r->pid, NULL, 0);
	r->pid = 0;
	return explain(r, &rep, why);
}

static void keep_ends(struct rank *r, struct plumbing *p)
{
	proxy_io_start(r, p->in.ours, p->out.ours, p->err.ours);
	pmi_server_start(r, p->pmi.ours);
	p->in.ours = p->out.ours = p->err.ours = p->pmi.ours = -1;
	close_all(p);
}

int spawn_rank(struct rank *r, char **why)
{
	pid_t parent = getpid();
	struct plumbing p;
	int err;

	err = open_all(&p, r->spec->has_stdin);
	if (err) {
		*why = xprintf(
			"cannot start rank %d on %s: %s; raise the limit of open files (ulimit -n)",
			r->spec->rank, proxy.start.host, strerror(-err));
		return EXIT_TROUBLE;
	}
	r->pid = fork();
	if (r->pid == 0)
		become_rank(r, &p, parent);
	if (r->pid < 0) {
		*why = xprintf(
			"cannot start rank %d on %s: %s; raise the limit of processes (ulimit -u)",
			r->spec->rank, proxy.start.host, strerror(errno));
		r->pid = 0;
		close_all(&p);
		return EXIT_TROUBLE;
	}
	err = await(r, &p, why);
	if (err)
		close_all(&p);
	else
		keep_ends(r, &p);
	return err;
}
