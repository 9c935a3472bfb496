/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The eight calls in the driver, with each call of the kernel that may fail
 * failing in turn: whoever waits hears of it, and nothing stays behind.
 */
#include "unit.h"

#include "world.h"

#include <stdio.h>

#include "dev.h"
#include "paper.h"

#define AREA (64 << 10)

static _Alignas(4096) unsigned char area[AREA];
static const struct o2gd_paper_shared *shared;
static int more[2]; /* a second connection */

/* --- as a program does it; a is the endpoint, rank 0 and 1 its peers --- */

static int add_socket(u32 rank, int fd)
{
	struct o2gd_socket s = { .peer = rank, .fd = fd };

	return end_call(&a, O2GD_PAPER_SOCKET, &s);
}

static int open_device(void)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION, .nsocks = 2 };
	struct vm_area_struct vma = { .vm_flags = VM_SHARED };
	int err = o2gk_fops.open(NULL, &a.file);

	if (err)
		return err;
	a.open = true;
	err = end_call(&a, O2GD_PAPER_INIT, &i);
	if (err)
		return err;
	vma.vm_end = i.map_size;
	err = o2gk_fops.mmap(&a.file, &vma);
	shared = (void *)vma.mapped;
	return err;
}

static int set_area(void)
{
	struct o2gd_paper_area where = { (uintptr_t)area, AREA };

	memset(area, 0, AREA);
	return end_call(&a, O2GD_PAPER_AREA, &where);
}

static int begin(void)
{
	int err = open_device();

	if (!err)
		err = set_area();
	if (err)
		return err;
	mock_tcp_pair(fds);
	return add_socket(0, fds[0]);
}

static void put_header(int fd, u8 type, u32 tag, u64 len)
{
	struct o2g_hdr h = { .type = type, .tag = tag, .length = len };
	u8 raw[O2G_HDR_SIZE];

	o2g_wire_encode(&h, raw);
	mock_write(mock_sock(fd), raw, sizeof(raw));
}

static void put_message(int fd, u32 tag, u64 len)
{
	put_header(fd, O2G_PKT_EAGER, tag, len);
	if (len)
		mock_write(mock_sock(fd), data, len);
}

static struct o2gd_paper_entry entry(s32 tag, u64 size)
{
	return (struct o2gd_paper_entry){ .tag = tag,
					  .size = size,
					  .buf = (uintptr_t)buf };
}

static int post(struct o2gd_paper_entry *e)
{
	return end_call(&a, O2GD_PAPER_PUT, e);
}

/* Until it is done; 0, or what the entry or the call says instead. */
static int wait_done(const struct o2gd_paper_entry *e)
{
	while (!e->done) {
		u32 seen = shared->news;
		int ret = end_call(&a, O2GD_PAPER_WAIT, &seen);

		if (ret)
			return ret;
	}
	return -e->error;
}

static struct o2gd_paper_entry *first(void)
{
	const struct o2gd_paper_dump *h = (const void *)area;

	return (void *)(uintptr_t)h->first;
}

static struct o2gd_paper_entry *next(const struct o2gd_paper_entry *e)
{
	return (void *)(uintptr_t)e->next;
}

static int wait_first(void)
{
	while (!first()) {
		u32 seen = shared->news;
		int ret = end_call(&a, O2GD_PAPER_WAIT, &seen);

		if (ret)
			return ret;
	}
	return 0;
}

/*
 * Once a call has failed a scenario ends early: with that call's error, with one
 * in the entry, with a lost peer, or with a wait that ends by a signal because
 * the entry could not be written to.
 */
#define HOPE(call)                                              \
	do {                                                    \
		int ret_ = (call);                              \
		if (ret_ && !mock.failed) {                     \
			print_error("%s: %d\n", #call, ret_);   \
			mock_bug("nothing failed, but", #call); \
		}                                               \
		if (ret_)                                       \
			return;                                 \
	} while (0)

/* --- paper.c --- */

static void refuses(void)
{
	struct o2gd_paper_init i = { .version = 99, .nsocks = 2 };
	struct o2gd_paper_area where = { (uintptr_t)area, 64 };
	struct o2gd_paper_entry e = entry(1, 10);
	struct vm_area_struct vma = { .vm_flags = VM_SHARED };
	u32 seen = 0;

	assert_int_equal(o2gk_fops.open(NULL, &a.file), 0);
	a.open = true;
	assert_int_equal(post(&e), -EBADFD);
	assert_int_equal(end_call(&a, O2GD_PAPER_INIT, &i), -EPROTO);
	i = (struct o2gd_paper_init){ .version = O2GD_VERSION };
	assert_int_equal(end_call(&a, O2GD_PAPER_INIT, &i), -EINVAL);
	i.nsocks = 2;
	assert_int_equal(end_call(&a, O2GD_PAPER_INIT, &i), 0);
	assert_int_equal(end_call(&a, O2GD_PAPER_INIT, &i), -EBUSY);
	assert_int_equal(end_call(&a, O2GD_KICK, NULL), -ENOTTY);
	vma.vm_end = i.map_size;
	vma.vm_flags |= VM_WRITE;
	assert_int_equal(o2gk_fops.mmap(&a.file, &vma), -EINVAL);
	assert_int_equal(end_call(&a, O2GD_PAPER_AREA, &where), -EINVAL);
	where = (struct o2gd_paper_area){ 4096, 8192 };
	assert_int_equal(end_call(&a, O2GD_PAPER_AREA, &where), -EFAULT);
	assert_int_equal(set_area(), 0);
	assert_int_equal(set_area(), -EBUSY);
	assert_int_equal(add_socket(0, 12), -EBADF);
	assert_int_equal(add_socket(1u << 31, 12), -EINVAL);
	assert_int_equal(post(&e), -ENOTCONN);
	assert_int_equal(end_call(&a, O2GD_PAPER_WAIT, &seen), -ENOTCONN);
	e.rank = -2;
	assert_int_equal(post(&e), -EINVAL);
	assert_int_equal(end_call(&a, O2GD_PAPER_PUT, (void *)8), -EFAULT);
	assert_int_equal(end_call(&a, O2GD_PAPER_FREE, area), -EINVAL);
	mock_as(&mock_other_mm, 1000);
	assert_int_equal(post(&e), -EBADFD);
	mock_as(&mock_mm, 1000);
}

static void calls__refuse(void **state)
{
	world_run(refuses);
}

static void sockets_refused(void)
{
	assert_int_equal(open_device(), 0);
	mock_tcp_pair(fds);
	mock_sock(fds[0])->net = &mock_other_net;
	assert_int_equal(add_socket(0, fds[0]), -EXDEV);
	mock_sock(fds[0])->net = &mock_net;
	mock_sock(fds[0])->sk_protocol = 17;
	assert_int_equal(add_socket(0, fds[0]), -EPROTOTYPE);
	mock_sock(fds[0])->sk_protocol = IPPROTO_TCP;
	mock_sock(fds[0])->sk_user_data = &shared;
	assert_int_equal(add_socket(0, fds[0]), -EBUSY);
	mock_sock(fds[0])->sk_user_data = NULL;
	mock_sock(fds[0])->sk_state = TCP_CLOSE;
	assert_int_equal(add_socket(0, fds[0]), -ENOTCONN);
	mock_sock(fds[0])->sk_state = TCP_ESTABLISHED;
	assert_int_equal(shared->open, 0);
	assert_int_equal(add_socket(0, fds[0]), 0);
	assert_int_equal(add_socket(0, fds[1]), -EEXIST);
	assert_int_equal(add_socket(1, fds[0]), -EBUSY);
	assert_int_equal(add_socket(1, fds[1]), 0);
	assert_int_equal(add_socket(2, fds[1]), -ENOSPC);
	assert_int_equal(shared->open, 2);
}

static void o2gk_paper_sock_add__refuses(void **state)
{
	world_run(sockets_refused);
}

static void posted(void)
{
	static const u64 lengths[] = { 0, 1, 300, 4096, 20000 };
	struct o2gd_paper_entry e;

	HOPE(begin());
	for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
		e = entry(-1, 20000);
		e.rank = -1;
		HOPE(post(&e));
		put_message(fds[1], i, lengths[i]);
		HOPE(wait_done(&e));
		assert_int_equal(e.rank, 0);
		assert_int_equal(e.tag, i);
		assert_int_equal(e.received, lengths[i]);
		assert_memory_equal(buf, data, lengths[i]);
		memset(buf, 0, lengths[i]);
	}
}

static void put__receives(void **state)
{
	world_in_all(posted);
}

static void too_long(void)
{
	struct o2gd_paper_entry e = entry(1, 100), whole = entry(2, 100);
	int ret;

	HOPE(begin());
	HOPE(post(&e));
	HOPE(post(&whole));
	put_message(fds[1], 1, 5000);
	put_message(fds[1], 2, 100);
	ret = wait_done(&e);
	if (ret == -O2G_ERR_TRUNCATED) {
		assert_int_equal(e.received, 100);
		HOPE(wait_done(&whole));
		assert_memory_equal(buf, data, 100);
	} else {
		HOPE(ret);
		fail();
	}
}

static void put__truncates(void **state)
{
	world_in_all(too_long);
}

static void cancelled(void)
{
	struct o2gd_paper_entry e = entry(1, 9000), other;

	HOPE(begin());
	HOPE(post(&e));
	other = e; /* the number alone is not enough */
	assert_int_not_equal(end_call(&a, O2GD_PAPER_CANCEL, &other), 0);
	HOPE(end_call(&a, O2GD_PAPER_CANCEL, &e));
	assert_int_not_equal(end_call(&a, O2GD_PAPER_CANCEL, &e), 0);
	put_message(fds[1], 1, 9000);
	HOPE(wait_first());
	assert_int_equal(e.done, 0);
}

static void cancel__takes_back(void **state)
{
	world_in_all(cancelled);
}

/* --- paper_area.c, paper_entry.c --- */

static void listed(void)
{
	struct o2gd_paper_entry *e;

	HOPE(begin());
	for (u32 tag = 1; tag <= 3; tag++)
		put_message(fds[1], tag, 1000 * tag);
	HOPE(wait_first());
	for (u32 tag = 1; tag <= 3; tag++) {
		e = first();
		for (u32 i = 1; e && i < tag; i++)
			e = next(e);
		if (!e && mock.failed)
			return;
		HOPE(wait_done(e));
		assert_int_equal(e->tag, tag);
		assert_int_equal(e->received, 1000 * tag);
		assert_memory_equal((void *)(uintptr_t)e->buf, data,
				    1000 * tag);
	}
	e = next(first()); /* the middle one */
	HOPE(end_call(&a, O2GD_PAPER_FREE, e));
	assert_int_equal(end_call(&a, O2GD_PAPER_FREE, e), -EINVAL);
	if (!mock.failed)
		assert_int_equal(next(first())->tag, 3);
	HOPE(end_call(&a, O2GD_PAPER_FREE, first()));
	HOPE(end_call(&a, O2GD_PAPER_FREE, first()));
	assert_true(mock.failed || !first());
}

static void area__list(void **state)
{
	world_in_all(listed);
}

/* More than there is room for: the sender waits until some is free again. */
static void full(void)
{
	struct o2gd_paper_entry *e;

	HOPE(begin());
	for (u32 tag = 0; tag < 8; tag++)
		put_message(fds[1], tag, 20000);
	for (u32 tag = 0; tag < 8; tag++) {
		HOPE(wait_first());
		e = first();
		HOPE(wait_done(e));
		if (mock.failed && e->tag != (s32)tag)
			return; /* a link could not be written */
		assert_int_equal(e->tag, tag);
		assert_memory_equal((void *)(uintptr_t)e->buf, data, 20000);
		HOPE(end_call(&a, O2GD_PAPER_FREE, e));
	}
	assert_true(mock.failed || !first());
}

static void area__full(void **state)
{
	world_in_all(full);
}

/* A receive takes what found no room. */
static void held(void)
{
	struct o2gd_paper_entry e = entry(5, AREA);

	HOPE(begin());
	put_message(fds[1], 5, AREA);
	assert_true(mock.failed || shared->events == 1);
	HOPE(post(&e));
	HOPE(wait_done(&e));
	assert_memory_equal(buf, data, AREA);
}

/* Many connections hold a message, and a receive is posted that takes none of them. */
#define HOLDERS 480

static unsigned long post_among(struct o2gd_paper_entry *e)
{
	mock.longest = 0;
	assert_int_equal(post(e), 0);
	mock_run();
	return mock.longest;
}

static void many_held(void)
{
	struct o2gd_paper_init i = { .version = O2GD_VERSION,
				     .nsocks = HOLDERS };
	struct o2gd_paper_entry e[3] = { entry(99, 8), entry(98, 8),
					 entry(7, 8) };
	static int pair[HOLDERS][2];
	unsigned long few = 0, all;

	e[0].rank = e[1].rank = e[2].rank = -1;
	assert_int_equal(o2gk_fops.open(NULL, &a.file), 0);
	a.open = true;
	assert_int_equal(end_call(&a, O2GD_PAPER_INIT, &i), 0);
	for (u32 k = 0; k < HOLDERS; k++) {
		mock_tcp_pair(pair[k]);
		assert_int_equal(add_socket(k, pair[k][0]), 0);
		put_message(pair[k][1], 7, 8);
		mock_run();
		if (k == 127)
			few = post_among(&e[0]);
	}
	all = post_among(&e[1]);
	printf("%lu calls with softirqs off, %lu for all that are held\n", few,
	       all);
	assert_true(few && all < 3 * few); /* all in one go: 3.75 times */
	post_among(&e[2]); /* the oldest has been waiting for this one */
	assert_int_equal(e[2].done, 1);
	assert_int_equal(e[2].rank, 0);
	end_close(&a);
	for (u32 k = 0; k < HOLDERS; k++) {
		mock_close(pair[k][0]);
		mock_close(pair[k][1]);
	}
}

static void o2gk_paper_resume__long(void **state)
{
	world_run(many_held);
}

static void area__too_small(void **state)
{
	world_in_all(held);
}

/* Messages never lie on each other, and the room adds up. */
static void places(void)
{
	struct o2gk_paper_msg *in_use[64] = { NULL };
	struct o2gk_paper_area *map;
	u64 x = 12345, used = 0;

	assert_int_equal(begin(), 0);
	map = &((struct o2gk_ep *)a.file.private_data)->paper->area;
	for (int turn = 0; turn < 5000; turn++) {
		u32 i = (x = x * 6364136223846793005ull + 1) >> 58;
		struct o2gk_paper_msg *m = in_use[i];

		if (m) {
			assert_ptr_equal(
				o2gk_paper_msg_find(map, map->addr + m->off),
				m);
			used -= m->extent;
			o2gk_paper_msg_free(map, m);
			in_use[i] = NULL;
			continue;
		}
		m = o2gk_paper_msg_alloc(map, (x >> 30) % 5000);
		in_use[i] = m;
		if (!m)
			continue;
		used += m->extent;
		assert_true(m->off + m->extent <= AREA);
		for (u32 k = 0; k < 64; k++)
			assert_true(k == i || !in_use[k] ||
				    m->off >= in_use[k]->off +
						      in_use[k]->extent ||
				    m->off + m->extent <= in_use[k]->off);
		assert_int_equal(o2gk_paper_used(map), used);
	}
}

static void o2gk_paper_msg_alloc__no_overlap(void **state)
{
	world_run(places);
}

/* --- paper_msg.c, paper_rx.c --- */

static void lost_by(void (*end)(void), bool orderly)
{
	struct o2gd_paper_entry exact = entry(1, 10), any = entry(1, 10);
	int ret;

	HOPE(begin());
	mock_tcp_pair(more);
	ret = add_socket(1, more[0]);
	any.rank = -1;
	if (!ret)
		ret = post(&exact);
	if (!ret)
		ret = post(&any);
	if (!ret) {
		end();
		ret = wait_done(&exact);
		assert_true(ret == -O2G_ERR_PEER || mock.failed);
		assert_true(mock.failed || any.done == !orderly);
		assert_true(mock.failed || shared->open == 1);
		ret = 0;
	}
	mock_close(more[0]);
	mock_close(more[1]);
	HOPE(ret);
}

static void send_garbage(void)
{
	put_header(fds[1], O2G_PKT_CTS, 1, 0);
}

static void reset_inside(void)
{
	put_header(fds[1], O2G_PKT_EAGER, 7, 100);
	mock_write(mock_sock(fds[1]), data, 50);
	mock_reset(mock_sock(fds[0]));
}

static void close_between(void)
{
	mock_close(fds[1]);
	fds[1] = -1;
	mock_run();
}

static void garbage(void)
{
	lost_by(send_garbage, false);
}

static void reset(void)
{
	lost_by(reset_inside, false);
}

static void closed(void)
{
	lost_by(close_between, true);
}

static void peer__garbage(void **state)
{
	world_in_all(garbage);
}

static void peer__resets(void **state)
{
	world_in_all(reset);
}

static void peer__closes(void **state)
{
	world_in_all(closed);
}

/* What was there before the socket was registered; after, it is as it was. */
static void early(void)
{
	struct o2gd_paper_entry e = entry(1, 4000);

	HOPE(open_device());
	mock_tcp_pair(fds);
	put_message(fds[1], 1, 4000);
	HOPE(add_socket(0, fds[0]));
	HOPE(post(&e));
	HOPE(wait_done(&e));
	assert_memory_equal(buf, data, 4000);
}

static void socket__has_data(void **state)
{
	world_in_all(early);
}

/* A dumper thread has done all there is to do when it ends by a signal. */
static void dumped(void)
{
	struct o2gd_paper_entry e = entry(1, 20000);
	int ret;

	HOPE(begin());
	HOPE(post(&e));
	put_message(fds[1], 1, 20000);
	put_message(fds[1], 2, 3000);
	ret = end_call(&a, O2GD_PAPER_DUMP, NULL);
	assert_int_equal(ret, -EINTR);
	if (mock.failed)
		return;
	assert_true(e.done && !e.error && first() && first()->done);
	assert_memory_equal(buf, data, 20000);
	assert_memory_equal((void *)(uintptr_t)first()->buf, data, 3000);
}

static void dump__copies(void **state)
{
	world_in_all(dumped);
}

/* --- paper_look.c --- */

static void look(void)
{
	struct o2gd_list_entry l[2];
	struct o2gd_queue_entry q[4];
	struct o2gd_paper_sock s[4];
	struct o2gd_list list = { .max = 2,
				  .addr = (uintptr_t)l,
				  .entry = sizeof(l[0]) };
	struct o2gd_look w = { .max = 4,
			       .addr = (uintptr_t)q,
			       .entry = sizeof(q[0]) };
	struct o2gd_paper_entry e = entry(3, 77);
	struct o2gd_info info;

	HOPE(begin());
	HOPE(post(&e));
	put_message(fds[1], 4, 500);
	put_header(fds[1], O2G_PKT_EAGER, 5, AREA);
	HOPE(end_call(&a, O2GD_LIST, &list));
	assert_int_equal(list.count, 1);
	assert_int_equal(l[0].kind, O2GD_KIND_PAPER);
	assert_int_equal(l[0].size, 1);
	w.id = l[0].id;
	HOPE(end_call(&a, O2GD_QUEUES, &w));
	w.addr = (uintptr_t)s;
	w.entry = sizeof(s[0]);
	HOPE(end_call(&a, O2GD_PAPER_SOCKS, &w));
	assert_int_equal(w.count, 1);
	HOPE(end_info_of(&a, w.id, &info));
	if (mock.failed)
		return;
	assert_int_equal(info.posted, 1);
	assert_int_equal(info.unexpected, 1);
	assert_int_equal(q[0].length, 77);
	assert_int_equal(q[1].length, 500);
	assert_int_equal(s[0].state, O2GD_PAPER_HOLDS);
	assert_int_equal(s[0].length, AREA);
}

static void look__sees(void **state)
{
	world_with_failures(look);
}

/* --- what else a program does --- */

/* The connection is over, and children of the socket are none of the driver's. */
static void listens(void)
{
	struct o2gd_paper_entry e = entry(1, 10);
	int child;

	assert_int_equal(begin(), 0);
	assert_int_equal(post(&e), 0);
	assert_int_equal(mock_listen(fds[0]), -EINVAL);
	mock_disconnect(fds[0]);
	assert_int_equal(mock_listen(fds[0]), 0);
	child = mock_accept(fds[0]);
	assert_int_equal(wait_done(&e), -O2G_ERR_PEER);
	assert_int_equal(mock_sock(fds[0])->sk_state, TCP_LISTEN);
	end_close(&a);
	mock_reset(mock_sock(child));
	mock_close(child);
}

/* A body is being received into memory that is not pinned, and another receive
 * waits, when the file is closed. */
static void closes(void)
{
	struct o2gd_paper_entry empty = entry(1, 0), waits = entry(2, 100);

	mock.no_pins = true;
	assert_int_equal(begin(), 0);
	assert_int_equal(post(&empty), 0);
	assert_int_equal(post(&waits), 0);
	put_header(fds[1], O2G_PKT_EAGER, 1, 1000);
	mock_write(mock_sock(fds[1]), data, 10);
}

static void close__in_the_middle(void **state)
{
	world_run(closes);
}

static void socket__listens(void **state)
{
	world_run(listens);
}

/* --- the process ends --- */

/* A copy of the descriptor is closed: nothing. The last of the process: its peer sees. */
static void process_ends(void)
{
	struct o2gd_paper_entry e = entry(1, 8);

	assert_int_equal(begin(), 0);
	assert_int_equal(post(&e), 0);
	o2gk_fops.flush(&a.file, NULL);
	mock_run();
	assert_false(e.done);
	mock_process_ends(true);
	o2gk_fops.flush(&a.file, NULL);
	mock_process_ends(false);
	mock_run();
	assert_int_equal(wait_done(&e), -O2G_ERR_PEER);
	assert_true(mock_sock(fds[1])->sk_shutdown & RCV_SHUTDOWN);
}

static void o2gk_paper_shut__process_ends(void **state)
{
	world_run(process_ends);
}

/* --- many receives --- */

#define MANY 4000
static struct o2gd_paper_entry many[MANY];

/* Their connection is reset: all of them end, and softirqs do not wait for that. */
static void many_receives(void)
{
	assert_int_equal(begin(), 0);
	mock_tcp_pair(more);
	assert_int_equal(add_socket(1, more[0]), 0);
	for (u32 i = 0; i < MANY; i++) {
		many[i] = entry((s32)i, 8);
		many[i].rank = i % 4 == 3 ? 1 : i % 4 == 2 ? -1 : 0;
		assert_int_equal(post(&many[i]), 0);
	}
	mock.longest = 0;
	mock_reset(mock_sock(fds[0]));
	mock_run();
	printf("receives of a lost socket: at most %lu calls with softirqs off\n",
	       mock.longest);
	assert_true(mock.longest > 0 && mock.longest < 12000);
	for (u32 i = 0; i < MANY; i++) {
		assert_int_equal(many[i].done, many[i].rank != 1);
		assert_int_equal(many[i].error,
				 many[i].rank != 1 ? O2G_ERR_PEER : 0);
	}
	mock_close(more[1]);
	mock_run();
	assert_int_equal(wait_done(&many[3]), -O2G_ERR_PEER);
	mock_close(more[0]);
}

static void o2gk_paper_lose__long(void **state)
{
	world_run(many_receives);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(calls__refuse),
		T(o2gk_paper_sock_add__refuses),
		T(put__receives),
		T(put__truncates),
		T(cancel__takes_back),
		T(area__list),
		T(area__full),
		T(o2gk_paper_resume__long),
		T(area__too_small),
		T(o2gk_paper_msg_alloc__no_overlap),
		T(peer__garbage),
		T(peer__resets),
		T(peer__closes),
		T(socket__has_data),
		T(dump__copies),
		T(look__sees),
		T(socket__listens),
		T(close__in_the_middle),
		T(o2gk_paper_lose__long),
		T(o2gk_paper_shut__process_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
