/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_T: starting and ending, strings, and the names of values. */
#include <string.h>

#include "tools/tools.h"

static atomic_int users;

bool mpii_tools_on(void)
{
	return atomic_load_explicit(&users, memory_order_relaxed) > 0;
}

void mpii_tools_string(const char *from, char *to, int *len)
{
	int n = (int)strlen(from) + 1;

	if (!len)
		return;
	if (to && *len > 0) {
		int fits = n < *len ? n : *len;

		memcpy(to, from, fits - 1);
		to[fits - 1] = '\0';
	}
	*len = n;
}

int PMPI_T_init_thread(int required, int *provided)
{
	if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE)
		return MPI_T_ERR_INVALID;
	atomic_fetch_add(&users, 1);
	GIVE(provided, MPI_THREAD_MULTIPLE);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_init_thread);

int PMPI_T_finalize(void)
{
	TOOLS_ON();
	atomic_fetch_sub(&users, 1);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_finalize);

/* --- enumerations --- */

struct MPI_ABI_T_enum {
	const char *name;
	int n;
	struct {
		int value;
		const char *name;
	} item[2];
};

struct MPI_ABI_T_enum mpii_switch = { "switch",
				      2,
				      { { 0, "off" }, { 1, "on" } } };

int PMPI_T_enum_get_info(MPI_T_enum enumtype, int *num, char *name,
			 int *name_len)
{
	TOOLS_ON();
	if (enumtype != &mpii_switch)
		return MPI_T_ERR_INVALID_HANDLE;
	GIVE(num, enumtype->n);
	mpii_tools_string(enumtype->name, name, name_len);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_enum_get_info);

int PMPI_T_enum_get_item(MPI_T_enum enumtype, int indx, int *value, char *name,
			 int *name_len)
{
	TOOLS_ON();
	if (enumtype != &mpii_switch)
		return MPI_T_ERR_INVALID_HANDLE;
	if (indx < 0 || indx >= enumtype->n)
		return MPI_T_ERR_INVALID_ITEM;
	GIVE(value, enumtype->item[indx].value);
	mpii_tools_string(enumtype->item[indx].name, name, name_len);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_enum_get_item);
