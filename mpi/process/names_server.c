/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Names that `o2g names` keeps. O2G_NAMES is the file that it has written, which nobody
 * else may read, or the line in it. A connection holds each name that we publish.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "env/errors.h"
#include "name_service.h"
#include "process/names_in.h"
#include "process/process.h"
#include "settings.h"

#define PORT "o2g1:" /* how the name of a port begins */
#define REACH_MS 5000

bool mpii_names_is_server(const char *setting)
{
	struct stat st;

	return !strncmp(setting, PORT, strlen(PORT)) ||
	       (!stat(setting, &st) && S_ISREG(st.st_mode));
}

static int read_address(const char *path, char *address, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || st.st_uid != geteuid() || st.st_mode & 077) {
		close(fd);
		return -EPERM;
	}
	n = read(fd, address, size - 1);
	close(fd);
	if (n < 0)
		return -errno;
	address[n] = '\0';
	address[strcspn(address, "\n")] = '\0';
	return 0;
}

/* MPI code, words recorded. */
static int reach(int *connection)
{
	const char *setting = o2g_settings()->names;
	unsigned char secret[O2G_SECRET_SIZE];
	char address[O2G_PORT_NAME_MAX];
	int fd = 0;

	*connection = -1;
	if (!strncmp(setting, PORT, strlen(PORT)))
		snprintf(address, sizeof(address), "%s", setting);
	else
		fd = read_address(setting, address, sizeof(address));
	if (!fd)
		fd = o2g_port_connect(address, REACH_MS, secret);
	if (fd < 0)
		return mpii_fail(MPI_ERR_OTHER,
				 "the name server that O2G_NAMES names is not "
				 "reached: %s; is `o2g names` running?",
				 fd == -EPERM ? "its file must be yours and "
						"closed to others" :
						strerror(-fd));
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	*connection = fd;
	return MPI_SUCCESS;
}

/* What the server says: 0 or negative errno, and a port. */
static int ask(int fd, const char *what, const char *service, const char *port,
	       char **answer)
{
	struct name_message *m = calloc(1, sizeof(*m));
	uint32_t at = 0;
	int err = m ? 0 : -ENOMEM;

	if (!err &&
	    !(name_add(m, what) && name_add(m, service) && name_add(m, port)))
		err = -ENAMETOOLONG;
	if (!err)
		err = name_send(fd, m);
	if (!err)
		err = name_receive(fd, m);
	if (!err)
		err = -atoi(name_take(m, &at));
	if (!err && answer) {
		*answer = strdup(name_take(m, &at));
		err = *answer ? 0 : -ENOMEM;
	}
	free(m);
	return err;
}

static int publish(struct mpii_name *n)
{
	int err = reach(&n->fd);

	if (err)
		return err;
	err = ask(n->fd, NAME_PUBLISH, n->service, n->port, NULL);
	if (!err)
		return 0;
	close(n->fd);
	n->fd = -1;
	return err;
}

static void forget(const struct mpii_name *n)
{
	/* nobody finds it any more when we return */
	ask(n->fd, NAME_UNPUBLISH, n->service, n->port, NULL);
	close(n->fd);
}

static int lookup(const char *service, char **port)
{
	int fd, err = reach(&fd);

	if (err)
		return err;
	err = ask(fd, NAME_LOOKUP, service, "", port);
	close(fd);
	return err;
}

const struct mpii_names_place mpii_names_server = { publish, forget, lookup };
