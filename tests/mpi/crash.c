/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * crash WHAT: the last rank dies: segv, abort, overflow (of its stack), kill (by another
 * process), own (it handles the signal itself). For tests/system/crash.sh. Not in
 * testlist.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "check.h"

static volatile int zero;

int crash_overflow(int n);
__attribute__((noinline)) int crash_overflow(int n)
{
	volatile char room[4096];

	room[n % 4096] = (char)n;
	return n < 0 ? room[0] : crash_overflow(n + 1) + room[n % 4096];
}

int crash_here(const char *what);
__attribute__((noinline)) int crash_here(const char *what)
{
	volatile int *nowhere = (volatile int *)(long)(zero + 64);

	if (!strcmp(what, "abort"))
		abort();
	if (!strcmp(what, "kill"))
		kill(getpid(), SIGSEGV);
	if (!strcmp(what, "overflow"))
		return crash_overflow(zero);
	return *nowhere; /* segv */
}

static void handle(int sig)
{
	static const char text[] = "handled by the program\n";

	if (write(2, text, sizeof(text) - 1) < 0)
		_exit(1);
	_exit(7);
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[1], "own"))
		signal(SIGSEGV, handle);
	start(&argc, &argv);
	if (rank == size - 1)
		zero += crash_here(argv[1]); /* called */
	MPI_Barrier(WORLD);
	return finish();
}
