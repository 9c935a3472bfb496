/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * dyn_all [N]: N processes are spawned, 2 by default; both jobs become one communicator
 * and do with it what MPI has for one. The program is its own child.
 */
#include <limits.h>

#include "dyn_all.h"

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 2;
	char self[PATH_MAX], path[64];
	MPI_Comm inter;

	start(&argc, &argv);
	OK(MPI_Comm_get_parent(&inter));
	if (inter != MPI_COMM_NULL) {
		all_of_it(inter, 0, "");
	} else {
		CHECK(realpath("/proc/self/exe", self));
		snprintf(path, sizeof(path), "/tmp/o2g-dyn-%d", (int)getpid());
		OK(MPI_Comm_spawn(self, MPI_ARGV_NULL, n, MPI_INFO_NULL, 0,
				  WORLD, &inter, MPI_ERRCODES_IGNORE));
		all_of_it(inter, 1, path);
	}
	OK(MPI_Comm_disconnect(&inter));
	return finish();
}
