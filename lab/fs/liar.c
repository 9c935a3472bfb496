// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * liar: a small server for 9pnet_o2g.ko to be tried with. It has a directory with some
 * files whose bytes follow from their offsets, takes what is written and forgets it, and
 * lies as often as it is told to: replies that are cut, stretched, of another
 * type, size or tag, full of random bytes, come twice, or not at all.
 *
 *	liar KEYFILE [--lie PERCENT] [--seed N] [--state FILE] [--slow MS]
 *	liar --bytes	what is in the file "large"
 *
 * It listens on port 5640. With --state it knows its clients' fids when it is started
 * again. With --slow it takes that long for each reply to a read.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <o2g.h>

#include "env.h"
#include "fs/wire.h"

enum {
	Rlerror = 7,
	Tstatfs = 8,
	Tlopen = 12,
	Tgetattr = 24,
	Treaddir = 40,
	Tfsync = 50,
	Tversion = 100,
	Tattach = 104,
	Tflush = 108,
	Twalk = 110,
	Tread = 116,
	Twrite = 118,
	Tclunk = 120,
	Tsetattr = 26,
};

#define MSIZE FS_MSIZE_DEFAULT
#define FIDS 4096
#define SESSIONS 16
#define GUESTS 256

/* The root is node 1; 0 is no node. */
static const struct node {
	const char *name;
	uint32_t mode;
	uint64_t size;
} nodes[] = {
	{ 0 },
	{ "/", S_IFDIR | 0755, 4096 },
	{ "large", S_IFREG | 0666, (3 << 20) + 4100 },
	{ "small", S_IFREG | 0666, 1000 },
	{ "empty", S_IFREG | 0666, 0 },
	{ "dir", S_IFDIR | 0755, 4096 },
};
#define NODES (sizeof(nodes) / sizeof(nodes[0]))

static struct o2g_ep *ep;
/* What it knows of clients; the oldest make room. */
static struct state {
	unsigned next;
	struct session {
		unsigned char uuid[FS_UUID_SIZE];
		unsigned char nodes[FIDS]; /* of each fid */
	} sessions[SESSIONS];
} * state;
static struct guest {
	int peer;
	struct session *session;
} guests[GUESTS];
static unsigned char *fids; /* of whoever is served */
static int lie, slow_ms;
static unsigned char in[MSIZE + 64], out[MSIZE + 4096];
static size_t in_len, at, to;

/* --- reading and writing messages; wrong ones read as zeros --- */

static uint64_t get(int n)
{
	uint64_t v = 0;

	if (at + n <= in_len)
		memcpy(&v, in + at, n);
	at += n;
	return v;
}

static void put(uint64_t v, int n)
{
	memcpy(out + to, &v, n);
	to += n;
}

static void put_qid(unsigned node)
{
	put(nodes[node].mode & S_IFDIR ? 0x80 : 0, 1);
	put(1, 4);
	put(node, 8);
}

/* --- requests --- */

static unsigned node_of(uint32_t fid)
{
	return fids && fid < FIDS && fids[fid] < NODES ? fids[fid] : 0;
}

static int set_fid(uint32_t fid, unsigned node)
{
	if (fid >= FIDS || !fids)
		return EMFILE;
	fids[fid] = node;
	return 0;
}

static int do_version(void)
{
	uint32_t msize = get(4);

	put(msize < MSIZE ? msize : MSIZE, 4);
	put(8, 2);
	memcpy(out + to, "9P2000.L", 8);
	to += 8;
	return 0;
}

static int do_attach(void)
{
	put_qid(1);
	return set_fid(get(4), 1);
}

static unsigned lookup(unsigned dir, const char *name, size_t n)
{
	unsigned i;

	if (dir != 1)
		return 0;
	for (i = 2; i < NODES; i++)
		if (strlen(nodes[i].name) == n &&
		    !memcmp(nodes[i].name, name, n))
			return i;
	return 0;
}

static int do_walk(void)
{
	unsigned node = node_of(get(4)), i;
	uint32_t fid = get(4), n = get(2);
	size_t count_at = to;

	if (!node)
		return EBADF;
	put(0, 2);
	for (i = 0; i < n && i < 16; i++) {
		size_t len = get(2);

		if (at + len > in_len)
			return EINVAL;
		node = lookup(node, (char *)in + at, len);
		at += len;
		if (!node)
			return i ? 0 : ENOENT;
		put_qid(node);
		out[count_at] = i + 1;
	}
	return set_fid(fid, node);
}

static int do_getattr(void)
{
	unsigned node = node_of(get(4)), i;

	if (!node)
		return EBADF;
	put(0x7ff, 8);
	put_qid(node);
	put(nodes[node].mode, 4);
	put(0, 4); /* uid, gid */
	put(0, 4);
	put(1, 8);
	put(0, 8);
	put(nodes[node].size, 8);
	put(4096, 8);
	put((nodes[node].size + 511) / 512, 8);
	for (i = 0; i < 10; i++)
		put(0, 8);
	return 0;
}

static int do_lopen(void)
{
	unsigned node = node_of(get(4));

	put_qid(node);
	put(0, 4);
	return node ? 0 : EBADF;
}

static unsigned char byte_at(unsigned node, uint64_t off)
{
	return off * 7 + (off >> 12) + node;
}

static int do_read(void)
{
	unsigned node = node_of(get(4));
	uint64_t off = get(8), n = get(4), i;

	if (!node)
		return EBADF;
	usleep(slow_ms * 1000);
	if (off > nodes[node].size)
		off = nodes[node].size;
	if (n > nodes[node].size - off)
		n = nodes[node].size - off;
	if (n > MSIZE - FS_RREAD_HDR)
		n = MSIZE - FS_RREAD_HDR;
	put(n, 4);
	for (i = 0; i < n; i++)
		out[to++] = byte_at(node, off + i);
	return 0;
}

static int do_readdir(void)
{
	unsigned node = node_of(get(4)), i;
	uint64_t off = get(8), room = get(4);
	size_t count_at = to;
	uint32_t n;

	if (!node)
		return EBADF;
	put(0, 4);
	for (i = off + 2; node == 1 && i < NODES; i++) {
		size_t len = strlen(nodes[i].name);

		if (to - count_at + 20 + len > room)
			break;
		put_qid(i);
		put(i - 1, 8);
		put(nodes[i].mode & S_IFDIR ? 4 : 8, 1);
		put(len, 2);
		memcpy(out + to, nodes[i].name, len);
		to += len;
	}
	n = to - count_at - 4;
	memcpy(out + count_at, &n, 4);
	return 0;
}

static int do_write(void)
{
	unsigned node = node_of(get(4));
	uint64_t off = get(8);
	uint32_t n = get(4), i;

	if (!node)
		return EBADF;
	if (at + n != in_len)
		return EINVAL;
	for (i = 0; i < n; i++)
		if (in[at + i] != byte_at(node, off + i))
			return EILSEQ; /* what we would have read there */
	put(n, 4);
	return 0;
}

static int do_statfs(void)
{
	int i;

	put(0x01021997, 4);
	put(4096, 4);
	for (i = 0; i < 6; i++)
		put(1000, 8);
	put(255, 4);
	return 0;
}

static int serve(int type)
{
	switch (type) {
	case Tversion:
		return do_version();
	case Tattach:
		return do_attach();
	case Twalk:
		return do_walk();
	case Tgetattr:
		return do_getattr();
	case Tlopen:
		return do_lopen();
	case Tread:
		return do_read();
	case Treaddir:
		return do_readdir();
	case Twrite:
		return do_write();
	case Tstatfs:
		return do_statfs();
	case Tclunk:
		return set_fid(get(4), 0);
	case Tflush:
	case Tfsync:
	case Tsetattr:
		return 0;
	}
	return EOPNOTSUPP;
}

/* --- lies --- */

static unsigned dice(unsigned n)
{
	return (unsigned)rand() % n;
}

/* What becomes of the reply; how often it is sent. */
static int spoil(uint64_t *tag)
{
	size_t i, n;

	switch (dice(10)) {
	case 0: /* cut, or stretched, with its size field as it was, */
		to = dice(to + 40);
		break;
	case 1: /* or right */
		to = dice(to + 40);
		if (to >= 4)
			memcpy(out, &to, 4);
		break;
	case 2:
		out[4] = dice(256);
		break;
	case 3:
		out[5 + dice(2)] = dice(256);
		break;
	case 4:
		for (i = 7; i < to && i < 512; i++)
			out[i] = dice(4) ? out[i] : dice(256);
		break;
	case 5: /* a number that is much too large */
		n = 7 + dice(24);
		memset(out + n, 0xff, 4);
		break;
	case 6:
		return 2;
	case 7:
		return dice(4) ?
			       1 :
			       0; /* not at all; not too often, it takes time */
	case 8:
		*tag ^= 1ull << dice(63);
		return dice(4) ? 2 : 1;
	case 9: /* an error, of any number */
		out[4] = Rlerror;
		n = dice(3) ? dice(200) : dice(1u << 31);
		memcpy(out + 7, &n, 4);
		to = 11;
		memcpy(out, &to, 4);
		break;
	}
	return 1;
}

/* --- messages --- */

static void send_to(int peer, uint64_t tag, const void *buf, size_t n)
{
	struct o2g_seg seg = { (void *)buf, n };
	struct o2g_req *req;

	if (!o2g_isend(ep, peer, tag, &seg, 1, 0, &req))
		o2g_wait(req, NULL);
}

static void answer(int peer, uint64_t tag)
{
	uint64_t reply = (tag & ~FS_TAG_KIND) | FS_TAG_REPLY;
	int type, times = 1, err;
	uint32_t size;

	at = 0;
	size = get(4);
	type = get(1);
	to = 4;
	put(type + 1, 1);
	put(get(2), 2);
	err = size == in_len ? serve(type) : EPROTO;
	if (err) {
		out[4] = Rlerror;
		to = 7;
		put(err, 4);
	}
	size = to;
	memcpy(out, &size, 4);
	if (lie && type != Tversion && type != Tattach && (int)dice(100) < lie)
		times = spoil(&reply);
	while (times--)
		send_to(peer, reply, out, to);
}

static struct session *find_session(const unsigned char *uuid)
{
	struct session *s = state->sessions;

	for (; s < state->sessions + SESSIONS; s++)
		if (!memcmp(s->uuid, uuid, FS_UUID_SIZE))
			return s;
	s = state->sessions + state->next++ % SESSIONS;
	memset(s, 0, sizeof(*s));
	memcpy(s->uuid, uuid, FS_UUID_SIZE);
	return s;
}

static void choose_fids(int peer)
{
	unsigned i;

	fids = NULL;
	for (i = 0; i < GUESTS; i++)
		if (guests[i].session && guests[i].peer == peer)
			fids = guests[i].session->nodes;
}

static void welcome(int peer)
{
	struct fs_welcome w = { 0 };
	static unsigned next;

	guests[next++ % GUESTS] = (struct guest){ peer, find_session(in) };

	w.msize = MSIZE;
	w.epoch = 1;
	w.known = 1;
	send_to(peer, FS_TAG_SESSION, &w, sizeof(w));
}

static int resolve(void *arg, int rank, char *address, size_t size)
{
	(void)arg, (void)rank, (void)address, (void)size;
	return -EINPROGRESS;
}

static void loop(void)
{
	for (;;) {
		struct o2g_seg seg = { in, sizeof(in) };
		struct o2g_status st;
		struct o2g_req *req;

		if (o2g_irecv(ep, O2G_ANY_SOURCE, 0, ~0ull, &seg, 1, &req))
			exit(1);
		if (o2g_wait(req, &st) || st.error)
			continue;
		in_len = st.length;
		if ((st.tag & FS_TAG_KIND) == FS_TAG_SESSION)
			welcome(st.source);
		else {
			choose_fids(st.source);
			answer(st.source, st.tag);
		}
	}
}

/* --- start --- */

static void read_key(const char *file, unsigned char *secret)
{
	int fd = open(file, O_RDONLY);

	if (fd < 0 || read(fd, secret, O2G_SECRET_SIZE) != O2G_SECRET_SIZE) {
		fprintf(stderr, "liar: no key in %s\n", file);
		exit(2);
	}
	close(fd);
}

static void map_state(const char *file)
{
	int fd = file ? open(file, O_RDWR | O_CREAT, 0600) : -1;

	if (file && (fd < 0 || ftruncate(fd, sizeof(*state))))
		exit(2);
	state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
		     file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, fd, 0);
	if (state == MAP_FAILED)
		exit(2);
}

static int print_bytes(void)
{
	uint64_t i;

	for (i = 0; i < nodes[2].size; i++)
		putchar(byte_at(2, i));
	return 0;
}

int main(int argc, char **argv)
{
	struct o2g_attr attr = { .rank = FS_SERVER_RANK,
				 .size = FS_RANKS,
				 .job = FS_JOB,
				 .resolve = resolve };
	const char *file = NULL;
	int i;

	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "--bytes"))
		return print_bytes();
	for (i = 2; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--lie"))
			lie = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--seed"))
			srand(atoi(argv[i + 1]));
		else if (!strcmp(argv[i], "--slow"))
			slow_ms = atoi(argv[i + 1]);
		else if (!strcmp(argv[i], "--state"))
			file = argv[i + 1];
	}
	read_key(argv[1], attr.secret);
	map_state(file);
	setenv("O2G_TCP_PORTS", "5640-5640", 1);
	setenv("O2G_CHANNELS", "tcp", 1);
	i = o2g_open(&attr, &ep);
	if (i) {
		fprintf(stderr, "liar: %s\n", o2g_strerror(i));
		return 1;
	}
	puts("ready");
	fflush(stdout);
	loop();
}
