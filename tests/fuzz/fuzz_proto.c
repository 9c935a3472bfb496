/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/wire.c core/stream.c core/match.c core/wild.c core/proto.c core/send.c */
/* sources: core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c core/credit.c channel/body.c */
/* sources: tests/mock/mock_?*.c */
/* sources: tests/fuzz/proto_world.c tests/fuzz/proto_ops.c tests/fuzz/proto_check.c */
/*
 * The protocols between two or three endpoints, driven by the input: sends,
 * receives, matched probes, cancels, puts, gets, connections that break or
 * close, packets that are held back and delivered in pieces, little credit.
 *
 * What must hold: every request completes exactly once; with an unbroken
 * connection every message is received, intact, once and in order; unexpected
 * memory stays within the budget; when all is quiet, all credit is accounted
 * for and nothing is left.
 *
 * The order: take all receives that got a message with one source and tag, in
 * posting order (a matched probe counts when it was made). They must have got
 * the messages with that source and tag in the order sent, whatever other
 * messages and wildcards were about.
 *
 * In hostile mode one more peer of endpoint 0 sends whatever the input says. It
 * may lose its own connection but must not disturb anything else.
 */
#include "proto_world.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	mock_next_number = 0;
	start_world(&in);
	while (in.left) {
		one_op(&in);
		for (unsigned i = 0; i < world.n; i++)
			check_end(&world.m[i]);
	}
	finish_world();
	check_rma();
	end_world();
	return 0;
}
