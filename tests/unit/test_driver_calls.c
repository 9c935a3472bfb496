/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The driver's calls with wrong arguments, and its sockets in all they can do. */
#include "unit.h"

#include "dev.h"
#include "o2gk.h"
#include "world.h"

static struct o2gk_ep *ep_of(struct end *e)
{
	return e->file.private_data;
}

/* The next completion says that the peer is lost, and why. */
static void lost(struct end *e, enum o2gd_lost why)
{
	struct o2gd_cqe c;

	do
		assert_int_equal(end_next(e, &c), 0);
	while (c.slot != O2GD_SLOT_PEER);
	assert_int_equal(c.tag, why);
}

/* --- set-up --- */

static void setup(void)
{
	struct vm_area_struct vma = { .vm_end = PAGE_SIZE,
				      .vm_flags = VM_SHARED };
	poll_table t;
	u32 n = 1 << 30;

	assert_int_equal(end_open(&a, 2, 16), -EINVAL); /* no such rank */
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), -EBADFD);
	assert_int_equal(o2gk_fops.mmap(&a.file, &vma), -EBADFD);
	assert_true(o2gk_fops.poll(&a.file, &t) & EPOLLERR);
	end_close(&a);
	assert_int_equal(end_open(&a, 0, 16), 0);
	assert_int_equal(end_call(&a, O2GD_SETUP, &a.s), -EBUSY);
	assert_int_equal(end_call(&a, O2GD_SETUP, NULL), -EFAULT);
	assert_int_equal(end_call(&a, O2GD_GROW, &n), -E2BIG);
	assert_int_equal(o2gk_fops.mmap(&a.file, &vma), -EINVAL);
	vma.vm_end = a.s.map_size;
	vma.vm_flags |= VM_EXEC;
	assert_int_equal(o2gk_fops.mmap(&a.file, &vma), -EINVAL);
	assert_int_equal(end_call(&a, 0xf2ff, NULL), -ENOTTY);
	mock_as(&mock_other_mm, 1000);
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), -EBADFD);
	mock_as(&mock_mm, 1000);
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), 0);
}

static void setup__refuses(void **state)
{
	world_run(setup);
}

/* --- memory --- */

static void pieces(void)
{
	struct iovec v[2] = { { buf, 5000 }, { buf + 5000, 5000 } };
	struct o2gd_sqe e = { .op = O2GD_OP_RECV,
			      .slot = 1,
			      .nsegs = 2,
			      .addr = (uintptr_t)v,
			      .len = 10000 };

	assert_int_equal(end_open(&b, 1, 16), 0);
	e.len = 9999;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), -EFAULT);
	e.len = 10000, v[1].iov_len = SIZE_MAX - 100;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), -EFAULT);
	v[1].iov_len = 5000, e.nsegs = O2GD_MAX_SEGS + 1;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), -EINVAL);
	e.nsegs = 2, e.addr = 8;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), -EFAULT);
	e.addr = (uintptr_t)v, e.slot = 9999;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), -EINVAL);
	e.slot = 1;
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), 0);
	assert_int_equal(end_call(&b, O2GD_SUBMIT, &e), -EBUSY);
	assert_int_equal(mock.pinned,
			 4); /* 5000 bytes touch two pages, or so */
	/* An address that cannot be pinned is found out when data comes. */
	assert_int_equal(end_submit(&b, O2GD_OP_SEND, 3, 0, (void *)8, 100),
			 -EFAULT);
}

static void o2gk_iov_import__refuses(void **state)
{
	world_run(pieces);
}

/* What peers only read stays clean. */
static void access(void)
{
	struct o2gd_mem m = { .addr = (uintptr_t)data,
			      .len = 8192,
			      .access = O2GD_READ,
			      .key = 7 };
	struct o2gd_sqe e = { .op = O2GD_OP_PUT,
			      .peer = 1,
			      .key = 7,
			      .slot = 2,
			      .addr = (uintptr_t)data,
			      .len = 8 };

	assert_int_equal(world_open(), 0);
	m.key = 0;
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &m), -EINVAL);
	m.key = 7, m.access = 4;
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &m), -EINVAL);
	m.access = O2GD_READ, m.len = ~0ull;
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &m), -EFAULT);
	m.len = 8192;
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &m), 0);
	assert_int_equal(end_call(&b, O2GD_MEM_ADD, &m), -EEXIST);
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &e), 0);
	assert_int_equal(end_done(&a, 2), -EACCES);
	e.op = O2GD_OP_GET, e.offset = 8190;
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &e), 0);
	assert_int_equal(end_done(&a, 2), -ERANGE);
	e.offset = ~0ull;
	assert_int_equal(end_call(&a, O2GD_SUBMIT, &e), 0);
	assert_int_equal(end_done(&a, 2), -ERANGE);
	assert_int_equal(end_call(&b, O2GD_MEM_DROP, &m.key), 0);
	assert_int_equal(end_call(&b, O2GD_MEM_DROP, &m.key), -ENOENT);
	assert_int_equal(end_call(&b, O2GD_KICK, NULL), 0);
	assert_int_equal(mock.dirtied, 0);
}

static void o2gk_mem_find__refuses(void **state)
{
	world_run(access);
}

/* --- sockets --- */

static void foreign(void)
{
	int more[2];
	struct sock *sk;

	assert_int_equal(end_open(&a, 0, 16), 0);
	mock_tcp_pair(fds);
	mock_tcp_pair(more);
	sk = mock_sock(fds[0]);
	assert_int_equal(end_register(&a, 1, 99), -EBADF);
	assert_int_equal(end_register(&a, 2, fds[0]), -EINVAL);
	sk->sk_protocol = 17;
	assert_int_equal(end_register(&a, 1, fds[0]), -EPROTOTYPE);
	sk->sk_protocol = IPPROTO_TCP;
	sk->net = &mock_other_net;
	assert_int_equal(end_register(&a, 1, fds[0]), -EXDEV);
	sk->net = &mock_net;
	sk->sk_user_data = sk;
	assert_int_equal(end_register(&a, 1, fds[0]), -EBUSY);
	sk->sk_user_data = NULL;
	sk->icsk_ulp_ops = (void *)sk;
	assert_int_equal(end_register(&a, 1, fds[0]), -EBUSY);
	sk->icsk_ulp_ops = NULL;
	sk->sk_state = TCP_CLOSE;
	assert_int_equal(end_register(&a, 1, fds[0]), -ENOTCONN);
	sk->sk_state = TCP_ESTABLISHED;
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	assert_int_equal(end_register(&a, 1, more[0]), -EISCONN);
	mock_close(more[0]), mock_close(more[1]);
}

static void o2gk_sock_register__refuses(void **state)
{
	world_run(foreign);
}

/* Its owner finds everything as it was, and hears of what is left to read. */
static void given_back(void)
{
	struct sock *sk;

	assert_int_equal(end_open(&a, 0, 16), 0);
	mock_tcp_pair(fds);
	sk = mock_sock(fds[0]);
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	mock_write(mock_sock(fds[1]), "", 1); /* a header has begun */
	end_close(&a);
	assert_int_equal(sk->native, 1);
	mock_write(mock_sock(fds[1]), "hello", 5);
	assert_int_equal(sk->native, 2);
	assert_int_equal(sk->rx_len, 5);
}

static void o2gk_sock_release_all__gives_back(void **state)
{
	world_run(given_back);
}

/* --- receiving --- */

static size_t cut;

static void in_small_pieces(void)
{
	mock.segment = cut;
	assert_int_equal(world_open(), 0);
	for (u32 i = 0; i < 3; i++) {
		static const u64 len[] = { 0, 13, 5000 };

		assert_int_equal(end_recv(&b, i, i, len[i]), 0);
		assert_int_equal(end_send(&a, i, i, len[i]), 0);
		assert_int_equal(end_got(&b, i, i, len[i]), 0);
		assert_int_equal(end_send(&a, i, i, len[i]), 0);
		assert_int_equal(end_recv(&b, i, i, len[i]), 0);
		assert_int_equal(end_got(&b, i, i, len[i]), 0);
	}
}

static void o2gk_rx_run__every_cut(void **state)
{
	for (cut = 1; cut < 120; cut++)
		world_run(in_small_pieces);
}

/* Softirq copies so much in a tick and no more; then a worker goes on. */
static void long_message(void)
{
	struct o2gd_info i;

	mock.send_space = 2 << 20;
	mock.later = true;
	assert_int_equal(world_open(), 0);
	ep_of(&a)->core.data_chunk = WORLD_BYTES;
	assert_int_equal(end_recv(&b, 1, 1, WORLD_BYTES), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, WORLD_BYTES),
			 0);
	assert_int_equal(end_got(&b, 1, 1, WORLD_BYTES), 0);
	assert_int_equal(end_info(&b, &i), 0);
	assert_int_equal(i.rx_bytes_softirq, O2GK_RX_SOFTIRQ);
	assert_int_equal(i.rx_bytes_worker, WORLD_BYTES - O2GK_RX_SOFTIRQ);
}

static void o2gk_rx_run__bounded(void **state)
{
	world_run(long_message);
}

static void garbage(void)
{
	static const char text[] =
		"GET / HTTP/1.0\r\nHost: a place far away and long\r\n\r\n";
	struct o2gd_info i;

	assert_int_equal(end_open(&a, 0, 16), 0);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&a, 1, fds[0]), 0);
	assert_int_equal(end_recv(&a, 5, 1, 100), 0);
	mock_write(mock_sock(fds[1]), text, sizeof(text));
	lost(&a, O2GD_LOST_HEADER);
	assert_int_equal(end_info(&a, &i), 0);
	assert_int_equal(i.refused_headers, 1);
	/* The stranger is told, and nothing of him is read any more. */
	assert_true(mock_sock(fds[1])->sk_shutdown & RCV_SHUTDOWN);
	mock_write(mock_sock(fds[1]), text, sizeof(text));
	assert_int_equal(end_info(&a, &i), 0);
	assert_int_equal(i.refused_headers, 1);
}

static void o2gk_rx_run__garbage(void **state)
{
	world_run(garbage);
}

static void reset(void)
{
	assert_int_equal(world_open(), 0);
	assert_int_equal(end_recv(&a, 1, 1, 100), 0);
	mock_reset(mock_sock(fds[0]));
	lost(&a, O2GD_LOST_ERROR);
	assert_int_equal(end_register(&a, 1, fds[0]), -ENOTCONN);
}

static void o2gk_peer_lost__reset(void **state)
{
	world_run(reset);
}

/* --- sending --- */

static int send_error;

static void send_fails(void)
{
	struct o2gd_cqe c;

	assert_int_equal(world_open(), 0);
	mock_run(); /* no worker has anything to do that would send it */
	mock.send_error = send_error;
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, 20000), 0);
	/* TCP also says EAGAIN when it has no memory, and if nothing is on its way then
	 * it has nothing to tell us later. */
	if (send_error == -EAGAIN || send_error == -ENOMEM ||
	    send_error == -ENOBUFS) {
		assert_int_equal(end_done(&a, 1), 0);
	} else {
		assert_int_equal(end_next(&a, &c), 0);
		assert_int_equal(c.status, -O2G_ERR_PEER);
		lost(&a, O2GD_LOST_ERROR);
	}
}

static void o2gk_tx_push__errors(void **state)
{
	static const int errors[] = { -EAGAIN, -ENOMEM, -ENOBUFS,
				      -EPIPE,  -EFAULT, -ETIMEDOUT };

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		send_error = errors[i];
		world_run(send_fails);
	}
}

/* A long message is on its way when its process dies. */
static void dies(void)
{
	mock.send_space = 3000;
	mock.later = true;
	assert_int_equal(world_open(), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, 30000), 0);
	mock_mm.users = 0;
	mock_net_run();
	mock_run();
	lost(&a, O2GD_LOST_LOCAL);
	lost(&b, O2GD_LOST_CLOSED);
}

/* Its memory is still there, which somebody waits for: workers do not touch it. */
static void ends(void)
{
	mock.send_space = 3000;
	mock.later = true;
	assert_int_equal(world_open(), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 1, data, 30000), 0);
	o2gk_fops.flush(&a.file, NULL); /* a copy of it is closed: nothing */
	assert_false(ep_of(&a)->recalled);
	mock_process_ends(true);
	o2gk_fops.flush(&a.file, NULL);
	mock_process_ends(false);
	mock_net_run();
	mock_run();
	lost(&a, O2GD_LOST_LOCAL);
	lost(&b, O2GD_LOST_CLOSED);
}

static void o2gk_recall__process_ends(void **state)
{
	world_run(ends);
}

/* Nothing is under way, and a child has a descriptor: the peer is told all the same. */
static void ends_idle(void)
{
	assert_int_equal(world_open(), 0);
	mock_process_ends(true);
	o2gk_fops.flush(&a.file, NULL);
	mock_process_ends(false);
	mock_run();
	lost(&a, O2GD_LOST_LOCAL);
	lost(&b, O2GD_LOST_CLOSED);
}

static void o2gk_doom_all__process_ends(void **state)
{
	world_run(ends_idle);
}

/* Another program in the same process has other memory. */
static void execs(void)
{
	assert_int_equal(world_open(), 0);
	mock_as(&mock_other_mm, 1000);
	o2gk_fops.flush(&a.file, NULL);
	mock_as(&mock_mm, 1000);
	assert_true(ep_of(&a)->recalled && !ep_of(&b)->recalled);
}

static void o2gk_is_orphan__execs(void **state)
{
	world_run(execs);
}

static void o2gk_tx_push__process_dies(void **state)
{
	world_run(dies);
}

/* --- looking --- */

static void strangers(void)
{
	struct o2gd_list_entry e[2];
	struct o2gd_list l = { .max = 2,
			       .addr = (uintptr_t)e,
			       .entry = sizeof(e[0]) };
	struct o2gd_look q = { .entry = 64 };

	assert_int_equal(end_open(&a, 0, 16), 0);
	mock.privileged = false;
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	assert_int_equal(l.count, 1);
	assert_int_equal(end_call(&a, O2GD_QUEUES, &q), -ESRCH);
	q.id = e[0].id;
	assert_int_equal(end_call(&a, O2GD_QUEUES, &q), 0);
	assert_int_equal(end_call(&a, O2GD_PAPER_SOCKS, &q), 0);
	assert_int_equal(q.count, 0);
	mock_as(&mock_other_mm, 1001);
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	assert_int_equal(l.count, 0);
	assert_int_equal(end_call(&a, O2GD_QUEUES, &q), -ESRCH);
	assert_int_equal(end_call(&a, O2GD_PAPER_SOCKS, &q), -ESRCH);
	mock.privileged = true;
	assert_int_equal(end_call(&a, O2GD_QUEUES, &q), 0);
	q.max = O2GD_MAX_LOOK + 1;
	assert_int_equal(end_call(&a, O2GD_QUEUES, &q), -EINVAL);
	mock_as(&mock_mm, 1000);
}

/* The user has started it, but it has other rights. */
static void privileged_program(void)
{
	struct o2gd_list l = { .entry = 8 };

	mock.setuid = true;
	assert_int_equal(end_open(&a, 0, 16), 0);
	mock.setuid = mock.privileged = false;
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	assert_int_equal(l.count, 0);
	mock.privileged = true;
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	assert_int_equal(l.count, 1);
}

/* Programs that know less of a struct than the driver does, or more. */
static void sizes(void)
{
	struct {
		struct o2gd_peer_info i;
		u64 more[2];
	} p = { .i.peer = 1, .more = { 0, 7 } };
	const unsigned int known = sizeof(p.i);

#define SIZED(n) _IOC(_IOC_READ | _IOC_WRITE, O2GD_IOC, 16, n)
	assert_int_equal(SIZED(known), O2GD_PEER_INFO);
	assert_int_equal(world_open(), 0);
	p.i.queued = 99;
	assert_int_equal(end_call(&a, SIZED(8), &p), 0);
	assert_int_equal(p.i.state, O2GD_PEER_OPEN);
	assert_int_equal(p.i.queued, 99); /* there was no room for it */
	assert_int_equal(end_call(&a, SIZED(known + 8), &p), 0);
	assert_int_equal(p.i.queued, 0);
	assert_int_equal(end_call(&a, SIZED(known + 16), &p), -E2BIG);
	p.more[1] = 0;
	assert_int_equal(end_call(&a, SIZED(known + 16), &p), 0);
	assert_int_equal(end_call(&a, SIZED(0), &p), -ENOTTY);
	assert_int_equal(end_call(&a, _IOC(_IOC_READ, O2GD_IOC, 16, known), &p),
			 -ENOTTY);
	assert_int_equal(end_call(&a, _IOC(_IOC_WRITE, O2GD_IOC, 2, 8), &p),
			 -ENOTTY); /* O2GD_GROW takes a number */
}

static void file_ioctl__sizes(void **state)
{
	world_run(sizes);
}

/* ... and of the entries of a list. */
static void entries(void)
{
	struct o2gd_list l = { .max = 2 };
	unsigned char to[2 * 100];
	struct o2gd_list_entry e;

	assert_int_equal(world_open(), 0);
	l.addr = (uintptr_t)to;
	assert_int_equal(end_call(&a, O2GD_LIST, &l), -EINVAL);
	l.entry = 100;
	memset(to, 0xff, sizeof(to));
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	assert_int_equal(l.count, 2);
	memcpy(&e, to + 100, sizeof(e));
	assert_int_equal(e.rank, 1);
	for (size_t i = sizeof(e); i < 100; i++)
		assert_int_equal(to[i], 0);
	l.entry = 16;
	memset(to, 0xff, sizeof(to));
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	memcpy(&e, to + 16, 16);
	assert_int_equal(e.rank, 1);
	assert_int_equal(to[32], 0xff);
	l.entry = 4097;
	assert_int_equal(end_call(&a, O2GD_LIST, &l), -EINVAL);
}

static void o2gk_look_list__entries(void **state)
{
	world_run(entries);
}

/* Each has a name of its own; of a peer, and of what there is not. */
static void names(void)
{
	static struct o2gd_counter all[100];
	struct o2gd_counters c = { .peer = O2GD_ANY,
				   .entry = sizeof(all[0]),
				   .max = 100,
				   .addr = (uintptr_t)all };

	assert_int_equal(world_open(), 0);
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	assert_int_equal(end_call(&a, O2GD_COUNTERS, &c), 0);
	assert_int_equal(c.count, sizeof(struct o2gd_info) / 8);
	for (u32 i = 0; i < c.count; i++) {
		assert_true(strlen(all[i].name) < O2GD_NAME && *all[i].name);
		for (u32 k = 0; k < i; k++)
			assert_string_not_equal(all[i].name, all[k].name);
	}
	assert_string_equal(all[4].name, "messages_sent");
	assert_int_equal(all[4].value, 1);
	c.peer = 1;
	assert_int_equal(end_call(&a, O2GD_COUNTERS, &c), 0);
	assert_int_equal(all[4].value, 1);
	c.max = 1;
	all[1].value = 55;
	assert_int_equal(end_call(&a, O2GD_COUNTERS, &c), 0);
	assert_int_equal(all[1].value, 55);
	assert_true(c.count > 1);
	c.peer = 2;
	assert_int_equal(end_call(&a, O2GD_COUNTERS, &c), -ENOENT);
	c.id = 12345;
	assert_int_equal(end_call(&a, O2GD_COUNTERS, &c), -ESRCH);
	c.entry = 0;
	assert_int_equal(end_call(&a, O2GD_COUNTERS, &c), -EINVAL);
}

static void o2gk_look_counters__names(void **state)
{
	world_run(names);
}

static void look__strangers(void **state)
{
	world_run(strangers);
	world_run(privileged_program);
}

/* --- one process and another --- */

/* All workers of one wait for its pages; what another needs workers for is done. */
static void blocked(void)
{
	struct workqueue_struct *wq;

	assert_int_equal(world_open(), 0);
	wq = ep_of(&a)->wq;
	wq->blocked = true;
	mock.no_pins = true;
	assert_int_equal(end_recv(&b, 1, 1, 9000), 0);
	assert_true(end_submit(&a, O2GD_OP_SEND, 1, 1, data, 9000) >= 0);
	assert_int_equal(end_got(&b, 1, 1, 9000), 0);
	wq->blocked = false;
}

static void workers__of_their_own(void **state)
{
	world_run(blocked);
}

/* A worker waits for a page with the lock of the socket. */
static struct sock *taken;

static struct sock *take_socket(struct end *e)
{
	struct o2gk_peer *p = o2gk_peer_hold(ep_of(e), !e->s.rank);

	taken = p->sk;
	o2gk_peer_put(p);
	ep_of(e)->wq->blocked = true;
	taken->owned = true;
	return taken;
}

static void give_socket(struct end *e)
{
	taken->owned = false;
	ep_of(e)->wq->blocked = false;
}

static void page_comes(void)
{
	if (mock.waits == 3)
		give_socket(&a);
}

/* The workers are killed, and with the process nobody waits for its pages. */
static void process_dies(void)
{
	if (mock.waits == 3)
		mock.dying = true;
	if (ep_of(&a)->recalled)
		give_socket(&a);
}

static void taken_socket(void)
{
	u32 peer = 1;

	assert_int_equal(world_open(), 0);
	assert_int_equal(end_recv(&b, 1, 1, 8), 0);
	assert_int_equal(end_recv(&b, 2, 2, 100), 0);
	take_socket(&a);
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	assert_true(end_submit(&a, O2GD_OP_SEND, 1, 2, data, 100) >= 0);
	give_socket(&a);
	assert_int_equal(end_got(&b, 1, 1, 8), 0);
	assert_int_equal(end_got(&b, 2, 2, 100), 0);
	take_socket(&a);
	mock.on_wait = page_comes;
	assert_int_equal(end_call(&a, O2GD_PEER_DOWN, &peer), 0);
	assert_false(ep_of(&a)->recalled);
	a.lost = b.lost = true;
}

static void taken_for_good(void)
{
	u32 peer = 1;

	assert_int_equal(world_open(), 0);
	take_socket(&a);
	mock.on_wait = process_dies;
	assert_int_equal(end_call(&a, O2GD_PEER_DOWN, &peer), 0);
	assert_true(ep_of(&a)->recalled);
	a.lost = b.lost = true;
}

static void caller__does_not_wait_for_workers(void **state)
{
	world_run(taken_socket);
	world_run(taken_for_good);
}

/* A user's endpoints together, in however many processes. */
static void of_one_user(void)
{
	struct o2gd_list l = { .entry = 8 };

	mock.ram = 400; /* of which a user gets a quarter */
	assert_int_equal(end_open(&a, 0, 16), 0);
	mock_as(&mock_other_mm, 1000);
	assert_int_equal(end_open(&b, 1, 16), -EDQUOT);
	end_close(&b);
	mock_as(&mock_mm, 1001);
	assert_int_equal(end_open(&b, 1, 16), 0);
	end_close(&b);
	mock_as(&mock_mm, 1000);
	assert_int_equal(end_call(&a, O2GD_LIST, &l), 0);
	assert_int_equal(l.count, 1);
	end_close(&a);
	assert_int_equal(end_open(&a, 0, 16), 0);
}

static void user__has_a_limit(void **state)
{
	world_run(of_one_user);
}

#define CROWD 200

/* Many endpoints of a user have few workers each, those of another are not fewer. */
static void crowd(void)
{
	static struct end ends[CROWD];
	unsigned int sum = 0;

	mock.ram = 1 << 24;
	for (u32 i = 0; i < CROWD; i++) {
		assert_int_equal(end_open(&ends[i], 0, 16), 0);
		assert_true(mock.workers >= 1 && mock.workers <= 16);
		assert_true(i > 16 || mock.workers == 16);
		sum += mock.workers;
	}
	assert_true(sum <= 1024 + CROWD);
	assert_int_equal(mock.workers, 1);
	mock_as(&mock_other_mm, 1001);
	assert_int_equal(end_open(&a, 0, 16), 0);
	assert_int_equal(mock.workers, 16);
	end_close(&a);
	mock_as(&mock_mm, 1000);
	for (u32 i = 0; i < CROWD; i++)
		end_close(&ends[i]);
	assert_int_equal(end_open(&a, 0, 16), 0);
	assert_int_equal(mock.workers, 16);
}

static void user__shares_workers(void **state)
{
	world_run(crowd);
}

/* --- registration --- */

/* What is read then may be answered on another socket, which is not locked as well:
 * a receive is in the ring for a message that has been announced there. */
static void answers_elsewhere(void)
{
	struct o2g_hdr rts = { .type = O2G_PKT_RTS,
			       .dst = 1,
			       .tag = 5,
			       .length = 4000,
			       .cookie = 77 };
	struct o2g_hdr eager = { .type = O2G_PKT_EAGER, .src = 2, .dst = 1 };
	int more[2];

	mock.later = true;
	world_size = 3;
	assert_int_equal(end_open(&b, 1, 16), 0);
	mock_tcp_pair(fds);
	mock_tcp_pair(more);
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	world_raw_header(fds[0], &rts);
	mock_run();
	world_raw_header(more[0], &eager);
	b.sq[0] = (struct o2gd_sqe){ .op = O2GD_OP_RECV,
				     .slot = 3,
				     .tag = 5,
				     .len = 4000 };
	b.shared->sq_tail = ++b.sq_tail;
	assert_int_equal(end_register(&b, 2, more[1]), 0);
	mock_run();
	assert_int_equal(mock_sock(fds[0])->rx_len, O2G_HDR_SIZE);
	mock_close(more[0]), mock_close(more[1]);
}

static void o2gk_sock_register__one_lock(void **state)
{
	world_run(answers_elsewhere);
}

/* --- 32-bit programs --- */

/* Their pieces of memory are described with half as many bytes. */
static void compat(void)
{
	struct compat_iovec v[3] = { { 0x11111111, 5 },
				     { 0x22222222, 0 },
				     { 0xf3333333, 7 } };
	struct iovec one, *iov;
	u32 n;

	mock.compat = true;
	assert_int_equal(o2gk_iov_import((uintptr_t)v, 3, 12, &one, &iov, &n),
			 0);
	assert_int_equal(n, 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal((uintptr_t)iov[i].iov_base, v[i].iov_base);
		assert_int_equal(iov[i].iov_len, v[i].iov_len);
	}
	kvfree(iov);
}

static void o2gk_iov_import__compat(void **state)
{
	world_run(compat);
}

/* --- what is long --- */

/* Softirq takes a part of a full ring, and workers the rest. */
static void full_ring(void)
{
	enum { N = 1000 };

	world_ring = 1024;
	assert_int_equal(world_open(), 0);
	mock_run();
	for (u32 i = 0; i < N; i++)
		b.sq[b.sq_tail++] = (struct o2gd_sqe){ .op = O2GD_OP_RECV,
						       .slot = i % 64,
						       .tag = 7,
						       .len = 8 };
	b.shared->sq_tail = b.sq_tail;
	assert_int_equal(end_inject(&a, 1, data, 8), 0);
	mock_net_run();
	assert_in_range(b.shared->sq_head, 1, N * 3 / 4);
	mock_run();
	assert_int_equal(b.shared->sq_head, N);
	assert_int_equal(ep_of(&b)->stats.bad_posts, N - 64);
}

/* Many receives, and keys, when the file is closed: others get the lock between. */
static void close_many(void)
{
	enum { N = 1000 };
	struct o2gd_mem m = { .addr = (uintptr_t)data,
			      .len = 8,
			      .access = O2GD_READ };
	unsigned int rests;

	assert_int_equal(end_open(&a, 0, N), 0);
	for (u32 i = 0; i < N; i++) {
		assert_int_equal(end_submit(&a, O2GD_OP_RECV, i, i, buf, 8), 0);
		m.key = i + 1;
		assert_int_equal(end_call(&a, O2GD_MEM_ADD, &m), 0);
	}
	rests = mock.rests;
	end_close(&a);
	assert_in_range(mock.rests - rests, 6, 100);
}

static void o2gk_ep_destroy__in_steps(void **state)
{
	world_run(close_many);
}

static void o2gk_sq_drain__in_portions(void **state)
{
	world_run(full_ring);
}

/* --- what costs nothing --- */

/* A peer is given up that nobody has heard of. */
static void given_up(void)
{
	struct o2gd_peer_info info = { .peer = 1 };
	unsigned int live;
	u32 rank = 1;

	assert_int_equal(end_open(&a, 0, 16), 0);
	live = mock.live;
	assert_int_equal(end_call(&a, O2GD_PEER_DOWN, &rank), 0);
	assert_int_equal(mock.live, live);
	assert_int_equal(end_call(&a, O2GD_PEER_INFO, &info), 0);
	assert_int_equal(info.state, O2GD_PEER_LOST);
	assert_int_equal(end_inject(&a, 1, data, 8), -EAGAIN);
	assert_int_equal(end_recv(&a, 1, 1, 8), 0);
	mock.failed = "nothing: it was given up";
	assert_int_equal(end_done(&a, 1), -O2G_ERR_PEER);
	mock.failed = NULL;
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&a, 1, fds[0]), -EISCONN);
}

static void peer_down__unknown(void **state)
{
	world_run(given_up);
}

/* Memory that may not be pinned, and is large. */
static void not_pinned(void)
{
	struct o2gd_mem m = { .addr = (uintptr_t)data,
			      .len = sizeof(data),
			      .access = O2GD_READ,
			      .key = 9 };

	assert_int_equal(end_open(&a, 0, 16), 0);
	assert_int_equal(end_call(&a, O2GD_MEM_ADD, &m), 0);
	m.key++;
	mock.no_pins = true;
	mock.largest = 0;
	assert_int_equal(end_call(&a, O2GD_MEM_ADD, &m), 0);
	assert_true(mock.largest < 1000);
}

static void o2gk_pin_user__limit_first(void **state)
{
	world_run(not_pinned);
}

/* --- peers that do not read --- */

/* Answers are kept for it, but not without end; and none is lost. */
static void does_not_read(void)
{
	enum { N = 20000 };
	struct o2g_hdr h = { .type = O2G_PKT_CANCEL, .dst = 1 };
	struct o2gk_peer *p;
	u64 got = 0;
	size_t n;

	mock.later = true;
	assert_int_equal(end_open(&b, 1, 16), 0);
	mock_tcp_pair(fds);
	assert_int_equal(end_register(&b, 0, fds[1]), 0);
	p = xa_load(&ep_of(&b)->peers, 0);
	mock_run();
	mock.send_space = 1;
	for (h.cookie = 0; h.cookie < N; h.cookie++)
		world_raw_header(fds[0], &h);
	mock_run();
	assert_in_range(p->txq_len, 100, o2gk_tx_most_answers(p));
	assert_true(mock_sock(fds[1])->rx_len > N / 2 * O2G_HDR_SIZE);
	mock.send_space = 64 << 10;
	mock_sock(fds[1])->space_news = true;
	while (mock_run() || mock_sock(fds[0])->rx_len) {
		n = mock_read(fds[0]);
		got += n;
	}
	assert_int_equal(got, (u64)N * O2G_HDR_SIZE);
	assert_int_equal(p->answers, 0);
}

/* No memory for a while, for a message nobody waits for, in a full dump area: it is
 * read later. By the socket, and from another endpoint of this host. */
static void starved(void)
{
	struct o2gd_cqe c;

	assert_int_equal(world_open(), 0);
	mock_run();
	ep_of(&b)->file.dump_free = 0;
	mock.refuse = 500;
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(end_inject(&a, 1, data, 100 + i), 0);
	mock_run();
	assert_int_equal(mock.refuse, 0);
	for (u32 i = 0; i < 4; i++) {
		assert_int_equal(end_recv(&b, i, 1, 4096), 0);
		assert_int_equal(end_next(&b, &c), 0);
		assert_int_equal(c.status, 0);
		assert_int_equal(c.length, 100 + i);
		assert_memory_equal(buf, data, c.length);
	}
}

static void starved_near(void)
{
	mock.near = true;
	starved();
}

static void memory__refused_for_a_while(void **state)
{
	world_run(starved);
	world_run(starved_near);
}

/* There is none at all, and another thread of the process gives the peer up. */
static void give_up(void)
{
	struct o2gk_peer *p = xa_load(&ep_of(&b)->peers, 0);

	p->leaving = true;
}

static void starved_for_good(void)
{
	u32 rank = 0;

	assert_int_equal(world_open(), 0);
	mock_run();
	ep_of(&b)->file.dump_free = 0;
	assert_int_equal(end_submit(&b, O2GD_OP_RECV, 1, 2, buf, 60000), 0);
	mock.refuse = UINT_MAX;
	mock.on_wait = give_up;
	assert_int_equal(end_inject(&a, 1, data, 100), 0);
	assert_int_equal(end_submit(&a, O2GD_OP_SEND, 1, 2, data, 60000), 0);
	mock_run(); /* a worker of b's waits, in vain */
	assert_true(mock.waits > 0 && mock.waits < 100);
	mock.refuse = 0;
	assert_int_equal(end_call(&b, O2GD_PEER_FORGET, &rank), 0);
	world_close_fds();
}

static void starved_for_good_near(void)
{
	mock.near = true;
	starved_for_good();
}

/* The same, and its process is killed. A child of it has a descriptor. The worker that
 * waits has the process's memory, which is the memory that there is not. */
static void is_killed(void)
{
	struct task_struct *worker_task;

	if (ep_of(&b)->recalled)
		return;
	worker_task = mock_task;
	mock_as(&mock_mm, 1000);
	mock_process_ends(true);
	mock.may_kill = true;
	assert_int_equal(o2gk_fops.flush(&b.file, NULL), 0);
	mock.may_kill = false;
	mock_process_ends(false);
	mock_task = worker_task;
}

static void starved_and_killed(void)
{
	assert_int_equal(world_open(), 0);
	mock_run();
	ep_of(&b)->file.dump_free = 0;
	mock.refuse = UINT_MAX;
	mock.on_wait = is_killed;
	assert_int_equal(end_inject(&a, 1, data, 100), 0);
	mock_run();
	assert_true(mock.waits > 0 && mock.waits < 100);
	mock.refuse = 0;
	lost(&a, O2GD_LOST_CLOSED);
}

static void starved_and_killed_near(void)
{
	mock.near = true;
	starved_and_killed();
}

static void memory__refused_and_given_up(void **state)
{
	world_run(starved_for_good);
	world_run(starved_for_good_near);
	world_run(starved_and_killed);
	world_run(starved_and_killed_near);
}

/* There is memory for all but a long body: what is there already is not asked for
 * again and again. */
static void relent(void)
{
	if (mock.waits == 50)
		mock.refuse_longer = 0;
}

static void starved_of_much(void)
{
	struct o2gd_cqe c;

	assert_int_equal(world_open(), 0);
	mock_run();
	ep_of(&b)->file.dump_free = 0;
	mock.refuse_longer = 2048;
	mock.on_wait = relent;
	assert_int_equal(end_inject(&a, 1, data, 4000), 0);
	mock_run();
	assert_true(mock.waits >= 50);
	assert_true(ep_of(&b)->reserve.nanswers <= O2GK_ANSWERS);
	assert_int_equal(end_recv(&b, 0, 1, 4096), 0);
	assert_int_equal(end_next(&b, &c), 0);
	assert_int_equal(c.length, 4000);
}

static void memory__refused_for_bodies(void **state)
{
	world_run(starved_of_much);
}

static void answers__bounded(void **state)
{
	world_run(does_not_read);
}

/* --- what else a program does with its descriptor --- */

static void is_told(struct end *e)
{
	struct o2gd_cqe c;

	while (!e->lost)
		assert_int_equal(end_next(e, &c), 0);
}

/* The connection is over; children of the socket are none of the driver's. */
static void listens(void)
{
	int child;

	assert_int_equal(world_open(), 0);
	assert_int_equal(mock_listen(fds[1]), -EINVAL);
	mock_disconnect(fds[1]);
	assert_int_equal(mock_listen(fds[1]), 0);
	child = mock_accept(fds[1]);
	is_told(&a);
	is_told(&b);
	assert_int_equal(mock_sock(fds[1])->sk_state, TCP_LISTEN);
	end_close(&b);
	mock_reset(mock_sock(child));
	mock_close(child);
}

/* It leads to somebody else now, who gets nothing of what was meant for a. */
static void connects_again(void)
{
	struct sock *sk;

	assert_int_equal(world_open(), 0);
	sk = mock_sock(fds[1]);
	mock_disconnect(fds[1]);
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_dport = 77;
	sk->sk_err = 0;
	assert_int_equal(end_inject(&b, 1, data, 8), 0);
	is_told(&a);
	is_told(&b);
	assert_int_equal(sk->sent, 0);
	assert_int_equal(sk->sk_state, TCP_ESTABLISHED);
}

/* No other protocol gets between TCP and us. */
static void has_protocol(void)
{
	static const struct tcp_ulp_ops tls = { .name = "tls" };

	assert_int_equal(world_open(), 0);
	assert_int_equal(mock_set_ulp(fds[0], &tls), -EEXIST);
	end_close(&a);
	assert_int_equal(mock_set_ulp(fds[0], &tls), 0);
	mock_sock(fds[0])->icsk_ulp_ops = NULL;
}

static void socket__listens(void **state)
{
	world_run(listens);
}

static void socket__connects_again(void **state)
{
	world_run(connects_again);
}

static void socket__protocol(void **state)
{
	world_run(has_protocol);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(setup__refuses),
		T(o2gk_iov_import__refuses),
		T(o2gk_mem_find__refuses),
		T(o2gk_sock_register__refuses),
		T(o2gk_sock_release_all__gives_back),
		T(o2gk_rx_run__every_cut),
		T(o2gk_rx_run__bounded),
		T(o2gk_rx_run__garbage),
		T(o2gk_peer_lost__reset),
		T(o2gk_tx_push__errors),
		T(o2gk_tx_push__process_dies),
		T(o2gk_recall__process_ends),
		T(o2gk_doom_all__process_ends),
		T(o2gk_is_orphan__execs),
		T(look__strangers),
		T(workers__of_their_own),
		T(caller__does_not_wait_for_workers),
		T(user__has_a_limit),
		T(user__shares_workers),
		T(o2gk_sock_register__one_lock),
		T(o2gk_iov_import__compat),
		T(o2gk_sq_drain__in_portions),
		T(o2gk_ep_destroy__in_steps),
		T(peer_down__unknown),
		T(o2gk_pin_user__limit_first),
		T(memory__refused_for_a_while),
		T(file_ioctl__sizes),
		T(o2gk_look_list__entries),
		T(o2gk_look_counters__names),
		T(memory__refused_and_given_up),
		T(memory__refused_for_bodies),
		T(answers__bounded),
		T(socket__listens),
		T(socket__connects_again),
		T(socket__protocol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
