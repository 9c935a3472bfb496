/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_Comm_spawn: the root has the processes started (children.c), with a port of its
 * own in their environment; then both sides meet there as any two jobs do.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "env/errcode.h"
#include "env/errors.h"
#include "info/info.h"
#include "pmi.h"
#include "process/children.h"
#include "process/others.h"
#include "process/port.h"
#include "process/process.h"
#include "process/rooted.h"
#include "process/spawn.h"

#define LOOK_MS 100	 /* between two looks whether they still run */
#define UNSEEN_MS 120000 /* for those whose end we would not see */
#define PARENT_MS 60000	 /* the parent is waiting: it is there or it is gone */

/* --- the parent --- */

struct args {
	const char *func;
	struct mpii_program *programs; /* at the root */
	int count;
	int root;
	struct mpii_comm *c;
	MPI_Comm *intercomm;
	int *errcodes; /* or NULL */
};

static int check_program(const struct mpii_program *p)
{
	if (!p->command || !*p->command)
		return mpii_fail(MPI_ERR_ARG, "command is %s",
				 p->command ? "empty" : "a null pointer");
	if (p->n < 1)
		return mpii_fail(MPI_ERR_ARG,
				 "maxprocs is %d, but must be at least 1",
				 p->n);
	if (p->info != MPI_INFO_NULL && !mpii_info_get(p->info))
		return mpii_fail(MPI_ERR_INFO,
				 "info is not an info object or was freed");
	return MPI_SUCCESS;
}

static int check_programs(const struct args *a)
{
	int err = MPI_SUCCESS;

	if (a->count < 1)
		return mpii_fail(MPI_ERR_ARG,
				 "count is %d, but must be at least 1",
				 a->count);
	for (int i = 0; i < a->count && !err; i++)
		err = check_program(&a->programs[i]);
	return err;
}

static int total(const struct args *a)
{
	int n = 0;

	for (int i = 0; a->programs && i < a->count; i++)
		if (a->programs[i].n > 0)
			n += a->programs[i].n;
	return n;
}

/* They may end without having called MPI_Init: so we look, where that is possible. */
static void await_children(const char *port, struct mpii_child *child,
			   struct mpii_fd_way *w)
{
	int limit = mpii_child_is_watched(child) ? INT_MAX :
						   UNSEEN_MS / LOOK_MS;

	do {
		mpii_port_accept(port, LOOK_MS, w);
	} while (w->fd == -ETIMEDOUT && mpii_child_runs(child) && limit--);
	if (w->fd == -ETIMEDOUT && limit < 0)
		w->way.err = mpii_fail(MPI_ERR_SPAWN,
				       "the processes have not called MPI_Init "
				       "in %d s",
				       UNSEEN_MS / 1000);
	else if (w->fd == -ETIMEDOUT)
		w->way.err = mpii_fail(MPI_ERR_SPAWN,
				       "the processes have ended before all of "
				       "them had called MPI_Init");
}

/* At the root: a way to the children, or an error in it. */
static struct mpii_child *start(const struct args *a, struct mpii_fd_way *w)
{
	struct mpii_child *child = NULL;
	char port[MPI_MAX_PORT_NAME];
	int err = check_programs(a), sys;

	mpii_fd_way(w, -1);
	if (!err) {
		sys = mpii_port_open(port);
		if (sys)
			err = mpii_fail(MPI_ERR_SPAWN, "no port: %s",
					o2g_strerror(sys));
	}
	if (err) {
		w->way.err = err;
		return NULL;
	}
	err = mpii_child_start(a->programs, a->count, port, &child);
	if (err)
		w->way.err = err;
	else
		await_children(port, child, w);
	mpii_port_close(port);
	return child;
}

/* One for each process that was wanted: the first @started run, the others do not. */
static void set_codes(const struct args *a, int wanted, int started, int code)
{
	for (int i = 0; a->errcodes && i < wanted; i++)
		a->errcodes[i] = i < started ? MPI_SUCCESS : code;
}

static int spawn(struct args *a, MPI_Comm comm)
{
	struct mpii_child *child = NULL;
	struct mpii_comm *n = NULL;
	struct mpii_fd_way w;
	int err = mpii_check_rooted(&a->c, comm, a->root, a->intercomm,
				    "intercomm", a->func),
	    many;

	if (err)
		return err;
	mpii_fd_way(&w, -1);
	if (a->c->rank == a->root)
		child = start(a, &w);
	err = mpii_meet_from(a->c, a->root, &w.way, &n);
	if (w.fd >= 0)
		close(w.fd);
	if (child && err)
		mpii_child_drop(child);
	else if (child)
		mpii_child_is(child, mpii_identity(mpii_comm_peer(n, 0)).job);
	many = total(a);
	if (mpii_tell_all(a->c, a->root, &many, sizeof(many)))
		many = 0;
	set_codes(a, many, err ? 0 : n->remote_size,
		  err ? mpii_class_of_code(err) : MPI_ERR_SPAWN);
	if (err)
		return mpii_raise(a->c, err, a->func);
	return mpii_comm_deliver(n, a->c, a->intercomm, a->func);
}

int PMPI_Comm_spawn(const char *command, char *argv[], int maxprocs,
		    MPI_Info info, int root, MPI_Comm comm, MPI_Comm *intercomm,
		    int array_of_errcodes[])
{
	struct mpii_program p = { command, argv, maxprocs, info };
	struct args a = { "MPI_Comm_spawn", &p, 1, root, NULL, intercomm,
			  array_of_errcodes };

	return spawn(&a, comm);
}
MPII_ALIAS(Comm_spawn);

int PMPI_Comm_spawn_multiple(int count, char *array_of_commands[],
			     char **array_of_argv[],
			     const int array_of_maxprocs[],
			     const MPI_Info array_of_info[], int root,
			     MPI_Comm comm, MPI_Comm *intercomm,
			     int array_of_errcodes[])
{
	struct args a = {
		"MPI_Comm_spawn_multiple", NULL, 0, root, NULL, intercomm,
		array_of_errcodes
	};
	struct mpii_comm *c = mpii_comm_get(comm);
	bool is_root = c && c->rank == root;
	int err;

	if (is_root && count > 0 &&
	    (!array_of_commands || !array_of_maxprocs || !array_of_info))
		is_root = false; /* so that count is 0 there: an error at all */
	if (is_root && count > 0)
		a.programs = calloc((size_t)count, sizeof(*a.programs));
	for (int i = 0; a.programs && i < count; i++)
		a.programs[i] = (struct mpii_program){
			array_of_commands[i],
			array_of_argv ? array_of_argv[i] : NULL,
			array_of_maxprocs[i], array_of_info[i]
		};
	a.count = a.programs ? count : 0;
	err = spawn(&a, comm);
	free(a.programs);
	return err;
}
MPII_ALIAS(Comm_spawn_multiple);

/* --- the child --- */

static _Atomic(struct mpii_comm *) parent;

void mpii_meet_parent(void)
{
	struct mpii_comm *c = NULL;
	struct mpii_fd_way w;
	char text[MPI_MAX_ERROR_STRING + 64], port[MPI_MAX_PORT_NAME];
	int err;

	if (!pmi_spawned())
		return;
	mpii_fd_way(&w, -1);
	if (mpii.rank == 0 && pmi_get(0, PMI_PARENT_KEY, port, sizeof(port)))
		w.way.err = mpii_fail(MPI_ERR_SPAWN,
				      "the launcher does not say who has");
	else if (mpii.rank == 0)
		mpii_port_call(port, PARENT_MS, &w);
	unsetenv("PMI_SPAWNED"); /* not for programs that we start */
	err = mpii_meet_from(&mpii_world, 0, &w.way, &c);
	if (w.fd >= 0)
		close(w.fd);
	if (err) {
		snprintf(text, sizeof(text),
			 "MPI_Init: the process that has spawned us is not "
			 "reached: %s",
			 mpii_last_text(err) ? mpii_last_text(err) : "");
		mpii_abort(err, text);
	}
	strcpy(c->name, "MPI_COMM_PARENT");
	atomic_store(&parent, c);
}

void mpii_parent_ends(const struct mpii_comm *c)
{
	if (mpii_unlikely(atomic_load(&parent) == c))
		atomic_store(&parent, NULL);
}

int PMPI_Comm_get_parent(MPI_Comm *parent_comm)
{
	struct mpii_comm *c = atomic_load(&parent);

	if (!mpii_running())
		return mpii_bad_comm(MPI_COMM_NULL, "MPI_Comm_get_parent");
	if (!parent_comm)
		return mpii_bad_null(NULL, "MPI_Comm_get_parent", "parent");
	*parent_comm = c ? c->handle : MPI_COMM_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Comm_get_parent);
