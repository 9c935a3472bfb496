/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "unit.h"

#include "world.h"

#include <stdio.h>

#include "dev.h"
#include "driver_info.h"
#include "wire.h"

struct end a, b;
int fds[2];
u32 world_size, world_ring;
_Alignas(4096) unsigned char data[WORLD_BYTES], buf[WORLD_BYTES];

/* A connection has ended because of the failure: both ends hear of it. */
static void has_heard(struct end *e)
{
	struct o2gd_cqe c;

	while (e->open && !e->lost)
		if (end_next(e, &c))
			mock_bug("the peer is not told", "the loss of a peer");
}

void world_refused(int err)
{
	if (err == -O2G_ERR_PEER && mock.failed) {
		has_heard(&a);
		has_heard(&b);
	} else if (!mock.failed || err != mock.failed_err) {
		print_error("the result is %d\n", err);
		mock_bug("another result was expected", "a call");
	}
}

/* --- calls --- */

int end_call(struct end *e, unsigned int cmd, void *arg)
{
	int ret;

	ret = (int)o2gk_fops.unlocked_ioctl(&e->file, cmd, (unsigned long)arg);
	if (mock.spins || mock.mutexes || mock.rcu || mock.atomic)
		mock_bug("returns with a lock", "a call");
	return ret;
}

static int map(struct end *e)
{
	struct vm_area_struct vma = { .vm_end = e->s.map_size,
				      .vm_flags = VM_SHARED };
	int err = o2gk_fops.mmap(&e->file, &vma);

	if (err)
		return err;
	assert_true(vma.vm_flags & VM_DONTCOPY);
	e->map = vma.mapped;
	e->shared = (void *)e->map;
	e->sq = (void *)(e->map + e->s.sq_off);
	e->cq = (void *)(e->map + e->s.cq_off);
	return 0;
}

int end_info_of(struct end *e, u64 id, struct o2gd_info *info)
{
	static struct o2gd_counter all[DRIVER_COUNTERS];
	struct o2gd_counters c = { .id = id,
				   .peer = O2GD_ANY,
				   .entry = sizeof(all[0]),
				   .max = DRIVER_COUNTERS,
				   .addr = (uintptr_t)all };
	int err = end_call(e, O2GD_COUNTERS, &c);

	if (!err)
		driver_info_fill(info, all, c.count);
	return err;
}

int end_info(struct end *e, struct o2gd_info *info)
{
	return end_info_of(e, 0, info);
}

int end_open(struct end *e, u32 rank, u32 slots)
{
	struct o2gd_setup s = { .version = O2GD_VERSION,
				.rank = rank,
				.size = world_size,
				.sq_entries = world_ring,
				.cq_entries = world_ring,
				.dump_size = 256 << 10,
				.eager_max = 32 << 10,
				.data_chunk = 50000,
				.peer_budget = 64 << 10 };
	int err;

	memset(e, 0, sizeof(*e));
	err = o2gk_fops.open(NULL, &e->file);
	if (err)
		return err;
	e->open = true;
	e->s = s;
	err = end_call(e, O2GD_SETUP, &e->s);
	if (!err)
		err = map(e);
	return err ? err : end_call(e, O2GD_GROW, &slots);
}

void end_close(struct end *e)
{
	if (e->open)
		o2gk_fops.release(NULL, &e->file);
	e->open = false;
}

int end_register(struct end *e, u32 peer, int fd)
{
	struct o2gd_socket s = { .peer = peer, .fd = fd };

	return end_call(e, O2GD_SOCKET, &s);
}

static u32 other(const struct end *e)
{
	return !e->s.rank;
}

int end_submit(struct end *e, u8 op, u32 slot, u64 tag, const void *p, u64 len)
{
	struct o2gd_sqe q = { .op = op,
			      .slot = slot,
			      .peer = other(e),
			      .tag = tag,
			      .addr = (uintptr_t)p,
			      .len = len };

	return end_call(e, O2GD_SUBMIT, &q);
}

int end_inject(struct end *e, u64 tag, const void *p, u32 len)
{
	struct o2gd_inject i = { .peer = other(e),
				 .len = len,
				 .tag = tag,
				 .addr = (uintptr_t)p };
	int ret = end_call(e, O2GD_INJECT, &i);

	/* That is what it says when the peer is lost. */
	return ret == -EAGAIN && mock.failed ? -O2G_ERR_PEER : ret;
}

int end_recv(struct end *e, u32 slot, u64 tag, u64 len)
{
	if (len > O2GD_SMALL)
		return end_submit(e, O2GD_OP_RECV, slot, tag, buf, len);
	e->sq[e->sq_tail & (e->s.sq_entries - 1)] =
		(struct o2gd_sqe){ .op = O2GD_OP_RECV,
				   .slot = slot,
				   .peer = other(e),
				   .tag = tag,
				   .len = len };
	e->shared->sq_tail = ++e->sq_tail;
	return e->shared->unexpected ? end_call(e, O2GD_KICK, NULL) : 0;
}

/* --- completions --- */

bool end_has(const struct end *e)
{
	return e->cq[e->cq_head & (e->s.cq_entries - 1)].seq == e->cq_head + 1;
}

static int take_body(struct end *e, const struct o2gd_cqe *c)
{
	struct o2gd_fetch f = { .slot = c->slot,
				.addr = (uintptr_t)buf,
				.len = sizeof(buf) };

	if (c->where == O2GD_AT_INLINE)
		memcpy(buf, c->data, c->length);
	else if (c->where == O2GD_AT_DUMP)
		memcpy(buf, e->map + e->s.dump_off + c->off, c->length);
	else if (c->where == O2GD_AT_DRIVER)
		return end_call(e, O2GD_FETCH, &f);
	return 0;
}

int end_next(struct end *e, struct o2gd_cqe *c)
{
	struct o2gd_wait w = { .seen = e->cq_head, .timeout_ms = 1000 };
	int err = 0;

	while (!end_has(e) && !err)
		err = end_call(e, O2GD_WAIT, &w);
	if (err)
		return err;
	*c = e->cq[e->cq_head & (e->s.cq_entries - 1)];
	err = take_body(e, c);
	e->shared->cq_head = ++e->cq_head;
	e->lost |= c->slot == O2GD_SLOT_PEER;
	return err;
}

static int is_done(struct end *e, u32 slot, struct o2gd_cqe *c)
{
	int err = end_next(e, c);

	if (err)
		return err;
	if (c->slot == O2GD_SLOT_PEER || c->status == -O2G_ERR_PEER) {
		if (!mock.failed)
			mock_bug("a peer is lost", "nothing failed, and");
		return -O2G_ERR_PEER;
	}
	assert_int_equal(c->slot, slot);
	return 0;
}

int end_done(struct end *e, u32 slot)
{
	struct o2gd_cqe c;
	int err = is_done(e, slot, &c);

	return err ? err : c.status;
}

int end_got(struct end *e, u32 slot, u64 tag, u64 len)
{
	struct o2gd_cqe c;
	int err = is_done(e, slot, &c);

	if (err)
		return err;
	if (c.status && !mock.failed)
		mock_bug("the receive failed", "end_got");
	if (c.status)
		return c.status;
	assert_int_equal(c.tag, tag);
	assert_int_equal(c.length, len);
	assert_int_equal(c.msg_len, len);
	assert_memory_equal(buf, data, len);
	memset(buf, 0, len);
	return 0;
}

int end_send(struct end *e, u32 slot, u64 tag, u64 len)
{
	int ret = end_submit(e, O2GD_OP_SEND, slot, tag, data, len);

	return ret ? min(ret, 0) : end_done(e, slot);
}

/* --- by hand --- */

void world_raw_header(int fd, const struct o2g_hdr *h)
{
	u8 raw[O2G_HDR_SIZE];

	o2g_wire_encode(h, raw);
	mock_raw(fd, raw, sizeof(raw));
}

/* --- worlds --- */

int world_open(void)
{
	int err = end_open(&a, 0, 64);

	if (!err)
		err = end_open(&b, 1, 64);
	if (!err)
		mock_tcp_pair(fds);
	if (!err)
		err = end_register(&a, 1, fds[0]);
	if (!err)
		err = end_register(&b, 0, fds[1]);
	return err;
}

static const struct weather {
	size_t segment, send_space, pin_at_most;
	bool later, no_pins, near, lifo;
} weathers[] = {
	{ .send_space = 64 << 10 },
	{ .send_space = 1 << 20, .later = true },
	{ .send_space = 30000, .segment = 1448, .pin_at_most = 2 },
	{ .send_space = 20000, .segment = 9000, .no_pins = true },
	{ .send_space = 64 << 10, .near = true },
	{ .send_space = 3000,
	  .near = true,
	  .later = true,
	  .segment = 700,
	  .lifo = true },
};

void world_close_fds(void)
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			mock_close(fds[i]);
		fds[i] = -1;
	}
}

static void world_end(void)
{
	end_close(&a);
	end_close(&b);
	world_close_fds();
	mock_run();
	mock.in_use = false;
	mock_module_exit();
	mock_end();
}

/* Is there anything left to fail? */
static bool once(void (*scenario)(void), const struct weather *w,
		 unsigned int n)
{
	static bool data_ready;
	int err;

	mock_start(n);
	mock.segment = w->segment;
	mock.send_space = w->send_space;
	mock.pin_at_most = w->pin_at_most;
	mock.later = w->later;
	mock.no_pins = w->no_pins;
	mock.near = w->near;
	mock.lifo = w->lifo;
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	memset(buf, 0, 128 << 10);
	fds[0] = fds[1] = -1;
	world_size = 2;
	world_ring = 16;
	for (size_t i = 0; i < sizeof(data) && !data_ready; i++)
		data[i] = (unsigned char)(i * 7 + i / 253);
	data_ready = true;
	err = mock_module_init();
	if (err) {
		world_refused(err);
		mock_end();
		return true;
	}
	mock.in_use = true;
	scenario();
	world_end();
	return mock.failed;
}

void world_run(void (*scenario)(void))
{
	once(scenario, &weathers[0], 0);
}

void world_with_failures(void (*scenario)(void))
{
	unsigned int n = 0;

	while (once(scenario, &weathers[0], ++n))
		;
	printf("%u calls failed, one by one\n", n - 1);
}

void world_in_all(void (*scenario)(void))
{
	for (size_t i = 0; i < ARRAY_SIZE(weathers); i++) {
		unsigned int n = 0;

		while (once(scenario, &weathers[i], ++n))
			;
		printf("world %zu: %u calls failed, one by one\n", i, n - 1);
	}
}
