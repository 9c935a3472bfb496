/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Listening, and the acceptor's half of the hello.
 *
 * There is one listening socket. When one address is offered it is bound to
 * that; when several are, or one that is tentative and cannot be bound to yet,
 * it is bound to the wildcard address of their family (IPv6 with IPv4 mapped
 * into it when both are offered), and a connection that came in at an address
 * we do not offer is closed at once: one descriptor per rank, whatever the
 * number of interfaces, and no more exposed than with one socket each.
 *
 * Whoever connects gets a slot of a table and a few seconds to prove that it
 * belongs to the job; nothing is allocated for it before. A full table gives up
 * its oldest entry if that has had time for a few round trips and has still said
 * nothing; otherwise the newcomer waits in the kernel's backlog, so that a thousand
 * ranks that connect at once do not throw each other out.
 *
 * Once one had to be thrown out there is a crowd, for a second or more: nobody waits
 * in the backlog any more, where peers would have to wait as well, but is accepted,
 * and closed if there is no slot. A peer that was closed calls again, from a port
 * that marks it (tcp_hello_is_marked): its slot is not taken away for strangers, and
 * one of theirs makes room for it.
 */
#define _GNU_SOURCE /* accept4 */
#include "listen.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "clock.h"
#include "conn.h"
#include "given.h"
#include "log.h"
#include "secure.h"
#include "settings.h"
#include "sock.h"
#include "split.h"
#include "tcp.h"

#define GRACE_US 20000 /* an entry this young is not thrown out */
#define ACCEPT_MAX 256 /* connections a turn, */
#define ACCEPT_US 1000 /* and until the next */
#define SLOTS_MIN 32
#define CROWD_US 1000000 /* so long after one was thrown out there is a crowd */

/* --- the socket --- */

/* Where to listen: the address to bind to, and whether IPv4 comes in as well. */
struct place {
	struct tcp_addr at;
	bool ipv4;
};

static bool has_family(const struct tcp_addr *addrs, u32 n, u8 family)
{
	for (u32 i = 0; i < n; i++)
		if (addrs[i].family == family)
			return true;
	return false;
}

static struct place place_for(const struct tcp_addr *addrs, u32 n)
{
	struct place p = { addrs[0], has_family(addrs, n, AF_INET) };
	bool ipv6 = has_family(addrs, n, AF_INET6);

	if (n > 1 || addrs[0].flags & TCP_ADDR_TENTATIVE)
		p.at = (struct tcp_addr){ .family = ipv6 ? AF_INET6 : AF_INET };
	return p;
}

/* A listening socket or negative errno; port 0 takes any. */
static int listen_on(const struct place *p, u16 port)
{
	const struct tcp_addr *a = &p->at;
	struct sockaddr_storage ss;
	socklen_t len = tcp_addr_to_sock(a, port, &ss);
	int fd, err, one = 1, v6only = !p->ipv4;

	fd = socket(a->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (a->family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only,
			   sizeof(v6only));
	tcp_sock_buffers(fd);
	if (bind(fd, (struct sockaddr *)&ss, len) || listen(fd, SOMAXCONN)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* "FIRST-LAST" or one port. */
static int parse_ports(const char *text, u32 *first, u32 *last)
{
	char dash, end;
	int n = sscanf(text, "%u%c%u%c", first, &dash, last, &end);

	if (n == 1)
		*last = *first;
	else if (n != 3 || dash != '-')
		return -EINVAL;
	return *first && *first <= *last && *last <= 65535 ? 0 : -EINVAL;
}

static int listen_in_range(const struct place *p, u32 rank, const char *ports,
			   char *why, size_t why_size)
{
	u32 first, last, n;
	int fd = -EADDRINUSE;

	if (parse_ports(ports, &first, &last)) {
		snprintf(
			why, why_size,
			"O2G_TCP_PORTS is \"%s\", but FIRST-LAST with ports from 1 to 65535 is expected",
			ports);
		return -EINVAL;
	}
	n = last - first + 1;
	/* Start at a port of its own, so that ranks do not race for one. */
	for (u32 i = 0; i < n && fd == -EADDRINUSE; i++)
		fd = listen_on(p, first + (rank + i) % n);
	if (fd == -EADDRINUSE)
		snprintf(
			why, why_size,
			"no port from %u to %u is free (O2G_TCP_PORTS): every rank of a host needs one, so widen the range",
			first, last);
	return fd;
}

int tcp_listen_at(const struct tcp_addr *addrs, u32 n, u32 rank, char *why,
		  size_t why_size)
{
	const char *ports = o2g_settings()->tcp_ports;
	struct place p = place_for(addrs, n);
	char text[TCP_ADDR_TEXT];
	int fd;

	why[0] = '\0';
	fd = *ports ? listen_in_range(&p, rank, ports, why, why_size) :
		      listen_on(&p, 0);
	if (fd < 0 && !why[0])
		snprintf(why, why_size, "cannot listen on %s: %s%s",
			 tcp_addr_ip(&p.at, text, sizeof(text)), strerror(-fd),
			 fd == -EMFILE ? "; raise `ulimit -n`" : "");
	return fd;
}

/* At an address that is not there the network may be coming up: whoever asks for it
 * decides. */
static int listen_given(struct tcp_chan *c, char *why, size_t why_size)
{
	const char *text = chan_ep_listen(c->chan.ep);
	struct place p = { .ipv4 = true };
	struct tcp_given g;
	int fd;

	if (tcp_given_parse(text, &g)) {
		snprintf(
			why, why_size,
			"cannot listen at \"%s\": ADDRESS:PORT, [IPv6]:PORT or :PORT is expected",
			text);
		return -EINVAL;
	}
	c->anywhere = g.anywhere;
	p.at = g.at;
	if (g.anywhere)
		p.at.family = AF_INET6; /* takes IPv4 as well, */
	fd = listen_on(&p, g.port);
	if (fd == -EAFNOSUPPORT && g.anywhere) {
		p.at.family = AF_INET; /* unless the host has none */
		fd = listen_on(&p, g.port);
	}
	if (fd < 0)
		snprintf(why, why_size, "cannot listen at %s: %s", text,
			 strerror(-fd));
	if (!g.anywhere) {
		c->addrs[0] = g.at;
		c->naddrs = 1;
	}
	return fd;
}

int tcp_listen_port(int fd)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct tcp_addr a;
	u16 port;

	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		return -errno;
	tcp_addr_from_sock(&ss, &a, &port);
	return port;
}

/* --- strangers --- */

static u16 caller(int fd, char *text, size_t size)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct tcp_addr a;
	u16 port = 0;

	snprintf(text, size, "?");
	if (!getpeername(fd, (struct sockaddr *)&ss, &len)) {
		tcp_addr_from_sock(&ss, &a, &port);
		tcp_addr_ip(&a, text, size);
	}
	return port;
}

static void stranger(struct tcp_chan *c, int fd, const char *what)
{
	char text[TCP_ADDR_TEXT];
	u64 now = o2g_now_us();
	u16 port;

	c->strangers++;
	if (now - c->stranger_log_us < 1000000 && c->stranger_log_us)
		return;
	c->stranger_log_us = now;
	port = caller(fd, text, sizeof(text));
	o2g_info("tcp: dropped a connection from %s port %u: %s (%llu so far)",
		 text, port, what, (unsigned long long)c->strangers);
}

void tcp_no_fds(struct tcp_chan *c, int err, const char *what)
{
	struct rlimit lim = { 0, 0 };
	u64 now = o2g_now_us();

	if (now - c->fd_log_us < 5000000 && c->fd_log_us)
		return;
	c->fd_log_us = now;
	getrlimit(RLIMIT_NOFILE, &lim);
	if (err == -EMFILE)
		o2g_error(
			"tcp: cannot %s: all %llu file descriptors of this process are in use; raise the limit with `ulimit -n`",
			what, (unsigned long long)lim.rlim_cur);
	else
		o2g_error(
			"tcp: cannot %s: the system has no file descriptor left (sysctl fs.file-max)",
			what);
}

/* Once: that goes on for as long as it goes on. */
static void say_crowd(struct tcp_chan *c, int fd)
{
	char text[TCP_ADDR_TEXT];

	if (c->crowd_said)
		return;
	c->crowd_said = true;
	caller(fd, text, sizeof(text));
	o2g_warn(
		"tcp: %u connections to port %u of this rank, one of them from %s, wait and prove nothing; the oldest are dropped, and ranks may take a moment longer to connect (O2G_TCP_INTERFACES, or a firewall, keeps strangers out)",
		c->nslots, c->port, text);
}

/* --- slots --- */

/* The first that came of those in a list. */
static struct tcp_slot *oldest(struct o2g_list *l)
{
	return o2g_list_empty(l) ? NULL :
				   o2g_list_first(l, struct tcp_slot, link);
}

static void slot_free(struct tcp_slot *s)
{
	struct tcp_chan *c = s->chan;

	chan_watch_del(c->chan.ep, &s->watch);
	s->watch.fd = -1;
	o2g_list_del(&s->link);
	o2g_list_add_tail(&s->link, &c->slots_free);
	if (c->accept_waits)
		chan_timer_set(c->chan.ep, &c->accept_timer, 0);
}

static void slot_drop(struct tcp_slot *s, const char *what)
{
	int fd = s->watch.fd;

	stranger(s->chan, fd, what);
	slot_free(s);
	close(fd);
}

/* Who claims to have made an answer, and the key that proves it. A peer of our job
 * is made known only once it has. */
struct caller {
	struct tcp_hello_key key;
	struct chan_peer *other; /* of another job; NULL: of ours, */
	u32 secret;		 /* and the one that it has used */
	const char *host;
};

/* False: it cannot be anybody that we know. */
static bool caller_of(struct tcp_slot *s, struct caller *who)
{
	const struct tcp_answer *a = &s->answer;
	enum tcp_purpose purpose = tcp_hello_purpose(a);

	*who = (struct caller){ s->chan->key, NULL, 0, a->host };
	if (!tcp_is_other(purpose))
		return purpose <= TCP_SECOND;
	who->other = chan_ep_other(s->chan->chan.ep, tcp_hello_job(a),
				   le32_to_cpu(a->src));
	if (!who->other)
		return false;
	who->host = a->host + 16;
	return true;
}

static bool proves_itself(const struct tcp_slot *s, struct caller *who)
{
	const struct chan_other *o = who->other ? who->other->other : NULL;

	if (!o)
		return tcp_hello_check_answer(&who->key, &s->challenge,
					      &s->answer);
	for (u32 i = 1; i <= o->nsecrets && i <= CHAN_SECRETS; i++) {
		who->secret = o->nsecrets - i;
		who->key = tcp_other_key(who->other, who->secret);
		if (tcp_hello_check_answer(&who->key, &s->challenge,
					   &s->answer))
			return true;
	}
	return false;
}

/* The answer is good. Decide, tell, and hand the socket on. */
static void slot_decide(struct tcp_slot *s, const struct caller *who)
{
	struct tcp_chan *c = s->chan;
	struct tcp_answer *a = &s->answer;
	u32 src = le32_to_cpu(a->src), dst = le32_to_cpu(a->dst);
	enum tcp_verdict code = TCP_NOT_ME;
	struct tcp_verdict_msg v;
	struct tcp_conn *k = NULL;
	bool second = tcp_is_second(tcp_hello_purpose(a));
	int fd = s->watch.fd;

	a->host[TCP_HOST_SIZE - 1] = '\0';
	if (dst == chan_ep_rank(c->chan.ep) && (who->other || src != dst)) {
		struct chan_peer *p =
			who->other ? who->other : chan_ep_peer(c->chan.ep, src);

		code = second ? tcp_split_offer(c, p, fd, &k) :
				tcp_conn_offer(c, p, who->host, &k);
	}
	tcp_hello_verdict(&who->key, &s->challenge, a, code, &v);
	slot_free(s);
	/* A new socket has room for 40 bytes; one that has not is broken. */
	if (send(fd, &v, sizeof(v), MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(v) ||
	    !k) {
		close(fd);
		if (k && !second)
			tcp_conn_orphan(k);
		return;
	}
	if (!second)
		k->secret = who->secret;
	if (second) {
		tcp_conn_send_on(k, fd);
	} else if (tcp_secure_open(k, fd, &s->challenge, a, TCP_TLS_SERVER)) {
		close(fd);
		tcp_conn_orphan(k);
	}
}

/* False: its answer is not complete. */
static bool slot_read(struct tcp_slot *s)
{
	int r = tcp_sock_read(s->watch.fd, &s->answer, sizeof(s->answer),
			      &s->have);
	struct caller who;

	if (!r)
		return false;
	if (r < 0)
		slot_drop(s, "it closed before proving itself");
	else if (!caller_of(s, &who))
		slot_drop(s, "it is of a job that we are not connected to");
	else if (!proves_itself(s, &who))
		slot_drop(s, "it does not know the secret of this job");
	else
		slot_decide(s, &who);
	return true;
}

static int slot_ready(struct chan_watch *w, u32 events)
{
	slot_read(container_of(w, struct tcp_slot, watch));
	return 0;
}

/* The answer may be there, and we have been away: it is looked for before anybody is
 * dropped for being late. */
static void drop_late(struct o2g_list *l)
{
	u64 now = o2g_now_us();
	struct tcp_slot *s;

	while ((s = oldest(l)) && now - s->since_us >= TCP_HELLO_US)
		if (!slot_read(s))
			slot_drop(s, "it did not say hello in time");
}

static void slot_timer(struct chan_timer *t)
{
	struct tcp_chan *c = container_of(t, struct tcp_chan, slot_timer);

	drop_late(&c->slots_used);
	drop_late(&c->slots_marked);
	if (oldest(&c->slots_used) || oldest(&c->slots_marked))
		chan_timer_set(c->chan.ep, t, 1000000);
}

static int slots_create(struct tcp_chan *c)
{
	struct rlimit lim;
	u32 n = TCP_HELLO_SLOTS;

	if (!getrlimit(RLIMIT_NOFILE, &lim) && lim.rlim_cur / 4 < n)
		n = lim.rlim_cur / 4;
	if (n < SLOTS_MIN)
		n = SLOTS_MIN;
	c->slots = calloc(n, sizeof(*c->slots));
	if (!c->slots)
		return -ENOMEM;
	c->nslots = n;
	for (u32 i = 0; i < n; i++) {
		c->slots[i].watch.fd = -1;
		c->slots[i].watch.ready = slot_ready;
		c->slots[i].chan = c;
		o2g_list_add_tail(&c->slots[i].link, &c->slots_free);
	}
	return 0;
}

/* Whoever would have to go for another: strangers before peers. */
static struct tcp_slot *next_to_go(struct tcp_chan *c)
{
	struct tcp_slot *s = oldest(&c->slots_used);

	return s ? s : oldest(&c->slots_marked);
}

/* It goes, unless its answer has come. */
static void throw_out(struct tcp_chan *c, struct tcp_slot *s)
{
	if (slot_read(s))
		return;
	say_crowd(c, s->watch.fd);
	c->crowd_until_us = o2g_now_us() + CROWD_US;
	slot_drop(s, "it was slow to say hello and others wait");
}

static void ask_again(struct tcp_chan *c, u64 us)
{
	c->accept_waits = true;
	chan_timer_set(c->chan.ep, &c->accept_timer, us);
}

/* May another be accepted? False: accept_timer will ask again. */
static bool slot_expected(struct tcp_chan *c)
{
	u64 now = o2g_now_us(), age;

	if (!c->slots && slots_create(c)) {
		ask_again(c, GRACE_US);
		return false;
	}
	if (!o2g_list_empty(&c->slots_free) || now < c->crowd_until_us)
		return true;
	age = now - next_to_go(c)->since_us;
	if (age < GRACE_US)
		ask_again(c, GRACE_US - age);
	return age >= GRACE_US;
}

/* For one that was accepted, from a port that is marked or not. NULL: for peers of
 * this kind there is none. */
static struct tcp_slot *slot_get(struct tcp_chan *c, bool marked)
{
	struct tcp_slot *s;

	while (o2g_list_empty(&c->slots_free)) {
		s = next_to_go(c);
		if (o2g_now_us() - s->since_us < GRACE_US &&
		    !(marked && s == oldest(&c->slots_used)))
			return NULL;
		throw_out(c, s);
	}
	return o2g_list_first(&c->slots_free, struct tcp_slot, link);
}

/* --- accepting --- */

bool tcp_came_in_at(int fd, const struct tcp_addr *addrs, u32 n)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct tcp_addr a;
	u16 port;

	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		return false;
	tcp_addr_from_sock(&ss, &a, &port);
	for (u32 i = 0; i < n; i++)
		if (tcp_addr_same_ip(&a, &addrs[i]))
			return true;
	return false;
}

static void slot_start(struct tcp_chan *c, struct tcp_slot *s, int fd,
		       bool marked)
{
	if (!c->anywhere && !tcp_came_in_at(fd, c->addrs, c->naddrs)) {
		stranger(c, fd, "it came in at an address we do not use");
		close(fd);
		return;
	}
	tcp_sock_options(fd);
	s->have = 0;
	s->since_us = o2g_now_us();
	s->watch.fd = fd;
	if (tcp_hello_challenge(&s->challenge, tcp_encrypts()) ||
	    send(fd, &s->challenge, sizeof(s->challenge),
		 MSG_DONTWAIT | MSG_NOSIGNAL) != sizeof(s->challenge) ||
	    chan_watch_add(c->chan.ep, &s->watch,
			   EPOLLIN | EPOLLRDHUP | EPOLLET)) {
		s->watch.fd = -1;
		close(fd);
		return;
	}
	o2g_list_del(&s->link);
	o2g_list_add_tail(&s->link, marked ? &c->slots_marked : &c->slots_used);
	if (!c->slot_timer.link.next || o2g_list_empty(&c->slot_timer.link))
		chan_timer_set(c->chan.ep, &c->slot_timer, 1000000);
}

/*
 * No descriptor for a connection that is waiting: take the reserve, accept and
 * close it, so that it does not keep us busy. The other side tries again.
 */
static void refuse_one(struct tcp_chan *c, int err)
{
	int fd;

	tcp_no_fds(c, err, "accept a connection");
	if (c->reserve_fd < 0)
		return;
	close(c->reserve_fd);
	fd = accept4(c->listener.fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0)
		close(fd);
	c->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_marked(struct tcp_chan *c, const struct sockaddr_storage *from)
{
	struct tcp_addr a;
	u16 port;

	tcp_addr_from_sock(from, &a, &port);
	return tcp_hello_is_marked(&c->key, chan_ep_rank(c->chan.ep), port);
}

/* A slot, or the door. */
static void receive(struct tcp_chan *c, int fd,
		    const struct sockaddr_storage *from)
{
	bool marked = is_marked(c, from);
	struct tcp_slot *s = slot_get(c, marked);

	if (s) {
		slot_start(c, s, fd, marked);
		return;
	}
	stranger(c, fd, "others wait, and it is not marked as a peer");
	close(fd);
}

static void accept_all(struct tcp_chan *c)
{
	struct sockaddr_storage from;
	socklen_t len;
	int fd;

	c->accept_waits = false;
	for (u32 i = 0; i < ACCEPT_MAX; i++) {
		if (!slot_expected(c))
			return;
		len = sizeof(from);
		fd = accept4(c->listener.fd, (struct sockaddr *)&from, &len,
			     SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd >= 0) {
			receive(c, fd, &from);
			continue;
		}
		if (errno == EAGAIN)
			return;
		if (errno == EMFILE || errno == ENFILE)
			refuse_one(c, -errno);
		else if (errno != EINTR && errno != ECONNABORTED)
			break;
	}
	/* More may be waiting, and an edge tells only once. */
	chan_timer_set(c->chan.ep, &c->accept_timer, ACCEPT_US);
}

static int listener_ready(struct chan_watch *w, u32 events)
{
	accept_all(container_of(w, struct tcp_chan, listener));
	return 0;
}

static void accept_timer(struct chan_timer *t)
{
	accept_all(container_of(t, struct tcp_chan, accept_timer));
}

int tcp_listen(struct tcp_chan *c, char *why, size_t why_size)
{
	int fd, err;

	if (chan_ep_listen(c->chan.ep))
		fd = listen_given(c, why, why_size);
	else
		fd = tcp_listen_at(c->addrs, c->naddrs,
				   chan_ep_rank(c->chan.ep), why, why_size);

	if (fd < 0)
		return fd;
	c->port = tcp_listen_port(fd);
	c->listener.fd = fd;
	c->listener.ready = listener_ready;
	c->accept_timer.fn = accept_timer;
	c->slot_timer.fn = slot_timer;
	o2g_list_init(&c->accept_timer.link);
	o2g_list_init(&c->slot_timer.link);
	o2g_list_init(&c->slots_free);
	o2g_list_init(&c->slots_used);
	o2g_list_init(&c->slots_marked);
	err = chan_watch_add(c->chan.ep, &c->listener, EPOLLIN | EPOLLET);
	if (err) {
		snprintf(why, why_size, "cannot watch the listening socket: %s",
			 strerror(-err));
		close(fd);
		return err;
	}
	c->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

void tcp_unlisten(struct tcp_chan *c)
{
	struct tcp_slot *s;

	while ((s = next_to_go(c))) {
		int fd = s->watch.fd;

		slot_free(s);
		close(fd);
	}
	free(c->slots);
	c->slots = NULL;
	chan_timer_del(c->chan.ep, &c->slot_timer);
	chan_timer_del(c->chan.ep, &c->accept_timer);
	chan_watch_del(c->chan.ep, &c->listener);
	close(c->listener.fd);
	if (c->reserve_fd >= 0)
		close(c->reserve_fd);
}
