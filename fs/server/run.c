/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The server from its start to its end: doors, limits, signals. */
#define _GNU_SOURCE
#include "run.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "conf.h"
#include "cred.h"
#include "fsd_log.h"
#include "o2g.h"
#include "place.h"
#include "status.h"

static struct fsd_server server;
static struct fsd_door *doors;
static int state_lock = -1;

/* --- doors --- */

/* Those that are reached in the same way. */
static bool is_behind(const struct fsd_conf *c, const struct fsd_export *e,
		      const char *listen)
{
	return !strcmp(e->listen[0] ? e->listen : c->listen, listen);
}

/* Takes its exports from the list of the configuration. */
static struct fsd_door *make_door(struct fsd_conf *c, const char *listen)
{
	struct fsd_door *d = calloc(1, sizeof(*d));
	struct fsd_export **from = &c->exports, **to;

	if (!d)
		return NULL;
	snprintf(d->listen, sizeof(d->listen), "%s", listen);
	d->server = &server;
	d->threads = c->threads;
	to = &d->exports;
	while (*from) {
		struct fsd_export *e = *from;

		if (!is_behind(c, e, d->listen)) {
			from = &e->next;
			continue;
		}
		*from = e->next;
		e->next = NULL;
		*to = e;
		to = &e->next;
	}
	d->next = doors;
	doors = d;
	return d;
}

static int open_exports(const struct fsd_conf *c, struct fsd_door *d)
{
	const char *key = d->exports->key_file;

	for (struct fsd_export *e = d->exports; e; e = e->next) {
		int err = fsd_export_open(e);

		if (err)
			return err;
		if (strcmp(e->key_file, key)) {
			fsd_error(
				"exports with different keys cannot share %s: give each a listen= of its own",
				d->listen);
			return -EINVAL;
		}
		if (e->squash == FSD_SQUASH_NONE && !fsd_cred_privileged())
			fsd_warn("%s: without root all users are user %u here",
				 e->name, (unsigned)getuid());
	}
	return 0;
}

static void tell(const struct fsd_door *d)
{
	static const char *const words[] = { "root is nobody", "root is root",
					     "all are one user" };

	for (const struct fsd_export *e = d->exports; e; e = e->next)
		fsd_info("%s exports %s, %s, %s", d->listen, e->path,
			 e->read_only ? "read-only" : "read and write",
			 words[e->squash]);
}

static int open_door(struct fsd_conf *c, const char *listen)
{
	unsigned char key[O2G_SECRET_SIZE];
	struct fsd_door *d = make_door(c, listen);
	const char *file;
	int err = d ? open_exports(c, d) : -ENOMEM;

	if (err)
		return err;
	file = d->exports->key_file[0] ? d->exports->key_file : c->key_file;
	err = fsd_key_read(file, key);
	if (!err && !c->check_only)
		err = fsd_door_open(d, key);
	explicit_bzero(key, sizeof(key));
	if (!err)
		tell(d);
	return err;
}

static int open_doors(struct fsd_conf *c)
{
	int err = 0;

	while (!err && c->exports) {
		char listen[sizeof(c->listen)];

		snprintf(listen, sizeof(listen), "%s",
			 c->exports->listen[0] ? c->exports->listen :
						 c->listen);
		err = open_door(c, listen);
	}
	return err;
}

static void close_doors(void)
{
	while (doors) {
		struct fsd_door *d = doors;

		doors = d->next;
		if (d->ep)
			fsd_door_close(d);
		while (d->exports) {
			struct fsd_export *e = d->exports;

			d->exports = e->next;
			fsd_export_close(e);
			free(e);
		}
		free(d);
	}
}

/* --- the process --- */

/* Every fid has a descriptor. */
static void raise_limits(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim))
		return;
	if (lim.rlim_max < (1 << 20)) { /* root may */
		struct rlimit more = { 1 << 20, 1 << 20 };

		if (!setrlimit(RLIMIT_NOFILE, &more))
			return;
	}
	lim.rlim_cur = lim.rlim_max;
	setrlimit(RLIMIT_NOFILE, &lim);
}

/* One server for a folder of state: two would answer for each other's clients. */
static int lock_state(const char *dir)
{
	char path[600];

	if (mkdir(dir, 0700) && errno != EEXIST) {
		fsd_error("cannot make %s: %s", dir, strerror(errno));
		return -errno;
	}
	snprintf(path, sizeof(path), "%s/lock", dir);
	state_lock =
		open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (state_lock >= 0 && !flock(state_lock, LOCK_EX | LOCK_NB))
		return 0;
	fsd_error(
		"cannot keep state in %s: %s", dir,
		errno == EWOULDBLOCK ?
			"another o2gfsd does; give each a --state of its own" :
			strerror(errno));
	return -errno;
}

/* What the server itself knows better than the defaults of libo2g, which are for jobs
 * that compute. Whoever sets one of these is listened to. */
static void prefer(void)
{
	setenv("O2G_CHANNELS", "tcp", 0);
	setenv("O2G_ENGINE", "user", 0);
	setenv("O2G_SPIN", "0", 0);
	/* Clients post their receives before they ask: no need to announce. */
	setenv("O2G_TCP_EAGER", "17M", 0);
}

/* The service manager wants to hear it. */
static void ready(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (!path || strlen(path) >= sizeof(to.sun_path))
		return;
	strcpy(to.sun_path, path);
	if (to.sun_path[0] == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, "READY=1", 7, MSG_NOSIGNAL, (struct sockaddr *)&to,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			   strlen(path)));
	close(fd);
}

/* Before clients notice that descriptors run out, connections would be refused. */
static void spare_descriptors(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0); /* the lowest */
	struct rlimit lim;

	if (!getrlimit(RLIMIT_NOFILE, &lim) &&
	    (fd < 0 || (rlim_t)fd > lim.rlim_cur / 4 * 3))
		fsd_debug("%u idle files are closed",
			  fsd_sessions_doze(&server));
	if (fd >= 0)
		close(fd);
}

static void run(int signals, int status)
{
	struct pollfd fds[2] = { { signals, POLLIN, 0 },
				 { status, POLLIN, 0 } };

	for (;;) {
		if (poll(fds, 2, 1000) < 0 && errno != EINTR)
			return;
		if (fds[0].revents)
			return;
		if (fds[1].revents)
			fsd_status_tell(status, &server);
		for (struct fsd_door *d = doors; d; d = d->next)
			fsd_door_tend(d);
		fsd_sessions_tend(&server);
		spare_descriptors();
	}
}

static int begin(struct fsd_conf *c, int *status)
{
	int err = fsd_place_init();

	if (!err && c->state_dir[0] && !c->check_only)
		err = lock_state(c->state_dir);
	if (err)
		return err;
	server.state_dir = c->state_dir[0] ? c->state_dir : NULL;
	if (state_lock >= 0)
		fsd_debug("%u old sessions are forgotten",
			  fsd_store_sweep(c->state_dir, c->limits.keep_s));
	server.limits = c->limits;
	fsd_server_init(&server);
	if (!fsd_cred_init())
		fsd_info("not root: every file is used as user %u",
			 (unsigned)getuid());
	err = open_doors(c);
	if (!err && c->socket[0] && !c->check_only) {
		*status = fsd_status_open(c->socket);
		err = *status < 0 ? *status : 0;
	}
	return err;
}

static int block_signals(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* files of clients may be too large for us */
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

int fsd_run(int argc, char **argv)
{
	struct fsd_conf conf;
	int status = -1, signals, err;

	fsd_conf_init(&conf);
	err = fsd_conf_args(&conf, argc, argv);
	if (err) {
		fsd_conf_cleanup(&conf);
		return err < 0 ? 2 : 0;
	}
	umask(0);
	raise_limits();
	prefer();
	signals = block_signals();
	err = begin(&conf, &status);
	if (!err && !conf.check_only) {
		ready();
		run(signals, status);
		fsd_info("ends; clients wait until it is started again");
	}
	close_doors();
	fsd_sessions_close(&server);
	if (status >= 0)
		unlink(conf.socket);
	fsd_conf_cleanup(&conf);
	return err ? 1 : 0;
}
