/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "report.h"

#include <stdio.h>
#include <sys/random.h>

#include "channels.h"
#include "log.h"
#include "settings.h"
#include "tcp/tls.h"

static struct chan *opened(struct o2g_ep *ep, const struct chan_ops *ops)
{
	for (unsigned i = 0; i < ep->nchans; i++)
		if (ep->chans[i]->ops == ops)
			return ep->chans[i];
	return NULL;
}

/* A card is "name=value,..."; addresses in "addr" are joined by '+'. The rest is
 * for peers, not for people. */
static void addresses_of(struct chan *chan, char *out, size_t size)
{
	char card[O2G_ADDRESS_MAX], *addr;

	out[0] = '\0';
	if (chan->ops->card(chan, card, sizeof(card)) < 0)
		return;
	addr = strstr(card, "addr=");
	if (!addr)
		return;
	addr += strlen("addr=");
	addr[strcspn(addr, ",")] = '\0';
	for (char *c = addr; *c; c++)
		if (*c == '+')
			*c = ',';
	snprintf(out, size, "%s", addr);
}

static void report_one(struct o2g_ep *ep, const struct chan_ops *ops,
		       struct o2g_channel_report *r)
{
	struct chan *chan = opened(ep, ops), *extra = NULL;
	int err = 0;

	r->name = ops->name;
	r->wanted = eng_channel_wanted(ops);
	if (!chan) {
		err = ops->open((struct chan_ep *)ep, &extra, r->why,
				sizeof(r->why));
		chan = extra;
		if (!err) {
			extra->ops = ops;
			extra->ep = (struct chan_ep *)ep;
		}
	}
	r->usable = !err;
	if (err && !r->why[0])
		snprintf(r->why, sizeof(r->why), "%s", strerror(-err));
	if (!err)
		addresses_of(chan, r->addresses, sizeof(r->addresses));
	if (!err && extra)
		ops->close(extra);
}

static int open_alone(struct o2g_ep **ep)
{
	struct o2g_attr attr = { .size = 1, .job = "info", .local_size = 1 };

	if (getrandom(attr.secret, sizeof(attr.secret), 0) < 0)
		return -errno;
	return ep_open(&attr, NULL, ep);
}

int o2g_report_channels(void (*fn)(const struct o2g_channel_report *r,
				   void *arg),
			void *arg)
{
	enum o2g_log_level level;
	struct o2g_ep *ep;
	int err;

	o2g_settings(); /* what it has to say, it says at the usual level */
	level = o2g_log_level;
	o2g_log_level = O2G_LOG_ERROR; /* the report says why */
	err = open_alone(&ep);
	if (err)
		goto out;
	for (size_t i = 0; eng_channel_table[i]; i++) {
		struct o2g_channel_report r = { 0 };

		ep_lock(ep);
		report_one(ep, eng_channel_table[i], &r);
		ep_unlock(ep);
		fn(&r, arg);
	}
	o2g_close(ep);
out:
	o2g_log_level = level;
	return err;
}

int o2g_report_encryption(char *text, size_t size)
{
	char how[200], why[200];
	int err;

	if (!o2g_settings()->encrypt) {
		snprintf(text, size, "off (O2G_ENCRYPT=1)");
		return 0;
	}
	err = tcp_tls_available(why, sizeof(why));
	if (err) {
		snprintf(text, size, "cannot be had: %s", why);
		return err;
	}
	tcp_tls_describe_library(how, sizeof(how));
	snprintf(text, size, "TLS 1.3 on every connection of tcp; %s", how);
	return 0;
}
