// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lab/count COMMAND...: in a guest started with --count, run a command and print
 * how many instructions the whole machine executed meanwhile, of programs and of
 * the kernel. The counting is in lab/insn.c.
 */
#include <stdlib.h>
#include <sys/wait.h>

#include "mark.h"

int main(int argc, char **argv)
{
	unsigned long long user, kernel;
	int status = 0;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: count COMMAND...\n");
		return 2;
	}
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
