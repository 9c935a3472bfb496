/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ports: opening and closing them, waiting for callers, and calling. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "info/info.h"
#include "process/port.h"
#include "process/process.h"
#include "tools/state.h"

_Static_assert(MPI_MAX_PORT_NAME >= O2G_PORT_NAME_MAX, "name of a port");

struct port {
	struct port *next;
	struct o2g_port *port;
	int users; /* threads that wait for callers, and the list */
	char name[MPI_MAX_PORT_NAME];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct port *ports;

int mpii_port_open(char name[MPI_MAX_PORT_NAME])
{
	struct port *p = calloc(1, sizeof(*p));
	int err;

	if (!p)
		return -ENOMEM;
	err = o2g_port_open(mpii.ep, &p->port, p->name, sizeof(p->name));
	if (err) {
		free(p);
		return err;
	}
	p->users = 1;
	strcpy(name, p->name);
	pthread_mutex_lock(&lock);
	p->next = ports;
	ports = p;
	pthread_mutex_unlock(&lock);
	return 0;
}

static struct port **find(const char *name)
{
	struct port **at = &ports;

	while (*at && strcmp((*at)->name, name))
		at = &(*at)->next;
	return at;
}

/* With the lock. */
static void put(struct port *p)
{
	if (--p->users)
		return;
	o2g_port_close(p->port);
	free(p);
}

int mpii_port_close(const char *name)
{
	struct port **at, *p;

	pthread_mutex_lock(&lock);
	at = find(name);
	p = *at;
	if (p) {
		*at = p->next;
		o2g_port_stop(p->port);
		put(p);
	}
	pthread_mutex_unlock(&lock);
	return p ? 0 : -ENOENT;
}

void mpii_port_close_all(void)
{
	pthread_mutex_lock(&lock);
	while (ports) {
		struct port *p = ports;

		ports = p->next;
		o2g_port_stop(p->port);
		put(p);
	}
	pthread_mutex_unlock(&lock);
}

/* --- those who call --- */

static int no_port(const char *name)
{
	return mpii_fail(MPI_ERR_PORT,
			 "\"%.80s\" is no port that this process has opened",
			 name);
}

void mpii_port_accept(const char *name, int timeout_ms, struct mpii_fd_way *w)
{
	struct port *p;
	void *told;

	mpii_fd_way(w, -1);
	pthread_mutex_lock(&lock);
	p = *find(name);
	if (p)
		p->users++;
	pthread_mutex_unlock(&lock);
	if (!p) {
		w->way.err = no_port(name);
		return;
	}
	told = mpii_state_blocks(O2G_PART_PORT);
	w->fd = o2g_port_accept(p->port, timeout_ms, w->way.secret);
	mpii_state_goes_on(told);
	pthread_mutex_lock(&lock);
	put(p);
	pthread_mutex_unlock(&lock);
	if (w->fd == -ETIMEDOUT)
		w->way.err = mpii_fail(MPI_ERR_PORT,
				       "nobody has called in %d s",
				       timeout_ms / 1000);
	else if (w->fd == -ECANCELED)
		w->way.err = mpii_fail(MPI_ERR_PORT,
				       "the port was closed meanwhile");
	else if (w->fd < 0)
		w->way.err = mpii_fail(mpii_class_of(w->fd), "%s",
				       o2g_strerror(w->fd));
}

static int call_error(int err, const char *name, int timeout_ms)
{
	switch (err) {
	case -EINVAL:
		return mpii_fail(MPI_ERR_PORT,
				 "\"%.80s\" is not the name of a port", name);
	case -ECONNREFUSED:
		return mpii_fail(MPI_ERR_PORT,
				 "nobody is at this port any more: it was "
				 "closed, or its process has ended");
	case -ETIMEDOUT:
		if (timeout_ms >= 0)
			return mpii_fail(MPI_ERR_PORT,
					 "nobody has accepted in %d s",
					 timeout_ms / 1000);
		/* fall through */
	default:
		return mpii_fail(MPI_ERR_PORT, "cannot reach the port: %s",
				 strerror(-err));
	}
}

void mpii_port_call(const char *name, int timeout_ms, struct mpii_fd_way *w)
{
	void *told = mpii_state_blocks(O2G_PART_PORT);

	mpii_fd_way(w, -1);
	w->fd = o2g_port_connect(name, timeout_ms, w->way.secret);
	mpii_state_goes_on(told);
	if (w->fd < 0)
		w->way.err = call_error(w->fd, name, timeout_ms);
}

/* --- the functions --- */

static int check_info(MPI_Info info, const char *func)
{
	if (info == MPI_INFO_NULL || mpii_info_get(info))
		return MPI_SUCCESS;
	return mpii_error(NULL, MPI_ERR_INFO, func,
			  "info is not an info object or was freed");
}

int PMPI_Open_port(MPI_Info info, char *port_name)
{
	static const char func[] = "MPI_Open_port";
	int err;

	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	err = check_info(info, func);
	if (err)
		return err;
	if (!port_name)
		return mpii_bad_null(NULL, func, "port_name");
	err = mpii_port_open(port_name);
	if (err)
		return mpii_error(
			NULL, err == -ENOMEM ? MPI_ERR_NO_MEM : MPI_ERR_OTHER,
			func, "no port can be opened: %s", o2g_strerror(err));
	return MPI_SUCCESS;
}
MPII_ALIAS(Open_port);

int PMPI_Close_port(const char *port_name)
{
	static const char func[] = "MPI_Close_port";

	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	if (!port_name)
		return mpii_bad_null(NULL, func, "port_name");
	if (mpii_port_close(port_name))
		return mpii_raise(NULL, no_port(port_name), func);
	return MPI_SUCCESS;
}
MPII_ALIAS(Close_port);
