/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/shm_fixture.c */
/* Bytes arrive as they were sent: through the ring, or read from memory. */
#include "shm_fixture.h"

/* --- bytes arrive as they were sent --- */

#define MESSAGES 400
#define LONGEST (1u << 20)

static u32 length_of(u32 message)
{
	rnd_seed(message * 77777u + 1);
	rnd(2);
	switch (rnd(5)) {
	case 0:
		return rnd(70);
	case 1:
		return rnd(3) * 8;
	case 2:
		return rnd(9000);
	case 3:
		return rnd(80000);
	default:
		return rnd(20) ? rnd(2000) : rnd(LONGEST);
	}
}

/* Cut @len bytes at @base into up to four segments, some of them empty. */
static u32 cut(struct o2g_seg *segs, char *base, u32 len, u32 message)
{
	u32 n = message % 4 + 1, at = 0;

	for (u32 i = 0; i < n; i++) {
		segs[i].base = base + at;
		segs[i].len = i == n - 1 ? len - at : rnd(len - at + 1);
		at += segs[i].len;
	}
	return n;
}

struct slot {
	struct host_req req;
	struct o2g_seg segs[4];
	char *buf;
	u32 message;
	bool busy;
};
#define SLOTS 8
static struct slot sends[SLOTS], recvs[SLOTS];

static void slots_init(void)
{
	for (int i = 0; i < SLOTS; i++) {
		sends[i].buf = malloc(LONGEST);
		recvs[i].buf = malloc(LONGEST);
		CHECK(sends[i].buf && recvs[i].buf);
	}
}

static void start_send(struct slot *s, u32 message)
{
	u32 len = length_of(message), n = cut(s->segs, s->buf, len, message);

	for (u32 i = 0; i < len; i++)
		s->buf[i] = byte_of(message, i);
	s->busy = true;
	host_isend(&ep, &s->req, !ep.core.rank, message, s->segs, n);
}

static void start_recv(struct slot *s, u32 message)
{
	u32 len = length_of(message);
	u32 n = cut(s->segs, s->buf, len, message + 1);

	s->message = message;
	s->busy = true;
	host_irecv(&ep, &s->req, !ep.core.rank, message, s->segs, n);
}

static void check_recv(struct slot *s)
{
	u32 len = length_of(s->message);

	CHECK(s->req.req.status == 0);
	CHECK(s->req.req.msg_len == len);
	for (u32 i = 0; i < len; i++)
		CHECK((u8)s->buf[i] == byte_of(s->message, i));
	s->busy = false;
}

/* Both directions at once, several messages under way in each. */
static void exchange(void)
{
	u32 to_send = 0, to_recv = 0, received = 0;
	u64 end = o2g_now_us() + LIMIT_S * 1000000ull;

	slots_init();
	while (received < MESSAGES || to_send < MESSAGES) {
		struct slot *s = &sends[to_send % SLOTS];
		struct slot *r = &recvs[to_recv % SLOTS];

		if (to_send < MESSAGES && (!s->busy || s->req.done))
			start_send(s, to_send++);
		if (to_recv < MESSAGES && !r->busy)
			start_recv(r, to_recv++);
		for (int i = 0; i < SLOTS; i++) {
			if (recvs[i].busy && recvs[i].req.done) {
				check_recv(&recvs[i]);
				received++;
			}
		}
		host_round(&ep, received % 7 ? 0 : 5);
		CHECK(o2g_now_us() < end);
		CHECK(!ep.lost[!ep.core.rank][0]);
	}
	for (int i = 0; i < SLOTS; i++)
		CHECK(host_until(&ep, &sends[i].req.done, 5000, false));
	meet_at_work(1);
}

static void exchange_get(void)
{
	exchange();
	CHECK(!ep.peers[!ep.core.rank].core.can_get || ep.core.stats.gets);
}

static void exchange__get(void **arg)
{
	run_well(exchange_get, exchange_get);
}

static void exchange_packets(void)
{
	ep.no_expose = true;
	exchange();
	CHECK(ep.core.stats.gets == 0);
	CHECK(ep.core.stats.data_recv > 0);
}

static void exchange__packets_only(void **arg)
{
	run_well(exchange_packets, exchange_packets);
}

/* Rings so small that nearly every packet has to wait for room. */
static void exchange__small_ring(void **arg)
{
	setenv("O2G_SHM_RING", "16k", 1);
	run_well(exchange_packets, exchange_packets);
	unsetenv("O2G_SHM_RING");
}

/* --- reading memory --- */

static void get_body(void)
{
	struct chan_peer *p = host_peer(&ep, 1);
	char a[10], b[5000];
	struct o2g_seg segs[3] = { { a, sizeof(a) },
				   { a, 0 },
				   { b, sizeof(b) } };
	u64 addr;

	meet_at_work(1);
	memcpy(&addr, shared->cards[0], sizeof(addr));
	CHECK(p->core.can_get);
	CHECK(!ep.chan->ops->get(ep.chan, p, addr, segs, 3, 5000));
	for (int i = 0; i < 10; i++)
		CHECK((u8)a[i] == byte_of(9, i));
	for (int i = 0; i < 4990; i++)
		CHECK((u8)b[i] == byte_of(9, i + 10));
	CHECK(!ep.chan->ops->put(ep.chan, p, addr, segs + 2, 1, 7));
	CHECK(ep.chan->ops->get(ep.chan, p, 16, segs, 3, 100) == -EFAULT);
	meet(2);
}

static void get_target(void)
{
	static char mem[5000];
	u64 addr = (uintptr_t)mem;

	for (u32 i = 0; i < sizeof(mem); i++)
		mem[i] = byte_of(9, i);
	memcpy(shared->cards[0], &addr, sizeof(addr));
	meet_at_work(1);
	meet(2);
	for (u32 i = 0; i < 7; i++)
		CHECK((u8)mem[i] == byte_of(9, i + 10));
}

static void get__segments(void **arg)
{
	run_well(get_body, get_target);
}

static void get_off(void)
{
	struct chan_peer *p = host_peer(&ep, !ep.core.rank);
	char c;
	struct o2g_seg seg = { &c, 1 };

	CHECK(!p->core.can_get);
	CHECK(ep.chan->ops->get(ep.chan, p, (uintptr_t)&c, &seg, 1, 1) ==
	      -EOPNOTSUPP);
	exchange_packets();
}

static void get__off(void **arg)
{
	setenv("O2G_SHM_GET", "0", 1);
	run_well(get_off, get_off);
	unsetenv("O2G_SHM_GET");
}

/* --- bodies that come in many pieces from many segments --- */

#define PIECES 50000

static void comb_send(void)
{
	static struct o2g_seg segs[PIECES];
	static u64 mem[PIECES * 2];
	struct host_req req;

	for (u32 i = 0; i < PIECES; i++) {
		mem[2 * i] = i;
		segs[i].base = &mem[2 * i];
		segs[i].len = 8;
	}
	host_isend(&ep, &req, 1, 1, segs, PIECES);
	CHECK(host_until(&ep, &req.done, 20000, false));
	meet_at_work(1);
}

static void comb_recv(void)
{
	static u64 mem[PIECES];
	struct o2g_seg seg = { mem, sizeof(mem) };
	struct host_req req;

	host_irecv(&ep, &req, 0, 1, &seg, 1);
	CHECK(host_until(&ep, &req.done, 20000, false));
	for (u32 i = 0; i < PIECES; i++)
		CHECK(mem[i] == i);
	meet_at_work(1);
}

static void exchange__many_segments(void **arg)
{
	run_well(comb_send, comb_recv);
}

static void copy_short__every_length(void **arg)
{
	char from[80], to[80];

	for (int i = 0; i < 80; i++)
		from[i] = i + 1;
	for (u32 n = 0; n <= 64; n++) {
		memset(to, 0, sizeof(to));
		shm_copy_short(to + 1, from, n);
		assert_memory_equal(to + 1, from, n);
		assert_int_equal(to[0], 0);
		assert_int_equal(to[n + 1], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(copy_short__every_length),
		T(exchange__get),
		T(exchange__packets_only),
		T(exchange__small_ring),
		T(exchange__many_segments),
		T(get__segments),
		T(get__off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
