/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: channel/tcp/addr.c channel/tcp/choose.c channel/tcp/card.c channel/tcp/hello.c */
/* libs: -lnettle */
/* The choice of addresses over made-up hosts, cards, and the hello's macs. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "tcp/card.h"
#include "tcp/hello.h"

#define UP (TCP_IF_UP | TCP_IF_RUNNING)

struct made_up {
	const char *ifname;
	const char *addr;
	u32 flags;
};

static u32 make(const struct made_up *m, u32 n, struct tcp_addr *out)
{
	for (u32 i = 0; i < n; i++) {
		assert_int_equal(tcp_addr_parse(m[i].addr, strlen(m[i].addr),
						&out[i]),
				 0);
		snprintf(out[i].ifname, sizeof(out[i].ifname), "%s",
			 m[i].ifname);
		out[i].flags = m[i].flags;
		if (!strncmp(m[i].addr, "fe80", 4))
			out[i].scope = i + 1;
	}
	return n;
}

static char *texts(const struct tcp_addr *a, int n)
{
	static char buf[1024];
	char one[TCP_ADDR_TEXT];

	buf[0] = '\0';
	for (int i = 0; i < n; i++) {
		strcat(buf, i ? " " : "");
		strcat(buf, tcp_addr_text(&a[i], one, sizeof(one)));
	}
	return buf;
}

static char *choose(const struct made_up *m, u32 n, const char *wanted,
		    int family)
{
	struct tcp_addr all[TCP_ADDRS], out[TCP_ADDRS];
	static char why[1024];
	int r;

	make(m, n, all);
	r = tcp_addr_choose(all, n, wanted, family, out, TCP_ADDRS, why,
			    sizeof(why));
	return r < 0 ? why : texts(out, r);
}

/* What host @a tries, in order, to reach host @b. */
static char *order(const struct made_up *a, u32 na, const struct made_up *b,
		   u32 nb, bool same_node)
{
	struct tcp_addr all[TCP_ADDRS], ours[TCP_ADDRS], theirs[TCP_ADDRS];
	struct tcp_addr out[TCP_ADDRS];
	char why[1024];
	int no, nt;

	make(a, na, all);
	no = tcp_addr_choose(all, na, "", 0, ours, TCP_ADDRS, why, sizeof(why));
	make(b, nb, all);
	nt = tcp_addr_choose(all, nb, "", 0, theirs, TCP_ADDRS, why,
			     sizeof(why));
	assert_true(no > 0 && nt > 0);
	return texts(out, tcp_addr_order(ours, no, theirs, nt, same_node, out,
					 TCP_ADDRS));
}

#define N(x) (sizeof(x) / sizeof((x)[0]))
#define CHOOSE(m, w, f) choose(m, N(m), w, f)
#define ORDER(a, b, s) order(a, N(a), b, N(b), s)

static const struct made_up plain1[] = {
	{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
	{ "lo", "::1/128", UP | TCP_IF_LOOPBACK },
	{ "eth0", "192.168.1.1/24", UP },
	{ "eth0", "fe80::1/64", UP },
};
static const struct made_up plain2[] = {
	{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
	{ "eth0", "192.168.1.2/24", UP },
	{ "eth0", "fe80::2/64", UP },
};
static const struct made_up docker1[] = {
	{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
	{ "docker0", "172.17.0.1/16", UP | TCP_IF_BRIDGE },
	{ "virbr0", "192.168.122.1/24", TCP_IF_UP | TCP_IF_BRIDGE },
	{ "eth0", "10.1.0.1/16", UP },
};
static const struct made_up docker2[] = {
	{ "docker0", "172.17.0.1/16", UP | TCP_IF_BRIDGE },
	{ "eth0", "10.1.0.2/16", UP },
};
static const struct made_up vpn1[] = {
	{ "tun0", "10.8.0.1/24", UP | TCP_IF_P2P },
	{ "eth0", "192.168.1.1/24", UP },
	{ "wlan0", "192.168.1.101/24", UP | TCP_IF_WIRELESS },
};
static const struct made_up vpn2[] = {
	{ "tun0", "10.8.0.2/24", UP | TCP_IF_P2P },
	{ "wlan0", "192.168.1.102/24", UP | TCP_IF_WIRELESS },
	{ "eth0", "192.168.1.2/24", UP },
};
static const struct made_up two1[] = {
	{ "eth0", "10.0.0.1/24", UP },
	{ "eth1", "10.0.1.1/24", UP },
	{ "eth1", "fd00::1/64", UP },
};
static const struct made_up two2[] = {
	{ "eth0", "203.0.113.9/24", UP },
	{ "eth1", "10.0.1.2/24", UP },
	{ "eth1", "fd00::2/64", UP },
};
static const struct made_up six1[] = {
	{ "lo", "::1/128", UP | TCP_IF_LOOPBACK },
	{ "eth0", "2001:db8::1/64", UP },
	{ "eth0", "fe80::11/64", UP },
};
static const struct made_up ll1[] = {
	{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
	{ "eth0", "fe80::a/64", UP },
	{ "eth1", "fe80::b/64", UP },
};
static const struct made_up ll2[] = {
	{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
	{ "eth0", "fe80::c/64", UP },
};
static const struct made_up lo_only[] = {
	{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
};

static void choose__classes(void **state)
{
	assert_string_equal(CHOOSE(plain1, "", 0), "192.168.1.1/24");
	assert_string_equal(CHOOSE(docker1, "", 0), "10.1.0.1/16");
	assert_string_equal(CHOOSE(six1, "", 0), "2001:db8::1/64");
	assert_string_equal(CHOOSE(ll1, "", 0), "fe80::a/64 fe80::b/64");
	assert_string_equal(CHOOSE(lo_only, "", 0), "127.0.0.1/8");
}

static void choose__wired_before_wireless_before_tunnel(void **state)
{
	assert_string_equal(CHOOSE(vpn2, "", 0),
			    "192.168.1.2/24 192.168.1.102/24 10.8.0.2/24");
}

static void choose__down_and_no_carrier(void **state)
{
	static const struct made_up m[] = {
		{ "lo", "127.0.0.1/8", UP | TCP_IF_LOOPBACK },
		{ "eth0", "10.0.0.1/24", TCP_IF_UP }, /* cable out */
		{ "eth1", "10.0.1.1/24", 0 },
		{ "eth2", "10.0.2.1/24", UP },
	};

	assert_string_equal(CHOOSE(m, "", 0), "10.0.2.1/24");
	assert_string_equal(CHOOSE(m, "eth0", 0), "10.0.0.1/24");
	assert_non_null(
		strstr(CHOOSE(m, "eth1", 0), "eth1 10.0.1.1/24 (down)"));
}

static void choose__wanted(void **state)
{
	assert_string_equal(CHOOSE(docker1, "docker0", 0), "172.17.0.1/16");
	assert_string_equal(CHOOSE(docker1, "10.0.0.0/8,lo", 0),
			    "127.0.0.1/8 10.1.0.1/16");
	assert_string_equal(CHOOSE(two1, "fd00::/16", 0), "fd00::1/64");
	assert_string_equal(CHOOSE(two1, "10.0.1.1", 0), "10.0.1.1/24");
	assert_non_null(strstr(CHOOSE(two1, "eth7", 0),
			       "O2G_TCP_INTERFACES is \"eth7\""));
	assert_non_null(strstr(CHOOSE(two1, "eth", 0), "no such address"));
}

static void choose__family(void **state)
{
	assert_string_equal(CHOOSE(two1, "", 6), "fd00::1/64");
	assert_string_equal(CHOOSE(two1, "", 4), "10.0.0.1/24 10.0.1.1/24");
	assert_non_null(strstr(CHOOSE(lo_only, "", 6), "O2G_TCP_FAMILY is 6"));
	assert_non_null(strstr(choose(NULL, 0, "", 0), "is up"));
}

static void choose__duplicate(void **state)
{
	static const struct made_up m[] = {
		{ "eth0", "fd00::1/64", UP | TCP_ADDR_DUPLICATE },
		{ "eth0", "fe80::a/64", UP },
	};

	assert_string_equal(CHOOSE(m, "", 0), "fe80::a/64");
	assert_non_null(strstr(CHOOSE(m, "fd00::/16", 0),
			       "fd00::1/64 (another host has it as well)"));
	assert_non_null(strstr(choose(m, 1, "", 0),
			       "fd00::1/64 (another host has it as well)"));
}

static void all_tentative__one_is_enough(void **state)
{
	static const struct made_up m[] = {
		{ "eth0", "fd00::1/64", UP | TCP_ADDR_TENTATIVE },
		{ "eth0", "fd00::2/64", UP | TCP_ADDR_TENTATIVE },
		{ "eth1", "10.0.0.1/24", UP },
	};
	struct tcp_addr all[3];

	make(m, 3, all);
	assert_true(tcp_addr_all_tentative(all, 2));
	assert_false(tcp_addr_all_tentative(all, 3));
	assert_false(tcp_addr_all_tentative(all, 0));
}

static void order__same_network_first(void **state)
{
	assert_string_equal(ORDER(plain1, plain2, false), "192.168.1.2/24");
	assert_string_equal(ORDER(two1, two2, false),
			    "10.0.1.2/24 fd00::2/64 203.0.113.9/24");
	assert_string_equal(ORDER(vpn1, vpn2, false),
			    "192.168.1.2/24 192.168.1.102/24 10.8.0.2/24");
}

static void order__twins(void **state)
{
	static const struct made_up a[] = {
		{ "br0", "172.17.0.1/16", UP },
		{ "eth0", "10.1.0.1/16", UP },
	};
	static const struct made_up b[] = {
		{ "br0", "172.17.0.1/16", UP },
		{ "eth0", "10.1.0.2/16", UP },
	};

	assert_string_equal(ORDER(docker1, docker2, false), "10.1.0.2/16");
	/* A bridge no name gives away: last, since here it leads to us. */
	assert_string_equal(ORDER(a, b, false), "10.1.0.2/16 172.17.0.1/16");
}

static void order__families(void **state)
{
	assert_string_equal(ORDER(plain1, six1, false), "");
	assert_string_equal(ORDER(six1, two2, false), "fd00::2/64");
}

static void order__loopback_only_at_home(void **state)
{
	assert_string_equal(ORDER(lo_only, lo_only, true), "127.0.0.1/8");
	assert_string_equal(ORDER(lo_only, lo_only, false), "");
	assert_string_equal(ORDER(plain1, plain1, true), "192.168.1.1/24");
}

static void order__link_local_on_every_link(void **state)
{
	struct tcp_addr all[4], ours[4], theirs[4], out[4];
	char why[256];
	u32 n;

	assert_string_equal(ORDER(ll1, ll2, false), "fe80::c/64 fe80::c/64");
	make(ll1, N(ll1), all);
	assert_int_equal(tcp_addr_choose(all, N(ll1), "", 0, ours, 4, why, 256),
			 2);
	make(ll2, N(ll2), all);
	assert_int_equal(
		tcp_addr_choose(all, N(ll2), "", 0, theirs, 4, why, 256), 1);
	n = tcp_addr_order(ours, 2, theirs, 1, false, out, 4);
	assert_int_equal(n, 2);
	assert_int_equal(out[0].scope, 2);
	assert_int_equal(out[1].scope, 3);
}

static void list__this_host(void **state)
{
	struct tcp_addr all[128];
	int n = tcp_addr_list(all, 128);
	bool lo = false;

	assert_true(n > 0);
	for (int i = 0; i < n; i++)
		lo = lo || (all[i].flags & TCP_IF_LOOPBACK &&
			    all[i].family == AF_INET && all[i].prefix == 8);
	assert_true(lo);
}

static void card__round_trip(void **state)
{
	struct tcp_card a, b;
	char text[1024], more[1100];

	memset(&a, 0, sizeof(a));
	strcpy(a.host, "node-1.example");
	strcpy(a.node, "0123456789abcdef");
	a.port = 40001;
	a.naddrs = make(two1, N(two1), a.addrs);
	assert_int_equal(tcp_card_write(&a, 3, text, sizeof(text)), 0);
	assert_string_equal(
		text,
		"rank=3,host=node-1.example,node=0123456789abcdef,port=40001,addr=10.0.0.1/24+10.0.1.1/24+fd00::1/64");
	snprintf(more, sizeof(more), "later=x,%s", text);
	assert_int_equal(tcp_card_read(more, &b), 0);
	assert_string_equal(b.host, a.host);
	assert_string_equal(b.node, a.node);
	assert_int_equal(b.port, 40001);
	assert_int_equal(b.naddrs, 3);
	assert_true(tcp_addr_same_ip(&a.addrs[2], &b.addrs[2]));
	assert_int_equal(tcp_card_write(&a, 3, text, 40), -ENOSPC);
}

static void card__refuses(void **state)
{
	static const char *const bad[] = {
		"",
		"port=1",
		"addr=10.0.0.1/24",
		"port=0,addr=10.0.0.1/24",
		"port=65536,addr=10.0.0.1/24",
		"port=1x,addr=10.0.0.1/24",
		"port=1,addr=10.0.0.1/33",
		"port=1,addr=10.0.0/8",
		"port=1,addr=::1/129",
		"port=1,addr=",
		"port=1,addr=+",
		"x",
		"port=1,addr=10.0.0.1/24+", /* fine: see below */
	};
	struct tcp_card c;

	for (u32 i = 0; i < N(bad) - 1; i++)
		assert_int_equal(tcp_card_read(bad[i], &c), -EINVAL);
	assert_int_equal(tcp_card_read(bad[N(bad) - 1], &c), 0);
}

static void hello__proves_the_secret(void **state)
{
	u8 secret[32] = { 1, 2, 3 }, other[32] = { 1, 2, 4 };
	struct tcp_hello_key k = { secret, "job" }, wrong = { other, "job" };
	struct tcp_hello_key renamed = { secret, "jab" };
	struct tcp_challenge c, c2;
	struct tcp_answer a, b;
	struct tcp_verdict_msg v;
	u32 version;

	assert_int_equal(tcp_hello_challenge(&c, false), 0);
	assert_int_equal(tcp_hello_challenge(&c2, false), 0);
	assert_memory_not_equal(c.nonce, c2.nonce, TCP_NONCE_SIZE);
	assert_int_equal(tcp_hello_check_challenge(&c, false, &version), 0);
	assert_int_equal(tcp_hello_answer(&k, &c, TCP_FIRST, 1, 2, "here", &a),
			 0);
	assert_true(tcp_hello_check_answer(&k, &c, &a));
	assert_false(tcp_hello_check_answer(&k, &c2, &a)); /* a replay */
	assert_false(tcp_hello_check_answer(&wrong, &c, &a));
	assert_false(tcp_hello_check_answer(&renamed, &c, &a));
	for (u32 i = 0; i < sizeof(a); i++) {
		b = a;
		((u8 *)&b)[i] ^= 0x10;
		assert_false(tcp_hello_check_answer(&k, &c, &b));
	}
	tcp_hello_verdict(&k, &c, &a, TCP_ACCEPTED, &v);
	assert_true(tcp_hello_check_verdict(&k, &c, &a, &v));
	assert_false(tcp_hello_check_verdict(&wrong, &c, &a, &v));
	v.code = cpu_to_le32(TCP_GONE);
	assert_false(tcp_hello_check_verdict(&k, &c, &a, &v));
	memcpy(v.mac, a.mac, TCP_MAC_SIZE); /* ours, handed back */
	v.code = 0;
	assert_false(tcp_hello_check_verdict(&k, &c, &a, &v));
}

static void hello__versions(void **state)
{
	struct tcp_challenge c;
	u32 version = 0;

	assert_int_equal(tcp_hello_challenge(&c, false), 0);
	c.version = cpu_to_le32(7);
	assert_int_equal(tcp_hello_check_challenge(&c, false, &version),
			 -EPROTO);
	assert_int_equal(version, 7);
	memcpy(c.magic, "SSH-", 4);
	assert_int_equal(tcp_hello_check_challenge(&c, false, &version),
			 -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(choose__classes),
		T(choose__wired_before_wireless_before_tunnel),
		T(choose__down_and_no_carrier),
		T(choose__wanted),
		T(choose__family),
		T(choose__duplicate),
		T(all_tentative__one_is_enough),
		T(order__same_network_first),
		T(order__twins),
		T(order__families),
		T(order__loopback_only_at_home),
		T(order__link_local_on_every_link),
		T(list__this_host),
		T(card__round_trip),
		T(card__refuses),
		T(hello__proves_the_secret),
		T(hello__versions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
