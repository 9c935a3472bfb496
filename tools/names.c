/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * o2g names [FILE]: keeps the names that MPI_Publish_name makes known, for hosts that
 * share no directory in which files can be locked. Whoever has the line that it writes
 * to FILE may ask; only its owner can read that. A thread serves each connection: there
 * are as many as published names.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd.h"
#include "name_service.h"
#include "o2g.h"

#define CONNECTIONS_MAX 4096
#define STACK (256 << 10)

struct name {
	struct name *next;
	int owner; /* its connection */
	char *service, *port;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct name *names;
static int connections;
static bool verbose;

/* --- the table, with the lock --- */

static struct name **find(const char *service)
{
	struct name **at = &names;

	while (*at && strcmp((*at)->service, service))
		at = &(*at)->next;
	return at;
}

static void drop(struct name **at)
{
	struct name *n = *at;

	*at = n->next;
	free(n->service);
	free(n->port);
	free(n);
}

static int publish(int owner, const char *service, const char *port)
{
	struct name *n;

	if (*find(service))
		return EEXIST;
	n = calloc(1, sizeof(*n));
	if (!n)
		return ENOMEM;
	*n = (struct name){ names, owner, strdup(service), strdup(port) };
	names = n;
	if (n->service && n->port)
		return 0;
	drop(&names);
	return ENOMEM;
}

static int unpublish(int owner, const char *service, const char *port)
{
	struct name **at = find(service);

	if (!*at || (*at)->owner != owner || strcmp((*at)->port, port))
		return ENOENT;
	drop(at);
	return 0;
}

static void drop_all_of(int owner)
{
	struct name **at = &names;

	while (*at)
		if ((*at)->owner == owner)
			drop(at);
		else
			at = &(*at)->next;
}

/* --- a connection --- */

static int answer(int fd, const char *what, const char *service,
		  const char *port, struct name_message *out)
{
	struct name *n;
	char number[16];
	int err = EPROTO;

	pthread_mutex_lock(&lock);
	n = *find(service);
	if (!strcmp(what, NAME_PUBLISH))
		err = publish(fd, service, port);
	else if (!strcmp(what, NAME_UNPUBLISH))
		err = unpublish(fd, service, port);
	else if (!strcmp(what, NAME_LOOKUP))
		err = n ? 0 : ENOENT;
	snprintf(number, sizeof(number), "%d", err);
	out->len = 0;
	name_add(out, number);
	name_add(out, !err && *what == *NAME_LOOKUP ? n->port : "");
	pthread_mutex_unlock(&lock);
	if (verbose)
		printf("%s %.200s: %s\n", what, service,
		       err ? strerror(err) : "good");
	return err == EPROTO ? -EPROTO : name_send(fd, out);
}

static void *serve(void *arg)
{
	struct name_message *m = arg;
	int fd = (int)m->len, err = 0;

	while (!err && !name_receive(fd, m)) {
		uint32_t at = 0;
		char *what = strdup(name_take(m, &at));
		char *service = strdup(name_take(m, &at));
		char *port = strdup(name_take(m, &at));

		err = what && service && port ?
			      answer(fd, what, service, port, m) :
			      -ENOMEM;
		free(what);
		free(service);
		free(port);
	}
	pthread_mutex_lock(&lock);
	drop_all_of(fd);
	connections--;
	pthread_mutex_unlock(&lock);
	close(fd);
	free(m);
	return NULL;
}

/* A host that is switched off says nothing: so it is asked now and then. */
static void keep_alive(int fd)
{
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){ 1 }, sizeof(int));
}

static void begin(int fd)
{
	struct name_message *m = malloc(sizeof(*m));
	pthread_attr_t attr;
	pthread_t t;
	bool room;

	pthread_mutex_lock(&lock);
	room = m && connections < CONNECTIONS_MAX;
	connections += room;
	pthread_mutex_unlock(&lock);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	keep_alive(fd);
	if (room) {
		m->len = (uint32_t)fd;
		if (!pthread_create(&t, &attr, serve, m))
			return;
		pthread_mutex_lock(&lock);
		connections--;
		pthread_mutex_unlock(&lock);
	}
	free(m);
	close(fd);
}

/* --- where to find us --- */

static char file[4096];

static void gone(int sig)
{
	unlink(file);
	_exit(0);
}

static int write_file(const char *port)
{
	char tmp[sizeof(file) + 32];
	int fd, err = 0;

	snprintf(tmp, sizeof(tmp), "%s.%d", file, (int)getpid());
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%s\n", port) < 0)
		err = -errno;
	close(fd);
	if (!err && rename(tmp, file))
		err = -errno;
	if (err)
		unlink(tmp);
	return err;
}

static int usage(FILE *out)
{
	fputs("usage: o2g names [-v] [FILE]\n"
	      "Keeps names that programs publish, until it is ended. FILE, or\n"
	      "~/.o2g-names, tells them where it is: set O2G_NAMES to its path.\n",
	      out);
	return out == stderr ? 2 : 0;
}

static bool read_arguments(int argc, char **argv)
{
	const char *home = getenv("HOME");

	snprintf(file, sizeof(file), "%s/.o2g-names", home ? home : "/tmp");
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-v"))
			verbose = true;
		else if (argv[i][0] == '-' || strlen(argv[i]) >= sizeof(file))
			return false;
		else
			strcpy(file, argv[i]);
	}
	return true;
}

int cmd_names(int argc, char **argv)
{
	unsigned char secret[O2G_SECRET_SIZE];
	char name[O2G_PORT_NAME_MAX];
	struct o2g_port *port;
	int err;

	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return usage(stdout);
	if (!read_arguments(argc, argv))
		return usage(stderr);
	if (o2g_port_open(NULL, &port, name, sizeof(name)))
		return 1;
	err = write_file(name);
	if (err) {
		fprintf(stderr, "o2g: cannot write %s: %s\n", file,
			strerror(-err));
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, gone);
	signal(SIGINT, gone);
	signal(SIGHUP, gone);
	printf("O2G_NAMES=%s\n", file);
	for (;;) {
		int fd = o2g_port_accept(port, -1, secret);

		if (fd >= 0)
			begin(fd);
		else
			usleep(10000); /* out of descriptors, for example */
	}
}
