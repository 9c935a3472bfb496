/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2gfsd: a 9P2000.L server on libo2g. */
#include "run.h"

int main(int argc, char **argv)
{
	return fsd_run(argc, argv);
}
