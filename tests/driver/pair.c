/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "pair.h"

#include <string.h>

struct dev a, b;
unsigned char data[8 * MIB], buf[8 * MIB];

void open_pair(void)
{
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	dev_open(&a, 0, 2, 512);
	dev_open(&b, 1, 2, 512);
	dev_join(&a, &b);
}

void close_pair(void)
{
	dev_close(&a);
	dev_close(&b);
}

void got(struct dev *d, uint32_t slot, uint64_t tag, uint64_t len)
{
	struct o2gd_cqe c = dev_next(d, buf, sizeof(buf));

	CHECK(c.slot == slot && c.status == 0);
	CHECK(c.tag == tag && c.length == len && c.msg_len == len);
	CHECK(!memcmp(buf, data, len));
	memset(buf, 0, len);
}

void send_all(struct dev *d, uint32_t slot, uint32_t peer, uint64_t tag,
	      uint64_t len)
{
	int ret = dev_submit(d, O2GD_OP_SEND, slot, peer, tag, data, len);

	CHECK(ret == 0 || ret == 1);
	if (ret == 0) {
		struct o2gd_cqe c = dev_next(d, NULL, 0);

		CHECK(c.slot == slot && c.status == 0);
	}
}

void lost(struct dev *d, uint32_t peer, enum o2gd_lost why)
{
	struct o2gd_cqe c = dev_next(d, NULL, 0);

	CHECK(c.slot == O2GD_SLOT_PEER && c.source == peer);
	CHECK(c.status == -O2G_ERR_PEER && c.tag == why);
}
