/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The parts of this host and which of them this process is restricted to. */
#ifndef MPI_HW_H
#define MPI_HW_H

/* From the whole to the smallest, with the names that hwloc gives them. */
enum mpii_hw {
	MPII_HW_MACHINE,
	MPII_HW_PACKAGE,
	MPII_HW_DIE,
	MPII_HW_NUMA,
	MPII_HW_L3,
	MPII_HW_L2,
	MPII_HW_L1,
	MPII_HW_CORE,
	MPII_HW_PU,
	MPII_HW_COUNT
};

#define MPII_HW_NONE (-1)    /* not restricted to one */
#define MPII_HW_UNKNOWN (-2) /* this host has or tells of no such parts */

/* As MPI_Get_hw_resource_info gives it: hwloc://Core. */
const char *mpii_hw_name(enum mpii_hw type);
/* The type of this name, also without hwloc://; -1: none. */
int mpii_hw_find(const char *name);
/* The part of this type that the process may not leave, as a number which is
 * the same for every process of the host; or one of the two above. */
int mpii_hw_instance(enum mpii_hw type);

#endif
