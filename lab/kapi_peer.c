/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A process that is the peer of a kernel module (lab/kapi).
 *
 *	kapi_peer serve          rank 1, does what rank 0 orders; prints its port
 *	kapi_peer call PORT      rank 0, orders from the module that listens there
 *	kapi_peer memory BYTES   only has memory; prints its pid, address and length
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "kapi/kapi_orders.h"
#include "o2g.h"

static struct o2g_ep *ep;
static int other; /* its number */

static void fail(const char *what, int err)
{
	fprintf(stderr, "kapi_peer: %s: %s\n", what, o2g_strerror(err));
	exit(1);
}

static void must(const char *what, int err)
{
	if (err < 0)
		fail(what, err);
}

/* --- opening --- */

static char module_address[2 * O2G_ADDRESS_MAX]; /* "": it comes by itself */

static int resolve(void *arg, int rank, char *address, size_t size)
{
	if (!module_address[0])
		return -EINPROGRESS;
	snprintf(address, size, "%s", module_address);
	return 0;
}

/* The module is on this host: its address is ours, but for the port. */
static void find_module(const char *port)
{
	char own[O2G_ADDRESS_MAX], *at, *rest;

	must("o2g_address", o2g_address(ep, own, sizeof(own)));
	at = strstr(own, "port=");
	rest = at ? strchr(at, ',') : NULL;
	if (!rest)
		fail("its own address has no port", -EINVAL);
	*at = '\0';
	snprintf(module_address, sizeof(module_address), "%sport=%s%s", own,
		 port, rest);
}

static void open_endpoint(int rank)
{
	struct o2g_attr attr = { .rank = rank,
				 .size = 2,
				 .job = "kapi",
				 .secret = "the secret that both ends share",
				 .resolve = resolve };

	other = !rank;
	must("o2g_open", o2g_open(&attr, &ep));
}

static void print_port(void)
{
	char address[O2G_ADDRESS_MAX];
	const char *port;

	must("o2g_address", o2g_address(ep, address, sizeof(address)));
	port = strstr(address, "port=");
	printf("%d\n", port ? atoi(port + 5) : 0);
	fflush(stdout);
}

/* --- the server --- */

static void echo(const struct kapi_order *o)
{
	char *buf = malloc(o->length + 1);
	struct o2g_status s;

	if (!buf)
		exit(1);
	must("a message",
	     o2g_recv(ep, other, KAPI_TAG_DATA, 0, buf, o->length, &s));
	must("its echo", o2g_send(ep, other, KAPI_TAG_ECHO, buf, o->length,
				  o->flags & KAPI_SYNC ? O2G_SYNC : 0));
	free(buf);
}

static void open_memory(const struct kapi_order *o)
{
	static struct o2g_mem *mem;
	static char *buf;
	struct kapi_key key = { 0 };
	struct o2g_key k;

	if (mem)
		o2g_mem_deregister(mem);
	mem = NULL;
	free(buf);
	buf = NULL;
	if (o->op == KAPI_SHUT)
		return;
	buf = malloc(o->length);
	if (!buf)
		exit(1);
	must("o2g_mem_register",
	     o2g_mem_register(ep, buf, o->length, O2G_READ | O2G_WRITE, &mem,
			      &k));
	key.key = k.key;
	must("the key",
	     o2g_send(ep, other, KAPI_TAG_KEY, &key, sizeof(key), 0));
}

/* Killed by a signal, whatever it does then. */
static void die(const struct kapi_order *o)
{
	struct itimerval t = { .it_value = { 0, (o->length + 1) % 1000000 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void obey(const struct kapi_order *o)
{
	switch (o->op) {
	case KAPI_ECHO:
		echo(o);
		break;
	case KAPI_OPEN:
	case KAPI_SHUT:
		open_memory(o);
		break;
	case KAPI_DIE:
		die(o);
		break;
	default:
		fprintf(stderr, "kapi_peer: what is %u?\n", o->op);
		exit(1);
	}
}

/* Orders and balls: their tags differ in one bit. */
static int serve(void)
{
	static char buf[4096];
	struct o2g_status s;

	open_endpoint(1);
	print_port();
	for (;;) {
		int err = o2g_recv(ep, other, KAPI_TAG_ORDER,
				   KAPI_TAG_ORDER ^ KAPI_TAG_BALL, buf,
				   sizeof(buf), &s);

		if (err == -O2G_ERR_PEER)
			break;
		must("an order", err);
		if (s.tag == KAPI_TAG_BALL)
			must("a ball", o2g_send(ep, other, KAPI_TAG_BACK, buf,
						s.length, 0));
		else
			obey((const struct kapi_order *)buf);
	}
	o2g_close(ep);
	return 0;
}

/* --- the caller --- */

static void order_echo(size_t len)
{
	struct kapi_order o = { .op = KAPI_ECHO, .kind = 7, .length = len };
	char *out = malloc(len + 1), *in = malloc(len + 1);
	struct o2g_req *req;
	struct o2g_seg seg = { in, len };
	struct o2g_status s;

	if (!out || !in)
		exit(1);
	for (size_t i = 0; i < len; i++)
		out[i] = (char)(i * 31 >> 3);
	must("an order", o2g_send(ep, other, KAPI_TAG_ORDER, &o, sizeof(o), 0));
	must("o2g_irecv",
	     o2g_irecv(ep, other, KAPI_TAG_ECHO, 0, &seg, 1, &req));
	must("a message", o2g_send(ep, other, KAPI_TAG_DATA, out, len, 0));
	must("its echo", o2g_wait(req, &s));
	if (s.length != len || memcmp(in, out, len)) {
		fprintf(stderr, "kapi_peer: %zu bytes came back wrong\n", len);
		exit(1);
	}
	free(in);
	free(out);
}

static int call(const char *port)
{
	open_endpoint(0);
	find_module(port);
	for (size_t len = 0; len < 3 << 20; len = 3 * len + 5)
		order_echo(len);
	o2g_close(ep);
	return 0;
}

/* --- memory --- */

static int memory(const char *bytes)
{
	size_t len = strtoul(bytes, NULL, 0);
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return 1;
	printf("%d,%lu,%zu\n", (int)getpid(), (unsigned long)p, len);
	fflush(stdout);
	pause();
	return 0;
}

int main(int argc, char **argv)
{
	alarm(600);
	if (argc == 2 && !strcmp(argv[1], "serve"))
		return serve();
	if (argc == 3 && !strcmp(argv[1], "call"))
		return call(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "memory"))
		return memory(argv[2]);
	fprintf(stderr, "usage: kapi_peer serve | call PORT | memory BYTES\n");
	return 2;
}
