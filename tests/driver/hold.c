/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How long softirqs are held off where a program or a peer has made something long:
 * hold [case]. Prints a line of JSON for each; lab/hello/o2g_lab_hold.ko measures.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pair.h"

#define HELD "/sys/module/o2g_lab_hold/parameters/longest"
#define RING 65536
#define MESSAGES 100000
#define GIB (1ul << 30)

static void start(void)
{
	int fd = open(HELD, O_WRONLY);

	CHECK(fd >= 0 && write(fd, "0", 1) == 1);
	close(fd);
}

static void stop(const char *what)
{
	FILE *f = fopen(HELD, "r");
	unsigned long ns;

	CHECK(f && fscanf(f, "%lu", &ns) == 1);
	fclose(f);
	printf("{\"what\": \"%s\", \"held off, us\": %lu}\n", what, ns / 1000);
	fflush(stdout);
}

/* With long rings, and room for many messages that nobody has asked for. */
static void open_long(struct dev *d, uint32_t rank, uint32_t slots)
{
	memset(d, 0, sizeof(*d));
	d->s = (struct o2gd_setup){ .version = O2GD_VERSION,
				    .rank = rank,
				    .size = 2,
				    .sq_entries = RING,
				    .cq_entries = RING,
				    .dump_size = 64 * MIB,
				    .eager_max = 64 << 10,
				    .data_chunk = 1 << 20,
				    .peer_budget = 64 * MIB };
	dev_open_as(d, slots);
}

static void open_both(uint32_t slots)
{
	open_long(&a, 0, slots);
	open_long(&b, 1, slots);
	dev_join(&a, &b);
}

/* In the ring alone: the driver does not look before something comes. */
static void post(struct dev *d, uint32_t source, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		d->sq[d->sq_tail++ % RING] =
			(struct o2gd_sqe){ .op = O2GD_OP_RECV,
					   .slot = i,
					   .peer = source,
					   .tag = i,
					   .len = 8 };
	__atomic_store_n(&d->shared->sq_tail, d->sq_tail, __ATOMIC_RELEASE);
}

static void nothing(void)
{
	open_both(16);
	start();
	usleep(100000);
	stop("nothing");
	close_pair();
}

static void posted_and_close(void)
{
	open_both(RING);
	post(&a, 1, RING);
	start();
	CHECK(dev_call(&a, O2GD_KICK, NULL) == 0);
	stop("65,536 receives are posted");
	start();
	dev_close(&a);
	stop("65,536 posted receives and close");
	usleep(100000);
	dev_close(&b);
}

static void posted_and_lost(void)
{
	open_both(RING);
	post(&a, 1, RING);
	CHECK(dev_call(&a, O2GD_KICK, NULL) == 0);
	start();
	dev_close(&b);
	for (uint32_t i = 0; i < RING; i++)
		CHECK(dev_next(&a, NULL, 0).status == -O2G_ERR_PEER);
	lost(&a, 1, O2GD_LOST_CLOSED);
	stop("65,536 posted receives and the peer is lost");
	dev_close(&a);
}

static void full_ring(void)
{
	struct o2gd_cqe c;

	open_both(RING);
	post(&a, 1, RING);
	start();
	CHECK(dev_inject(&b, 0, RING - 1, data, 8) == 0);
	do
		c = dev_next(&a, buf, 8);
	while (c.slot != RING - 1);
	stop("a full posting ring and a message");
	close_pair();
}

/* A message is compared with receives of its source, and with those from anybody. */
static void posted_for_anybody(void)
{
	open_both(RING);
	post(&a, O2GD_ANY, RING);
	start();
	CHECK(dev_call(&a, O2GD_KICK, NULL) == 0);
	stop("65,536 receives from anybody are posted");
	start();
	CHECK(dev_inject(&b, 0, RING - 1, data, 8) == 0);
	CHECK(dev_next(&a, buf, 8).slot == RING - 1);
	stop("65,536 receives from anybody and a message for the last");
	close_pair();
}

/* From b to a, which has not asked for them; b's slots and the tags are their numbers. */
static void send_unexpected(void)
{
	struct o2gd_info i;

	for (uint32_t n = 0; n < MESSAGES; n++) {
		struct o2gd_sqe e = { .op = O2GD_OP_SEND,
				      .flags = O2GD_SYNC,
				      .slot = n,
				      .peer = 0,
				      .tag = n,
				      .addr = (uintptr_t)data,
				      .len = 8 };

		CHECK(dev_call(&b, O2GD_SUBMIT, &e) == 0);
	}
	do
		dev_info(&a, &i);
	while (i.unexpected < MESSAGES && !usleep(10000));
}

static void unexpected_and_cancel(void)
{
	uint32_t slot = MESSAGES / 2;

	open_both(MESSAGES);
	send_unexpected();
	start();
	CHECK(dev_call(&b, O2GD_CANCEL, &slot) == -EINPROGRESS);
	CHECK(dev_next(&b, NULL, 0).slot == slot);
	stop("100,000 unexpected messages and cancel");
	start();
	dev_close(&a);
	stop("100,000 unexpected messages and close");
	usleep(100000);
	dev_close(&b);
}

/* By a call, and by softirq: from the ring, because of a message. */
static void unexpected_for_anybody(void)
{
	struct o2gd_sqe e = { .op = O2GD_OP_RECV,
			      .slot = 1,
			      .peer = O2GD_ANY,
			      .tag = MESSAGES - 1,
			      .addr = (uintptr_t)buf,
			      .len = 8 };

	open_both(MESSAGES + 1);
	send_unexpected();
	start();
	CHECK(dev_call(&a, O2GD_SUBMIT, &e) >= 0);
	CHECK(dev_next(&a, buf, 8).slot == 1);
	stop("100,000 unexpected messages and a receive from anybody");
	e.slot = 2;
	e.tag = MESSAGES - 2;
	a.sq[a.sq_tail++ % RING] = e;
	__atomic_store_n(&a.shared->sq_tail, a.sq_tail, __ATOMIC_RELEASE);
	start();
	CHECK(dev_inject(&b, 0, MESSAGES, data, 8) == 0);
	CHECK(dev_next(&a, buf, 8).slot == 2);
	stop("100,000 unexpected messages, such a receive and a message");
	dev_close(&a);
	usleep(100000);
	dev_close(&b);
}

static void put_at_the_end(void)
{
	char *p = mmap(NULL, GIB, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct o2gd_mem m = { .addr = (uintptr_t)p,
			      .len = GIB,
			      .access = O2GD_WRITE,
			      .key = 77 };
	struct o2gd_sqe e = { .op = O2GD_OP_PUT,
			      .slot = 1,
			      .peer = 0,
			      .addr = (uintptr_t)data,
			      .len = 1,
			      .key = 77,
			      .offset = GIB - 1 };
	struct o2gd_info i;
	int ret;

	CHECK(p != MAP_FAILED);
	data[0] = 7;
	open_both(16);
	start();
	CHECK(dev_call(&a, O2GD_MEM_ADD, &m) == 0);
	stop("1 GiB is registered");
	dev_info(&a, &i);
	CHECK(i.pinned_pages == GIB / 4096);
	start();
	ret = dev_call(&b, O2GD_SUBMIT, &e);
	CHECK(ret == 1 || (ret == 0 && dev_next(&b, NULL, 0).status == 0));
	stop("1 GiB registered and a put at its end");
	CHECK(p[GIB - 1] == 7);
	close_pair();
}

static const struct dev_case cases[] = {
	DEV_CASE(nothing),
	DEV_CASE(posted_and_close),
	DEV_CASE(posted_and_lost),
	DEV_CASE(full_ring),
	DEV_CASE(posted_for_anybody),
	DEV_CASE(unexpected_for_anybody),
	DEV_CASE(put_at_the_end),
	DEV_CASE(unexpected_and_cancel),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
