/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What a program can ask about its surroundings: versions, time, memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "env/errors.h"
#include "info/info.h"

int PMPI_Get_version(int *version, int *subversion)
{
	if (!version || !subversion)
		return mpii_bad_null(NULL, "MPI_Get_version",
				     version ? "subversion" : "version");
	*version = MPI_VERSION;
	*subversion = MPI_SUBVERSION;
	return MPI_SUCCESS;
}
MPII_ALIAS(Get_version);

int PMPI_Get_library_version(char *version, int *resultlen)
{
	if (!version || !resultlen)
		return mpii_bad_null(NULL, "MPI_Get_library_version",
				     version ? "resultlen" : "version");
	*resultlen = snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
			      "O2G %s, MPI %d.%d, ABI %d.%d", O2G_VERSION,
			      MPI_VERSION, MPI_SUBVERSION, MPI_ABI_VERSION,
			      MPI_ABI_SUBVERSION);
	return MPI_SUCCESS;
}
MPII_ALIAS(Get_library_version);

int PMPI_Abi_get_version(int *abi_major, int *abi_minor)
{
	if (!abi_major || !abi_minor)
		return mpii_bad_null(NULL, "MPI_Abi_get_version",
				     abi_major ? "abi_minor" : "abi_major");
	*abi_major = MPI_ABI_VERSION;
	*abi_minor = MPI_ABI_SUBVERSION;
	return MPI_SUCCESS;
}
MPII_ALIAS(Abi_get_version);

int PMPI_Get_processor_name(char *name, int *resultlen)
{
	char host[MPI_MAX_PROCESSOR_NAME];

	if (!name || !resultlen)
		return mpii_bad_null(NULL, "MPI_Get_processor_name",
				     name ? "resultlen" : "name");
	if (gethostname(host, sizeof(host)))
		strcpy(host, "localhost");
	host[sizeof(host) - 1] = '\0';
	strcpy(name, host);
	*resultlen = (int)strlen(name);
	return MPI_SUCCESS;
}
MPII_ALIAS(Get_processor_name);

double PMPI_Wtime(void)
{
	return (double)o2g_now_ns() * 1e-9;
}
MPII_ALIAS(Wtime);

double PMPI_Wtick(void)
{
	struct timespec t;

	clock_getres(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
MPII_ALIAS(Wtick);

int PMPI_Pcontrol(const int level, ...)
{
	return MPI_SUCCESS;
}
MPII_ALIAS(Pcontrol);

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
	if (!address)
		return mpii_bad_null(NULL, "MPI_Get_address", "address");
	*address = (MPI_Aint)location;
	return MPI_SUCCESS;
}
MPII_ALIAS(Get_address);

MPI_Aint PMPI_Aint_add(MPI_Aint base, MPI_Aint disp)
{
	return (MPI_Aint)((uintptr_t)base + (uintptr_t)disp);
}
MPII_ALIAS(Aint_add);

MPI_Aint PMPI_Aint_diff(MPI_Aint addr1, MPI_Aint addr2)
{
	return (MPI_Aint)((uintptr_t)addr1 - (uintptr_t)addr2);
}
MPII_ALIAS(Aint_diff);

int PMPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *baseptr)
{
	void *p;

	if (size < 0)
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Alloc_mem",
				  "size is %lld, but must not be negative",
				  (long long)size);
	if (!baseptr)
		return mpii_bad_null(NULL, "MPI_Alloc_mem", "baseptr");
	if (info != MPI_INFO_NULL && !mpii_info_get(info))
		return mpii_error(NULL, MPI_ERR_INFO, "MPI_Alloc_mem",
				  "info is not an info object or was freed");
	/* Aligned to a cache line: vector code likes it, and so do copies. */
	if (posix_memalign(&p, 64, size ? (size_t)size : 1))
		return mpii_error(NULL, MPI_ERR_NO_MEM, "MPI_Alloc_mem",
				  "no memory for %lld bytes", (long long)size);
	*(void **)baseptr = p;
	return MPI_SUCCESS;
}
MPII_ALIAS(Alloc_mem);

int PMPI_Free_mem(void *base)
{
	free(base);
	return MPI_SUCCESS;
}
MPII_ALIAS(Free_mem);
