/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Two jobs that become connected: MPI_Comm_accept, MPI_Comm_connect, MPI_Comm_join. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "env/errors.h"
#include "info/info.h"
#include "process/port.h"
#include "process/process.h"
#include "process/rooted.h"
#include "settings.h"

/* What the two calls are given. */
struct args {
	const char *func, *port_name;
	MPI_Info info;
	int root;
	struct mpii_comm *c;
	MPI_Comm *newcomm;
};

/* At the root only: words recorded, since all members must hear of it. */
static int check_root(const struct args *a)
{
	if (!a->port_name)
		return mpii_fail(MPI_ERR_ARG, "port_name is a null pointer");
	if (a->info != MPI_INFO_NULL && !mpii_info_get(a->info))
		return mpii_fail(MPI_ERR_INFO,
				 "info is not an info object or was freed");
	return MPI_SUCCESS;
}

/* The info key "timeout": seconds. */
static int timeout_of(MPI_Info info)
{
	struct mpii_info *i = info == MPI_INFO_NULL ? NULL :
						      mpii_info_get(info);
	const char *text = i ? mpii_info_value(i, "timeout") : NULL;
	double s = text ? atof(text) : -1;

	return !text || s < 0 || s > 1e6 ? -1 : (int)(s * 1000);
}

static int become_connected(struct args *a, MPI_Comm comm,
			    void (*reach)(const char *name, int timeout_ms,
					  struct mpii_fd_way *w))
{
	struct mpii_fd_way w;
	struct mpii_comm *n = NULL;
	int err = mpii_check_rooted(&a->c, comm, a->root, a->newcomm, "newcomm",
				    a->func);

	if (err)
		return err;
	mpii_fd_way(&w, -1);
	if (a->c->rank == a->root) {
		err = check_root(a);
		if (err)
			w.way.err = err;
		else
			reach(a->port_name, timeout_of(a->info), &w);
	}
	err = mpii_meet_from(a->c, a->root, &w.way, &n);
	if (w.fd >= 0)
		close(w.fd);
	explicit_bzero(w.way.secret, sizeof(w.way.secret));
	if (err)
		return mpii_raise(a->c, err, a->func);
	return mpii_comm_deliver(n, a->c, a->newcomm, a->func);
}

int PMPI_Comm_accept(const char *port_name, MPI_Info info, int root,
		     MPI_Comm comm, MPI_Comm *newcomm)
{
	struct args a = {
		"MPI_Comm_accept", port_name, info, root, NULL, newcomm
	};

	return become_connected(&a, comm, mpii_port_accept);
}
MPII_ALIAS(Comm_accept);

int PMPI_Comm_connect(const char *port_name, MPI_Info info, int root,
		      MPI_Comm comm, MPI_Comm *newcomm)
{
	struct args a = {
		"MPI_Comm_connect", port_name, info, root, NULL, newcomm
	};

	return become_connected(&a, comm, mpii_port_call);
}
MPII_ALIAS(Comm_connect);

/* --- over a socket of the program --- */

static int check_socket(int fd)
{
	int type = 0;
	socklen_t len = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len))
		return mpii_fail(MPI_ERR_ARG, "fd is %d: %s", fd,
				 strerror(errno));
	if (type != SOCK_STREAM)
		return mpii_fail(MPI_ERR_ARG,
				 "fd is %d, which is not a stream socket", fd);
	return MPI_SUCCESS;
}

/* The two sides tell each other a secret over it: see invent() in meet.c. */
static int check_privacy(int fd)
{
	struct sockaddr_storage ss = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(ss);

	if (!o2g_settings()->encrypt ||
	    (!getsockname(fd, (struct sockaddr *)&ss, &len) &&
	     ss.ss_family == AF_UNIX))
		return MPI_SUCCESS;
	return mpii_fail(
		MPI_ERR_UNSUPPORTED_OPERATION,
		"O2G_ENCRYPT=1, and fd %d is not encrypted: a socket of this "
		"host (AF_UNIX), or MPI_Comm_connect, will do",
		fd);
}

int PMPI_Comm_join(int fd, MPI_Comm *intercomm)
{
	static const char func[] = "MPI_Comm_join";
	struct mpii_fd_way w;
	struct mpii_comm *n = NULL;
	int err;

	if (!mpii_world_running())
		return mpii_bad_comm(MPI_COMM_NULL, func);
	if (!intercomm)
		return mpii_bad_null(&mpii_self, func, "intercomm");
	err = check_socket(fd);
	if (!err)
		err = check_privacy(fd);
	if (err)
		return mpii_raise(&mpii_self, err, func);
	mpii_fd_way(&w, fd);
	err = mpii_meet_from(&mpii_self, 0, &w.way, &n);
	if (err)
		return mpii_raise(&mpii_self, err, func);
	return mpii_comm_deliver(n, &mpii_self, intercomm, func);
}
MPII_ALIAS(Comm_join);
