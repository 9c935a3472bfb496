// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The caller: every kind of memory, of every length, there and back. */
#include "kapi.h"

#include <linux/completion.h>
#include <linux/err.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

/* --- an endpoint that calls --- */

static void connected(struct o2gk_ep *ep, void *private, u32 peer)
{
	struct kapi_caller *c = private;

	atomic_inc(&c->connected);
}

static void lost(struct o2gk_ep *ep, void *private, u32 peer, int error)
{
	struct kapi_caller *c = private;

	atomic_inc(&c->lost);
}

static const struct o2gk_owner owner = { .connected = connected, .lost = lost };

struct kapi_caller *kapi_call(const struct o2gk_config *config,
			      const struct sockaddr_storage *to)
{
	struct kapi_caller *c = kzalloc(sizeof(*c), GFP_KERNEL);
	int err;

	if (!c)
		return ERR_PTR(-ENOMEM);
	c->to = *to;
	c->ep = o2gk_open(current->nsproxy->net_ns, config, &owner, c);
	if (!IS_ERR(c->ep))
		return c;
	err = PTR_ERR(c->ep);
	kfree(c);
	return ERR_PTR(err);
}

void kapi_call_end(struct kapi_caller *c)
{
	o2gk_close(c->ep);
	kfree(c);
}

int kapi_connect(struct kapi_caller *c)
{
	return o2gk_connect(c->ep, SERVER, (struct sockaddr *)&c->to,
			    sizeof(c->to), kapi_timeout * 1000);
}

/* --- requests --- */

int kapi_wait(struct o2gk_ep *ep, struct o2gk_request *r)
{
	int err = o2gk_wait(ep, r, kapi_timeout * HZ);

	if (err == -EINTR || err == -ETIME) {
		o2gk_cancel(ep, r);
		o2gk_wait_end(ep, r);
	}
	return err;
}

int kapi_send(struct kapi_caller *c, u64 tag, struct kapi_mem *m, bool sync,
	      struct o2gk_request *r)
{
	unsigned int n;
	struct o2gk_seg *segs = kapi_mem_segs(m, &n);

	memset(r, 0, sizeof(*r));
	return (sync ? o2gk_issend : o2gk_isend)(c->ep, SERVER, tag, segs, n,
						 r);
}

int kapi_recv(struct kapi_caller *c, u64 tag, struct kapi_mem *m,
	      struct o2gk_request *r)
{
	unsigned int n;
	struct o2gk_seg *segs = kapi_mem_segs(m, &n);

	memset(r, 0, sizeof(*r));
	return o2gk_irecv(c->ep, SERVER, tag, ALL, segs, n, r);
}

int kapi_order(struct kapi_caller *c, const struct kapi_order *o)
{
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = (void *)o,
				.length = sizeof(*o) };
	struct o2gk_request *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int err;

	if (!r)
		return -ENOMEM;
	err = o2gk_isend(c->ep, SERVER, KAPI_TAG_ORDER, &seg, 1, r);
	if (!err)
		err = kapi_wait(c->ep, r);
	kfree(r);
	return err;
}

/* --- there and back --- */

struct trip {
	struct o2gk_request out, in;
	struct kapi_mem *from, *to;
	u64 seed;
};

static int travel(struct kapi_caller *c, struct trip *t, size_t len, u32 flags)
{
	int err, other;

	err = kapi_recv(c, KAPI_TAG_ECHO, t->to, &t->in);
	if (err)
		return err;
	err = kapi_send(c, KAPI_TAG_DATA, t->from, flags & KAPI_SYNC, &t->out);
	if (!err)
		err = kapi_wait(c->ep, &t->out);
	if (err)
		o2gk_cancel(c->ep, &t->in);
	other = kapi_wait(c->ep, &t->in);
	if (!err)
		err = other;
	if (!err && (t->in.length != len || t->in.source != SERVER ||
		     t->in.tag != KAPI_TAG_ECHO))
		err = -EBADMSG;
	return err ? err : kapi_mem_check(t->to, t->seed, len);
}

int kapi_echo(struct kapi_caller *c, enum kapi_kind from, enum kapi_kind to,
	      size_t len, u32 flags)
{
	struct kapi_order o = { .op = KAPI_ECHO,
				.kind = (from + to) % KAPI_KINDS,
				.flags = flags,
				.length = len };
	struct trip *t = kzalloc(sizeof(*t), GFP_KERNEL);
	int err;

	if (!t)
		return -ENOMEM;
	t->seed = get_random_u32();
	t->from = kapi_mem_new(from, len, KAPI_FROM);
	t->to = kapi_mem_new(to, len, KAPI_TO);
	err = PTR_ERR_OR_ZERO(t->from);
	if (!err)
		err = PTR_ERR_OR_ZERO(t->to);
	if (!err)
		err = kapi_mem_fill(t->from, t->seed);
	if (!err)
		err = kapi_order(c, &o);
	if (!err)
		err = travel(c, t, len, flags);
	kapi_mem_free(t->from);
	kapi_mem_free(t->to);
	kfree(t);
	return err;
}

static const size_t lengths[] = { 0,	 1,	  8,	   100,
				  4096,	 4097,	  16384,   16385,
				  65537, 1 << 20, 5 << 20, 64 << 20 };

/* Every kind to every other, in turn; -E2BIG, -ENODEV: there is none such. */
int kapi_test_echo(struct kapi_caller *c)
{
	unsigned int i, kind, done = 0;
	int err;

	for (i = 0; i < ARRAY_SIZE(lengths) && lengths[i] <= c->most; i++)
		for (kind = 0; kind < KAPI_KINDS; kind++) {
			unsigned int to = (kind + 3 * i + 1) % KAPI_KINDS;

			err = kapi_echo(c, kind, to, lengths[i],
					(kind + i) % 2 ? KAPI_SYNC : 0);
			if (err == -E2BIG || err == -ENODEV)
				continue;
			if (err) {
				kapi_err("%zu bytes, %s to %s: %d\n",
					 lengths[i], kapi_kind_name(kind),
					 kapi_kind_name(to), err);
				return err;
			}
			done++;
		}
	kapi_say("%u messages there and back\n", done);
	return 0;
}

/* --- registered memory --- */

static int get_key(struct kapi_caller *c, enum kapi_kind kind, size_t len,
		   struct kapi_key *key)
{
	struct kapi_order o = { .op = KAPI_OPEN, .kind = kind, .length = len };
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = key,
				.length = sizeof(*key) };
	struct o2gk_request *r = kzalloc(sizeof(*r), GFP_KERNEL);
	int err;

	if (!r)
		return -ENOMEM;
	err = kapi_order(c, &o);
	if (!err)
		err = o2gk_irecv(c->ep, SERVER, KAPI_TAG_KEY, ALL, &seg, 1, r);
	if (!err)
		err = kapi_wait(c->ep, r);
	kfree(r);
	return err;
}

static int move(struct kapi_caller *c, u64 key, u64 at, struct kapi_mem *m,
		bool put, struct o2gk_request *r)
{
	unsigned int n;
	struct o2gk_seg *segs = kapi_mem_segs(m, &n);
	int err;

	memset(r, 0, sizeof(*r));
	err = (put ? o2gk_put : o2gk_get)(c->ep, SERVER, key, at, segs, n, r);
	return err ? err : kapi_wait(c->ep, r);
}

static int put_and_get(struct kapi_caller *c, struct trip *t, size_t len)
{
	struct kapi_key key = {};
	int err = get_key(c, KAPI_PAGES, 2 * len, &key);

	if (!err)
		err = move(c, key.key, len / 2, t->from, true, &t->out);
	if (!err)
		err = move(c, key.key, len / 2, t->to, false, &t->in);
	if (!err)
		err = kapi_mem_check(t->to, t->seed, len);
	if (err)
		return err;
	if (move(c, key.key, 2 * len, t->from, true, &t->out) != -ERANGE ||
	    move(c, key.key + 1, 0, t->to, false, &t->in) != -ENOENT)
		return -EBADMSG;
	return 0;
}

int kapi_test_put(struct kapi_caller *c)
{
	const struct kapi_order shut = { .op = KAPI_SHUT };
	struct trip *t = kzalloc(sizeof(*t), GFP_KERNEL);
	unsigned int kind;
	int err = t ? 0 : -ENOMEM;

	for (kind = 0; kind < KAPI_KINDS && !err; kind++) {
		size_t len = 60000 + 7000 * kind;

		t->seed = kind;
		t->from = kapi_mem_new(kind, len, KAPI_FROM);
		t->to = kapi_mem_new((kind + 3) % KAPI_KINDS, len, KAPI_TO);
		if (!IS_ERR(t->from) && !IS_ERR(t->to)) {
			err = kapi_mem_fill(t->from, kind);
			if (!err)
				err = put_and_get(c, t, len);
			if (err)
				kapi_err("put and get, %s: %d\n",
					 kapi_kind_name(kind), err);
		}
		kapi_mem_free(t->from);
		kapi_mem_free(t->to);
	}
	kfree(t);
	return err ? err : kapi_order(c, &shut);
}

/* --- callbacks that send --- */

struct game {
	struct kapi_caller *c;
	struct o2gk_request in, out;
	unsigned int left, size;
	atomic_t moving;
	int err;
	struct completion over;
	char bytes[4096];
};

static void play(struct game *g);

static void moved(struct o2gk_request *req)
{
	struct game *g = req->context;

	if (req->status)
		g->err = req->status;
	if (!atomic_dec_and_test(&g->moving))
		return;
	if (g->in.length != g->size && !g->err)
		g->err = -EBADMSG;
	if (g->err || !--g->left)
		complete(&g->over);
	else
		play(g);
}

static void play(struct game *g)
{
	struct o2gk_seg seg = { .kind = O2GK_KERNEL, .addr = g->bytes };
	struct o2gk_request clean = { .done = moved,
				      .context = g,
				      .flags = O2GK_ATOMIC };
	int err;

	g->size = g->left % sizeof(g->bytes);
	seg.length = g->size;
	g->in = g->out = clean;
	atomic_set(&g->moving, 2);
	err = o2gk_irecv(g->c->ep, SERVER, KAPI_TAG_BACK, ALL, &seg, 1, &g->in);
	if (err) {
		g->err = err;
		complete(&g->over);
		return;
	}
	err = o2gk_isend(g->c->ep, SERVER, KAPI_TAG_BALL, &seg, 1, &g->out);
	if (err) {
		g->err = err;
		atomic_dec(&g->moving);
		o2gk_cancel(g->c->ep, &g->in);
	}
}

/* A process does this by calls; a module where the message arrives. */
int kapi_test_callbacks(struct kapi_caller *c)
{
	struct game *g = kzalloc(sizeof(*g), GFP_KERNEL);
	int err;

	if (!g)
		return -ENOMEM;
	g->c = c;
	g->left = 2000;
	init_completion(&g->over);
	play(g);
	/* Whatever happens, it ends: the connection does, if nothing else. */
	if (!wait_for_completion_timeout(&g->over, kapi_timeout * HZ)) {
		kapi_err("the game stands still, with %u to go\n", g->left);
		o2gk_disconnect(c->ep, SERVER);
		wait_for_completion(&g->over);
	}
	err = g->err;
	kfree(g);
	return err;
}
