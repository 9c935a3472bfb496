/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Hardware resources: what MPI_Get_hw_resource_info says of a process that is
 * bound and of one that is not, and MPI_Comm_split_type by them.
 */
#define _GNU_SOURCE
#include <sched.h>

#include "check.h"

static cpu_set_t before;
static int ncpus, mine; /* processors, and the one we bind to */

static void unbind(void)
{
	CHECK(!sched_setaffinity(0, sizeof(before), &before));
}

/* To one processor: rank after rank, round. */
static void bind(void)
{
	cpu_set_t one;
	int nth = rank % ncpus;

	for (mine = 0; !CPU_ISSET(mine, &before) || nth-- > 0; mine++)
		;
	CPU_ZERO(&one);
	CPU_SET(mine, &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
}

/* "true", "false", or nothing for a part that this host has not. */
static int restricted(const char *type)
{
	char value[16] = "";
	int flag, len = sizeof(value);
	MPI_Info i;

	OK(MPI_Get_hw_resource_info(&i));
	OK(MPI_Info_get_string(i, type, &len, value, &flag));
	OK(MPI_Info_free(&i));
	if (!flag)
		return -1;
	CHECK(!strcmp(value, "true") || !strcmp(value, "false"));
	return !strcmp(value, "true");
}

static MPI_Comm split(int how, const char *key, const char *value)
{
	MPI_Comm c;
	MPI_Info i;

	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, key, value));
	OK(MPI_Comm_split_type(WORLD, how, 0, i, &c));
	OK(MPI_Info_free(&i));
	return c;
}

static int size_of(MPI_Comm *c)
{
	int n = 0;

	if (*c == MPI_COMM_NULL)
		return 0;
	OK(MPI_Comm_size(*c, &n));
	OK(MPI_Comm_free(c));
	return n;
}

static void resources(void)
{
	unbind();
	EQUAL(restricted("hwloc://Machine"), 1);
	EQUAL(restricted("hwloc://PU"), ncpus == 1);
	EQUAL(restricted("hwloc://Nonsense"), -1);
	bind();
	EQUAL(restricted("hwloc://Machine"), 1);
	EQUAL(restricted("hwloc://PU"), 1);
	CHECK(restricted("hwloc://Core") != 0);
	CHECK(restricted("hwloc://Package") != 0);
	CHECK(restricted("hwloc://NUMANode") != 0);
}

static void guided(int how)
{
	MPI_Comm c;
	int all[64], same = 0;

	bind();
	OK(MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, WORLD));
	for (int i = 0; i < size; i++)
		same += all[i] == mine;
	c = split(how, "mpi_hw_resource_type", "hwloc://PU");
	EQUAL(size_of(&c), same);
	c = split(how, "mpi_hw_resource_type", "PU");
	EQUAL(size_of(&c), same);
	c = split(how, "mpi_hw_resource_type", "hwloc://Machine");
	EQUAL(size_of(&c), size);
	c = split(how, "mpi_hw_resource_type", "mpi_shared_memory");
	EQUAL(size_of(&c), size);
	c = split(how, "mpi_hw_resource_type", "hwloc://Nonsense");
	CHECK(c == MPI_COMM_NULL);
	c = split(how, "another_key", "hwloc://PU");
	CHECK(c == MPI_COMM_NULL);
	OK(MPI_Comm_split_type(WORLD, how, 0, MPI_INFO_NULL, &c));
	CHECK(c == MPI_COMM_NULL);
	unbind();
	c = split(how, "mpi_hw_resource_type", "hwloc://PU");
	EQUAL(size_of(&c), ncpus == 1 ? size : 0);
}

static void by_pset(void)
{
	int how = MPI_COMM_TYPE_RESOURCE_GUIDED;
	MPI_Comm c = split(how, "mpi_pset_name", "mpi://WORLD");

	EQUAL(size_of(&c), size);
	c = split(how, "mpi_pset_name", "mpi://SELF");
	EQUAL(size_of(&c), 1);
	c = split(how, "mpi_pset_name", "mpi://NOBODY");
	CHECK(c == MPI_COMM_NULL);
	c = split(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://SELF");
	CHECK(c == MPI_COMM_NULL);
}

/* Every step gives a smaller one, and tells by what; the last gives none. */
static void unguided(void)
{
	char type[256];
	MPI_Comm c, d;
	MPI_Info i;
	int n, m, len, flag;

	bind();
	OK(MPI_Comm_dup(WORLD, &c));
	while (c != MPI_COMM_NULL) {
		OK(MPI_Comm_size(c, &n));
		OK(MPI_Info_create(&i));
		OK(MPI_Comm_split_type(c, MPI_COMM_TYPE_HW_UNGUIDED, 0, i, &d));
		if (d != MPI_COMM_NULL) {
			OK(MPI_Comm_size(d, &m));
			CHECK(m < n);
			len = sizeof(type);
			OK(MPI_Info_get_string(i, "mpi_hw_resource_type", &len,
					       type, &flag));
			CHECK(flag);
		}
		OK(MPI_Info_free(&i));
		OK(MPI_Comm_free(&c));
		c = d;
	}
	unbind();
}

int main(int argc, char **argv)
{
	MPI_Comm c;

	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	CHECK(!sched_getaffinity(0, sizeof(before), &before));
	ncpus = CPU_COUNT(&before);
	resources();
	guided(MPI_COMM_TYPE_HW_GUIDED);
	guided(MPI_COMM_TYPE_RESOURCE_GUIDED);
	by_pset();
	unguided();
	FAILS(MPI_Get_hw_resource_info(NULL), MPI_ERR_ARG);
	FAILS(MPI_Comm_split_type(MPI_COMM_NULL, MPI_COMM_TYPE_SHARED, 0,
				  MPI_INFO_NULL, &c),
	      MPI_ERR_COMM);
	FAILS(MPI_Comm_split_type(WORLD, 1, 0, MPI_INFO_NULL, &c), MPI_ERR_ARG);
	FAILS(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0,
				  (MPI_Info)MPI_INT, &c),
	      MPI_ERR_INFO);
	FAILS(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
				  NULL),
	      MPI_ERR_ARG);
	return finish();
}
