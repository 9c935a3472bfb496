/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How an endpoint of the kernel finds its peers: it listens, dials and says hello, to
 * another of its kind and to processes, which speak here with the code of channel/tcp;
 * with strangers at the door, and with each call of the kernel failing in turn.
 */
#include "unit.h"

#include <stdio.h>

#include "../../channel/tcp/hello.h"
#include "mock.h"
#include "reach.h"

#define PORT 5000
#define PEERS 4

static const u8 secret[TCP_SECRET_SIZE] = "the secret of this job, 32 byte";
static const u8 wrong[TCP_SECRET_SIZE] = "the secret of that job, 32 byte.";
static const struct tcp_hello_key key = { secret, "job" };

/* --- endpoints that have no more than this --- */

struct side {
	struct o2gk_reach reach;
	bool open;
	struct socket *sock[PEERS]; /* by peer */
	bool gone[PEERS];
	int refuse; /* what attaching fails with, once */
	u32 attached;
	u16 port;
};
static struct side sides[2];
static struct workqueue_struct *wq;
static struct mem_cgroup *memcg;

static enum o2gk_reachable side_state(void *owner, u32 peer)
{
	const struct side *s = owner;

	if (peer >= PEERS || s->gone[peer])
		return O2GK_REACH_GONE;
	return s->sock[peer] ? O2GK_REACH_HAS : O2GK_REACH_NONE;
}

static int side_attach(void *owner, u32 peer, struct socket *sock)
{
	struct side *s = owner;
	int err = s->refuse;

	mock_may_sleep(__func__);
	assert_true(peer < PEERS);
	assert_null(s->sock[peer]);
	assert_non_null(sock->file);
	assert_null(sock->sk->sk_user_data);
	assert_null(sock->sk->icsk_ulp_ops);
	s->refuse = 0;
	if (err)
		return err;
	s->sock[peer] = sock;
	s->attached++;
	return 0;
}

static const struct o2gk_reach_ops side_ops = { side_state, side_attach };

static int side_open(struct side *s, u32 rank)
{
	int err;

	s->reach = (struct o2gk_reach){ .ops = &side_ops,
					.owner = s,
					.net = &mock_net,
					.memcg = memcg,
					.wq = wq,
					.rank = rank,
					.host = "a host" };
	err = o2gk_reach_open(&s->reach, secret, "job");
	s->open = !err;
	return err;
}

static int side_listen(struct side *s, u16 port)
{
	struct sockaddr_storage at = { .ss_family = AF_INET,
				       .port = ntohs(port) };

	return o2gk_reach_listen(&s->reach, &at, 16, &s->port);
}

static struct o2gk_dialling to(u32 peer, u16 port, unsigned int timeout_ms)
{
	return (struct o2gk_dialling){ .peer = peer,
				       .to = { .ss_family = AF_INET,
					       .port = ntohs(port) },
				       .to_len = 16,
				       .timeout_ms = timeout_ms };
}

static int side_dial(struct side *s, u32 peer, u16 port, unsigned int ms)
{
	struct o2gk_dialling a = to(peer, port, ms);

	return o2gk_reach_dial(&s->reach, &a);
}

/* ... and whenever it is lost. */
static int side_keep(struct side *s, u32 peer, u16 port)
{
	struct o2gk_dialling a = to(peer, port, 0);

	a.again = true;
	return o2gk_reach_dial(&s->reach, &a);
}

/* As a module's connect() does it. */
static int side_connect(struct side *s, u32 peer, u16 port, unsigned int ms)
{
	struct o2gk_dialling a = to(peer, port, ms);
	struct o2gk_dialled dialled;
	int err;

	init_completion(&dialled.done);
	a.dialled = &dialled;
	err = o2gk_reach_dial(&s->reach, &a);
	if (err)
		return err;
	err = wait_for_completion_killable(&dialled.done);
	o2gk_reach_dial_stop(&s->reach, peer);
	return err ? err : dialled.err;
}

static void side_lose(struct side *s, u32 peer)
{
	if (s->sock[peer])
		sockfd_put(s->sock[peer]);
	s->sock[peer] = NULL;
	o2gk_reach_lost(&s->reach);
}

/* Time passes; what has broken at the other end is lost. */
static void sides_pass(unsigned int ms)
{
	mock_pass(ms);
	for (u32 i = 0; i < 2; i++)
		for (u32 j = 0; j < PEERS; j++)
			if (sides[i].sock[j] &&
			    sides[i].sock[j]->sk->sk_shutdown)
				side_lose(&sides[i], j);
	mock_pass(ms);
}

static void side_close(struct side *s)
{
	if (s->open)
		o2gk_reach_close(&s->reach);
	for (u32 i = 0; i < PEERS; i++)
		if (s->sock[i])
			sockfd_put(s->sock[i]);
	memset(s, 0, sizeof(*s));
}

/* Is there anything left to fail? */
static bool world(void (*scenario)(void), unsigned int fail_at)
{
	mock_start(fail_at);
	memset(sides, 0, sizeof(sides));
	mock.caller = 0x0a000001;
	wq = alloc_workqueue("test", 0, 0);
	if (wq) {
		memcg = get_mem_cgroup_from_mm(&mock_mm);
		mock.in_use = true;
		scenario();
		side_close(&sides[0]);
		side_close(&sides[1]);
		mock_run();
		mem_cgroup_put(memcg);
		destroy_workqueue(wq);
	}
	mock_end();
	return mock.failed;
}

static void with_failures(void (*scenario)(void))
{
	unsigned int n = 0;

	while (world(scenario, ++n))
		;
	printf("%u calls failed, one by one\n", n - 1);
}

/* Refused, and rightly so. */
#define TRY(call)                                                \
	do {                                                     \
		int err_ = (call);                               \
		if (err_) {                                      \
			assert_int_equal(err_, mock.failed_err); \
			return;                                  \
		}                                                \
	} while (0)

/* --- two of them --- */

static void is_pair(void)
{
	assert_non_null(sides[0].sock[1]);
	assert_non_null(sides[1].sock[0]);
	assert_ptr_equal(sides[0].sock[1]->sk->peer, sides[1].sock[0]->sk);
}

static void meet(void)
{
	TRY(side_open(&sides[0], 0));
	TRY(side_open(&sides[1], 1));
	TRY(side_listen(&sides[0], 0));
	TRY(side_keep(&sides[1], 0, sides[0].port));
	sides_pass(30000);
	is_pair();
	assert_true(sides[1].attached == 1 || mock.failed);
}

static void meet__two_modules(void **state)
{
	with_failures(meet);
}

static void meet_slowly(void)
{
	mock.segment = 7;
	mock.later = true;
	mock.lifo = true;
	meet();
}

static void meet__in_small_pieces(void **state)
{
	with_failures(meet_slowly);
}

/* Each calls the other; whatever comes first, there is one connection. */
static void both(void)
{
	TRY(side_open(&sides[0], 0));
	TRY(side_open(&sides[1], 1));
	TRY(side_listen(&sides[0], 0));
	TRY(side_listen(&sides[1], 0));
	TRY(side_keep(&sides[0], 1, sides[1].port));
	TRY(side_keep(&sides[1], 0, sides[0].port));
	sides_pass(30000);
	is_pair();
}

static void both_later(void)
{
	mock.later = true;
	both();
}

static void both_backwards(void)
{
	mock.lifo = true;
	mock.later = true;
	both();
}

static void meet__both_dial(void **state)
{
	with_failures(both);
	with_failures(both_later);
	with_failures(both_backwards);
}

static int dial_once(struct side *s, u32 peer, u16 port)
{
	return side_dial(s, peer, port, 0);
}

/* A lost peer is dialled again if that was asked for, and not otherwise. */
static void lost(bool again)
{
	int (*dial)(struct side * s, u32 peer, u16 port) = again ? side_keep :
								   dial_once;

	assert_int_equal(side_open(&sides[0], 0), 0);
	assert_int_equal(side_open(&sides[1], 1), 0);
	assert_int_equal(side_listen(&sides[0], 0), 0);
	assert_int_equal(dial(&sides[1], 0, sides[0].port), 0);
	mock_pass(1000);
	is_pair();
	side_lose(&sides[0], 1);
	side_lose(&sides[1], 0);
	mock_pass(1000);
	if (again)
		is_pair();
	else
		assert_null(sides[1].sock[0]);
	assert_int_equal(sides[1].attached, again ? 2 : 1);
	assert_int_equal(dial(&sides[1], 0, sides[0].port),
			 again ? -EALREADY : 0);
}

static void lost_again(void)
{
	lost(true);
}

static void lost_once(void)
{
	lost(false);
}

static void meet__again(void **state)
{
	world(lost_again, 0);
	world(lost_once, 0);
}

/* --- how dialling ends --- */

static void connects(void)
{
	int err;

	TRY(side_open(&sides[0], 0));
	TRY(side_open(&sides[1], 1));
	TRY(side_listen(&sides[0], 0));
	err = side_connect(&sides[1], 0, sides[0].port, 60000);
	/* The other end may think that it is connected, and not know better here. */
	assert_true(!err ||
		    (mock.failed && (err == -ENOMEM || err == -EALREADY)));
	assert_int_equal(!err, sides[1].sock[0] != NULL);
}

static void dial__waited_for(void **state)
{
	with_failures(connects);
}

static void refused(void)
{
	unsigned long start = jiffies;

	assert_int_equal(side_open(&sides[1], 1), 0);
	assert_int_equal(side_connect(&sides[1], 0, PORT, 3000), -ECONNREFUSED);
	assert_int_equal(jiffies - start, msecs_to_jiffies(3000));
	mock.silent = true;
	start = jiffies;
	assert_int_equal(side_connect(&sides[1], 0, PORT, 25000), -ETIMEDOUT);
	assert_int_equal(jiffies - start, msecs_to_jiffies(25000));
	assert_int_equal(o2gk_reach_dial_stop(&sides[1].reach, 0), -ENOENT);
}

static void dial__nobody_there(void **state)
{
	world(refused, 0);
}

/* However long it is about it, an end comes at once. */
static void closed_meanwhile(void)
{
	int door = mock_serve(PORT);

	mock.silent = true;
	assert_int_equal(side_open(&sides[0], 0), 0);
	assert_int_equal(side_open(&sides[1], 1), 0);
	assert_int_equal(side_dial(&sides[0], 1, PORT, 0), 0);
	mock_pass(1000);
	mock.silent = false;
	assert_int_equal(side_dial(&sides[1], 2, PORT, 0), 0);
	assert_int_equal(side_dial(&sides[1], 2, PORT, 0), -EALREADY);
	mock_pass(1000);
	side_close(&sides[0]);
	side_close(&sides[1]);
	assert_int_equal(mock.socks, 2); /* the door, and whom it has let in */
	mock_unserve(door);
}

static void dial__closed_meanwhile(void **state)
{
	world(closed_meanwhile, 0);
}

/* --- with processes --- */

/* What the kernel's end has sent, all of it. */
static void hear(int fd, void *to, size_t n)
{
	mock_run();
	assert_int_equal(mock_recv(fd, to, n), n);
}

static void say(int fd, const void *what, size_t n)
{
	mock_raw(fd, what, n);
	mock_run();
}

/* A process, rank 2, calls. */
struct caller {
	int fd;
	struct tcp_challenge challenge;
	struct tcp_answer answer;
};

static void call_at(struct caller *c, u16 port)
{
	u32 version;

	c->fd = mock_connect(port);
	assert_true(c->fd >= 0);
	hear(c->fd, &c->challenge, sizeof(c->challenge));
	assert_int_equal(
		tcp_hello_check_challenge(&c->challenge, false, &version), 0);
}

static void prove(struct caller *c, const struct tcp_hello_key *k,
		  enum tcp_purpose purpose, u32 src, u32 dst)
{
	assert_int_equal(tcp_hello_answer(k, &c->challenge, purpose, src, dst,
					  "node17", &c->answer),
			 0);
}

static void verdict_is(struct caller *c, enum tcp_verdict code)
{
	struct tcp_verdict_msg v;

	hear(c->fd, &v, sizeof(v));
	assert_true(
		tcp_hello_check_verdict(&key, &c->challenge, &c->answer, &v));
	assert_int_equal(le32_to_cpu(v.code), code);
}

static bool hung_up(int fd)
{
	mock_run();
	return mock_sock(fd)->sk_shutdown & RCV_SHUTDOWN;
}

static void open_door(void)
{
	assert_int_equal(side_open(&sides[0], 0), 0);
	assert_int_equal(side_listen(&sides[0], PORT), 0);
	assert_int_equal(sides[0].port, PORT);
}

/* Byte by byte, with a packet right behind it: that is the owner's. */
static void process_calls(void)
{
	struct caller c;

	open_door();
	call_at(&c, PORT);
	prove(&c, &key, TCP_FIRST, 2, 0);
	for (u32 i = 0; i < sizeof(c.answer) - 1; i++) {
		say(c.fd, (u8 *)&c.answer + i, 1);
		assert_null(sides[0].sock[2]);
	}
	mock_raw(c.fd, (u8 *)&c.answer + sizeof(c.answer) - 1, 1);
	say(c.fd, "packet", 6);
	verdict_is(&c, TCP_ACCEPTED);
	assert_ptr_equal(sides[0].sock[2]->sk->peer, mock_sock(c.fd));
	assert_int_equal(sides[0].sock[2]->sk->rx_len, 6);
	mock_close(c.fd);
}

static void process__calls(void **state)
{
	world(process_calls, 0);
}

static void answered(u32 src, u32 dst, enum tcp_purpose purpose,
		     enum tcp_verdict code)
{
	struct caller c;

	call_at(&c, PORT);
	prove(&c, &key, purpose, src, dst);
	say(c.fd, &c.answer, sizeof(c.answer));
	verdict_is(&c, code);
	assert_int_equal(hung_up(c.fd), code != TCP_ACCEPTED);
	mock_close(c.fd);
}

static void verdicts(void)
{
	open_door();
	answered(2, 1, TCP_FIRST, TCP_NOT_ME);
	answered(0, 0, TCP_FIRST, TCP_NOT_ME);
	answered(PEERS, 0, TCP_FIRST, TCP_GONE);
	answered(2, 0, TCP_SECOND, TCP_DUPLICATE);
	answered(2, 0, TCP_FIRST, TCP_ACCEPTED);
	answered(2, 0, TCP_FIRST, TCP_DUPLICATE);
	answered(2, 0, TCP_SECOND, TCP_DUPLICATE);
	side_lose(&sides[0], 2);
	answered(2, 0, TCP_FIRST, TCP_ACCEPTED);
	sides[0].gone[3] = true;
	answered(3, 0, TCP_FIRST, TCP_GONE);
}

/* It is told so, but the owner does not want the socket. */
static void not_wanted(void)
{
	struct caller c;

	open_door();
	sides[0].refuse = -ENOMEM;
	call_at(&c, PORT);
	prove(&c, &key, TCP_FIRST, 2, 0);
	say(c.fd, &c.answer, sizeof(c.answer));
	verdict_is(&c, TCP_ACCEPTED);
	assert_true(hung_up(c.fd));
	mock_close(c.fd);
	answered(2, 0, TCP_FIRST, TCP_ACCEPTED);
}

static void process__verdicts(void **state)
{
	world(verdicts, 0);
	world(not_wanted, 0);
}

/* The kernel calls a process, which says @code. */
static int reply(int door, enum tcp_verdict code, const struct tcp_hello_key *k)
{
	struct tcp_challenge c;
	struct tcp_answer a;
	struct tcp_verdict_msg v;
	int fd;

	mock_pass(6000);
	fd = mock_take_call(door);
	if (fd < 0)
		return fd;
	assert_int_equal(tcp_hello_challenge(&c, false), 0);
	say(fd, &c, sizeof(c));
	hear(fd, &a, sizeof(a));
	assert_true(tcp_hello_check_answer(&key, &c, &a));
	assert_int_equal(tcp_hello_purpose(&a), TCP_FIRST);
	assert_int_equal(le32_to_cpu(a.src), 0);
	assert_int_equal(le32_to_cpu(a.dst), 2);
	assert_string_equal(a.host, "a host");
	tcp_hello_verdict(k, &c, &a, code, &v);
	mock_raw(fd, &v, sizeof(v));
	say(fd, "packet", 6);
	return fd;
}

/* All that is not yes means to try again. */
static void process_is_called(void)
{
	const struct tcp_hello_key bad = { wrong, "job" };
	int door = mock_serve(PORT), fd;

	assert_int_equal(side_open(&sides[0], 0), 0);
	assert_int_equal(side_dial(&sides[0], 2, PORT, 0), 0);
	for (int code = TCP_DUPLICATE; code <= TCP_GONE + 1; code++) {
		fd = reply(door, code, &key);
		assert_true(fd >= 0 && hung_up(fd));
		mock_close(fd);
	}
	fd = reply(door, TCP_ACCEPTED, &bad);
	assert_true(hung_up(fd));
	mock_close(fd);
	assert_null(sides[0].sock[2]);
	fd = reply(door, TCP_ACCEPTED, &key);
	assert_false(hung_up(fd));
	assert_ptr_equal(sides[0].sock[2]->sk->peer, mock_sock(fd));
	assert_int_equal(sides[0].sock[2]->sk->rx_len, 6);
	assert_int_equal(reply(door, TCP_ACCEPTED, &key), -EAGAIN);
	mock_close(fd);
	mock_unserve(door);
}

static void process__is_called(void **state)
{
	world(process_is_called, 0);
}

/* Whoever says nothing gets ten seconds; whoever has our answer has time. */
static void process_is_slow(void)
{
	struct tcp_challenge c;
	struct tcp_answer a;
	int door = mock_serve(PORT), fd;

	assert_int_equal(side_open(&sides[0], 0), 0);
	assert_int_equal(side_dial(&sides[0], 2, PORT, 0), 0);
	mock_pass(9000);
	fd = mock_take_call(door);
	say(fd, "O2Gc", 4);
	assert_false(hung_up(fd));
	mock_pass(2000);
	assert_true(hung_up(fd));
	mock_close(fd);
	fd = mock_take_call(door);
	assert_int_equal(tcp_hello_challenge(&c, false), 0);
	say(fd, &c, sizeof(c));
	hear(fd, &a, sizeof(a));
	mock_pass(1000000);
	assert_false(hung_up(fd));
	side_close(&sides[0]);
	assert_true(hung_up(fd));
	mock_close(fd);
	mock_unserve(door);
}

static void process__is_slow(void **state)
{
	world(process_is_slow, 0);
}

/* Not O2G, or another version of it. */
static void process_is_another(void)
{
	struct tcp_challenge c;
	int door = mock_serve(PORT), fd;

	assert_int_equal(side_open(&sides[0], 0), 0);
	assert_int_equal(side_dial(&sides[0], 2, PORT, 0), 0);
	mock_run();
	fd = mock_take_call(door);
	say(fd, "SSH-2.0-OpenSSH_9.2p1 Debian", 28);
	assert_true(hung_up(fd));
	mock_close(fd);
	mock_pass(6000);
	fd = mock_take_call(door);
	assert_int_equal(tcp_hello_challenge(&c, false), 0);
	c.version = cpu_to_le32(2);
	say(fd, &c, sizeof(c));
	assert_true(hung_up(fd));
	assert_int_equal(mock_read(fd), 0);
	mock_close(fd);
	mock_pass(6000);
	fd = mock_take_call(door);
	assert_int_equal(tcp_hello_challenge(&c, true), 0); /* it encrypts */
	say(fd, &c, sizeof(c));
	assert_true(hung_up(fd));
	assert_int_equal(mock_read(fd), 0);
	mock_close(fd);
	mock_unserve(door);
}

static void process__is_another(void **state)
{
	world(process_is_another, 0);
}

/* When both call, the lower rank decides: it is committed once it has answered. */
static void answered_first(u32 us)
{
	struct tcp_challenge challenge;
	struct tcp_answer a;
	struct caller c;
	int door = mock_serve(PORT + 1), fd;

	assert_int_equal(side_open(&sides[0], us), 0);
	assert_int_equal(side_listen(&sides[0], PORT), 0);
	assert_int_equal(side_dial(&sides[0], 2, PORT + 1, 0), 0);
	mock_run();
	fd = mock_take_call(door);
	assert_int_equal(tcp_hello_challenge(&challenge, false), 0);
	say(fd, &challenge, sizeof(challenge));
	hear(fd, &a, sizeof(a));
	call_at(&c, PORT);
	prove(&c, &key, TCP_FIRST, 2, us);
	say(c.fd, &c.answer, sizeof(c.answer));
	verdict_is(&c, us < 2 ? TCP_DUPLICATE : TCP_ACCEPTED);
	assert_int_equal(hung_up(fd), us > 2);
	mock_pass(6000);
	assert_int_equal(mock_take_call(door), -EAGAIN);
	mock_close(c.fd);
	mock_close(fd);
	mock_unserve(door);
}

static void lower_answered(void)
{
	answered_first(1);
}

static void higher_answered(void)
{
	answered_first(3);
}

/* Not committed: the other's call is taken, whoever it is, and ours is dropped. */
static void not_answered(void)
{
	struct caller c;
	int door = mock_serve(PORT + 1), fd;

	open_door();
	assert_int_equal(side_dial(&sides[0], 2, PORT + 1, 0), 0);
	mock_run();
	fd = mock_take_call(door);
	call_at(&c, PORT);
	prove(&c, &key, TCP_FIRST, 2, 0);
	say(c.fd, &c.answer, sizeof(c.answer));
	verdict_is(&c, TCP_ACCEPTED);
	assert_true(hung_up(fd));
	mock_pass(6000);
	assert_int_equal(mock_take_call(door), -EAGAIN);
	assert_false(mock_timers());
	mock_close(c.fd);
	mock_close(fd);
	mock_unserve(door);
}

static void process__both_call(void **state)
{
	world(lower_answered, 0);
	world(higher_answered, 0);
	world(not_answered, 0);
}

/* --- strangers --- */

static void turned_away(const struct tcp_hello_key *k, enum tcp_purpose purpose,
			u32 spoil)
{
	struct caller c;

	call_at(&c, PORT);
	prove(&c, k, purpose, 2, 0);
	if (spoil < sizeof(c.answer))
		((u8 *)&c.answer)[spoil] ^= 1;
	say(c.fd, &c.answer, sizeof(c.answer));
	assert_true(hung_up(c.fd));
	assert_int_equal(mock_read(c.fd), 0);
	mock_close(c.fd);
}

static void strangers(void)
{
	const struct tcp_hello_key bad = { wrong, "job" },
				   other = { secret, "jo" };
	struct caller c;

	open_door();
	turned_away(&bad, TCP_FIRST, -1);
	turned_away(&other, TCP_FIRST, -1);
	turned_away(&key, TCP_OTHER_FIRST, -1);
	turned_away(&key, TCP_CALL, -1);
	for (u32 i = 0; i < sizeof(struct tcp_answer); i++)
		turned_away(&key, TCP_FIRST, i);
	/* Somebody else's answer, heard before. */
	call_at(&c, PORT);
	prove(&c, &key, TCP_FIRST, 2, 0);
	mock_close(c.fd);
	mock_run();
	c.fd = mock_connect(PORT);
	say(c.fd, &c.answer, sizeof(c.answer));
	assert_true(hung_up(c.fd));
	mock_close(c.fd);
	assert_int_equal(sides[0].attached, 0);
	mock_run();
	assert_int_equal(mock.socks, 1);
}

static void stranger__is_turned_away(void **state)
{
	world(strangers, 0);
}

/* Five seconds, whether it says nothing or half of it. */
static void silence(void)
{
	struct caller c, d;

	open_door();
	call_at(&c, PORT);
	call_at(&d, PORT);
	prove(&d, &key, TCP_FIRST, 2, 0);
	say(d.fd, &d.answer, 50);
	mock_pass(4500);
	assert_false(hung_up(c.fd) || hung_up(d.fd));
	mock_pass(2000);
	assert_true(hung_up(c.fd) && hung_up(d.fd));
	mock_close(c.fd);
	mock_close(d.fd);
	assert_false(mock_timers());
}

static void stranger__is_silent(void **state)
{
	world(silence, 0);
}

#define CROWD 300
static int crowd[CROWD];

static void gather(u32 from, u32 to)
{
	for (u32 i = from; i < to; i++) {
		crowd[i] = mock_connect(PORT);
		assert_true(crowd[i] >= 0);
	}
	mock_run();
}

static void disperse(void)
{
	for (u32 i = 0; i < CROWD; i++)
		mock_close(crowd[i]);
}

/* Of the first @of them: how many have been asked who they are? */
static u32 let_in(u32 of)
{
	u32 n = 0;

	for (u32 i = 0; i < of; i++)
		n += mock_sock(crowd[i])->rx_len > 0;
	return n;
}

/* They are let in as far as there is room, and make room for others after a moment:
 * a peer that comes after them gets its turn. */
static void crowded(void)
{
	struct caller c;
	u32 waits = 0;

	open_door();
	gather(0, CROWD);
	assert_int_equal(let_in(CROWD), 192);
	c.fd = mock_connect(PORT);
	while (!mock_sock(c.fd)->rx_len && waits++ < 10)
		mock_pass(20);
	assert_true(waits <= 2);
	hear(c.fd, &c.challenge, sizeof(c.challenge));
	prove(&c, &key, TCP_FIRST, 2, 0);
	say(c.fd, &c.answer, sizeof(c.answer));
	verdict_is(&c, TCP_ACCEPTED);
	mock_close(c.fd);
	mock_pass(6000);
	for (u32 i = 0; i < CROWD; i++)
		assert_true(hung_up(crowd[i]));
	disperse();
}

static void stranger__many(void **state)
{
	world(crowded, 0);
}

/* Whoever calls from where a peer has called before has places of its own: it is asked
 * at once, and the crowd does not throw it out. */
static void known(void)
{
	struct caller c;

	open_door();
	answered(2, 0, TCP_FIRST, TCP_ACCEPTED);
	mock.caller = 0x0a000063;
	gather(0, 192);
	assert_int_equal(let_in(192), 192);
	mock.caller = 0x0a000001;
	call_at(&c, PORT);
	mock.caller = 0x0a000063;
	gather(192, CROWD);
	mock_pass(1000);
	for (u32 i = 0; i < 100; i++)
		assert_true(hung_up(crowd[i]));
	assert_false(hung_up(c.fd));
	prove(&c, &key, TCP_FIRST, 1, 0);
	say(c.fd, &c.answer, sizeof(c.answer));
	verdict_is(&c, TCP_ACCEPTED);
	mock_close(c.fd);
	disperse();
}

static void stranger__and_known(void **state)
{
	world(known, 0);
}

/* Closing does not wait for any of them. */
static void closed_on(void)
{
	open_door();
	gather(0, CROWD);
	side_close(&sides[0]);
	for (u32 i = 0; i < CROWD; i++)
		assert_true(hung_up(crowd[i]));
	disperse();
	assert_false(mock_timers());
}

static void stranger__door_closes(void **state)
{
	world(closed_on, 0);
}

static void twice(void)
{
	open_door();
	assert_int_equal(side_listen(&sides[0], PORT + 1), -EALREADY);
	o2gk_reach_unlisten(&sides[0].reach);
	assert_int_equal(mock_connect(PORT), -ECONNREFUSED);
	assert_int_equal(side_listen(&sides[0], PORT), 0);
	assert_int_equal(
		o2gk_key_init(&sides[1].reach.key, secret,
			      "a name that is longer than any job's name, "
			      "which has 63 characters at most"),
		-ENAMETOOLONG);
}

static void listen__twice(void **state)
{
	world(twice, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(meet__two_modules),	   T(meet__in_small_pieces),
		T(meet__both_dial),	   T(meet__again),
		T(dial__waited_for),	   T(dial__nobody_there),
		T(dial__closed_meanwhile), T(process__calls),
		T(process__verdicts),	   T(process__is_called),
		T(process__is_slow),	   T(process__is_another),
		T(process__both_call),	   T(stranger__is_turned_away),
		T(stranger__is_silent),	   T(stranger__many),
		T(stranger__and_known),	   T(stranger__door_closes),
		T(listen__twice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
