/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Starting further processes where no launcher does it: by an mpiexec of our own, the one
 * that belongs to this library. In an allocation of a batch system it uses that.
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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "env/errors.h"
#include "pmi.h"
#include "process/children.h"
#include "process/spawn_info.h"

/* Above those that the program's start needs. */
#define CHILD_FD 3
/* What mpiexec gives to the processes that it starts. */
#define KEYS "O2G_SPAWN_KEYS"

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
	if (!dladdr((void *)mpii_mpiexec_start, &lib) || !lib.dli_fname)
		return;
	slash = strrchr(lib.dli_fname, '/');
	if (!slash)
		return;
	snprintf(path, size, "%.*s/../bin/mpiexec",
		 (int)(slash - lib.dli_fname), lib.dli_fname);
	if (access(path, X_OK))
		snprintf(path, size, "mpiexec");
}

static void add_option(struct words *w, const char *option, const char *value)
{
	if (!value || !*value)
		return;
	add(w, option);
	add(w, value);
}

static void add_program(struct words *w, const struct pmi_program *p)
{
	static const char *const options[][2] = {
		{ "host", "-hosts" }, { "hostfile", "-f" }, { "wdir", "-wdir" },
		{ "path", "-path" },  { "arch", "-arch" },  { "soft", "-soft" },
	};
	size_t words = 1;

	add(w, "-n");
	add_number(w, (size_t)p->n);
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		add_option(w, options[i][1],
			   mpii_spawn_info_value(p->info, options[i][0]));
	for (char **a = p->argv; a && *a; a++)
		words++;
	add(w, "-words"); /* a colon among them is one of them */
	add_number(w, words);
	add(w, "--");
	add(w, p->command);
	for (char **a = p->argv; a && *a; a++)
		add(w, *a);
}

static int make_command(struct words *w, const struct pmi_program *programs,
			int count)
{
	char path[4096];

	find_mpiexec(path, sizeof(path));
	add(w, path);
	add(w, "-parent");
	add_number(w, CHILD_FD);
	add(w, "-stdin");
	add(w, "none");
	for (int i = 0; i < count; i++) {
		if (i)
			add(w, ":");
		add_program(w, &programs[i]);
	}
	return w->failed ? mpii_fail(MPI_ERR_NO_MEM, "out of memory") :
			   MPI_SUCCESS;
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
	if (!env ||
	    asprintf(&env[0], KEYS "=" PMI_PARENT_KEY "=%s", port) < 0) {
		free(env);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		if (strncmp(environ[i], "PMI_", 4) &&
		    strncmp(environ[i], KEYS "=", sizeof(KEYS)))
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

int mpii_mpiexec_start(const struct pmi_program *programs, int count,
		       const char *port, int *fd)
{
	char **env = make_environment(port);
	struct words w = { 0 };
	int err = make_command(&w, programs, count), sys;

	if (!err && !env)
		err = mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	if (!err) {
		sys = start(w.at, env, fd);
		err = sys ? mpii_fail(MPI_ERR_SPAWN, "mpiexec: %s",
				      strerror(-sys)) :
			    await_start(*fd, w.at[0]);
		if (err && !sys)
			close(*fd);
	}
	free_words(&w);
	if (env)
		free(env[0]);
	free(env);
	return err;
}
