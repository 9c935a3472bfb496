/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * slow_contact stop|compute: rank 0 sends to rank 1, which has never heard of it and
 * does something else: it stops, or computes for three seconds. For
 * tests/system/slow_contact.sh. Not in testlist.
 */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void be_slow(const char *how)
{
	time_t end = time(NULL) + 4;

	printf("slow %d\n", (int)getpid());
	fflush(stdout);
	if (!strcmp(how, "stop"))
		raise(SIGSTOP);
	else
		while (time(NULL) < end)
			;
}

int main(int argc, char **argv)
{
	int x = 7, got = 0;

	start(&argc, &argv);
	if (rank == 0) {
		MPI_Ssend(&x, 1, MPI_INT, 1, 0, WORLD);
		printf("rank 0 has sent\n");
	} else {
		be_slow(argv[1]);
		MPI_Recv(&got, 1, MPI_INT, 0, 0, WORLD, IGNORE);
		CHECK(got == x);
	}
	return finish();
}
