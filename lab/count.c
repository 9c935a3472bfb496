// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lab/count COMMAND...: in a guest started with --count, run a command and print
 * how many instructions the whole machine executed meanwhile, of programs and of
 * the kernel. The counting is in lab/insn.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define RESULT "/run/lab/count"

static void first_mark(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 1, 'G', '2', 'O'");
}

static void second_mark(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 2, 'G', '2', 'O'");
}

int main(int argc, char **argv)
{
	char line[128];
	int status = 0;
	pid_t pid;
	FILE *f;

	if (argc < 2) {
		fprintf(stderr, "usage: count COMMAND...\n");
		return 2;
	}
	unlink(RESULT);
	pid = fork();
	if (!pid) {
		first_mark();
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	second_mark();
	f = fopen(RESULT, "r");
	if (!f || !fgets(line, sizeof(line), f)) {
		fprintf(stderr, "count: nobody counts here: lab/vm run --count\n");
		return 77;
	}
	printf("instructions: %s", line);
	fclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
