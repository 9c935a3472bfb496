/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Endpoints of kernel modules (o2g_kernel.h) on the mock kernel: two of them, or one and
 * an open file, with each call of the kernel that may fail failing in turn.
 */
#include "unit.h"

#include "world.h"

#include "o2g_kernel.h"
#include "o2gk.h"

static const u64 lengths[] = { 0, 8, 17, 1000, 4096, 4097, 20000, 70000 };
#define NLENGTHS ARRAY_SIZE(lengths)
#define ALL ~0ull

/* A module with an endpoint; its peer is the other. */
struct module {
	struct o2gk_ep *ep;
	u32 connected, lost, messages;
	int why;
	bool takes;		  /* its handler deals with what comes */
	bool answers;		  /* ... and sends it back */
	bool fetches;		  /* ... or receives it into @req */
	struct o2gk_request *req; /* for that */
	struct o2gk_request answer;
	u64 tag, length; /* of what has come last */
};

static struct module ka, kb;
static u32 ended, order[64];

static struct o2gk_seg kernel_seg(void *p, size_t n)
{
	return (struct o2gk_seg){ .kind = O2GK_KERNEL, .addr = p, .length = n };
}

static void on_connected(struct o2gk_ep *ep, void *private, u32 peer)
{
	struct module *m = private;

	m->connected++;
}

static void on_lost(struct o2gk_ep *ep, void *private, u32 peer, int error)
{
	struct module *m = private;

	m->lost++;
	m->why = error;
}

static bool on_unposted(struct o2gk_ep *ep, void *private,
			const struct o2gk_msg *msg)
{
	struct module *m = private;
	struct o2gk_seg s =
		kernel_seg((void *)(uintptr_t)msg->data, msg->length);

	m->messages++;
	m->tag = msg->tag;
	m->length = msg->length;
	if (m->fetches) {
		s = kernel_seg(buf, msg->length);
		m->req->flags |= O2GK_ATOMIC;
		return !o2gk_mrecv(ep, msg, &s, 1, m->req);
	}
	if (m->answers && msg->data) {
		m->answer = (struct o2gk_request){ .flags = O2GK_ATOMIC };
		o2gk_isend(ep, msg->source, msg->tag + 1, &s, 1, &m->answer);
	}
	return m->takes;
}

static const struct o2gk_owner owner = { .connected = on_connected,
					 .lost = on_lost,
					 .unposted = on_unposted };
static const struct o2gk_owner no_handler = { .connected = on_connected,
					      .lost = on_lost };

static void on_done(struct o2gk_request *req)
{
	order[ended++ % ARRAY_SIZE(order)] = (u32)(uintptr_t)req->context;
}

/* Requests outlive their scenario when that ends early: they are static. */
static void clear(struct o2gk_request *r, size_t size)
{
	memset(r, 0, size);
}

/* --- two modules --- */

static int open_one(struct module *m, u32 rank, const struct o2gk_owner *o,
		    gfp_t gfp)
{
	struct o2gk_config c = { .rank = rank, .size = 4, .gfp = gfp };
	struct o2gk_ep *ep = o2gk_open(&mock_net, &c, o, m);

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	m->ep = ep;
	return 0;
}

static int attach(struct module *m, u32 peer, int fd)
{
	struct socket *sock;
	int err;

	sock = sockfd_lookup(fd, &err);
	if (!sock)
		return err;
	err = o2gk_attach(m->ep, peer, sock);
	if (err)
		sockfd_put(sock);
	return err;
}

static int join(void)
{
	int err;

	mock_tcp_pair(fds);
	err = attach(&ka, 1, fds[0]);
	if (!err)
		err = attach(&kb, 0, fds[1]);
	world_close_fds();
	return err;
}

static int open_both(const struct o2gk_owner *o, gfp_t gfp)
{
	int err = open_one(&ka, 0, o, gfp);

	if (!err)
		err = open_one(&kb, 1, o, gfp);
	return err ? err : join();
}

static void close_one(struct module *m)
{
	if (m->ep)
		o2gk_close(m->ep);
	m->ep = NULL;
}

static void close_both(void)
{
	close_one(&ka);
	close_one(&kb);
	assert_false(mock.nofs);
}

/* A failure that is not of memory may end the connection; it does for both. */
static bool is_over(int status)
{
	if (status >= 0)
		return false;
	/* A receive from any source outlives it. */
	if (status == -ECONNRESET || status == -ENOTCONN || status == -ETIME) {
		if (!mock.failed || mock.failed_err == -ENOMEM)
			mock_bug("the connection is lost",
				 "for want of memory");
	} else if (mock.failed && !strcmp(mock.failed, "pinning")) {
		assert_int_equal(status, -EFAULT);
	} else if (!mock.failed || status != mock.failed_err) {
		print_error("the result is %d\n", status);
		mock_bug("another result was expected", "a request");
	}
	return true;
}

#define GO(call)                     \
	do {                         \
		if (is_over((call))) \
			return;      \
	} while (0)

static void (*body)(void);

static void with_modules(void)
{
	memset(&ka, 0, sizeof(ka));
	memset(&kb, 0, sizeof(kb));
	ended = 0;
	mock.own_pages = true;
	body();
	close_both();
}

static void in_all(void (*b)(void))
{
	body = b;
	world_in_all(with_modules);
}

static int wait(struct module *m, struct o2gk_request *r)
{
	return o2gk_wait(m->ep, r, 1000);
}

/* --- messages --- */

static void posted(void)
{
	GO(open_both(&no_handler, 0));
	for (u32 i = 0; i < NLENGTHS; i++) {
		struct o2gk_seg to = kernel_seg(buf, lengths[i]);
		struct o2gk_seg from = kernel_seg(data + 5, lengths[i]);
		static struct o2gk_request r, s;

		clear(&r, sizeof(r));
		clear(&s, sizeof(s));
		memset(buf, 0, lengths[i]);
		GO(o2gk_irecv(kb.ep, 0, i, ALL, &to, 1, &r));
		GO(o2gk_isend(ka.ep, 1, i, &from, 1, &s));
		GO(wait(&kb, &r));
		GO(wait(&ka, &s));
		assert_int_equal(r.source, 0);
		assert_int_equal(r.tag, i);
		assert_int_equal(r.length, lengths[i]);
		assert_int_equal(r.message, lengths[i]);
		assert_memory_equal(buf, data + 5, lengths[i]);
	}
}

static void o2gk_irecv__posted(void **state)
{
	in_all(posted);
}

/* What waits is received in another order, by any source and by mask. */
static void waiting(void)
{
	static struct o2gk_request s[NLENGTHS];
	struct o2gk_msg m;

	clear(s, sizeof(s));
	GO(open_both(&no_handler, GFP_NOFS));
	for (u32 i = 0; i < NLENGTHS; i++) {
		struct o2gk_seg from = kernel_seg(data, lengths[i]);

		GO(i % 2 ? o2gk_issend(ka.ep, 1, i, &from, 1, &s[i]) :
			   o2gk_isend(ka.ep, 1, i, &from, 1, &s[i]));
	}
	while (mock_run())
		;
	if (o2gk_is_connected(kb.ep, 0)) {
		assert_true(o2gk_probe(kb.ep, 0, 3, ALL, &m));
		assert_int_equal(m.length, lengths[3]);
		assert_false(o2gk_probe(kb.ep, 0, 99, ALL, &m));
	}
	for (u32 i = NLENGTHS; i-- > 0;) {
		struct o2gk_seg to[2] = { kernel_seg(buf, lengths[i] / 3),
					  kernel_seg(buf + lengths[i] / 3,
						     lengths[i] -
							     lengths[i] / 3) };
		static struct o2gk_request r;

		clear(&r, sizeof(r));
		memset(buf, 0, lengths[i]);
		GO(o2gk_irecv(kb.ep, i % 2 ? O2GK_ANY : 0, i | 0x100, 0xff, to,
			      2, &r));
		GO(wait(&kb, &r));
		GO(wait(&ka, &s[i]));
		assert_int_equal(r.tag, i);
		assert_memory_equal(buf, data, lengths[i]);
	}
}

static void o2gk_irecv__unexpected(void **state)
{
	in_all(waiting);
}

/* Every kind of memory, mixed, at both ends. */
static void mixed(void)
{
	enum { N = 30000 };
	struct iovec u[2] = { { buf + 21000, 100 }, { buf + 21100, 3900 } };
	struct kvec v[2] = { { data + 20500, 500 }, { data + 21000, 4000 } };
	struct iov_iter from_iter, to_iter;
	struct o2gk_seg to[4], from[4];
	static struct o2gk_request r, s;

	clear(&r, sizeof(r));
	clear(&s, sizeof(s));
	iov_iter_init(&to_iter, ITER_DEST, u, 2, 4000);
	iov_iter_kvec(&from_iter, ITER_SOURCE, v, 2, 4500);
	iov_iter_advance(&from_iter, 500);
	to[0] = kernel_seg(buf, 10000);
	to[1] = (struct o2gk_seg){ .kind = O2GK_USER,
				   .user = buf + 10000,
				   .mm = &mock_mm,
				   .length = 11000 };
	to[2] = (struct o2gk_seg){ .kind = O2GK_ITER,
				   .iter = &to_iter,
				   .length = 4000 };
	to[3] = (struct o2gk_seg){ .kind = O2GK_USER,
				   .user = buf + 25000,
				   .mm = &mock_other_mm,
				   .length = 5000 };
	from[0] = (struct o2gk_seg){ .kind = O2GK_PAGE,
				     .page = virt_to_page(data),
				     .length = 12000 };
	from[1] = kernel_seg(data + 12000, 9000);
	from[2] = (struct o2gk_seg){ .kind = O2GK_ITER,
				     .iter = &from_iter,
				     .length = 4000 };
	from[3] = (struct o2gk_seg){ .kind = O2GK_PAGE,
				     .page = virt_to_page(data),
				     .offset = 25000,
				     .length = 5000 };
	GO(open_both(&no_handler, 0));
	memset(buf, 0, N);
	GO(o2gk_irecv(kb.ep, 0, 1, ALL, to, 4, &r));
	GO(o2gk_isend(ka.ep, 1, 1, from, 4, &s));
	GO(wait(&kb, &r));
	GO(wait(&ka, &s));
	assert_int_equal(iov_iter_count(&from_iter), 4000);
	assert_memory_equal(buf, data, N);
}

static void o2gk_seg__kinds(void **state)
{
	in_all(mixed);
}

/* A megabyte, by its kind of memory: copied once on a host, and over TCP once by each end. */
static bool near;

static size_t copied_for(struct o2gk_seg from, struct o2gk_seg to)
{
	static struct o2gk_request r, s;
	size_t before = mock.copied;

	from.length = to.length = 1 << 20;
	clear(&r, sizeof(r));
	clear(&s, sizeof(s));
	memset(buf, 0, 1 << 20);
	assert_int_equal(o2gk_irecv(kb.ep, 0, 1, ALL, &to, 1, &r), 0);
	assert_int_equal(o2gk_isend(ka.ep, 1, 1, &from, 1, &s), 0);
	assert_int_equal(wait(&kb, &r), 0);
	assert_int_equal(wait(&ka, &s), 0);
	assert_memory_equal(buf, data, 1 << 20);
	return mock.copied - before;
}

static void one_megabyte(void)
{
	const struct o2gk_seg from[] = {
		kernel_seg(data, 0),
		{ .kind = O2GK_PAGE, .page = virt_to_page(data) },
		{ .kind = O2GK_USER, .user = data, .mm = &mock_mm },
	};
	const struct o2gk_seg to[] = {
		kernel_seg(buf, 0),
		{ .kind = O2GK_PAGE, .page = virt_to_page(buf) },
		{ .kind = O2GK_USER, .user = buf, .mm = &mock_mm },
	};
	size_t once = 1 << 20, times = near ? 1 : 2;

	mock.near = near;
	assert_int_equal(open_both(&no_handler, 0), 0);
	for (u32 i = 0; i < ARRAY_SIZE(from); i++)
		for (u32 j = 0; j < ARRAY_SIZE(to); j++)
			assert_in_range(copied_for(from[i], to[j]),
					times * once, times * once + 2000);
}

static void o2gk_isend__copies(void **state)
{
	body = one_megabyte;
	for (u32 i = 0; i < 2; i++) {
		near = i;
		world_run(with_modules);
	}
}

static void refusals(void)
{
	struct o2gk_config c = { .rank = 4, .size = 4 };
	struct o2gk_seg s = kernel_seg(buf, 10);
	struct o2gk_request r = { .done = on_done };
	u64 key;

	assert_int_equal(PTR_ERR(o2gk_open(&mock_net, &c, &owner, NULL)),
			 -EINVAL);
	GO(open_both(&no_handler, 0));
	assert_int_equal(o2gk_isend(ka.ep, 2, 0, &s, 1, &r), -ENOTCONN);
	assert_int_equal(o2gk_isend(ka.ep, O2GK_ANY, 0, &s, 1, &r), -EINVAL);
	assert_int_equal(o2gk_irecv(ka.ep, 2, 0, ALL, &s, 1, &r), -ENOTCONN);
	s.kind = 77;
	assert_int_equal(o2gk_isend(ka.ep, 1, 0, &s, 1, &r), -EINVAL);
	s.kind = O2GK_USER; /* without an mm, and where nothing may sleep */
	assert_int_equal(o2gk_isend(ka.ep, 1, 0, &s, 1, &r), -EINVAL);
	s.mm = &mock_mm;
	r.flags = O2GK_ATOMIC;
	assert_int_equal(o2gk_isend(ka.ep, 1, 0, &s, 1, &r), -EINVAL);
	assert_int_equal(o2gk_reg(ka.ep, &s, 1, 8, &key), -EINVAL);
	assert_int_equal(o2gk_dereg(ka.ep, 5), -ENOENT);
	assert_int_equal(o2gk_disconnect(ka.ep, 3), -ENOENT);
	assert_int_equal(ended, 0);
}

static void o2gk_isend__refused(void **state)
{
	body = refusals;
	world_run(with_modules);
}

/* A message that is too long, and receives that are cancelled, by hand and by closing. */
static void other_ends(void)
{
	struct o2gk_seg to = kernel_seg(buf, 10), from = kernel_seg(data, 50);
	static struct o2gk_request r[3], s;

	clear(r, sizeof(r));
	clear(&s, sizeof(s));
	GO(open_both(&no_handler, 0));
	for (u32 i = 0; i < 3; i++) {
		r[i].done = on_done;
		r[i].context = (void *)(uintptr_t)i;
		r[i].flags = i == 1 ? O2GK_FROM_WORKER : 0;
		assert_int_equal(o2gk_irecv(kb.ep, i < 2 ? 0 : O2GK_ANY, i, ALL,
					    &to, 1, &r[i]),
				 0);
	}
	assert_int_equal(o2gk_isend(ka.ep, 1, 0, &from, 1, &s), 0);
	assert_int_equal(wait(&ka, &s), 0);
	while (mock_run())
		;
	assert_int_equal(ended, 1);
	assert_int_equal(r[0].status, -EMSGSIZE);
	assert_int_equal(r[0].length, 10);
	assert_int_equal(r[0].message, 50);
	assert_memory_equal(buf, data, 10);
	assert_int_equal(o2gk_cancel(kb.ep, &r[1]), 0);
	assert_int_equal(ended, 1); /* by the worker */
	while (mock_run())
		;
	assert_int_equal(ended, 2);
	assert_int_equal(r[1].status, -ECANCELED);
	close_one(&kb);
	assert_int_equal(ended, 3);
	assert_int_equal(r[2].status, -ECANCELED);
	while (mock_run())
		;
	assert_int_equal(ka.lost, 1);
	assert_int_equal(ka.why, -ESHUTDOWN);
}

static void o2gk_request__ends(void **state)
{
	body = other_ends;
	world_run(with_modules);
}

/* --- the handler --- */

static void handler(void)
{
	GO(open_both(&owner, 0));
	kb.takes = kb.answers = true;
	for (u32 i = 0; i < 20; i++) {
		struct o2gk_seg to = kernel_seg(buf, 2000);
		struct o2gk_seg from = kernel_seg(data + i, 100 * i);
		static struct o2gk_request r, s;

		clear(&r, sizeof(r));
		clear(&s, sizeof(s));
		memset(buf, 0, 2000);
		GO(o2gk_irecv(ka.ep, 1, 2 * i + 1, ALL, &to, 1, &r));
		GO(o2gk_issend(ka.ep, 1, 2 * i, &from, 1, &s));
		GO(wait(&ka, &s));
		if (!mock.failed)
			assert_int_equal(kb.messages, i + 1);
		else if (kb.messages < i + 1 || kb.answer.status)
			return; /* or there was no memory for the answer */
		while (mock_run())
			;
		if (mock.failed) {
			o2gk_cancel(ka.ep, &r);
			o2gk_wait_end(ka.ep, &r);
			return;
		}
		GO(wait(&ka, &r));
		assert_int_equal(r.length, 100 * i);
		assert_memory_equal(buf, data + i, 100 * i);
	}
}

static void o2gk_owner__answers(void **state)
{
	in_all(handler);
}

/* A long message is announced, and fetched by the handler; one that it leaves waits. */
static void fetching(void)
{
	struct o2gk_seg from = kernel_seg(data, 60000), to = kernel_seg(buf, 9);
	static struct o2gk_request r, s, s2, r2;

	clear(&r, sizeof(r));
	clear(&s, sizeof(s));
	clear(&s2, sizeof(s2));
	clear(&r2, sizeof(r2));
	GO(open_both(&owner, 0));
	kb.fetches = true;
	kb.req = &r;
	GO(o2gk_isend(ka.ep, 1, 7, &from, 1, &s));
	GO(wait(&ka, &s));
	GO(wait(&kb, &r));
	assert_int_equal(r.length, 60000);
	assert_int_equal(r.tag, 7);
	assert_memory_equal(buf, data, 60000);
	kb.fetches = false;
	from.length = 9;
	GO(o2gk_isend(ka.ep, 1, 8, &from, 1, &s2));
	GO(wait(&ka, &s2));
	while (mock_run())
		;
	if (!mock.failed)
		assert_int_equal(kb.messages, 2);
	memset(buf, 0, 9);
	GO(o2gk_irecv(kb.ep, 0, 8, ALL, &to, 1, &r2));
	GO(wait(&kb, &r2));
	assert_memory_equal(buf, data, 9);
	assert_true(kb.messages <= 2);
}

static void o2gk_mrecv__fetches(void **state)
{
	in_all(fetching);
}

/* Callbacks send: a message goes to and fro without anybody else. */
static struct o2gk_request ball[2];
static u32 rounds;

static void returns(struct o2gk_request *req)
{
	struct module *m = req->context;
	struct o2gk_seg to = kernel_seg(buf + (m == &ka ? 0 : 64), 8);
	static struct o2gk_request out[2];
	struct o2gk_request *s = &out[m == &kb];

	if (req->status || ++rounds == 40)
		return;
	*s = (struct o2gk_request){ .flags = O2GK_ATOMIC };
	assert_int_equal(o2gk_irecv(m->ep, O2GK_ANY, 0, 0, &to, 1, req), 0);
	assert_int_equal(o2gk_isend(m->ep, m == &ka, rounds, &to, 1, s), 0);
	assert_int_equal(s->status, 0);
}

static void to_and_fro(void)
{
	struct o2gk_seg to[2] = { kernel_seg(buf, 8), kernel_seg(buf + 64, 8) };
	struct o2gk_seg from = kernel_seg(data, 8);
	static struct o2gk_request s;

	clear(&s, sizeof(s));
	rounds = 0;
	GO(open_both(&no_handler, 0));
	for (int i = 0; i < 2; i++) {
		ball[i] = (struct o2gk_request){ .done = returns,
						 .flags = O2GK_ATOMIC,
						 .context = i ? &kb : &ka };
		GO(o2gk_irecv(i ? kb.ep : ka.ep, O2GK_ANY, 0, 0, &to[i], 1,
			      &ball[i]));
	}
	GO(o2gk_isend(ka.ep, 1, 0, &from, 1, &s));
	while (mock_run())
		;
	assert_int_equal(rounds, 40);
	assert_memory_equal(buf, data, 8);
}

static void o2gk_isend__in_callbacks(void **state)
{
	body = to_and_fro;
	world_run(with_modules);
}

/* A very short one leaves at once, and so does what its callback sends. */
static struct o2gk_request second;
static int second_err;

static void sends_another(struct o2gk_request *req)
{
	struct o2gk_seg from = kernel_seg(data + 100, 8);

	if (req->status)
		return;
	second = (struct o2gk_request){ .flags = O2GK_ATOMIC };
	second_err = o2gk_isend(ka.ep, 1, 2, &from, 1, &second);
}

static void lone(void)
{
	struct o2gk_seg to[2] = { kernel_seg(buf, 8), kernel_seg(buf + 8, 8) };
	static struct o2gk_request r[2], first;
	struct o2gk_seg from = kernel_seg(data, 8);

	GO(open_both(&no_handler, 0));
	clear(r, sizeof(r));
	clear(&first, sizeof(first));
	first.done = sends_another;
	GO(o2gk_irecv(kb.ep, 0, 1, ALL, &to[0], 1, &r[0]));
	GO(o2gk_irecv(kb.ep, 0, 2, ALL, &to[1], 1, &r[1]));
	while (mock_run())
		;
	GO(o2gk_isend(ka.ep, 1, 1, &from, 1, &first));
	if (!mock.failed && !mock.near) { /* no worker was needed for either */
		assert_int_equal(ka.ep->stats.tx_caller, 2);
		assert_int_equal(ka.ep->stats.tx_worker, 0);
	}
	GO(second_err);
	GO(wait(&kb, &r[0]));
	GO(wait(&kb, &r[1]));
	assert_memory_equal(buf, data, 8);
	assert_memory_equal(buf + 8, data + 100, 8);
}

static void o2gk_isend__leaves_at_once(void **state)
{
	in_all(lone);
}

/* --- peers --- */

static void again(void)
{
	struct o2gk_seg to = kernel_seg(buf, 8), from = kernel_seg(data, 8);

	GO(open_one(&ka, 0, &no_handler, 0));
	GO(open_one(&kb, 1, &no_handler, 0));
	for (u32 i = 0; i < 3; i++) {
		static struct o2gk_request r, r2, s;

		clear(&r, sizeof(r));
		clear(&r2, sizeof(r2));
		clear(&s, sizeof(s));
		GO(join());
		GO(o2gk_irecv(kb.ep, 0, i, ALL, &to, 1, &r));
		GO(o2gk_irecv(kb.ep, 0, 77, ALL, &to, 1, &r2));
		GO(o2gk_isend(ka.ep, 1, i, &from, 1, &s));
		GO(wait(&ka, &s));
		GO(wait(&kb, &r));
		GO(o2gk_disconnect(ka.ep, 1));
		assert_int_equal(o2gk_wait_end(kb.ep, &r2), -ECONNRESET);
		while (mock_run())
			;
		assert_int_equal(ka.lost, 0);
		assert_int_equal(kb.lost, i + 1);
		assert_int_equal(kb.connected, i + 1);
		assert_false(o2gk_is_connected(kb.ep, 0));
	}
}

static void o2gk_attach__again(void **state)
{
	in_all(again);
}

/* A module and a process. */
static void with_a_process(void)
{
	struct o2gk_seg to = kernel_seg(buf + 4096, 50000);
	static struct o2gk_request r, s;

	clear(&r, sizeof(r));
	clear(&s, sizeof(s));
	GO(open_one(&ka, 0, &no_handler, 0));
	GO(end_open(&b, 1, 16));
	mock_tcp_pair(fds);
	GO(attach(&ka, 1, fds[0]));
	GO(end_register(&b, 0, fds[1]));
	world_close_fds();
	GO(o2gk_irecv(ka.ep, 1, 1, ALL, &to, 1, &r));
	TRY(end_send(&b, 1, 1, 50000));
	GO(wait(&ka, &r));
	assert_memory_equal(buf + 4096, data, 50000);
	to.addr = data;
	GO(o2gk_isend(ka.ep, 1, 2, &to, 1, &s));
	TRY(end_recv(&b, 2, 2, 50000));
	TRY(end_got(&b, 2, 2, 50000));
	GO(wait(&ka, &s));
}

static void o2gk_isend__to_a_process(void **state)
{
	body = with_a_process;
	world_run(with_modules);
}

/* --- connections of their own --- */

static const u8 secret[O2GK_SECRET] = "the secret of this job, 32 byte";
static const u8 wrong[O2GK_SECRET] = "the secret of that job, 32 byte";

static int open_with(struct module *m, u32 rank, const u8 *key)
{
	struct o2gk_config c = { .rank = rank,
				 .size = 4,
				 .gfp = GFP_NOFS,
				 .secret = key,
				 .job = "job" };
	struct o2gk_ep *ep = o2gk_open(&mock_net, &c, &owner, m);

	if (IS_ERR(ep))
		return PTR_ERR(ep);
	m->ep = ep;
	return 0;
}

static struct sockaddr_storage at(int port)
{
	return (struct sockaddr_storage){ .ss_family = AF_INET,
					  .port = ntohs((u16)port) };
}

static int listen_at(struct module *m, int port)
{
	struct sockaddr_storage a = at(port);

	return o2gk_listen(m->ep, (void *)&a, 16);
}

static int connect_to(struct module *m, u32 peer, int port)
{
	struct sockaddr_storage a = at(port);

	return o2gk_connect(m->ep, peer, (void *)&a, 16, 10000);
}

static int pass_ball(struct module *from, struct module *to, u64 tag)
{
	struct o2gk_seg out = kernel_seg(data, 5000),
			in = kernel_seg(buf, 5000);
	static struct o2gk_request r, s;
	int err;

	clear(&r, sizeof(r));
	clear(&s, sizeof(s));
	memset(buf, 0, 5000);
	err = o2gk_isend(from->ep, from == &ka, tag, &out, 1, &s);
	if (!err)
		err = o2gk_irecv(to->ep, O2GK_ANY, tag, ALL, &in, 1, &r);
	if (!err)
		err = o2gk_wait(to->ep, &r, 1000);
	if (!err)
		err = o2gk_wait(from->ep, &s, 1000);
	if (!err)
		assert_memory_equal(buf, data, 5000);
	return err;
}

/* What a failure may look like that is not of memory, nor known by its own number. */
static bool is_over_dialling(int err)
{
	if (err < 0 && mock.failed &&
	    (err == -ENOMEM || err == -EALREADY || err == -ENOTCONN ||
	     err == -ECONNRESET || err == -EKEYREJECTED || err == -ETIME))
		return true;
	return is_over(err);
}

#define MEET(call)                            \
	do {                                  \
		if (is_over_dialling((call))) \
			return;               \
	} while (0)

/* One listens, the other dials; the connection is lost, and made again. */
static void dialled(void)
{
	int port;

	MEET(open_with(&ka, 0, secret));
	MEET(open_with(&kb, 1, secret));
	port = listen_at(&ka, 0);
	MEET(port);
	for (u32 i = 0; i < 3; i++) {
		MEET(connect_to(&kb, 0, port));
		assert_true(kb.connected == i + 1 || mock.failed);
		MEET(pass_ball(&kb, &ka, i));
		MEET(pass_ball(&ka, &kb, i));
		assert_int_equal(connect_to(&kb, 0, port), -EISCONN);
		assert_true(ka.connected == i + 1 || mock.failed);
		if (i == 1)
			MEET(o2gk_disconnect(ka.ep, 1));
		else
			MEET(o2gk_disconnect(kb.ep, 0));
		mock_pass(1000);
		assert_false(o2gk_is_connected(ka.ep, 1));
		assert_true(ka.lost + kb.lost == i + 1 || mock.failed);
	}
}

static void o2gk_connect__and_again(void **state)
{
	in_all(dialled);
}

static void dial_refusals(void)
{
	struct sockaddr_storage a = at(77);
	int port, silent = mock_serve(77);

	assert_int_equal(open_one(&ka, 0, &owner, 0), 0);
	assert_int_equal(listen_at(&ka, 0), -ENOKEY);
	assert_int_equal(connect_to(&ka, 1, 5), -ENOKEY);
	close_one(&ka);
	assert_int_equal(open_with(&ka, 0, secret), 0);
	assert_int_equal(open_with(&kb, 1, wrong), 0);
	port = listen_at(&ka, 0);
	assert_true(port > 0);
	assert_int_equal(listen_at(&ka, 0), -EALREADY);
	assert_int_equal(o2gk_listen(ka.ep, (void *)&a, 3), -EINVAL);
	assert_int_equal(o2gk_connect(ka.ep, 1, (void *)&a, 3, 1), -EINVAL);
	assert_int_equal(connect_to(&ka, 0, port), -EINVAL);
	assert_int_equal(connect_to(&ka, 4, port), -EINVAL);
	assert_int_equal(connect_to(&kb, 2, 99), -ECONNREFUSED);
	assert_int_equal(connect_to(&kb, 2, 77), -ETIMEDOUT);
	/* Nobody waits for the whole time to learn that. */
	assert_int_equal(connect_to(&kb, 0, port), -EKEYREJECTED);
	close_one(&kb);
	assert_int_equal(open_with(&kb, 1, secret), 0);
	assert_int_equal(connect_to(&kb, 2, port), -ENXIO);
	assert_int_equal(connect_to(&kb, 0, port), 0);
	assert_int_equal(ka.connected, 1);
	assert_int_equal(kb.connected, 1);
	mock_unserve(silent);
}

static void o2gk_connect__refused(void **state)
{
	body = dial_refusals;
	world_run(with_modules);
}

/* Nothing is left of a call that was killed in the middle. */
static void killed(void)
{
	struct sockaddr_storage a = at(77);

	assert_int_equal(open_with(&ka, 0, secret), 0);
	mock.silent = mock.signal = true;
	assert_int_equal(o2gk_connect(ka.ep, 1, (void *)&a, 16, 0), -EINTR);
	assert_false(mock_timers());
	mock.signal = false;
	assert_int_equal(connect_to(&ka, 1, 77), -ETIMEDOUT);
}

static void o2gk_connect__killed(void **state)
{
	body = killed;
	world_run(with_modules);
}

/* --- registered memory --- */

static void put_and_get(void)
{
	struct o2gk_seg mem[2] = { kernel_seg(buf, 30000),
				   kernel_seg(buf + 30000, 10000) };
	struct o2gk_seg from = kernel_seg(data, 20000);
	struct o2gk_seg to = kernel_seg(buf + 50000, 20000);
	static struct o2gk_request p, g, bad;
	u64 key;
	int err;

	clear(&p, sizeof(p));
	clear(&g, sizeof(g));
	clear(&bad, sizeof(bad));
	GO(open_both(&no_handler, 0));
	GO(o2gk_reg(kb.ep, mem, 2, O2GK_READ | O2GK_WRITE, &key));
	GO(o2gk_put(ka.ep, 1, key, 15000, &from, 1, &p));
	GO(wait(&ka, &p));
	assert_memory_equal(buf + 15000, data, 20000);
	GO(o2gk_get(ka.ep, 1, key, 15000, &to, 1, &g));
	GO(wait(&ka, &g));
	assert_memory_equal(buf + 50000, data, 20000);
	assert_int_equal(o2gk_dereg(kb.ep, key), 0);
	GO(o2gk_put(ka.ep, 1, key, 0, &from, 1, &bad));
	err = wait(&ka, &bad);
	if (!mock.failed)
		assert_int_equal(err, -ENOENT);
}

static void o2gk_put__and_get(void **state)
{
	in_all(put_and_get);
}

/* A module has no handlers for a process to call: that ends the connection. */
/* Before 6.2 a page that is only read may not stay the process's: not if it was never
 * written to. */
static void to_be_read(void)
{
	struct o2gk_seg mem = { .kind = O2GK_USER,
				.user = buf,
				.mm = &mock_mm,
				.length = 10000 };
	u64 key;

	GO(open_one(&ka, 0, &no_handler, 0));
	for (u32 old = 0; old < 2; old++) {
		mock.pins_move = old;
		GO(o2gk_reg(ka.ep, &mem, 1, O2GK_READ, &key));
		assert_int_equal(mock.pin_flags,
				 FOLL_LONGTERM | (old ? FOLL_WRITE : 0));
		assert_int_equal(o2gk_dereg(ka.ep, key), 0);
		GO(o2gk_reg(ka.ep, &mem, 1, O2GK_WRITE, &key));
		assert_int_equal(mock.pin_flags, FOLL_LONGTERM | FOLL_WRITE);
		assert_int_equal(o2gk_dereg(ka.ep, key), 0);
	}
}

static void o2gk_reg__to_be_read(void **state)
{
	body = to_be_read;
	world_run(with_modules);
}

static void calls_a_module(void)
{
	struct o2gd_sqe q = { .op = O2GD_OP_SEND,
			      .flags = O2GD_SERVED,
			      .slot = 1,
			      .addr = (uintptr_t)data,
			      .len = 8 };

	GO(open_one(&ka, 0, &no_handler, 0));
	GO(end_open(&b, 1, 16));
	mock_tcp_pair(fds);
	GO(attach(&ka, 1, fds[0]));
	GO(end_register(&b, 0, fds[1]));
	world_close_fds();
	assert_true(end_call(&b, O2GD_SUBMIT, &q) >= 0);
	while (mock_run())
		;
	assert_int_equal(ka.lost, 1);
}

static void o2gk_open__has_no_handlers(void **state)
{
	body = calls_a_module;
	world_run(with_modules);
}

/* --- memory of a module that its peer, a process, reads --- */

static struct o2gk_request lent;

/* The module sends it so much; none of the process's memory is pinned. */
static void open_lent(u64 len)
{
	mock.no_pins = true;
	mock.near = true;
	clear(&lent, sizeof(lent));
	lent.done = on_done;
	assert_int_equal(open_one(&ka, 0, &no_handler, 0), 0);
	assert_int_equal(end_open(&b, 1, 16), 0);
	mock_tcp_pair(fds);
	assert_int_equal(attach(&ka, 1, fds[0]), 0);
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	world_close_fds();
	mock_run();
	assert_int_equal(end_recv(&b, 2, 2, len), 0);
}

static void send_lent(u64 len)
{
	struct o2gk_seg from = kernel_seg(data, len);

	assert_int_equal(o2gk_isend(ka.ep, 1, 2, &from, 1, &lent), 0);
}

static void lent_is_over(void)
{
	struct o2gd_cqe c;

	assert_int_equal(ended, 1);
	assert_int_equal(lent.status, -ECONNRESET);
	assert_int_equal(end_next(&b, &c), 0);
	assert_int_equal(c.status, -O2G_ERR_PEER);
}

/* What o2gk_disconnect() does, but for waiting until nobody reads it any more. */
static void leave_by_another_thread(void)
{
	struct task_struct *was = mock_task;

	mock_as(&mock_mm, 1000);
	mutex_lock(&ka.ep->mutex);
	assert_int_equal(o2gk_peer_forget(ka.ep, 1), 0);
	mutex_unlock(&ka.ep->mutex);
	mock_task = was;
}

/* A worker copies it to memory of which a page may never come: it is killed, and goes on
 * with what others have sent. */
static void leave_in_between(void)
{
	mock.may_kill = true;
	leave_by_another_thread();
	mock.may_kill = false;
	assert_int_equal(mock.kills, 1);
	assert_int_equal(ended, 0); /* it is still being read */
}

static void leave_while_copied(u64 len)
{
	open_lent(len);
	mock.on_copy = leave_in_between;
	send_lent(len);
	mock_run();
	assert_null(mock.on_copy);
	lent_is_over();
}

static void leave_a_long_one(void)
{
	leave_while_copied(50000);
}

static void leave_mail(void)
{
	leave_while_copied(10000);
}

/* A worker has it, and waits for memory of the process's cgroup. */
static void leave_the_hungry(void)
{
	if (ended)
		return;
	leave_by_another_thread();
	assert_int_equal(ended, 1);
	mock.refuse_longer = 0;
}

static void leave_while_starved(void)
{
	struct o2gk_ep *ep;

	open_lent(50000);
	ep = b.file.private_data;
	ep->file.dump_free = 0;
	mock.refuse_longer = 2048;
	mock.on_wait = leave_the_hungry;
	send_lent(50000);
	mock_run();
	lent_is_over();
}

/* It is left to a worker, which has something else to do. */
static void leave_before(void)
{
	open_lent(10000);
	send_lent(10000);
	assert_int_equal(ended, 0);
	assert_int_equal(o2gk_disconnect(ka.ep, 1), 0);
	lent_is_over();
}

static void o2gk_disconnect__while_read(void **state)
{
	static void (*const ways[])(void) = { leave_a_long_one, leave_mail,
					      leave_while_starved,
					      leave_before };

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		body = ways[i];
		world_run(with_modules);
	}
}

/* The other end gives up, closes, while this one has requests and memory registered. */
static void closing(void)
{
	struct o2gk_seg from = kernel_seg(data, 70000), to = from;
	static struct o2gk_request s[3], r;
	u64 key;

	clear(s, sizeof(s));
	clear(&r, sizeof(r));
	to.addr = buf;
	GO(open_both(&no_handler, 0));
	GO(o2gk_reg(kb.ep, &to, 1, O2GK_WRITE, &key));
	for (u32 i = 0; i < 3; i++) {
		s[i].done = on_done;
		GO(o2gk_isend(ka.ep, 1, i, &from, 1, &s[i]));
	}
	GO(o2gk_irecv(kb.ep, 0, 2, ALL, &to, 1, &r));
	close_one(&ka);
	assert_int_equal(ended, 3);
	o2gk_wait_end(kb.ep, &r);
	assert_true(r.status == 0 || r.status == -ECONNRESET);
}

static void o2gk_close__under_way(void **state)
{
	in_all(closing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(o2gk_irecv__posted),
		cmocka_unit_test(o2gk_irecv__unexpected),
		cmocka_unit_test(o2gk_seg__kinds),
		cmocka_unit_test(o2gk_isend__copies),
		cmocka_unit_test(o2gk_isend__refused),
		cmocka_unit_test(o2gk_request__ends),
		cmocka_unit_test(o2gk_owner__answers),
		cmocka_unit_test(o2gk_mrecv__fetches),
		cmocka_unit_test(o2gk_isend__in_callbacks),
		cmocka_unit_test(o2gk_isend__leaves_at_once),
		cmocka_unit_test(o2gk_attach__again),
		cmocka_unit_test(o2gk_isend__to_a_process),
		cmocka_unit_test(o2gk_connect__and_again),
		cmocka_unit_test(o2gk_connect__refused),
		cmocka_unit_test(o2gk_connect__killed),
		cmocka_unit_test(o2gk_put__and_get),
		cmocka_unit_test(o2gk_reg__to_be_read),
		cmocka_unit_test(o2gk_open__has_no_handlers),
		cmocka_unit_test(o2gk_disconnect__while_read),
		cmocka_unit_test(o2gk_close__under_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
