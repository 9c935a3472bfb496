/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The eight calls: arguments, and which of the two forms is behind them. */
#include "paper.h"

#include <signal.h>
#include <sys/socket.h>

#include "choose.h"
#include "log.h"
#include "settings.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const struct paper_form *chosen; /* NULL: o2g_init was not called */

static const struct paper_form *form(void)
{
	return __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
}

/* --- o2g_init --- */

/* Whoever has not asked for the driver can do without. */
static int start_kernel(int n_socks, const struct paper_form **f)
{
	int rc = paper_kernel.init(n_socks);

	*f = &paper_kernel;
	if (!rc || !strcmp(o2g_settings()->engine, "kernel"))
		return rc;
	o2g_warn(
		"the driver cannot be used: %s%s; going on without it",
		strerror(rc),
		rc == ENOMEM ?
			" (raise the limit of locked memory with `ulimit -l`)" :
			"");
	*f = &paper_user;
	return paper_user.init(n_socks);
}

static int start_engine(int n_socks, const struct paper_form **f)
{
	const char *name;
	char why[256];
	int rc;

	if (o2g_settings()->encrypt) {
		o2g_error(
			"O2G_ENCRYPT=1 cannot be met: the sockets of o2g_register_socket are the program's own");
		return EOPNOTSUPP;
	}
	rc = o2g_choose_engine(&name, why, sizeof(why));
	if (rc) {
		o2g_error("%s", why);
		return -rc;
	}
	if (!strcmp(name, "kernel"))
		return start_kernel(n_socks, f);
	*f = &paper_user;
	return paper_user.init(n_socks);
}

int o2g_init(int n_socks)
{
	const struct paper_form *f = NULL;
	int rc;

	if (n_socks < 1 || n_socks > 1 << 20)
		return EINVAL;
	pthread_mutex_lock(&lock);
	rc = chosen ? EBUSY : start_engine(n_socks, &f);
	if (!rc)
		__atomic_store_n(&chosen, f, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&lock);
	if (!rc && o2g_settings()->progress_thread)
		rc = o2g_start_dumper_thread(1);
	return rc;
}

/* --- o2g_start_dumper_thread --- */

static void *dumper(void *arg)
{
	const struct paper_form *f = arg;

	for (;;)
		f->dump();
	return NULL;
}

static int start_one(const struct paper_form *f)
{
	sigset_t all, old;
	pthread_t thread;
	int rc;

	/* Signals are for the program's threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, NULL, dumper, (void *)f);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc)
		return rc;
	pthread_detach(thread);
	if (f->dumper_started)
		f->dumper_started();
	return 0;
}

int o2g_start_dumper_thread(int n_thrds)
{
	const struct paper_form *f = form();
	int rc = 0;

	if (n_thrds < 1 || n_thrds > 1024)
		return EINVAL;
	if (!f)
		return ENXIO;
	for (int i = 0; !rc && i < n_thrds; i++)
		rc = start_one(f);
	return rc;
}

/* --- the others --- */

int o2g_register_socket(int sock, int rank)
{
	const struct paper_form *f = form();
	socklen_t len = sizeof(int);
	int type;

	if (rank < 0)
		return EINVAL;
	if (getsockopt(sock, SOL_SOCKET, SO_TYPE, &type, &len))
		return errno;
	if (type != SOCK_STREAM)
		return EPROTOTYPE;
	return f ? f->register_socket(sock, rank) : ENXIO;
}

int o2g_set_dump_area(void *area, size_t size)
{
	const struct paper_form *f = form();

	if (!area)
		return EINVAL;
	return f ? f->set_dump_area(area, size) : ENXIO;
}

int o2g_put_entry(struct queue_entry *e)
{
	const struct paper_form *f = form();

	if (!e || e->rank < O2G_ANY_SOURCE || e->tag < -1 ||
	    (e->size && !e->buf))
		return EINVAL;
	return f ? f->put_entry(e) : ENXIO;
}

int o2g_cancel_entry(struct queue_entry *e)
{
	const struct paper_form *f = form();

	if (!e)
		return EINVAL;
	return f ? f->cancel_entry(e) : ENXIO;
}

int o2g_free_entry(struct queue_entry *e)
{
	const struct paper_form *f = form();

	if (!e)
		return EINVAL;
	return f ? f->free_entry(e) : ENXIO;
}

int o2g_poll(void)
{
	const struct paper_form *f = form();

	return f ? f->poll() : ENXIO;
}

/* --- sending --- */

void o2g_message_header(void *header48, int from, int to, uint32_t context,
			int tag, size_t len)
{
	struct o2g_hdr h = { .type = O2G_PKT_EAGER,
			     .src = from,
			     .dst = to,
			     .tag = (u64)context << 32 | (u32)tag,
			     .length = len };

	o2g_wire_encode(&h, header48);
}
