// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * /proc/fs/o2gfs: a line for each mount of the reader's network namespace. Fields may
 * be added at the end of a line.
 */
#include "o2gfs.h"

#include <linux/err.h>
#include <linux/nsproxy.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static LIST_HEAD(sessions);
static DEFINE_MUTEX(lock);

static const char *state_of(const struct o2gfs_session *s)
{
	if (READ_ONCE(s->dead))
		return "dead";
	return READ_ONCE(s->ep) ? "up" : "away";
}

static unsigned int count(const struct list_head *list)
{
	const struct list_head *at;
	unsigned int n = 0;

	list_for_each(at, list) n++;
	return n;
}

static void show_one(struct seq_file *m, struct o2gfs_session *s)
{
	struct o2gfs_stats n;
	unsigned int now, waiting;

	spin_lock_bh(&s->lock);
	n = s->stats;
	now = count(&s->under_way);
	waiting = count(&s->waiting);
	spin_unlock_bh(&s->lock);
	seq_printf(
		m,
		"%pISpc %pUb %s requests %llu under_way %u waiting %u sent %llu received %llu connections %u again %llu flushed %llu broken %llu msize %u\n",
		&s->from.addr, s->uuid, state_of(s), n.requests, now, waiting,
		n.sent, n.received, n.connections, n.again, n.flushed, n.broken,
		s->client->msize);
}

static int show(struct seq_file *m, void *unused)
{
	struct o2gfs_session *s;

	mutex_lock(&lock);
	list_for_each_entry(s, &sessions, known)
		if (net_eq(s->net, current->nsproxy->net_ns))
			show_one(m, s);
	mutex_unlock(&lock);
	return 0;
}

void o2gfs_look_add(struct o2gfs_session *s)
{
	mutex_lock(&lock);
	list_add_tail(&s->known, &sessions);
	mutex_unlock(&lock);
}

void o2gfs_look_del(struct o2gfs_session *s)
{
	mutex_lock(&lock);
	list_del(&s->known);
	mutex_unlock(&lock);
}

int o2gfs_look_init(void)
{
	return proc_create_single("fs/o2gfs", 0444, NULL, show) ? 0 : -ENOMEM;
}

void o2gfs_look_exit(void)
{
	remove_proc_entry("fs/o2gfs", NULL);
}
