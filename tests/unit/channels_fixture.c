/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: core/credit.c core/match.c core/wild.c core/proto.c core/recv.c core/cookies.c core/rma.c core/rma_atomic.c core/served.c core/atomic.c */
/* sources: core/send.c core/stream.c core/wire.c base/log.c base/nearest.c */
/* sources: base/settings.c base/lazy.c channel/body.c channel/shm/?*.c channel/tcp/?*.c */
/* sources: channel/bpf/bpf.c channel/bpf/join.c channel/bpf/name.c */
/* sources: channel/bpf/place.c channel/bpf/recv.c channel/bpf/sys.c */
/* sources: tests/mock/host.c */
/* libs: -lnettle */
#include "channels_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "tcp/tls_kernel.h"

#define LIMIT_MS 10000

const struct kind *kind;
struct host *a, *b, *both[2];

static struct o2g_settings *settings, defaults;
static bool must_open; /* the kind was asked for by name */

/* --- kinds --- */

static void small_rings(struct o2g_settings *s)
{
	s->shm_ring = 16 << 10; /* nearly every packet has to wait for room */
}

static void no_get(struct o2g_settings *s)
{
	s->shm_get = false;
}

static void ipv4(struct o2g_settings *s)
{
	s->tcp_family = 4;
}

static void ipv6(struct o2g_settings *s)
{
	s->tcp_family = 6;
}

static void small_buffers(struct o2g_settings *s)
{
	s->tcp_sndbuf = s->tcp_rcvbuf = 8192;
}

static void encrypt(struct o2g_settings *s)
{
	s->encrypt = true;
	s->ktls = false;
}

static void encrypt_kernel(struct o2g_settings *s)
{
	s->encrypt = s->ktls = true;
}

/* Records in many pieces, and a key for every MiB. */
static void encrypt_small(struct o2g_settings *s)
{
	encrypt(s);
	s->encrypt_rekey = 1 << 20;
	small_buffers(s);
}

static const struct kind kinds[] = {
	{ "shm", &shm_chan_ops, NULL },
	{ "shm-small-rings", &shm_chan_ops, small_rings },
	{ "shm-no-get", &shm_chan_ops, no_get },
	{ "tcp", &tcp_chan_ops, ipv4 },
	{ "tcp6", &tcp_chan_ops, ipv6 },
	{ "tcp-small-buffers", &tcp_chan_ops, small_buffers },
	{ "tls", &tcp_chan_ops, encrypt },
	{ "tls-small-buffers", &tcp_chan_ops, encrypt_small },
	{ "ktls", &tcp_chan_ops, encrypt_kernel },
	{ "bpf", &bpf_chan_ops, NULL },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

void kind_settings(void)
{
	*settings = defaults;
	if (kind->set)
		kind->set(settings);
}

/* --- one case over one kind --- */

struct pair {
	const struct kind *kind;
	const struct chan_case *which;
	char name[100];
};

static struct host *try_open(u32 rank)
{
	static const struct kind *said;
	char why[512] = "";
	struct host *h = host_create(rank, kind->ops, why, sizeof(why));

	if (!h && said != kind)
		print_message("%s cannot be used here: %s\n", kind->name, why);
	if (!h)
		said = kind;
	return h;
}

struct host *open_host(u32 rank)
{
	struct host *h = try_open(rank);

	assert_non_null(h);
	return h;
}

static int setup(void **state)
{
	const struct pair *p = *state;

	kind = p->kind;
	kind_settings();
	both[0] = a = try_open(0);
	both[1] = b = a ? try_open(1) : NULL;
	return must_open && !b;
}

static int teardown(void **state)
{
	if (a)
		end_host(a, false);
	if (b)
		end_host(b, false);
	return 0;
}

static void run_case(void **state)
{
	const struct pair *p = *state;

	if (!b)
		skip();
	p->which->fn();
}

/* --- all of them --- */

static bool is_wanted(const struct kind *k, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], k->name))
			return true;
	return argc == 1 && (k->set != encrypt_kernel || tls_kernel_there());
}

static void add_test(struct CMUnitTest *t, struct pair *p, const struct kind *k,
		     const struct chan_case *c)
{
	p->kind = k;
	p->which = c;
	snprintf(p->name, sizeof(p->name), "%s: %s", k->name, c->name);
	t->name = p->name;
	t->test_func = run_case;
	t->setup_func = setup;
	t->teardown_func = teardown;
	t->initial_state = p;
}

int run_cases(const struct chan_case *cases, size_t n, int argc, char **argv)
{
	struct CMUnitTest *tests = calloc(KINDS * n, sizeof(*tests));
	struct pair *pairs = calloc(KINDS * n, sizeof(*pairs));
	size_t count = 0;
	int failed;

	setenv("O2G_TCP_INTERFACES", "lo", 1);
	settings = (struct o2g_settings *)o2g_settings();
	defaults = *settings;
	must_open = argc > 1;
	for (size_t i = 0; i < KINDS; i++)
		for (size_t j = 0; j < n; j++)
			if (is_wanted(&kinds[i], argc, argv)) {
				add_test(&tests[count], &pairs[count],
					 &kinds[i], &cases[j]);
				count++;
			}
	failed = count ? _cmocka_run_group_tests("channels", tests, count, NULL,
						 NULL) :
			 1;
	free(tests);
	free(pairs);
	return failed;
}

/* --- for the cases --- */

bool encrypts(void)
{
	return settings->encrypt && !tls_kernel_there();
}

void end_host(struct host *h, bool orderly)
{
	if (h == a)
		both[0] = a = NULL;
	if (h == b)
		both[1] = b = NULL;
	host_destroy(h, orderly);
}

bool both_run(const bool *flag)
{
	struct host *there[2];
	u32 n = 0;

	if (a)
		there[n++] = a;
	if (b)
		there[n++] = b;
	return host_run(there, n, flag, LIMIT_MS);
}

void finish(struct host_req *q)
{
	assert_true(both_run(&q->done));
	assert_int_equal(q->r.status, 0);
}

void both_idle(int ms)
{
	u64 end = o2g_now_us() + ms * 1000ull;

	while (o2g_now_us() < end) {
		if (a)
			host_pump(a);
		if (b)
			host_pump(b);
	}
}

void fill(u8 *p, size_t n, u32 seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (u8)(seed * 31 + i * 7 + (i >> 8));
}

struct chan_peer *peer_of(struct host *x, struct host *y)
{
	return chan_ep_peer(host_ep(x), y->rank);
}

void exchange(struct host *x, struct host *y, size_t len)
{
	u8 *out = malloc(len + 1), *in = calloc(1, len + 1);
	struct host *two[2] = { x, y };
	struct host_req *r, *s;

	fill(out, len, len);
	assert_int_equal(host_connect(x, y), 0);
	r = host_recv_buf(y, x->rank, 5, in, len);
	s = host_send_buf(x, y->rank, 5, out, len);
	assert_true(host_run(two, 2, &r->done, LIMIT_MS));
	assert_true(host_run(two, 2, &s->done, LIMIT_MS));
	assert_int_equal(r->r.status, 0);
	assert_int_equal(s->r.status, 0);
	assert_int_equal(r->r.msg_len, len);
	assert_memory_equal(in, out, len);
	host_req_free(r);
	host_req_free(s);
	free(in);
	free(out);
}
