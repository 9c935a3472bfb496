/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Control variables: every O2G_ setting, under its full name. They can be
 * written until MPI is started; after that they only tell.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "process/process.h"
#include "settings.h"
#include "tools/tools.h"

#define TEXT_MAX 1024 /* what a variable that is text holds, with its zero */
#define MAGIC 0x6d637672

struct MPI_ABI_T_cvar_handle {
	uint32_t magic;
	int index;
};

static const struct {
	MPI_Datatype type;
	int count;
} forms[] = {
	[O2G_SETTING_STR] = { MPI_CHAR, TEXT_MAX },
	[O2G_SETTING_LIST] = { MPI_CHAR, TEXT_MAX },
	[O2G_SETTING_INT] = { MPI_COUNT, 1 },
	[O2G_SETTING_SIZE] = { MPI_UNSIGNED_LONG_LONG, 1 },
	[O2G_SETTING_BOOL] = { MPI_INT, 1 },
};

int mpii_cvars(void)
{
	struct o2g_setting s;
	int n = 0;

	while (o2g_setting(n, &s))
		n++;
	return n;
}

int PMPI_T_cvar_get_num(int *num_cvar)
{
	TOOLS_ON();
	GIVE(num_cvar, mpii_cvars());
	return MPI_SUCCESS;
}
MPII_ALIAS(T_cvar_get_num);

int PMPI_T_cvar_get_info(int cvar_index, char *name, int *name_len,
			 int *verbosity, MPI_Datatype *datatype,
			 MPI_T_enum *enumtype, char *desc, int *desc_len,
			 int *bind, int *scope)
{
	char full[64];
	struct o2g_setting s;

	TOOLS_ON();
	if (cvar_index < 0 || !o2g_setting(cvar_index, &s))
		return MPI_T_ERR_INVALID_INDEX;
	snprintf(full, sizeof(full), "O2G_%s", s.name);
	mpii_tools_string(full, name, name_len);
	mpii_tools_string(s.help, desc, desc_len);
	GIVE(verbosity, MPI_T_VERBOSITY_USER_BASIC);
	GIVE(datatype, forms[s.kind].type);
	GIVE(enumtype,
	     s.kind == O2G_SETTING_BOOL ? &mpii_switch : MPI_T_ENUM_NULL);
	GIVE(bind, MPI_T_BIND_NO_OBJECT);
	GIVE(scope, MPI_T_SCOPE_LOCAL);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_cvar_get_info);

int PMPI_T_cvar_get_index(const char *name, int *cvar_index)
{
	struct o2g_setting s;

	TOOLS_ON();
	if (!name || !cvar_index)
		return MPI_T_ERR_INVALID;
	for (int i = 0; o2g_setting(i, &s); i++) {
		if (strncmp(name, "O2G_", 4) == 0 &&
		    strcmp(name + 4, s.name) == 0) {
			*cvar_index = i;
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_INVALID_NAME;
}
MPII_ALIAS(T_cvar_get_index);

/* --- handles --- */

static bool valid(MPI_T_cvar_handle h)
{
	return h && h->magic == MAGIC;
}

int PMPI_T_cvar_handle_alloc(int cvar_index, void *obj_handle,
			     MPI_T_cvar_handle *handle, int *count)
{
	struct o2g_setting s;

	TOOLS_ON();
	if (!handle)
		return MPI_T_ERR_INVALID;
	if (cvar_index < 0 || !o2g_setting(cvar_index, &s))
		return MPI_T_ERR_INVALID_INDEX;
	*handle = malloc(sizeof(**handle));
	if (!*handle)
		return MPI_T_ERR_MEMORY;
	(*handle)->magic = MAGIC;
	(*handle)->index = cvar_index;
	GIVE(count, forms[s.kind].count);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_cvar_handle_alloc);

int PMPI_T_cvar_handle_free(MPI_T_cvar_handle *handle)
{
	TOOLS_ON();
	if (!handle || !valid(*handle))
		return MPI_T_ERR_INVALID_HANDLE;
	(*handle)->magic = MPII_DEAD;
	free(*handle);
	*handle = MPI_T_CVAR_HANDLE_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(T_cvar_handle_free);

/* For a call that wants to read to or write from @buf. */
static int look_up(MPI_T_cvar_handle handle, const void *buf,
		   struct o2g_setting *s)
{
	if (!valid(handle))
		return MPI_T_ERR_INVALID_HANDLE;
	return buf && o2g_setting(handle->index, s) ? MPI_SUCCESS :
						      MPI_T_ERR_INVALID;
}

int PMPI_T_cvar_read(MPI_T_cvar_handle handle, void *buf)
{
	struct o2g_setting s;
	int err;

	TOOLS_ON();
	err = look_up(handle, buf, &s);
	if (err)
		return err;
	switch (s.kind) {
	case O2G_SETTING_STR:
	case O2G_SETTING_LIST:
		snprintf(buf, TEXT_MAX, "%s", *(const char *const *)s.value);
		break;
	case O2G_SETTING_BOOL:
		*(int *)buf = *(const bool *)s.value;
		break;
	default:
		memcpy(buf, s.value, sizeof(uint64_t));
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(T_cvar_read);

int PMPI_T_cvar_write(MPI_T_cvar_handle handle, const void *buf)
{
	char text[TEXT_MAX];
	struct o2g_setting s;
	int err;

	TOOLS_ON();
	err = look_up(handle, buf, &s);
	if (err)
		return err;
	if (mpii.ep)
		return MPI_T_ERR_CVAR_SET_NOT_NOW;
	switch (s.kind) {
	case O2G_SETTING_STR:
	case O2G_SETTING_LIST:
		snprintf(text, sizeof(text), "%s", (const char *)buf);
		break;
	case O2G_SETTING_BOOL:
		snprintf(text, sizeof(text), "%d", *(const int *)buf);
		break;
	case O2G_SETTING_INT:
		snprintf(text, sizeof(text), "%" PRId64, *(const int64_t *)buf);
		break;
	case O2G_SETTING_SIZE:
		snprintf(text, sizeof(text), "%" PRIu64,
			 *(const uint64_t *)buf);
		break;
	}
	return o2g_setting_set(handle->index, text) ? MPI_T_ERR_INVALID :
						      MPI_SUCCESS;
}
MPII_ALIAS(T_cvar_write);
