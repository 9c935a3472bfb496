// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "reach.h"

#include <linux/net.h>
#include <linux/sched/mm.h>

#include "kfront.h"

void o2gk_reach_enter(struct o2gk_reach *r, struct o2gk_reach_scope *s)
{
	s->memcg = set_active_memcg(r->memcg);
	s->alloc = o2gk_gfp_enter(r->gfp);
	mutex_lock(&r->mutex);
}

void o2gk_reach_leave(struct o2gk_reach *r, struct o2gk_reach_scope *s)
{
	mutex_unlock(&r->mutex);
	o2gk_gfp_leave(r->gfp, s->alloc);
	set_active_memcg(s->memcg);
}

static void lost_work(struct work_struct *work)
{
	struct o2gk_reach *r = container_of(work, struct o2gk_reach, lost_work);
	struct o2gk_reach_scope scope;

	o2gk_reach_enter(r, &scope);
	if (!r->closing)
		o2gk_dial_again(r);
	o2gk_reach_leave(r, &scope);
}

int o2gk_reach_open(struct o2gk_reach *r, const u8 *secret, const char *job)
{
	int err = o2gk_key_init(&r->key, secret, job);

	if (err)
		return err;
	mutex_init(&r->mutex);
	INIT_LIST_HEAD(&r->dials);
	INIT_WORK(&r->lost_work, lost_work);
	r->listener = NULL;
	r->closing = false;
	return 0;
}

void o2gk_reach_close(struct o2gk_reach *r)
{
	mutex_lock(&r->mutex);
	WRITE_ONCE(r->closing, true);
	mutex_unlock(&r->mutex);
	o2gk_reach_unlisten(r);
	o2gk_dial_stop_all(r);
	cancel_work_sync(&r->lost_work);
	o2gk_key_destroy(&r->key);
}

void o2gk_reach_lost(struct o2gk_reach *r)
{
	if (!READ_ONCE(r->closing))
		queue_work(r->wq, &r->lost_work);
}

int o2gk_reach_attach(struct o2gk_reach *r, u32 peer, struct socket *sock)
{
	int err;

	lockdep_assert_held(&r->mutex);
	err = r->ops->attach(r->owner, peer, sock);
	if (err)
		sockfd_put(sock);
	return err;
}
