// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lab/count COMMAND...: in a guest started with --count, run a command and print
 * how many instructions the whole machine executed meanwhile, of programs and of
 * the kernel. The counting is in lab/insn.c.
 *
 * lab/count --begin NAME, lab/count --end NAME: the same for what happens between the two,
 * such as what a server does for another machine. NAME.go and NAME.out are made
 * meanwhile.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "mark.h"

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static char *with(const char *name, const char *end)
{
	char *path = malloc(strlen(name) + strlen(end) + 1);

	if (!path)
		exit(1);
	return strcat(strcpy(path, name), end);
}

/* Counts until somebody writes to NAME.go, then tells whoever reads NAME.out. */
static void count_between(const char *go, const char *out)
{
	unsigned long long user, kernel;
	int fd, there;

	setsid();
	lab_count_begin();
	close(open(go, O_RDONLY)); /* waits */
	there = lab_count_end(&user, &kernel);
	fd = open(out, O_WRONLY);
	if (there)
		dprintf(fd, "instructions: user %llu kernel %llu\n", user,
			kernel);
	_exit(0);
}

static int begin(const char *name)
{
	char *go = with(name, ".go"), *out = with(name, ".out");
	pid_t pid;

	unlink(go);
	unlink(out);
	if (mkfifo(go, 0600) || mkfifo(out, 0600))
		die(name);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		for (int fd = 0; fd < 3; fd++)
			close(fd);
		count_between(go, out);
	}
	return 0;
}

static int end(const char *name)
{
	char *go = with(name, ".go"), *out = with(name, ".out"), text[100];
	ssize_t n;
	int fd;

	close(open(go, O_WRONLY));
	fd = open(out, O_RDONLY);
	if (fd < 0)
		die(out);
	n = read(fd, text, sizeof(text));
	unlink(go);
	unlink(out);
	if (n <= 0)
		return 77;
	return write(STDOUT_FILENO, text, (size_t)n) != n;
}

int main(int argc, char **argv)
{
	unsigned long long user, kernel;
	int status = 0;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr,
			"usage: count COMMAND...\n       count --begin|--end NAME\n");
		return 2;
	}
	if (argc == 3 && !strcmp(argv[1], "--begin"))
		return begin(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "--end"))
		return end(argv[2]);
	lab_count_begin();
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	if (!lab_count_end(&user, &kernel)) {
		fprintf(stderr,
			"count: nobody counts here: lab/vm run --count\n");
		return 77;
	}
	printf("instructions: user %llu kernel %llu\n", user, kernel);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
