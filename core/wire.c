/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "wire.h"

/* What each packet type may carry. */
struct pkt_rule {
	const char *name; /* NULL: no such type */
	u8 flags;	  /* flags it may have */
	u64 max_length;
};

static const struct pkt_rule rules[O2G_PKT_MAX] = {
	[O2G_PKT_EAGER] = { "EAGER", O2G_PKTF_SYNC | O2G_PKTF_SERVED,
			    O2G_BODY_MAX },
	[O2G_PKT_RTS] = { "RTS",
			  O2G_PKTF_GETTABLE | O2G_PKTF_ENVELOPE |
				  O2G_PKTF_SERVED,
			  O2G_BODY_MAX },
	[O2G_PKT_CTS] = { "CTS", 0, O2G_BODY_MAX },
	[O2G_PKT_DATA] = { "DATA", O2G_PKTF_REFERENCE, O2G_BODY_MAX },
	[O2G_PKT_FIN] = { "FIN", 0, O2G_BODY_MAX },
	[O2G_PKT_CREDIT] = { "CREDIT",
			     O2G_PKTF_STALLED | O2G_PKTF_ENVELOPE |
				     O2G_PKTF_SERVED,
			     0 },
	[O2G_PKT_PUT] = { "PUT", 0, O2G_BODY_MAX },
	[O2G_PKT_GET] = { "GET", 0, O2G_BODY_MAX },
	[O2G_PKT_NAK] = { "NAK", 0, O2G_BODY_MAX },
	[O2G_PKT_CANCEL] = { "CANCEL", 0, 0 },
	[O2G_PKT_CANCEL_ACK] = { "CANCEL_ACK", 0, 0 },
	[O2G_PKT_BYE] = { "BYE", 0, 0 },
	[O2G_PKT_CHANNEL... O2G_PKT_CHANNEL_LAST] = { "CHANNEL", 0, 0 },
	[O2G_PKT_ATOMIC] = { "ATOMIC", O2G_PKTF_FETCH, O2G_ATOMIC_PIECE },
};

void o2g_wire_encode(const struct o2g_hdr *h, void *buf48)
{
	o2g_wire_put(h, buf48);
}

static enum o2g_wire_reason check(const struct o2g_wire_hdr *w)
{
	const struct pkt_rule *rule;

	if (unlikely(w->version != O2G_WIRE_VERSION))
		return O2G_WIRE_BAD_VERSION;
	if (unlikely(w->size != O2G_HDR_SIZE))
		return O2G_WIRE_BAD_SIZE;
	if (unlikely(w->type >= O2G_PKT_MAX || !rules[w->type].name))
		return O2G_WIRE_BAD_TYPE;
	rule = &rules[w->type];
	if (unlikely(w->flags & ~rule->flags))
		return O2G_WIRE_BAD_FLAGS;
	if (unlikely(le64_to_cpu(w->length) > rule->max_length))
		return O2G_WIRE_BAD_LENGTH;
	return O2G_WIRE_OK;
}

enum o2g_wire_reason o2g_wire_decode(const void *buf48, struct o2g_hdr *h)
{
	struct o2g_wire_hdr w;
	enum o2g_wire_reason bad;

	memcpy(&w, buf48, sizeof(w));
	bad = check(&w);
	if (unlikely(bad))
		return bad;
	h->type = w.type;
	h->flags = w.flags;
	h->credit = le32_to_cpu(w.credit);
	h->src = le32_to_cpu(w.src);
	h->dst = le32_to_cpu(w.dst);
	h->tag = le64_to_cpu(w.tag);
	h->length = le64_to_cpu(w.length);
	h->cookie = le64_to_cpu(w.cookie);
	h->aux = le64_to_cpu(w.aux);
	return O2G_WIRE_OK;
}

const char *o2g_wire_reason_name(enum o2g_wire_reason r)
{
	static const char *const names[O2G_WIRE_REASONS] = {
		[O2G_WIRE_OK] = "ok",
		[O2G_WIRE_BAD_VERSION] = "bad version",
		[O2G_WIRE_BAD_SIZE] = "bad header size",
		[O2G_WIRE_BAD_TYPE] = "bad packet type",
		[O2G_WIRE_BAD_FLAGS] = "bad flags",
		[O2G_WIRE_BAD_LENGTH] = "bad length",
	};

	return (u32)r < O2G_WIRE_REASONS ? names[r] : "unknown reason";
}

const char *o2g_wire_pkt_name(u8 type)
{
	if (type >= O2G_PKT_MAX || !rules[type].name)
		return "unknown packet";
	return rules[type].name;
}
