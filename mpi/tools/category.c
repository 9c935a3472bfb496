/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Categories: settings, queues, traffic and events, all under one. They never
 * change, so their update number does not either. Each holds the variables of
 * one kind from a first index on.
 */
#include <string.h>

#include "tools/tools.h"

enum { TOP, SETTINGS, QUEUES, TRAFFIC, EVENTS, COUNT };

static const struct {
	const char *name, *desc;
} names[COUNT] = {
	[TOP] = { "o2g", "everything that O2G tells of itself" },
	[SETTINGS] = { "settings", "the O2G_ variables" },
	[QUEUES] = { "queues", "receives that wait and messages that nobody "
			       "has asked for" },
	[TRAFFIC] = { "traffic", "messages and bytes, in all and by peer" },
	[EVENTS] = { "events", "things that happen once in a while" },
};

struct range {
	int first, n;
};

static struct range cvars_of(int category)
{
	return (struct range){ 0, category == SETTINGS ? mpii_cvars() : 0 };
}

static struct range pvars_of(int category)
{
	int queues = mpii_pvars_of_queues();

	if (category == QUEUES)
		return (struct range){ 0, queues };
	if (category == TRAFFIC)
		return (struct range){ queues, mpii_pvars() - queues };
	return (struct range){ 0, 0 };
}

static struct range events_of(int category)
{
	return (struct range){ 0, category == EVENTS ? mpii_events() : 0 };
}

static struct range categories_of(int category)
{
	return (struct range){ 1, category == TOP ? COUNT - 1 : 0 };
}

static bool valid(int category)
{
	return category >= 0 && category < COUNT;
}

int PMPI_T_category_get_num(int *num_cat)
{
	TOOLS_ON();
	GIVE(num_cat, COUNT);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_category_get_num);

int PMPI_T_category_get_info(int cat_index, char *name, int *name_len,
			     char *desc, int *desc_len, int *num_cvars,
			     int *num_pvars, int *num_categories)
{
	TOOLS_ON();
	if (!valid(cat_index))
		return MPI_T_ERR_INVALID_INDEX;
	mpii_tools_string(names[cat_index].name, name, name_len);
	mpii_tools_string(names[cat_index].desc, desc, desc_len);
	GIVE(num_cvars, cvars_of(cat_index).n);
	GIVE(num_pvars, pvars_of(cat_index).n);
	GIVE(num_categories, categories_of(cat_index).n);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_category_get_info);

int PMPI_T_category_get_num_events(int cat_index, int *num_events)
{
	TOOLS_ON();
	if (!valid(cat_index))
		return MPI_T_ERR_INVALID_INDEX;
	GIVE(num_events, events_of(cat_index).n);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_category_get_num_events);

int PMPI_T_category_get_index(const char *name, int *cat_index)
{
	TOOLS_ON();
	if (!name || !cat_index)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < COUNT; i++) {
		if (strcmp(name, names[i].name) == 0) {
			*cat_index = i;
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_INVALID_NAME;
}
MPII_ALIAS(T_category_get_index);

static int list(int category, struct range (*of)(int), int len, int *indices)
{
	struct range r;

	TOOLS_ON();
	if (!valid(category))
		return MPI_T_ERR_INVALID_INDEX;
	if (len < 0 || (len > 0 && !indices))
		return MPI_T_ERR_INVALID;
	r = of(category);
	for (int i = 0; i < len && i < r.n; i++)
		indices[i] = r.first + i;
	return MPI_SUCCESS;
}

int PMPI_T_category_get_cvars(int cat_index, int len, int indices[])
{
	return list(cat_index, cvars_of, len, indices);
}
MPII_ALIAS(T_category_get_cvars);

int PMPI_T_category_get_pvars(int cat_index, int len, int indices[])
{
	return list(cat_index, pvars_of, len, indices);
}
MPII_ALIAS(T_category_get_pvars);

int PMPI_T_category_get_events(int cat_index, int len, int indices[])
{
	return list(cat_index, events_of, len, indices);
}
MPII_ALIAS(T_category_get_events);

int PMPI_T_category_get_categories(int cat_index, int len, int indices[])
{
	return list(cat_index, categories_of, len, indices);
}
MPII_ALIAS(T_category_get_categories);

int PMPI_T_category_changed(int *update_number)
{
	TOOLS_ON();
	GIVE(update_number, 0);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_category_changed);
