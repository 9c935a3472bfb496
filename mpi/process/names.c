/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Names of services: MPI_Publish_name, MPI_Lookup_name, MPI_Unpublish_name. They are
 * kept in files (names_file.c) or by a server (names_server.c).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "info/info.h"
#include "process/names.h"
#include "process/names_in.h"
#include "process/process.h"
#include "settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct mpii_name *names;

static const struct mpii_names_place *place(void)
{
	return mpii_names_is_server(o2g_settings()->names) ?
		       &mpii_names_server :
		       &mpii_names_files;
}

/* --- ours --- */

static void free_name(struct mpii_name *n)
{
	if (!n)
		return;
	free(n->path);
	free(n->service);
	free(n->port);
	free(n);
}

static struct mpii_name *new_name(const char *service, const char *port)
{
	struct mpii_name *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->service = strdup(service);
	n->port = strdup(port);
	if (n->service && n->port)
		return n;
	free_name(n);
	return NULL;
}

static void remember(struct mpii_name *n)
{
	pthread_mutex_lock(&lock);
	n->next = names;
	names = n;
	pthread_mutex_unlock(&lock);
}

static void forget(struct mpii_name *n)
{
	(n->path ? &mpii_names_files : &mpii_names_server)->forget(n);
	free_name(n);
}

static struct mpii_name *take(const char *service, const char *port)
{
	struct mpii_name **at = &names, *n;

	pthread_mutex_lock(&lock);
	while (*at &&
	       (strcmp((*at)->service, service) || strcmp((*at)->port, port)))
		at = &(*at)->next;
	n = *at;
	if (n)
		*at = n->next;
	pthread_mutex_unlock(&lock);
	return n;
}

void mpii_names_unpublish_all(void)
{
	pthread_mutex_lock(&lock);
	while (names) {
		struct mpii_name *n = names;

		names = n->next;
		forget(n);
	}
	pthread_mutex_unlock(&lock);
}

/* --- the functions --- */

static int check(const char *func, const char *service, MPI_Info info,
		 const char *port)
{
	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	if (!service)
		return mpii_bad_null(NULL, func, "service_name");
	if (info != MPI_INFO_NULL && !mpii_info_get(info))
		return mpii_error(NULL, MPI_ERR_INFO, func,
				  "info is not an info object or was freed");
	if (!port)
		return mpii_bad_null(NULL, func, "port_name");
	return MPI_SUCCESS;
}

/* MPI code, words recorded. */
static int publish(struct mpii_name *n)
{
	int err = place()->publish(n);

	if (err >= 0)
		return err;
	if (err == -EEXIST)
		return mpii_fail(MPI_ERR_SERVICE,
				 "\"%.200s\" has been published already",
				 n->service);
	return mpii_fail(MPI_ERR_SERVICE, "\"%.200s\" cannot be published: %s",
			 n->service, strerror(-err));
}

int PMPI_Publish_name(const char *service_name, MPI_Info info,
		      const char *port_name)
{
	static const char func[] = "MPI_Publish_name";
	int err = check(func, service_name, info, port_name);
	struct mpii_name *n;

	if (err)
		return err;
	if (strlen(service_name) + strlen(port_name) > MPII_NAME_MAX)
		return mpii_error(NULL, MPI_ERR_SERVICE, func,
				  "service_name has %zu characters: too many",
				  strlen(service_name));
	n = new_name(service_name, port_name);
	if (!n)
		return mpii_error(NULL, MPI_ERR_NO_MEM, func, "out of memory");
	err = publish(n);
	if (err) {
		free_name(n);
		return mpii_raise(NULL, err, func);
	}
	remember(n);
	return MPI_SUCCESS;
}
MPII_ALIAS(Publish_name);

int PMPI_Unpublish_name(const char *service_name, MPI_Info info,
			const char *port_name)
{
	static const char func[] = "MPI_Unpublish_name";
	int err = check(func, service_name, info, port_name);
	struct mpii_name *n;

	if (err)
		return err;
	n = take(service_name, port_name);
	if (!n)
		return mpii_error(NULL, MPI_ERR_SERVICE, func,
				  "this process has not published \"%.200s\" "
				  "for that port",
				  service_name);
	forget(n);
	return MPI_SUCCESS;
}
MPII_ALIAS(Unpublish_name);

/* The same, with the port malloc'ed. */
static int lookup(const char *service, char **port)
{
	int err = place()->lookup(service, port);

	if (err >= 0)
		return err;
	if (err == -ENOENT)
		return mpii_fail(MPI_ERR_NAME,
				 "nobody has published \"%.200s\"", service);
	return mpii_fail(MPI_ERR_OTHER, "\"%.200s\" cannot be looked up: %s",
			 service, strerror(-err));
}

int PMPI_Lookup_name(const char *service_name, MPI_Info info, char *port_name)
{
	static const char func[] = "MPI_Lookup_name";
	int err = check(func, service_name, info, port_name);
	char *port = NULL;

	if (err)
		return err;
	err = lookup(service_name, &port);
	if (err)
		return mpii_raise(NULL, err, func);
	snprintf(port_name, MPI_MAX_PORT_NAME, "%s", port);
	free(port);
	return MPI_SUCCESS;
}
MPII_ALIAS(Lookup_name);
