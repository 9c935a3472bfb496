/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The channels of an endpoint, and which one reaches a peer.
 *
 * An endpoint's address is "o2g1;host=NAME;shm=CARD;tcp=CARD": the first
 * channel, in the order of O2G_CHANNELS, that both ends have and that says it
 * reaches the other's card carries the pair.
 *
 * bpf speaks tcp: its card is a tcp card, and an endpoint has one of the two. Where
 * bpf cannot be opened, tcp takes its place, named or not: bpf depends on what the
 * system's administrator has loaded, here and on other hosts.
 */
#include "channels.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <fcntl.h>

#include "log.h"
#include "settings.h"
#include "tcp/tls.h"

const struct chan_ops *const eng_channel_table[] = { &shm_chan_ops,
						     &bpf_chan_ops,
						     &tcp_chan_ops, NULL };

static const struct chan_ops *by_name(const char *name, size_t len)
{
	for (size_t i = 0; eng_channel_table[i]; i++) {
		const struct chan_ops *ops = eng_channel_table[i];

		if (strlen(ops->name) == len && !strncmp(ops->name, name, len))
			return ops;
	}
	return NULL;
}

bool eng_channel_wanted(const struct chan_ops *ops)
{
	const char *list = o2g_settings()->channels;

	return o2g_list_has(list, ops->name) ||
	       (ops == &tcp_chan_ops && o2g_list_has(list, bpf_chan_ops.name));
}

/* The name of its cards in an address. */
static const char *speaks(const struct chan_ops *ops)
{
	return ops->speaks ? ops->speaks : ops->name;
}

/* Has it been opened, or one that takes its place? */
static bool is_open(const struct o2g_ep *ep, const struct chan_ops *ops)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (!strcmp(speaks(ep->chans[i]->ops), speaks(ops)))
			return true;
	return false;
}

bool eng_channels_local(const struct o2g_ep *ep)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->ops->local)
			return true;
	return false;
}

bool chan_ep_needs_network(const struct chan_ep *cep)
{
	const struct o2g_ep *ep = (const struct o2g_ep *)cep;

	return !eng_channels_local(ep) || ep->local_size != (unsigned)ep->size;
}

/* Is it worth a warning that this one cannot be used? Not where it depends on what
 * the administrator has loaded, nor where shared memory does all. */
static bool is_missed(const struct o2g_ep *ep, const struct chan_ops *ops)
{
	const struct o2g_settings *set = o2g_settings();

	if (ops != &tcp_chan_ops)
		return ops != &bpf_chan_ops;
	return (o2g_setting_given(&set->channels) &&
		o2g_list_has(set->channels, ops->name)) ||
	       chan_ep_needs_network((const struct chan_ep *)ep);
}

static void open_one(struct o2g_ep *ep, const struct chan_ops *ops)
{
	struct chan *chan;
	char why[256] = "";
	int err;

	if (is_open(ep, ops) || ep->nchans == ENG_MAX_CHANNELS)
		return;
	err = ops->open((struct chan_ep *)ep, &chan, why, sizeof(why));
	if (err) {
		o2g_log_line(is_missed(ep, ops) ? O2G_LOG_WARN : O2G_LOG_INFO,
			     "channel %s cannot be used: %s", ops->name,
			     why[0] ? why : strerror(-err));
		return;
	}
	chan->ops = ops;
	chan->ep = (struct chan_ep *)ep;
	ep->chans[ep->nchans++] = chan;
	if (chan->waiting)
		ep->waiting = chan->waiting;
}

/* Rather no job than one that sends in clear what was to be encrypted. */
static int check_encryption(void)
{
	char why[256];
	int err;

	if (!o2g_settings()->encrypt)
		return 0;
	err = tcp_tls_available(why, sizeof(why));
	if (err)
		o2g_error("O2G_ENCRYPT=1 cannot be met: %s", why);
	return err;
}

int eng_channels_open(struct o2g_ep *ep)
{
	const char *list = o2g_settings()->channels;
	int err = check_encryption();

	if (err)
		return err;

	ep->self_chan.ops = &self_chan_ops;
	ep->self_chan.ep = (struct chan_ep *)ep;
	while (*list) {
		size_t len = strcspn(list, ",");
		const struct chan_ops *ops = by_name(list, len);

		if (!ops && len) {
			o2g_error(
				"O2G_CHANNELS names \"%.*s\", which is not a channel; there are shm, bpf and tcp",
				(int)len, list);
			return -EINVAL;
		}
		if (ops)
			open_one(ep, ops);
		list += len;
		list += *list == ',';
	}
	if (eng_channel_wanted(&tcp_chan_ops) &&
	    !o2g_list_has(o2g_settings()->channels, tcp_chan_ops.name))
		open_one(ep, &tcp_chan_ops);
	if (!ep->nchans && ep->size > 1) {
		o2g_error("none of the channels in O2G_CHANNELS=%s can be used",
			  o2g_settings()->channels);
		return -ENODEV;
	}
	return 0;
}

void eng_channels_close(struct o2g_ep *ep)
{
	ep->waiting = NULL;
	while (ep->nchans) {
		struct chan *chan = ep->chans[--ep->nchans];

		chan->ops->close(chan);
	}
}

int eng_channels_card(struct o2g_ep *ep, char *buf, size_t size)
{
	size_t n = (size_t)snprintf(buf, size, "o2g1;host=%s", ep->host);

	for (unsigned i = 0; i < ep->nchans && n < size; i++) {
		struct chan *chan = ep->chans[i];
		int err;

		if (!chan->ops->card)
			continue;
		n += (size_t)snprintf(buf + n, size - n,
				      ";%s=", speaks(chan->ops));
		if (n >= size)
			break;
		err = chan->ops->card(chan, buf + n, size - n);
		if (err < 0)
			return err;
		n += strlen(buf + n);
	}
	return n < size ? 0 : -ENOSPC;
}

/* The value of "name=" in an address, copied out. */
static bool field(const char *address, const char *name, char *value,
		  size_t size)
{
	size_t nlen = strlen(name);

	for (const char *s = strchr(address, ';'); s; s = strchr(s, ';')) {
		size_t len;

		s++;
		if (strncmp(s, name, nlen) || s[nlen] != '=')
			continue;
		s += nlen + 1;
		len = strcspn(s, ";");
		if (len >= size)
			return false;
		memcpy(value, s, len);
		value[len] = '\0';
		return true;
	}
	return false;
}

void eng_channels_host(const char *address, char *host, size_t size)
{
	if (!field(address, "host", host, size))
		host[0] = '\0';
}

int eng_channels_connect(struct o2g_ep *ep, struct eng_peer *p,
			 const char *address)
{
	char card[O2G_ADDRESS_MAX], why[128] = "";

	if (strncmp(address, "o2g1;", 5)) {
		chan_peer_lost(&p->cp, -EINVAL,
			       "its address is not one of ours: %.40s",
			       address);
		return -EINVAL;
	}
	field(address, "host", p->cp.host, sizeof(p->cp.host));
	for (unsigned i = 0; i < ep->nchans; i++) {
		struct chan *chan = ep->chans[i];
		int err;

		if (!chan->ops->reaches ||
		    !field(address, speaks(chan->ops), card, sizeof(card)) ||
		    !chan->ops->reaches(chan, card))
			continue;
		p->cp.chan = chan;
		err = chan->ops->connect(chan, &p->cp, card);
		if (err == -ESRCH)
			chan_peer_lost(&p->cp, -O2G_ERR_PEER,
				       "its process has ended");
		if (!err || p->lost)
			return 0;
		snprintf(why, sizeof(why), " (%s: %s%s)", chan->ops->name,
			 strerror(-err),
			 err == -EMFILE ? "; raise the limit with `ulimit -n`" :
					  "");
		o2g_debug("rank %u is not reached%s", p->cp.core.rank, why);
		p->cp.chan = NULL;
	}
	chan_peer_lost(&p->cp, -EHOSTUNREACH,
		       "no channel of O2G_CHANNELS=%s reaches it%s",
		       o2g_settings()->channels, why);
	return -O2G_ERR_PEER;
}

/* --- which endpoints share memory and a network stack --- */

static u64 mix(u64 h, u64 v)
{
	h ^= v;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 32;
}

static u64 inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (u64)st.st_ino ^ (u64)st.st_dev << 40;
}

void eng_node_id(char *buf, size_t size)
{
	char boot[64] = "";
	u64 h = 0x6f3267;
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		if (read(fd, boot, sizeof(boot) - 1) < 0)
			boot[0] = '\0';
		close(fd);
	}
	for (char *s = boot; *s; s++)
		h = mix(h, (unsigned char)*s);
	h = mix(h, inode_of("/proc/self/ns/net"));
	h = mix(h, inode_of("/proc/self/ns/pid"));
	h = mix(h, geteuid());
	snprintf(buf, size, "%016llx", (unsigned long long)h);
}
