/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Starting further processes: an mpiexec of our own does it, also where another
 * launcher has started us. It is the one that belongs to this library.
 *
 * A socket joins us. It says when all processes run, and its end says that it has
 * ended. When we end without a word it ends its processes; at the end of MPI we say
 * that they may go on. It is not our child, so that a program that waits for its own
 * children never meets it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/children.h"
#include "process/others.h"

/* Above those that the program's start needs. */
#define CHILD_FD 3
/* How long the last words of processes that we are not connected to may take. */
#define LEAVE_MS 2000

struct mpii_child {
	struct mpii_child *next;
	int fd;
	uint64_t job; /* 0: not connected yet */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_child *children;

/* --- words for mpiexec --- */

struct words {
	char **at;
	size_t n;
	bool failed; /* out of memory */
};

static void add(struct words *w, const char *text)
{
	char **more = realloc(w->at, (w->n + 2) * sizeof(*more));

	if (more)
		w->at = more;
	if (!more || !(w->at[w->n] = strdup(text))) {
		w->failed = true;
		return;
	}
	w->at[++w->n] = NULL;
}

static void add_number(struct words *w, size_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%zu", n);
	add(w, text);
}

static void free_words(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->at[i]);
	free(w->at);
}

/* The mpiexec beside this library, or the one that PATH has. */
static void find_mpiexec(char *path, size_t size)
{
	Dl_info lib;
	const char *slash;

	snprintf(path, size, "mpiexec");
	if (!dladdr((void *)mpii_child_start, &lib) || !lib.dli_fname)
		return;
	slash = strrchr(lib.dli_fname, '/');
	if (!slash)
		return;
	snprintf(path, size, "%.*s/../bin/mpiexec",
		 (int)(slash - lib.dli_fname), lib.dli_fname);
	if (access(path, X_OK))
		snprintf(path, size, "mpiexec");
}

/* Where our own mpiexec started us from: hosts, and how they are reached. */
static void add_hosts(struct words *w)
{
	const char *args = getenv("O2G_MPIEXEC_ARGS");
	char *copy = args ? strdup(args) : NULL, *save = NULL;

	for (char *a = copy ? strtok_r(copy, "\n", &save) : NULL; a;
	     a = strtok_r(NULL, "\n", &save))
		add(w, a);
	free(copy);
}

static void add_option(struct words *w, const char *option, const char *value)
{
	if (!value || !*value)
		return;
	add(w, option);
	add(w, value);
}

/* Directories in which to look for the program. */
static void add_path(struct words *w, const char *dirs)
{
	const char *path = getenv("PATH");
	char *both;

	if (!dirs || asprintf(&both, "%s:%s", dirs, path ? path : "") < 0)
		return;
	add(w, "-env");
	add(w, "PATH");
	add(w, both);
	free(both);
}

/* Is it a machine of this kind? There are no others. */
static int check_arch(const char *arch)
{
	struct utsname u;

	if (!arch || uname(&u) || !strcmp(arch, u.machine))
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_SPAWN,
			 "arch is \"%.60s\", but the hosts are %s", arch,
			 u.machine);
}

static int add_program(struct words *w, const struct mpii_program *p)
{
	const struct mpii_info *i =
		p->info == MPI_INFO_NULL ? NULL : mpii_info_get(p->info);
	size_t words = 1;

	add(w, "-n");
	add_number(w, (size_t)p->n);
	if (i) {
		int err = check_arch(mpii_info_value(i, "arch"));

		if (err)
			return err;
		add_option(w, "-hosts", mpii_info_value(i, "host"));
		add_option(w, "-f", mpii_info_value(i, "hostfile"));
		add_option(w, "-wdir", mpii_info_value(i, "wdir"));
		add_path(w, mpii_info_value(i, "path"));
	}
	for (char **a = p->argv; a && *a; a++)
		words++;
	add(w, "-words"); /* a colon among them is one of them */
	add_number(w, words);
	add(w, "--");
	add(w, p->command);
	for (char **a = p->argv; a && *a; a++)
		add(w, *a);
	return MPI_SUCCESS;
}

static bool names_hosts(const struct mpii_program *p)
{
	const struct mpii_info *i =
		p->info == MPI_INFO_NULL ? NULL : mpii_info_get(p->info);

	return i &&
	       (mpii_info_value(i, "host") || mpii_info_value(i, "hostfile"));
}

static int make_command(struct words *w, const struct mpii_program *programs,
			int count)
{
	char path[4096];
	int err = MPI_SUCCESS;

	find_mpiexec(path, sizeof(path));
	add(w, path);
	add(w, "-parent");
	add_number(w, CHILD_FD);
	add(w, "-stdin");
	add(w, "none");
	add(w, "-genvlist");
	add(w, MPII_PARENT_PORT);
	if (!names_hosts(&programs[0]))
		add_hosts(w);
	for (int i = 0; i < count && !err; i++) {
		if (i)
			add(w, ":");
		err = add_program(w, &programs[i]);
	}
	if (!err && w->failed)
		err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	return err;
}

/* Ours, with the port and without what our own launcher has told us. */
static char **make_environment(const char *port)
{
	extern char **environ;
	size_t n = 0, k = 0;
	char **env;

	while (environ[n])
		n++;
	env = calloc(n + 2, sizeof(*env));
	if (!env || asprintf(&env[0], MPII_PARENT_PORT "=%s", port) < 0) {
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "PMI_", 4) &&
		    strncmp(environ[i], MPII_PARENT_PORT "=",
			    sizeof(MPII_PARENT_PORT)))
			env[++k] = environ[i];
	return env;
}

/* --- starting it --- */

/* In a child: nothing but plain system calls. */
static _Noreturn void become_mpiexec(char **words, char **env, int fd)
{
	struct sigaction plain = { .sa_handler = SIG_DFL };
	sigset_t none;

	if (fork())
		_exit(0);
	for (int s = 1; s < NSIG; s++)
		sigaction(s, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (fd == CHILD_FD)
		fcntl(fd, F_SETFD, 0);
	else
		dup2(fd, CHILD_FD);
	syscall(SYS_close_range, CHILD_FD + 1, ~0u, 0);
	execvpe(words[0], words, env);
	_exit(127);
}

static int start(char **words, char **env, int *fd)
{
	int pair[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return -errno;
	pid = fork();
	if (pid == 0)
		become_mpiexec(words, env, pair[1]);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return -errno;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*fd = pair[0];
	return 0;
}

/* It says when all run, and nothing before: what went wrong it prints. */
static int await_start(int fd, const char *mpiexec)
{
	char said = 0;
	ssize_t n;

	do
		n = read(fd, &said, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 && said == 'S')
		return MPI_SUCCESS;
	return mpii_fail(MPI_ERR_SPAWN,
			 "the processes could not be started by %s; what it "
			 "has printed says why",
			 mpiexec);
}

int mpii_child_start(const struct mpii_program *programs, int count,
		     const char *port, struct mpii_child **child)
{
	struct mpii_child *k = calloc(1, sizeof(*k));
	char **env = make_environment(port);
	struct words w = { 0 };
	int err = make_command(&w, programs, count);

	if (!err && (!k || !env))
		err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	if (!err) {
		int sys = start(w.at, env, &k->fd);

		err = sys ? mpii_fail(MPI_ERR_SPAWN, "mpiexec: %s",
				      strerror(-sys)) :
			    await_start(k->fd, w.at[0]);
		if (err && !sys)
			close(k->fd);
	}
	free_words(&w);
	if (env)
		free(env[0]);
	free(env);
	if (err) {
		free(k);
		return err;
	}
	pthread_mutex_lock(&lock);
	k->next = children;
	children = k;
	pthread_mutex_unlock(&lock);
	*child = k;
	return MPI_SUCCESS;
}

/* --- while it runs --- */

bool mpii_child_runs(struct mpii_child *child)
{
	struct pollfd p = { .fd = child->fd, .events = POLLIN };

	return poll(&p, 1, 0) == 0;
}

/* Those that have ended leave their descriptor. With the lock. */
static void sweep(void)
{
	struct mpii_child **at = &children;

	while (*at) {
		struct mpii_child *k = *at;

		if (!k->job || mpii_child_runs(k)) {
			at = &k->next;
			continue;
		}
		*at = k->next;
		close(k->fd);
		free(k);
	}
}

void mpii_child_is(struct mpii_child *child, uint64_t job)
{
	pthread_mutex_lock(&lock);
	child->job = job;
	sweep();
	pthread_mutex_unlock(&lock);
}

void mpii_child_drop(struct mpii_child *child)
{
	struct mpii_child **at = &children;

	pthread_mutex_lock(&lock);
	while (*at && *at != child)
		at = &(*at)->next;
	if (*at)
		*at = child->next;
	pthread_mutex_unlock(&lock);
	close(child->fd);
	free(child);
}

/* --- the end --- */

/* Are we connected with somebody of that job? */
static bool is_connected(uint64_t job)
{
	int *peers, n = mpii_others_connected(&peers);
	bool yes = false;

	for (int i = 0; i < n && !yes; i++)
		yes = mpii_identity(peers[i]).job == job;
	free(peers);
	return yes;
}

/* MPI_Finalize is for all connected processes, and what others still print must not
 * be cut off by the end of our job. */
static void await_end(struct mpii_child *k)
{
	uint64_t left = 0;

	while (mpii_child_runs(k)) {
		if (!is_connected(k->job)) {
			if (!left)
				left = o2g_now_ns();
			if (o2g_now_ns() - left > LEAVE_MS * 1000000ull)
				break;
		}
		o2g_progress(mpii.ep);
		usleep(500);
	}
}

void mpii_children_finish(void)
{
	pthread_mutex_lock(&lock);
	while (children) {
		struct mpii_child *k = children;

		children = k->next;
		await_end(k);
		/* it may go on without us */
		send(k->fd, "F", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
		close(k->fd);
		free(k);
	}
	pthread_mutex_unlock(&lock);
}
