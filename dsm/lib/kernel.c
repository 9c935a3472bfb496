/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The engine in the kernel: o2g_dsm.ko serves the pages, and this only tells it who is
 * there and which memory is shared. Locks, barriers and names stay with the library, on
 * its own endpoint; so both hear of deaths, and tell each other.
 */
#define _GNU_SOURCE
#include "dsm.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <uapi/o2g_dsm.h>
#include <unistd.h>

#include "log.h"
#include "settings.h"
#include "where.h"

#define DEVICE "/dev/o2g_dsm"
#define TRY_MS 5000	/* with one address */
#define ACCEPT_MS 60000 /* until a peer has tried all of ours */

static int node = -1;

bool dsm_kernel_there(void)
{
	return !access(DEVICE, R_OK | W_OK);
}

static int call(int fd, unsigned long request, void *arg)
{
	int n;

	do
		n = ioctl(fd, request, arg);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

/* --- nodes --- */

static int open_node(uint16_t *port)
{
	struct o2gs_setup s = { .size = sizeof(s),
				.version = O2GS_VERSION,
				.rank = (u32)dsm.rank,
				.nodes = (u32)dsm.size,
				.job = "dsm" };
	int err;

	memcpy(s.secret, dsm.secret, sizeof(s.secret));
	node = open(DEVICE, O_RDWR | O_CLOEXEC);
	err = node < 0 ? -errno : call(node, O2GS_SETUP, &s);
	*port = (uint16_t)s.port;
	if (err == -EPROTO)
		o2g_error(
			"dsm: the module o2g_dsm is of another version; install the one that came with this library");
	else if (err)
		o2g_error("dsm: " DEVICE ": %s", strerror(-err));
	return err;
}

static int dial(u32 peer, const struct sockaddr_storage *to)
{
	struct o2gs_connect c = { .size = sizeof(c),
				  .peer = peer,
				  .timeout_ms = to ? TRY_MS : ACCEPT_MS,
				  .addr_len = to ? sizeof(*to) : 0 };
	int err;

	if (to)
		memcpy(c.addr, to, sizeof(*to));
	err = call(node, O2GS_CONNECT, &c);
	return err == -EISCONN ? 0 : err;
}

/* Of two the one with the higher rank calls. */
static int reach(const struct dsm_where *all, int peer)
{
	struct sockaddr_storage to[DSM_ADDRESSES];
	unsigned n = dsm_where_is(&all[dsm.rank], &all[peer], to);
	int err = -EADDRNOTAVAIL;

	if (peer > dsm.rank)
		err = dial((u32)peer, NULL);
	for (unsigned i = 0; peer < dsm.rank && err && i < n; i++)
		err = dial((u32)peer, &to[i]);
	if (err)
		o2g_error(
			"dsm: no connection between the modules of ranks %d and %d: %s",
			dsm.rank, peer, strerror(-err));
	return err;
}

/* The same everywhere: the first error that anybody has. */
static int agree(MPI_Comm comm, int err)
{
	int worst = err;

	MPI_Allreduce(&err, &worst, 1, MPI_INT, MPI_MIN, comm);
	return worst;
}

static int begin(MPI_Comm comm)
{
	struct dsm_where mine, *all = calloc((size_t)dsm.size, sizeof(*all));
	uint16_t port = 0;
	int err = all ? open_node(&port) : -ENOMEM;

	err = agree(comm, err);
	if (!err) {
		dsm_where_am_i(port, &mine);
		MPI_Allgather(&mine, sizeof(mine), MPI_BYTE, all, sizeof(mine),
			      MPI_BYTE, comm);
		for (int i = 0; i < dsm.size && !err; i++)
			if (i != dsm.rank)
				err = reach(all, i);
		err = agree(comm, err);
	}
	free(all);
	return err;
}

static void end(void)
{
	close(node);
	node = -1;
}

/* Each side tells the other whom it misses. */
static u64 dead(u64 known)
{
	struct o2gs_dead d = { .size = sizeof(d), .dead = known };

	return call(node, O2GS_DEAD, &d) ? known : d.dead;
}

/* --- regions --- */

static int make(struct o2g_dsm *r)
{
	struct o2gs_region a = { .size = sizeof(a),
				 .id = r->id,
				 .bytes = r->bytes,
				 .founders = r->founders,
				 .counts = (u64)(uintptr_t)r->counts,
				 .hold_us = (u32)o2g_settings()->dsm_hold,
				 .move_after = r->proto.move_after };
	int err = call(node, O2GS_REGION, &a);

	if (err == -EDQUOT)
		o2g_error(
			"dsm: region %s takes more memory than a user may have: see /sys/module/o2g_dsm/parameters/user_mib",
			r->name);
	else if (err)
		o2g_error("dsm: the module does not make region %s: %s",
			  r->name, strerror(-err));
	else
		r->fd = a.fd;
	return err;
}

static void stop(struct o2g_dsm *r)
{
	if (r->mapped)
		munmap(r->base, r->bytes);
	if (r->fd >= 0)
		close(r->fd);
	dsm_counts_unmap(r);
}

static int start(struct o2g_dsm *r)
{
	int err = dsm_counts_map(r);

	if (!err)
		err = make(r);
	if (!err)
		err = dsm_region_map(r, MAP_SHARED, r->fd);
	if (err)
		stop(r);
	return err;
}

static int want(struct o2g_dsm *r, u32 first, u32 last, enum dsm_access access,
		bool home)
{
	struct o2gs_want w = { .size = sizeof(w),
			       .access = access,
			       .first = first,
			       .pages = last - first,
			       .home = home };
	int err = call(r->fd, O2GS_WANT, &w);

	return err == -EIO ? -O2G_ERR_PEER : err;
}

static int home(struct o2g_dsm *r, u32 page)
{
	struct o2gs_page p = { .size = sizeof(p), .page = page };

	return call(r->fd, O2GS_PAGE, &p) ? -1 : (int)p.home;
}

/* The module has dealt with its pages, or will. */
static void lost(struct o2g_dsm *r, int rank)
{
}

const struct dsm_engine dsm_kernel_engine = { begin, end,  dead, start,
					      stop,  want, home, lost };
