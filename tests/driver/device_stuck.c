/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A process whose memory is never there: device_stuck [case]. Whoever copies from or to
 * it waits, the process itself or the driver's workers. Its peer is a stranger and must
 * not wait with it, nor may anybody else; and it can be killed.
 *
 * Neither may pin memory, so that the driver copies with the process's own.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "never.h"
#include "pair.h"
#include "wire.h"

#define LEN 100000
#define KEY 5
#define STUCK_UID 65533
#define OTHER_UID 65532
#define CROWD 17       /* processes, each with as many peers */
#define CROWD_PEERS 16 /* as an endpoint has workers */
#define CROWD_LEN 5000
#define SOON (20 * dev_patience()) /* seconds: far more than it takes */

static enum never_kind kind = NEVER_UFFD;
static bool is_unmapped; /* nothing but its descriptor keeps the endpoint */
static bool goes_on;	 /* after that */
static bool is_kept;	 /* somebody else could deliver, when it is dead */

/* What the stuck process does with its memory. */
enum what { SENDS, RECEIVES, PUTS, IS_PUT_TO, IS_READ, IS_CROWDED };

static void become(uid_t uid)
{
	CHECK(!setgid(uid) && !setuid(uid));
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* after that, which forgets it */
}

/* From now on; what is mapped counts as well. */
static void may_not_pin(void)
{
	struct rlimit none = { 0, 0 };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &none));
}

/* --- the stuck process --- */

struct stuck {
	pid_t pid;
	int words; /* a pipe: 'r', it is ready; 't', its memory was touched */
};

static struct never never;
static int told;

static void tell(int fd, char word)
{
	CHECK(write(fd, &word, 1) == 1);
}

static void expect_word(int fd, char word)
{
	char c = 0;

	CHECK(read(fd, &c, 1) == 1 && c == word);
}

static atomic_bool touched;

/* Beside whoever waits. */
static void *watch(void *arg)
{
	if (never_is_touched(&never)) {
		atomic_store(&touched, true);
		tell(told, 't');
	}
	return arg;
}

/*
 * A worker waits for a page of ours, perhaps with the socket's lock. What the process
 * sends meanwhile goes in line; giving the peer up takes as long as that, but it can
 * be killed then.
 */
static void go_on(void)
{
	uint32_t peer = 1;

	while (!atomic_load(&touched))
		usleep(1000);
	dev_inject(&a, 1, 3, data, 8);
	dev_submit(&a, O2GD_OP_SEND, 7, 1, 4, data, 8);
	dev_call(&a, O2GD_PEER_DOWN, &peer);
}

/* A message from each of many peers, whose other ends are here. */
static void crowd(void)
{
	static unsigned char body[CROWD_LEN];
	unsigned char raw[O2G_HDR_SIZE];
	int tcp[2];

	for (uint32_t i = 1; i <= CROWD_PEERS; i++) {
		struct o2g_hdr h = { .type = O2G_PKT_EAGER,
				     .src = i,
				     .tag = 1,
				     .length = CROWD_LEN };

		dev_tcp_pair(tcp);
		CHECK(dev_submit(&a, O2GD_OP_RECV, i, i, 1,
				 never.mem + 8192 * i, CROWD_LEN) == 0);
		CHECK(dev_register(&a, i, tcp[0]) == 0);
		o2g_wire_encode(&h, raw);
		CHECK(write(tcp[1], raw, sizeof(raw)) == sizeof(raw));
		CHECK(write(tcp[1], body, CROWD_LEN) == CROWD_LEN);
	}
}

static void touch(enum what what)
{
	struct o2gd_mem m = { .addr = (uintptr_t)never.mem,
			      .len = LEN,
			      .access = O2GD_READ | O2GD_WRITE,
			      .key = KEY };
	struct o2gd_sqe put = { .op = O2GD_OP_PUT,
				.slot = 2,
				.peer = 1,
				.key = KEY,
				.addr = (uintptr_t)never.mem,
				.len = LEN };

	if (what == SENDS)
		dev_submit(&a, O2GD_OP_SEND, 1, 1, 1, never.mem, LEN);
	else if (what == RECEIVES)
		dev_submit(&a, O2GD_OP_RECV, 1, 1, 1, never.mem, LEN);
	else if (what == PUTS)
		dev_call(&a, O2GD_SUBMIT, &put);
	else if (what == IS_CROWDED)
		crowd();
	else
		CHECK(dev_call(&a, O2GD_MEM_ADD, &m) == 0);
}

static void keep(int socket)
{
	if (fork())
		return;
	close(socket);
	CHECK(!setpgid(0, 0)); /* not killed with it */
	sleep(3 * SOON);
	_exit(0);
}

/*
 * The descriptor of the memory comes before the endpoint's: what is opened last is
 * released first when the process is killed.
 */
static void stuck_process(enum what what, int socket)
{
	pthread_t t;

	CHECK(!setpgid(0, 0)); /* with whoever should deliver */
	never_make(&never, kind, 1 << 20);
	if (is_kept)
		keep(socket);
	become(STUCK_UID);
	dev_open(&a, 0, CROWD_PEERS + 1, 64);
	may_not_pin();
	CHECK(!pthread_create(&t, NULL, watch, NULL));
	if (socket >= 0)
		CHECK(dev_register(&a, 1, socket) == 0);
	if (is_unmapped)
		munmap(a.map, a.s.map_size);
	tell(told, 'r');
	touch(what);
	if (goes_on)
		go_on();
	for (;;)
		pause();
}

static struct stuck start(enum what what, int socket)
{
	struct stuck s;
	int fds[2];

	CHECK(!pipe(fds));
	s.pid = fork();
	if (s.pid == 0) {
		told = fds[1];
		stuck_process(what, socket);
	}
	CHECK(s.pid > 0);
	close(fds[1]);
	s.words = fds[0];
	expect_word(s.words, 'r');
	return s;
}

/* It ends, whatever waits for its memory. */
static void end(const struct stuck *s)
{
	CHECK(!kill(-s->pid, SIGKILL));
	for (int i = 0; i < SOON * 100; i++) {
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid) {
			close(s->words);
			return;
		}
		usleep(10000);
	}
	CHECK(!"a killed process ends");
}

/* --- the others --- */

static struct dev c, d;

static void open_others(void)
{
	dev_open(&c, 0, 2, 16);
	dev_open(&d, 1, 2, 16);
}

static void one_each_way(uint64_t len)
{
	struct dev *from[] = { &c, &d }, *to[] = { &d, &c };

	for (uint32_t i = 0; i < 2; i++) {
		dev_recv(to[i], 1, i, len, buf, len);
		send_all(from[i], 2, !i, len, len);
		got(to[i], 1, len, len);
	}
}

/* Everything works for two endpoints that have nothing to do with it. */
static void others_go_on(void)
{
	struct o2gd_list l = { .entry = sizeof(struct o2gd_list_entry) };
	time_t begin = time(NULL);

	dev_join(&c, &d);
	for (uint64_t len = 8; len < MIB; len *= 64)
		one_each_way(len);
	CHECK(dev_call(&c, O2GD_LIST, &l) == 0);
	dev_close(&c);
	dev_close(&d);
	CHECK(time(NULL) - begin < SOON);
}

/* What makes the driver touch the other's memory. */
static void provoke(enum what what)
{
	static unsigned char mine[LEN];
	struct o2gd_mem m = { .addr = (uintptr_t)mine,
			      .len = LEN,
			      .access = O2GD_WRITE,
			      .key = KEY };
	struct o2gd_sqe e = { .op = what == IS_READ ? O2GD_OP_GET : O2GD_OP_PUT,
			      .slot = 3,
			      .peer = 0,
			      .key = KEY,
			      .addr = (uintptr_t)mine,
			      .len = LEN };

	if (what == SENDS)
		dev_recv(&b, 1, 0, 1, mine, LEN);
	else if (what == RECEIVES)
		CHECK(dev_submit(&b, O2GD_OP_SEND, 2, 0, 1, data, LEN) >= 0);
	else if (what == PUTS)
		CHECK(dev_call(&b, O2GD_MEM_ADD, &m) == 0);
	else
		CHECK(dev_call(&b, O2GD_SUBMIT, &e) >= 0);
}

/* Its peer may send, ask and close, and hears of its end. */
static void peer_process(enum what what, int socket, const struct stuck *s,
			 int done, bool closes)
{
	uint32_t slot = 3;
	struct o2gd_cqe e;

	become(OTHER_UID);
	open_others();
	dev_open(&b, 1, 2, 16);
	may_not_pin();
	CHECK(dev_register(&b, 0, socket) == 0);
	provoke(what);
	expect_word(s->words, 't');
	others_go_on();
	CHECK(dev_submit(&b, O2GD_OP_SEND, 9, 0, 7, data, 8) >= 0);
	dev_call(&b, O2GD_CANCEL, &slot);
	if (closes)
		dev_close(&b);
	tell(done, 'd');
	do
		e = closes ? (struct o2gd_cqe){ .slot = O2GD_SLOT_PEER } :
			     dev_next(&b, buf, sizeof(buf));
	while (e.slot != O2GD_SLOT_PEER);
	_exit(0);
}

static void is_fine(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void stuck(enum what what, bool closes)
{
	int tcp[2], fds[2];
	struct stuck s;
	pid_t peer;

	if (!never_can(kind)) {
		printf("# there is no such memory here\n");
		return;
	}
	dev_tcp_pair(tcp);
	s = start(what, tcp[0]);
	close(tcp[0]);
	CHECK(!pipe(fds));
	peer = fork();
	if (peer == 0)
		peer_process(what, tcp[1], &s, fds[1], closes);
	close(tcp[1]), close(fds[1]);
	expect_word(fds[0], 'd');
	end(&s);
	is_fine(peer);
}

/* --- cases --- */

static void stuck__send(void)
{
	stuck(SENDS, false);
	stuck(SENDS, true);
}

static void stuck__receive(void)
{
	stuck(RECEIVES, false);
	stuck(RECEIVES, true);
}

static void stuck__goes_on(void)
{
	goes_on = true;
	stuck(SENDS, false);
	stuck(PUTS, true);
	stuck(RECEIVES, false);
	goes_on = false;
}

static void stuck__put(void)
{
	stuck(PUTS, false);
	stuck(PUTS, true);
}

static void stuck__registered(void)
{
	stuck(IS_PUT_TO, false);
	stuck(IS_PUT_TO, true);
	stuck(IS_READ, false);
	stuck(IS_READ, true);
}

static void stuck__unmapped(void)
{
	is_unmapped = true;
	stuck(SENDS, false);
	stuck(RECEIVES, false);
	stuck(IS_PUT_TO, true);
}

static void stuck__kept(void)
{
	is_kept = true;
	stuck(SENDS, false);
	stuck(RECEIVES, false);
	is_unmapped = true;
	stuck(IS_PUT_TO, false);
}

static void stuck__fuse(void)
{
	kind = NEVER_FUSE;
	stuck(SENDS, false);
	stuck(RECEIVES, true);
	stuck(IS_PUT_TO, false);
}

/* As many workers wait as a queue for all of them would have. */
static void stuck__crowd(void)
{
	struct stuck s[CROWD];
	pid_t pid;

	if (!never_can(kind))
		return;
	for (int i = 0; i < CROWD; i++)
		s[i] = start(IS_CROWDED, -1);
	for (int i = 0; i < CROWD; i++)
		expect_word(s[i].words, 't');
	pid = fork();
	if (pid == 0) {
		become(OTHER_UID);
		open_others();
		may_not_pin();
		others_go_on();
		_exit(0);
	}
	is_fine(pid);
	for (int i = 0; i < CROWD; i++)
		end(&s[i]);
}

static const struct dev_case cases[] = {
	DEV_CASE(stuck__send),	   DEV_CASE(stuck__receive),
	DEV_CASE(stuck__put),	   DEV_CASE(stuck__registered),
	DEV_CASE(stuck__unmapped), DEV_CASE(stuck__kept),
	DEV_CASE(stuck__fuse),	   DEV_CASE(stuck__crowd),
	DEV_CASE(stuck__goes_on),
};

int main(int argc, char **argv)
{
	return dev_run_cases(argc, argv, cases,
			     sizeof(cases) / sizeof(cases[0]));
}
