// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * A ball goes back and forth between two modules, or two endpoints of this one.
 *
 *	insmod o2g_pingpong.ko                           # both, on this host
 *	insmod o2g_pingpong.ko rank=0 address=0.0.0.0    # one host: listens until rmmod
 *	insmod o2g_pingpong.ko rank=1 address=10.0.0.1   # the other: plays, and says how fast
 *
 * Rank 0 listens, rank 1 connects and serves. Whoever gets the ball sends it back, from
 * the callback, in softirq; when it has left, the next one is waited for. So a player has
 * one request at a time, and uses it again and again.
 */
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/inet.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/socket.h>
#include <net/net_namespace.h>

#include "o2g_kernel.h"

#define MOST 65536

static int rank = -1;
module_param(rank, int, 0444);
MODULE_PARM_DESC(rank, "0 listens, 1 connects, -1 is both");
static char *address = "127.0.0.1", *port = "7018";
module_param(address, charp, 0444);
module_param(port, charp, 0444);
MODULE_PARM_DESC(address, "where rank 0 is");
static char secret[O2GK_SECRET] = "both players know this";
module_param_string(secret, secret, sizeof(secret), 0400);
MODULE_PARM_DESC(secret, "whoever knows it may play; up to 31 bytes");
static unsigned int rounds = 1000, size = 8;
module_param(rounds, uint, 0444);
module_param(size, uint, 0444);

struct player {
	struct o2gk_ep *ep; /* NULL: not on this host */
	u32 other;
	struct o2gk_request req;
	unsigned int left; /* of rank 1: rounds to go */
	int err;
	struct completion over;
	char ball[MOST];
};
static struct player players[2];

static void came(struct o2gk_request *req);
static void sent(struct o2gk_request *req);

static void end(struct player *p, int err)
{
	p->err = err;
	complete(&p->over);
}

/* Any context: a request that is over may be used again at once. */
static void next_request(struct player *p, bool receive)
{
	struct o2gk_seg seg = { .kind = O2GK_KERNEL,
				.addr = p->ball,
				.length = size };
	int err;

	p->req.done = receive ? came : sent;
	p->req.context = p;
	p->req.flags = O2GK_ATOMIC;
	if (receive)
		err = o2gk_irecv(p->ep, p->other, 0, ~0ull, &seg, 1, &p->req);
	else
		err = o2gk_isend(p->ep, p->other, 0, &seg, 1, &p->req);
	if (err)
		end(p, err);
}

static void came(struct o2gk_request *req)
{
	struct player *p = req->context;

	if (req->status || (p->left && !--p->left))
		end(p, req->status);
	else
		next_request(p, false);
}

static void sent(struct o2gk_request *req)
{
	if (req->status)
		end(req->context, req->status);
	else
		next_request(req->context, true);
}

/* Rank 0 plays with whoever comes, and with whoever comes next. */
static void connected(struct o2gk_ep *ep, void *private, u32 peer)
{
	struct player *p = private;

	if (p == &players[0])
		next_request(p, true);
}

static const struct o2gk_owner owner = { .connected = connected };

static int join(u32 me, struct sockaddr *at, int len)
{
	const struct o2gk_config config = { .rank = me,
					    .size = 2,
					    .secret = (u8 *)secret,
					    .job = "pingpong" };
	struct player *p = &players[me];
	struct o2gk_ep *ep;
	int err;

	p->other = !me;
	p->left = me ? rounds : 0;
	init_completion(&p->over);
	ep = o2gk_open(current->nsproxy->net_ns, &config, &owner, p);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	p->ep = ep;
	err = me ? o2gk_connect(ep, 0, at, len, 10000) :
		   o2gk_listen(ep, at, len);
	return err < 0 ? err : 0;
}

/* Can be killed. Closing the endpoint ends what is left. */
static int play(struct player *p)
{
	ktime_t start = ktime_get();
	int err;

	next_request(p, false);
	err = wait_for_completion_killable(&p->over);
	if (err || p->err)
		return err ? err : p->err;
	pr_info("o2g_pingpong: %u rounds of %u bytes, %lld ns each\n", rounds,
		size, ktime_to_ns(ktime_sub(ktime_get(), start)) / rounds);
	return 0;
}

static void leave(void)
{
	int i;

	for (i = 0; i < 2; i++)
		if (players[i].ep)
			o2gk_close(players[i].ep);
}

static int __init pingpong_init(void)
{
	struct sockaddr_storage at;
	int err = inet_pton_with_scope(current->nsproxy->net_ns, AF_UNSPEC,
				       address, port, &at);

	if (err || size > MOST || !rounds)
		return err ? err : -EINVAL;
	if (rank <= 0)
		err = join(0, (struct sockaddr *)&at, sizeof(at));
	if (!err && rank)
		err = join(1, (struct sockaddr *)&at, sizeof(at));
	if (!err && rank)
		err = play(&players[1]);
	if (err)
		leave();
	return err;
}
module_init(pingpong_init);

static void __exit pingpong_exit(void)
{
	leave();
}
module_exit(pingpong_exit);

MODULE_DESCRIPTION("Ping-pong with messages of O2G");
MODULE_LICENSE("Dual BSD/GPL");
