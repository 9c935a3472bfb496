/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/ranks_fixture.c */
/* A full ring, and one that is used in one direction only. */
#include "ranks_fixture.h"
#include "shm/shm.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* --- a full ring --- */

#define BURST 300

/* The receiver does nothing while the sender fills ring and queue. */
static void burst_send(void)
{
	static char buf[BURST][600];
	struct host_req *q[BURST];
	struct shm_link *l;

	for (int i = 0; i < BURST; i++) {
		memset(buf[i], i, sizeof(buf[i]));
		q[i] = host_send_buf(ep, 1, i, buf[i], i % 2 ? 600 : 20);
	}
	l = other_peer()->cp.link;
	CHECK(!o2g_list_empty(&l->queue));
	CHECK(l->tx.ring->waits);
	meet(1);
	for (int i = 0; i < BURST; i++)
		CHECK(host_until(ep, &q[i]->done, 5000, true));
	CHECK(o2g_list_empty(&l->queue));
	CHECK(!l->tx.ring->waits);
	CHECK(ep->sleeps > 0); /* ... and the receiver woke us */
	meet_at_work(2);
}

static void burst_recv(void)
{
	struct host_req *q;
	char buf[600];

	meet(1);
	for (int i = 0; i < BURST; i++) {
		if (i % 50 == 0)
			usleep(2000);
		q = host_recv_buf(ep, 0, i, buf, sizeof(buf));
		CHECK(host_until(ep, &q->done, 5000, false));
		CHECK(q->r.status == 0);
		CHECK(q->r.msg_len == (i % 2 ? 600 : 20));
		CHECK((u8)buf[0] == (u8)i && (u8)buf[19] == (u8)i);
		host_req_free(q);
	}
	meet_at_work(2);
}

static void full_ring__waits_and_wakes(void **arg)
{
	setenv("O2G_SHM_RING", "16k", 1);
	run_well(burst_send, burst_recv);
	unsetenv("O2G_SHM_RING");
}

/* --- strangers at the bell --- */

static bool rings(const struct shm *s)
{
	struct pollfd p = { .fd = s->bell.fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Everybody can see its name. Only who knows the number is heard. */
static void be_rung_at(void)
{
	struct shm *s = container_of(ep->chan, struct shm, chan);
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0), n;
	u64 key = s->own.head->bell_key;
	socklen_t len;

	n = snprintf(a.sun_path + 1, sizeof(a.sun_path) - 1, "o2g-shm-%016llx",
		     (unsigned long long)s->own.head->token);
	len = offsetof(struct sockaddr_un, sun_path) + 1 + n;
	CHECK(sendto(fd, "", 1, 0, (void *)&a, len) == 1);
	CHECK(sendto(fd, "12345678", 8, 0, (void *)&a, len) == 8);
	CHECK(!rings(s));
	CHECK(sendto(fd, &key, sizeof(key), 0, (void *)&a, len) == 8);
	CHECK(rings(s));
	close(fd);
	meet(1);
}

static void stand_by(void)
{
	meet(1);
}

static void bell__strangers(void **arg)
{
	run_well(be_rung_at, stand_by);
}

/* --- what we send goes another way, what it sends comes through here --- */

/* as much as the first credit allows: none comes back */
#define ONE_WAY \
	((int)((O2G_CREDIT_INIT - O2G_CREDIT_RESERVE) / (100 + O2G_COST)))

static int taken_elsewhere;

static int other_send(struct chan *c, struct chan_peer *p,
		      const struct o2g_hdr *h, struct o2g_req *req, u64 off,
		      u64 len)
{
	taken_elsewhere++;
	return 0;
}

static void one_way_recv(void)
{
	static const struct chan_ops other_ops = { .send = other_send };
	struct chan elsewhere = { .ops = &other_ops, .ep = host_ep(ep) };
	struct chan_peer *p = chan_ep_peer(host_ep(ep), 1);
	char buf[100];
	struct host_req *q;

	p->chan = &elsewhere;
	p->link = &elsewhere;
	meet(1);
	for (int i = 0; i < ONE_WAY; i++) {
		q = host_recv_buf(ep, 1, i, buf, sizeof(buf));
		CHECK(host_until(ep, &q->done, 5000, i % 2));
		CHECK(q->r.status == 0 && buf[99] == (char)i);
		host_req_free(q);
	}
	CHECK(p->chan == &elsewhere && p->link == &elsewhere);
	CHECK(taken_elsewhere > 0); /* the credit that it gets back */
	meet_at_work(2);
	/* It is gone: the other channel will say so, not this one. */
	for (int i = 0; i < 5; i++)
		host_round(ep, 20);
	CHECK(!other_peer()->lost && p->link == &elsewhere);
	p->link = NULL; /* not to be disconnected */
	p->chan = NULL;
}

static void one_way_send(void)
{
	char buf[100];
	struct host_req *q;

	meet(1);
	for (int i = 0; i < ONE_WAY; i++) {
		memset(buf, i, sizeof(buf));
		q = host_send_buf(ep, 0, i, buf, sizeof(buf));
		CHECK(host_until(ep, &q->done, 5000, true));
		host_req_free(q);
		usleep(i % 50 ? 0 : 1000);
	}
	meet_at_work(2);
}

static void one_way__receives_only(void **arg)
{
	run_well(one_way_recv, one_way_send);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(bell__strangers),
		T(full_ring__waits_and_wakes),
		T(one_way__receives_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
