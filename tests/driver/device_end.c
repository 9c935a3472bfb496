/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The ends of peers and of processes: device_end [case]. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pair.h"

static void peer__closes(void)
{
	open_pair();
	dev_recv(&b, 1, 0, 1, NULL, 8);
	dev_recv(&b, 2, 0, 2, buf, 100000);
	CHECK(dev_submit(&b, O2GD_OP_SEND, 3, 0, 3, data, 100000) == 0);
	dev_close(&a);
	for (int i = 0; i < 3; i++) {
		struct o2gd_cqe c = dev_next(&b, NULL, 0);

		CHECK(c.slot != O2GD_SLOT_PEER && c.status == -O2G_ERR_PEER);
	}
	lost(&b, 0, O2GD_LOST_CLOSED);
	CHECK(dev_inject(&b, 0, 1, data, 8) == -EAGAIN);
	CHECK(dev_submit(&b, O2GD_OP_SEND, 3, 0, 3, data, 8) == 0);
	CHECK(dev_next(&b, NULL, 0).status == -O2G_ERR_PEER);
	dev_close(&b);
}

static void peer__says_bye(void)
{
	uint32_t ms = 1000;

	open_pair();
	dev_recv(&b, 1, 0, 1, NULL, 8);
	CHECK(dev_call(&a, O2GD_BYE, &ms) == 0);
	CHECK(dev_next(&b, NULL, 0).status == -O2G_ERR_PEER);
	lost(&b, 0, O2GD_LOST_BYE);
	close_pair();
}

static void peer__resets(void)
{
	struct linger hard = { .l_onoff = 1 };
	int tcp[2];

	dev_open(&a, 0, 2, 16);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	setsockopt(tcp[1], SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	close(tcp[1]);
	lost(&a, 1, O2GD_LOST_ERROR);
	close(tcp[0]);
	dev_close(&a);
}

static void peer__sends_garbage(void)
{
	struct o2gd_cqe c;
	struct o2gd_info i;
	int tcp[2];

	dev_open(&a, 0, 2, 16);
	dev_tcp_pair(tcp);
	CHECK(dev_register(&a, 1, tcp[0]) == 0);
	dev_recv(&a, 5, 1, 1, NULL, 100);
	CHECK(write(tcp[1],
		    "GET / HTTP/1.0\r\nHost: a place far away and long\r\n\r\n",
		    51) == 51);
	c = dev_next(&a, NULL, 0);
	CHECK(c.slot == 5 && c.status == -O2G_ERR_PEER);
	lost(&a, 1, O2GD_LOST_HEADER);
	dev_info(&a, &i);
	CHECK(i.refused_headers == 1);
	close(tcp[0]), close(tcp[1]);
	dev_close(&a);
}

/* The end of the connection in the middle of a message. */
static void peer__dies_in_a_message(void)
{
	unsigned char h[48] = { 1, 1, 0, 48 };
	int tcp[2];

	for (int posted = 0; posted < 2; posted++) {
		dev_open(&a, 0, 2, 16);
		dev_tcp_pair(tcp);
		h[8] = 1;    /* src */
		h[24] = 200; /* length */
		if (posted)
			dev_recv(&a, 5, 1, 0, NULL, 1000);
		CHECK(dev_register(&a, 1, tcp[0]) == 0);
		CHECK(write(tcp[1], h, 48) == 48);
		CHECK(write(tcp[1], data, 100) == 100);
		close(tcp[1]);
		if (posted)
			CHECK(dev_next(&a, NULL, 0).status == -O2G_ERR_PEER);
		lost(&a, 1, O2GD_LOST_CLOSED);
		close(tcp[0]);
		dev_close(&a);
	}
}

static void peer__given_up(void)
{
	uint32_t rank = 0;

	open_pair();
	dev_recv(&b, 1, 0, 1, NULL, 8);
	CHECK(dev_call(&b, O2GD_PEER_DOWN, &rank) == 0);
	CHECK(dev_next(&b, NULL, 0).status == -O2G_ERR_PEER);
	lost(&b, 0, O2GD_LOST_LOCAL);
	lost(&a, 1, O2GD_LOST_CLOSED);
	rank = 5;
	CHECK(dev_call(&b, O2GD_PEER_DOWN, &rank) == -EINVAL);
	close_pair();
}

/* Endpoints of two jobs meet, part and meet again. */
static void peer__of_another_job(void)
{
	struct o2gd_peer at_a = { .peer = O2GD_OTHERS + 7, .wire_rank = 1 };
	struct o2gd_peer at_b = { .peer = O2GD_OTHERS };
	int tcp[2];

	dev_open(&a, 0, 1, 16);
	dev_open(&b, 1, 2, 16);
	for (int round = 0; round < 20; round++) {
		CHECK(dev_call(&a, O2GD_PEER_ADD, &at_a) == 0);
		CHECK(dev_call(&a, O2GD_PEER_ADD, &at_a) == -EEXIST);
		CHECK(dev_call(&b, O2GD_PEER_ADD, &at_b) == 0);
		dev_tcp_pair(tcp);
		CHECK(dev_register(&a, at_a.peer, tcp[0]) == 0);
		CHECK(dev_register(&b, at_b.peer, tcp[1]) == 0);
		close(tcp[0]), close(tcp[1]);
		for (uint32_t len = 8; len < 1000000; len *= 11) {
			dev_recv(&b, 1, at_b.peer, 1, buf, len);
			send_all(&a, 1, at_a.peer, 1, len);
			got(&b, 1, 1, len);
		}
		CHECK(dev_inject(&b, at_b.peer, 1, data, 8) == 0);
		CHECK(dev_call(&a, O2GD_PEER_FORGET, &at_a.peer) == 0);
		CHECK(dev_call(&a, O2GD_PEER_FORGET, &at_a.peer) == -ENOENT);
		CHECK(dev_inject(&a, at_a.peer, 1, data, 8) == -ENOTCONN);
		lost(&a, at_a.peer, O2GD_LOST_LOCAL);
		lost(&b, at_b.peer, O2GD_LOST_CLOSED);
		CHECK(dev_call(&b, O2GD_PEER_FORGET, &at_b.peer) == 0);
	}
	close_pair();
}

/* A process that dies at any moment leaves nothing that disturbs others. */
static void death__anywhere(void)
{
	for (int i = 0; i < 40; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			open_pair();
			for (uint32_t n = 0;; n++) {
				dev_recv(&b, n % 256, 0, 1, buf, 300000);
				dev_submit(&a, O2GD_OP_SEND, n % 256, 1, 1,
					   data, 300000);
				while (dev_has(&a))
					dev_next(&a, NULL, 0);
				dev_next(&b, buf, sizeof(buf));
			}
		}
		usleep(1000 * (i % 20) + 137 * i);
		kill(pid, SIGKILL);
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	}
}

static const struct dev_case cases[] = {
	DEV_CASE(peer__closes),
	DEV_CASE(peer__says_bye),
	DEV_CASE(peer__resets),
	DEV_CASE(peer__sends_garbage),
	DEV_CASE(peer__dies_in_a_message),
	DEV_CASE(peer__given_up),
	DEV_CASE(peer__of_another_job),
	DEV_CASE(death__anywhere),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
