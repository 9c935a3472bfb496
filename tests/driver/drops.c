/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Every reason to refuse or drop something that a peer can bring about, by a peer
 * that does: each has its counter, and no other one moves. drops [reason]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "wire.h"

#define KEY 77

static struct dev d;
static int peer; /* rank 1's end of the connection; d is rank 0 */
static char memory[4096], buf[100000];

static void put_raw(const struct o2g_wire_hdr *w)
{
	CHECK(send(peer, w, sizeof(*w), MSG_NOSIGNAL) == sizeof(*w));
}

static struct o2g_wire_hdr header(struct o2g_hdr h)
{
	struct o2g_wire_hdr w;

	h.src = 1;
	o2g_wire_encode(&h, &w);
	return w;
}

static void put(struct o2g_hdr h)
{
	struct o2g_wire_hdr w = header(h);

	put_raw(&w);
}

/* The next packet of this type that the driver sends. */
static struct o2g_hdr answer(uint8_t type)
{
	struct o2g_hdr h = { 0 };
	char raw[O2G_HDR_SIZE];

	while (h.type != type) {
		CHECK(recv(peer, raw, sizeof(raw), MSG_WAITALL) == sizeof(raw));
		CHECK(!o2g_wire_decode(raw, &h));
	}
	return h;
}

static void bad_version(void)
{
	struct o2g_wire_hdr w = header((struct o2g_hdr){ .type = 1 });

	w.version = 99;
	put_raw(&w);
}

static void bad_size(void)
{
	struct o2g_wire_hdr w = header((struct o2g_hdr){ .type = 1 });

	w.size = 47;
	put_raw(&w);
}

static void bad_type(void)
{
	put((struct o2g_hdr){ .type = 200 });
}

static void bad_flags(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_BYE, .flags = 1 });
}

static void bad_length(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_BYE, .length = 1 });
}

static void wrong_endpoint(void)
{
	struct o2g_wire_hdr w = header((struct o2g_hdr){ .type = 1 });

	w.dst = 1; /* in either order of bytes not 0 */
	put_raw(&w);
}

static void too_long(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_EAGER, .length = 1 << 30 });
}

static void no_request(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_FIN, .cookie = 12345 });
}

static void bad_state(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_GET, .tag = KEY, .length = 0 });
}

/* A message by rendezvous, whose data is for another place. */
static void bad_range(void)
{
	struct o2g_hdr cts;

	dev_recv(&d, 1, 1, 5, buf, sizeof(buf));
	put((struct o2g_hdr){ .type = O2G_PKT_RTS,
			      .tag = 5,
			      .length = sizeof(buf),
			      .cookie = 9 });
	cts = answer(O2G_PKT_CTS);
	put((struct o2g_hdr){ .type = O2G_PKT_DATA,
			      .cookie = cts.aux,
			      .aux = 1 << 20,
			      .length = 10 });
}

static void bad_credit(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_CREDIT, .credit = 0xffffffff });
}

static void after_bye(void)
{
	struct o2g_wire_hdr w[2] = {
		header((struct o2g_hdr){ .type = O2G_PKT_BYE }),
		header((struct o2g_hdr){ .type = O2G_PKT_EAGER }),
	};

	CHECK(send(peer, w, sizeof(w), MSG_NOSIGNAL) == sizeof(w));
}

static void cut(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_EAGER, .length = 100 });
	CHECK(send(peer, memory, 10, 0) == 10);
	close(peer);
}

/* More than the socket takes, to somebody who does not read. */
static void unsent(void)
{
	static char much[16 << 20];
	int ret;

	put((struct o2g_hdr){ .type = O2G_PKT_CREDIT, .credit = 4096 });
	for (uint32_t slot = 1; slot < 200; slot++) {
		ret = dev_submit(&d, O2GD_OP_PUT, slot, 1, 0, much,
				 sizeof(much));
		CHECK(ret == 0 || ret == 1);
	}
	close(peer);
}

static void excess(void)
{
	dev_recv(&d, 1, 1, 5, buf, 10);
	put((struct o2g_hdr){ .type = O2G_PKT_EAGER, .tag = 5, .length = 30 });
	CHECK(send(peer, memory, 30, 0) == 30);
	CHECK(dev_next(&d, buf, sizeof(buf)).status == -O2G_ERR_TRUNCATED);
}

static void bad_key(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_GET, .tag = 1, .length = 10 });
	answer(O2G_PKT_NAK);
}

static void bad_access(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_PUT, .tag = KEY, .length = 10 });
	CHECK(send(peer, memory, 10, 0) == 10);
	answer(O2G_PKT_NAK);
}

static void bad_offset(void)
{
	put((struct o2g_hdr){ .type = O2G_PKT_GET,
			      .tag = KEY,
			      .length = 10,
			      .aux = sizeof(memory) - 5 });
	answer(O2G_PKT_NAK);
}

#define CASE(name, f, ends)                   \
	{                                     \
		O2GD_DROP_##name, #f, f, ends \
	}
static const struct {
	enum o2gd_drop why;
	const char *name;
	void (*provoke)(void);
	bool ends; /* the connection */
} cases[] = {
	CASE(BAD_VERSION, bad_version, true),
	CASE(BAD_SIZE, bad_size, true),
	CASE(BAD_TYPE, bad_type, true),
	CASE(BAD_FLAGS, bad_flags, true),
	CASE(BAD_LENGTH, bad_length, true),
	CASE(WRONG_ENDPOINT, wrong_endpoint, true),
	CASE(TOO_LONG, too_long, true),
	CASE(NO_REQUEST, no_request, true),
	CASE(BAD_STATE, bad_state, true),
	CASE(BAD_RANGE, bad_range, true),
	CASE(BAD_CREDIT, bad_credit, true),
	CASE(AFTER_BYE, after_bye, true),
	CASE(CUT, cut, true),
	CASE(UNSENT, unsent, true),
	CASE(EXCESS, excess, false),
	CASE(BAD_KEY, bad_key, false),
	CASE(BAD_ACCESS, bad_access, false),
	CASE(BAD_OFFSET, bad_offset, false),
};
#define NCASES (sizeof(cases) / sizeof(cases[0]))

static void wait_lost(void)
{
	struct o2gd_cqe c;

	do
		c = dev_next(&d, buf, sizeof(buf));
	while (c.slot != O2GD_SLOT_PEER);
}

static void run_case(size_t i)
{
	struct o2gd_mem m = { .addr = (uintptr_t)memory,
			      .key = KEY,
			      .len = sizeof(memory),
			      .access = O2GD_READ };
	struct o2gd_info info, p;
	int fd[2];

	dev_open(&d, 0, 2, 256);
	CHECK(dev_call(&d, O2GD_MEM_ADD, &m) == 0);
	dev_tcp_pair(fd);
	peer = fd[1];
	CHECK(dev_register(&d, 1, fd[0]) == 0);
	cases[i].provoke();
	if (cases[i].ends)
		wait_lost();
	dev_info(&d, &info);
	CHECK(driver_info(d.fd, 0, 1, &p) == 0);
	CHECK(!memcmp(p.drops, info.drops, sizeof(p.drops)));
	for (int k = 0; k < O2GD_NDROPS; k++) {
		bool here = k == (int)cases[i].why;

		/* What it had to say meanwhile may be lost as well. */
		if (k != O2GD_DROP_UNSENT || here)
			CHECK(!!info.drops[k] == here);
	}
	if (getenv("O2G_DROPS_TOP"))
		CHECK(system(getenv("O2G_DROPS_TOP")) == 0);
}

int main(int argc, char **argv)
{
	bool ok = true;
	int status;

	printf("KTAP version 1\n1..%zu\n", NCASES);
	for (size_t i = 0; i < NCASES; i++) {
		pid_t pid;

		if (argc > 1 && strcmp(cases[i].name, argv[1]))
			continue;
		fflush(stdout);
		pid = fork();
		if (pid == 0) {
			alarm(60);
			run_case(i);
			_exit(0);
		}
		CHECK(waitpid(pid, &status, 0) == pid);
		printf("%sok %zu %s\n", status ? "not " : "", i + 1,
		       cases[i].name);
		ok &= !status;
	}
	return !ok;
}
