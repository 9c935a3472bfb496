/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/wire.c */
#include "unit.h"
#include "wire.h"

static const struct o2g_hdr full = {
	.type = O2G_PKT_RTS,
	.flags = O2G_PKTF_GETTABLE,
	.credit = 0x01020304,
	.src = 0x11121314,
	.dst = 0x21222324,
	.tag = 0x3132333435363738,
	.length = 0x0000434445464748,
	.cookie = 0x5152535455565758,
	.aux = 0x6162636465666768,
};

static enum o2g_wire_reason decode_with(struct o2g_hdr h, struct o2g_hdr *out)
{
	u8 buf[O2G_HDR_SIZE];

	o2g_wire_encode(&h, buf);
	return o2g_wire_decode(buf, out);
}

static enum o2g_wire_reason decode_only(u8 type, u8 flags, u64 length)
{
	struct o2g_hdr out;

	return decode_with((struct o2g_hdr){ .type = type,
					     .flags = flags,
					     .length = length },
			   &out);
}

/* --- o2g_wire_encode --- */

static void o2g_wire_encode__layout(void **state)
{
	static const u8 want[O2G_HDR_SIZE] = {
		O2G_WIRE_VERSION,
		O2G_PKT_RTS,
		O2G_PKTF_GETTABLE,
		48,
		0x04,
		0x03,
		0x02,
		0x01,
		0x14,
		0x13,
		0x12,
		0x11,
		0x24,
		0x23,
		0x22,
		0x21,
		0x38,
		0x37,
		0x36,
		0x35,
		0x34,
		0x33,
		0x32,
		0x31,
		0x48,
		0x47,
		0x46,
		0x45,
		0x44,
		0x43,
		0x00,
		0x00,
		0x58,
		0x57,
		0x56,
		0x55,
		0x54,
		0x53,
		0x52,
		0x51,
		0x68,
		0x67,
		0x66,
		0x65,
		0x64,
		0x63,
		0x62,
		0x61,
	};
	u8 buf[O2G_HDR_SIZE];

	o2g_wire_encode(&full, buf);
	assert_memory_equal(buf, want, sizeof(buf));
}

static void o2g_wire_encode__unaligned_and_nothing_beyond(void **state)
{
	u8 buf[O2G_HDR_SIZE + 2];
	struct o2g_hdr out;

	memset(buf, 0xee, sizeof(buf));
	o2g_wire_encode(&full, buf + 1);
	assert_int_equal(buf[0], 0xee);
	assert_int_equal(buf[O2G_HDR_SIZE + 1], 0xee);
	assert_int_equal(o2g_wire_decode(buf + 1, &out), O2G_WIRE_OK);
	assert_true(out.aux == full.aux);
}

/* --- o2g_wire_decode --- */

static void o2g_wire_decode__every_field(void **state)
{
	struct o2g_hdr h;

	assert_int_equal(decode_with(full, &h), O2G_WIRE_OK);
	assert_int_equal(h.type, full.type);
	assert_int_equal(h.flags, full.flags);
	assert_int_equal(h.credit, full.credit);
	assert_int_equal(h.src, full.src);
	assert_int_equal(h.dst, full.dst);
	assert_true(h.tag == full.tag);
	assert_true(h.length == full.length);
	assert_true(h.cookie == full.cookie);
	assert_true(h.aux == full.aux);
}

static void o2g_wire_decode__bad_version(void **state)
{
	u8 buf[O2G_HDR_SIZE];
	struct o2g_hdr h;

	for (int v = 0; v < 256; v++) {
		o2g_wire_encode(&full, buf);
		buf[0] = v;
		assert_int_equal(o2g_wire_decode(buf, &h),
				 v == O2G_WIRE_VERSION ? O2G_WIRE_OK :
							 O2G_WIRE_BAD_VERSION);
	}
}

static void o2g_wire_decode__bad_size(void **state)
{
	u8 buf[O2G_HDR_SIZE];
	struct o2g_hdr h;

	for (int size = 0; size < 256; size++) {
		o2g_wire_encode(&full, buf);
		buf[3] = size;
		assert_int_equal(o2g_wire_decode(buf, &h),
				 size == O2G_HDR_SIZE ? O2G_WIRE_OK :
							O2G_WIRE_BAD_SIZE);
	}
}

static void o2g_wire_decode__bad_type(void **state)
{
	for (int type = 0; type < 256; type++) {
		bool known = type >= O2G_PKT_EAGER && type < O2G_PKT_MAX;

		assert_int_equal(decode_only(type, 0, 0),
				 known ? O2G_WIRE_OK : O2G_WIRE_BAD_TYPE);
	}
}

static void o2g_wire_decode__flags_per_type(void **state)
{
	for (int type = O2G_PKT_EAGER; type < O2G_PKT_MAX; type++) {
		u8 allowed = 0;

		if (type == O2G_PKT_EAGER)
			allowed = O2G_PKTF_SYNC | O2G_PKTF_SERVED;
		else if (type == O2G_PKT_RTS)
			allowed = O2G_PKTF_GETTABLE | O2G_PKTF_ENVELOPE |
				  O2G_PKTF_SERVED;
		else if (type == O2G_PKT_ATOMIC)
			allowed = O2G_PKTF_FETCH;
		else if (type == O2G_PKT_DATA)
			allowed = O2G_PKTF_REFERENCE;
		else if (type == O2G_PKT_CREDIT)
			allowed = O2G_PKTF_STALLED | O2G_PKTF_ENVELOPE |
				  O2G_PKTF_SERVED;
		for (int flags = 0; flags < 256; flags++)
			assert_int_equal(decode_only(type, flags, 0),
					 flags & ~allowed ? O2G_WIRE_BAD_FLAGS :
							    O2G_WIRE_OK);
	}
}

static void o2g_wire_decode__length_limits(void **state)
{
	for (int type = O2G_PKT_EAGER; type < O2G_PKT_MAX; type++) {
		bool has =
			type != O2G_PKT_CREDIT && type != O2G_PKT_CANCEL &&
			type != O2G_PKT_CANCEL_ACK && type != O2G_PKT_BYE &&
			(type < O2G_PKT_CHANNEL || type > O2G_PKT_CHANNEL_LAST);
		u64 max = has ? O2G_BODY_MAX : 0;

		if (type == O2G_PKT_ATOMIC)
			max = O2G_ATOMIC_PIECE;
		assert_int_equal(decode_only(type, 0, max), O2G_WIRE_OK);
		assert_int_equal(decode_only(type, 0, max + 1),
				 O2G_WIRE_BAD_LENGTH);
		assert_int_equal(decode_only(type, 0, ~0ull),
				 O2G_WIRE_BAD_LENGTH);
	}
}

static void o2g_wire_decode__refused_leaves_header_alone(void **state)
{
	struct o2g_hdr h;
	u8 buf[O2G_HDR_SIZE] = { 0 };

	memcpy(&h, &full, sizeof(h)); /* what lies between members as well */
	assert_int_not_equal(o2g_wire_decode(buf, &h), O2G_WIRE_OK);
	assert_memory_equal(&h, &full, sizeof(h));
}

/* --- names --- */

static void o2g_wire_reason_name__all(void **state)
{
	for (int r = 0; r < O2G_WIRE_REASONS; r++) {
		assert_non_null(o2g_wire_reason_name(r));
		for (int q = 0; q < r; q++)
			assert_string_not_equal(o2g_wire_reason_name(r),
						o2g_wire_reason_name(q));
	}
	assert_string_equal(o2g_wire_reason_name(O2G_WIRE_BAD_VERSION),
			    "bad version");
	assert_string_equal(o2g_wire_reason_name(O2G_WIRE_REASONS),
			    "unknown reason");
	assert_string_equal(o2g_wire_reason_name(-1), "unknown reason");
}

static void o2g_wire_pkt_name__all(void **state)
{
	assert_string_equal(o2g_wire_pkt_name(O2G_PKT_EAGER), "EAGER");
	assert_string_equal(o2g_wire_pkt_name(O2G_PKT_BYE), "BYE");
	for (int type = 0; type < 256; type++) {
		bool known = type >= O2G_PKT_EAGER && type < O2G_PKT_MAX;
		const char *name = o2g_wire_pkt_name(type);

		if (known)
			assert_string_not_equal(name, "unknown packet");
		else
			assert_string_equal(name, "unknown packet");
	}
}

/* --- o2g_wire_body --- */

static void o2g_wire_body__by_type(void **state)
{
	for (int type = O2G_PKT_EAGER; type < O2G_PKT_MAX; type++) {
		struct o2g_hdr h = { .type = type, .length = 77 };
		bool body = type == O2G_PKT_EAGER || type == O2G_PKT_DATA ||
			    type == O2G_PKT_PUT || type == O2G_PKT_ATOMIC;

		assert_int_equal(o2g_wire_body(&h), body ? 77 : 0);
	}
}

/* Whoever only reads sends no operands. */
static void o2g_wire_atomic__parts(void **state)
{
	struct o2g_hdr h = { .type = O2G_PKT_ATOMIC, .length = 8 };

	h.aux = o2g_wire_atomic(O2G_ATOMIC_OFFSET, O2G_AOP_NO_OP, O2G_AT_F64);
	assert_true(o2g_wire_atomic_offset(&h) == O2G_ATOMIC_OFFSET);
	assert_int_equal(o2g_wire_atomic_op(&h), O2G_AOP_NO_OP);
	assert_int_equal(o2g_wire_atomic_type(&h), O2G_AT_F64);
	assert_int_equal(o2g_wire_body(&h), 0);
	h.aux = o2g_wire_atomic(0, O2G_AOP_CAS, O2G_AT_I8);
	assert_true(o2g_wire_atomic_offset(&h) == 0);
	assert_int_equal(o2g_wire_atomic_op(&h), O2G_AOP_CAS);
	assert_int_equal(o2g_wire_body(&h), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(o2g_wire_encode__layout),
		T(o2g_wire_encode__unaligned_and_nothing_beyond),
		T(o2g_wire_decode__every_field),
		T(o2g_wire_decode__bad_version),
		T(o2g_wire_decode__bad_size),
		T(o2g_wire_decode__bad_type),
		T(o2g_wire_decode__flags_per_type),
		T(o2g_wire_decode__length_limits),
		T(o2g_wire_decode__refused_leaves_header_alone),
		T(o2g_wire_reason_name__all),
		T(o2g_wire_pkt_name__all),
		T(o2g_wire_body__by_type),
		T(o2g_wire_atomic__parts),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
