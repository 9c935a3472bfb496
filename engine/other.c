/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Peers of other jobs: who they are, everywhere, and what they are called here.
 *
 * A process is known by the number of its job, which follows from the job's secret,
 * and by its rank there. With that it says hello, and the secret of the meeting in
 * which we heard of it proves it. Here it has a number like any other peer.
 */
#include "other.h"

#include <nettle/hmac.h>
#include <stdlib.h>

#include "channels.h"
#include "ended.h"

void eng_other_identify(struct o2g_ep *ep)
{
	static const char label[] = "o2g job";
	struct hmac_sha256_ctx ctx;
	u8 out[8];

	hmac_sha256_set_key(&ctx, sizeof(ep->secret), ep->secret);
	hmac_sha256_update(&ctx, sizeof(label), (const u8 *)label);
	hmac_sha256_update(&ctx, strlen(ep->job), (const u8 *)ep->job);
	hmac_sha256_digest(&ctx, sizeof(out), out);
	memcpy(&ep->job_id, out, sizeof(ep->job_id));
}

u64 chan_ep_job_id(const struct chan_ep *cep)
{
	return ((const struct o2g_ep *)cep)->job_id;
}

/* One that was lost is somebody else when it comes again. */
static struct eng_peer *find(const struct o2g_ep *ep, u64 job, u32 rank)
{
	for (u32 i = 0; i < ep->peers.nslots; i++) {
		struct eng_peer *p = ep->peers.others[i].peer;

		if (p && !p->lost && p->cp.core.wire_rank == rank &&
		    p->other->chan.job == job)
			return p;
	}
	return NULL;
}

struct chan_peer *chan_ep_other(struct chan_ep *cep, u64 job, u32 rank)
{
	struct eng_peer *p = find(ep_of_chan(cep), job, rank);

	return p ? &p->cp : NULL;
}

void o2g_identify(const struct o2g_ep *ep, struct o2g_identity *who)
{
	who->job = ep->job_id;
	who->rank = ep->rank;
}

static u64 mark_of(const unsigned char *secret)
{
	static const char label[] = "o2g mark";
	struct hmac_sha256_ctx ctx;
	u64 mark;

	hmac_sha256_set_key(&ctx, O2G_SECRET_SIZE, secret);
	hmac_sha256_update(&ctx, sizeof(label), (const u8 *)label);
	hmac_sha256_digest(&ctx, sizeof(mark), (u8 *)&mark);
	return mark ? mark : 1;
}

/* Both ends have those of the meetings that they have been in, or are in. */
static void add_secret(struct eng_other *o, const unsigned char *secret)
{
	const size_t size = sizeof(o->chan.secrets[0]);
	u32 n = o->chan.nsecrets;

	if (n && !memcmp(chan_secret(&o->chan, n - 1), secret, size))
		return;
	memcpy(o->chan.secrets[n % CHAN_SECRETS], secret, size);
	o->chan.marks[n % CHAN_SECRETS] = mark_of(secret);
	o->chan.nsecrets++;
}

static struct eng_other *describe(const struct o2g_identity *who,
				  const char *address,
				  const unsigned char *secret)
{
	struct eng_other *o = calloc(1, sizeof(*o) + strlen(address) + 1);

	if (!o)
		return NULL;
	o->chan.job = who->job;
	add_secret(o, secret);
	strcpy(o->address, address);
	return o;
}

static void tell_channels(struct o2g_ep *ep, struct eng_peer *p)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->ops->known)
			ep->chans[i]->ops->known(ep->chans[i], &p->cp);
}

static int add(struct o2g_ep *ep, const struct o2g_identity *who,
	       const char *address, const unsigned char *secret, int *peer)
{
	struct eng_peer *p = find(ep, who->job, (u32)who->rank);
	struct eng_other *o;
	int err;

	if (p) {
		add_secret(p->other, secret);
		tell_channels(ep, p);
		*peer = (int)p->cp.core.rank;
		return 1;
	}
	o = describe(who, address, secret);
	if (!o)
		return -ENOMEM;
	p = eng_peer_add(ep, o, (u32)who->rank, &err);
	if (!p)
		return err;
	eng_channels_host(address, p->cp.host, sizeof(p->cp.host));
	if (ep->peers.nothers == 1 && ep->size == 1)
		eng_ended_look(ep);
	tell_channels(ep, p);
	*peer = (int)p->cp.core.rank;
	return 0;
}

int o2g_peer_add(struct o2g_ep *ep, const struct o2g_identity *who,
		 const char *address, const unsigned char *secret, int *peer)
{
	int err;

	if (who->rank < 0)
		return -EINVAL;
	if (who->job == ep->job_id) {
		*peer = who->rank;
		return who->rank < ep->size ? 1 : -EINVAL;
	}
	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	err = add(ep, who, address, secret, peer);
	ep_unlock(ep);
	return err;
}

int o2g_peer_over(struct o2g_ep *ep, int peer, int now)
{
	struct eng_peer *p;
	int over = -EINVAL;

	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	p = eng_peer_known(ep, peer);
	if (p && p->other) {
		now |= !p->cp.link;
		if (now && !p->lost) {
			p->cp.core.said_bye = true;
			chan_peer_lost(&p->cp, -O2G_ERR_PEER, "it has parted");
		}
		over = p->lost;
	}
	ep_unlock(ep);
	return over;
}

/* The driver knows ranks of its own job for as long as the endpoint lives. */
static int may_be_deleted(const struct o2g_ep *ep, int peer)
{
	const struct eng_peer *p = eng_peer_known(ep, peer);

	if (peer == ep->rank || !eng_peer_exists(ep, peer))
		return -EINVAL;
	return p && !p->other && ep->driver ? -EOPNOTSUPP : 0;
}

int o2g_peer_del(struct o2g_ep *ep, int peer)
{
	int err;

	if (!ep_enter(ep))
		return -O2G_ERR_FORKED;
	err = may_be_deleted(ep, peer);
	if (!err && eng_peer_known(ep, peer))
		eng_peer_del(eng_peer_known(ep, peer));
	ep_unlock(ep);
	return err;
}
