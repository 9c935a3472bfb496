// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * bpf_wake SEAT: when does the program wake who sleeps? SEAT is the folder of a seat
 * that nobody uses; opening it needs root.
 */
#define _GNU_SOURCE
#include "bpf_pair.h"

#include <fcntl.h>
#include <time.h>

#define FAR (1ull << 40)

static struct bpf_seat *seat;
static struct bpf_conn *conn; /* of @here */
static int here, there;

static void fresh_pair(const char *dir)
{
	__u32 gen = conn->gen;

	connect_pair(&here, &there);
	bpf_name_clear(seat, 0);
	memset(conn, 0, sizeof(*conn));
	conn->gen = gen;
	seat->head = seat->tail; /* all was taken */
	join(seat, dir, here);
	conn->pass = 1;
}

/* Closing takes it out of the seat. */
static void end_pair(void)
{
	close(there);
	close(here);
}

static void sleep_until(__u64 passed)
{
	__atomic_store_n(&conn->wake_at, passed, __ATOMIC_SEQ_CST);
	__atomic_store_n(&seat->armed, 1, __ATOMIC_SEQ_CST);
}

static bool woken(void)
{
	return !__atomic_load_n(&seat->armed, __ATOMIC_SEQ_CST);
}

/* And wait until the program has run for it, which may be on another processor. */
static void send_bytes(size_t n)
{
	static char bytes[16384];
	__u64 then = conn->passed + n;
	struct timespec ms = { 0, 1000000 };

	check(send(there, bytes, n, 0) == (ssize_t)n, "sending");
	for (int i = 0; i < 2000; i++) {
		if (__atomic_load_n(&conn->passed, __ATOMIC_SEQ_CST) >= then)
			break;
		nanosleep(&ms, NULL);
	}
	nanosleep(&ms, NULL); /* counting comes before waking */
	check(conn->passed == then, "nothing was passed");
}

static void enough_wakes(const char *dir)
{
	fresh_pair(dir);
	sleep_until(0);
	send_bytes(1);
	check(woken(), "without a limit a byte does not wake");
	sleep_until(conn->passed + 30000);
	send_bytes(16384);
	check(!woken(), "less than was asked for wakes");
	check(conn->told, "nobody was told of what came");
	send_bytes(30000 - 16384);
	check(woken(), "what was asked for does not wake");
	end_pair();
}

/* Others are not kept waiting by the limit of one. */
static void the_ring_wakes(const char *dir)
{
	fresh_pair(dir);
	conn->pass = 0;
	sleep_until(FAR);
	check(send(there, "x", 1, 0) == 1, "sending");
	for (int i = 0; i < 2000 && !woken(); i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	check(woken(), "what is in the ring does not wake");
	end_pair();
}

static void a_full_socket_wakes(const char *dir)
{
	static char bytes[65536];
	int small = 32768;
	long sent = 0;

	fresh_pair(dir);
	setsockopt(here, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	fcntl(there, F_SETFL, O_NONBLOCK);
	sleep_until(FAR);
	for (int i = 0; i < 2000 && !woken(); i++) {
		ssize_t n = send(there, bytes, sizeof(bytes), 0);

		sent += n > 0 ? n : 0;
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	}
	check(woken(), "the peer can send no more, and nobody is woken");
	check(sent > 0, "nothing could be sent");
	end_pair();
}

/* A piece that does not follow the one before: no more will come. */
static void the_end_wakes(const char *dir)
{
	fresh_pair(dir);
	send_bytes(1);
	conn->next -= 1000;
	sleep_until(FAR);
	check(send(there, "x", 1, 0) == 1, "sending");
	for (int i = 0; i < 2000 && !woken(); i++)
		nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
	check(woken() && conn->lost, "a lost connection does not wake");
	end_pair();
}

int main(int argc, char **argv)
{
	check(argc == 2, "the folder of a seat is needed");
	seat = open_seat(argv[1]);
	conn = &seat->conns[0];
	enough_wakes(argv[1]);
	the_ring_wakes(argv[1]);
	a_full_socket_wakes(argv[1]);
	the_end_wakes(argv[1]);
	return 0;
}
