/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: libo2g fs/server/[!m]*.c tests/fs/p9c.c tests/fs/p9c_o2g.c */
/* libs: -lnettle */
/*
 * The file server as a whole: a process of its own, reached over TCP by clients that are
 * endpoints. It is killed, started again, asked twice, lied to.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "clock.h"
#include "p9c_o2g.h"
#include "run.h"
#include "settings.h"
#include "status.h"
#include "unit.h"

#define ROOT 1
#define F 10
#define G 11
#define H 12
#define LIMIT_S 20
#define PORT 5640
#define PORT2 5641
#define GRACE_S 1

#define ok(what) assert_int_equal(what, 0)
#define is(what, value) assert_int_equal(what, value)

static char dir[64], host[16];
static pid_t server;

struct client {
	struct p9c_o2g o;
	struct p9c c;
};

static const char *path(const char *name)
{
	static char text[4][200];
	static int i;

	i = (i + 1) % 4;
	snprintf(text[i], sizeof(text[i]), "%s/%s", dir, name);
	return text[i];
}

/* --- the server --- */

/* No other test listens at this address. */
static void choose_host(void)
{
	u8 n[3];

	is(getrandom(n, sizeof(n), 0), sizeof(n));
	snprintf(host, sizeof(host), "127.%d.%d.%d", 1 + n[0] % 254, n[1],
		 1 + n[2] % 254);
}

static void write_text(const char *name, const char *text, mode_t mode)
{
	int fd = open(path(name), O_WRONLY | O_CREAT | O_TRUNC, mode);

	assert_true(fd >= 0);
	is(write(fd, text, strlen(text)), strlen(text));
	ok(fchmod(fd, mode));
	close(fd);
}

static void configure(void)
{
	FILE *f = fopen(path("conf"), "w");

	fprintf(f, "# exports of all kinds\nlisten %s:%d\n", host, PORT);
	fprintf(f, "key %s\nstate %s\nsocket %s\n", path("key"), path("state"),
		path("socket"));
	fprintf(f, "threads 4\ngrace %d\nlog warn\nfids 2000\n", GRACE_S);
	fprintf(f, "export data %s squash=none\n", path("data"));
	fprintf(f, "export safe %s\n", path("data"));
	fprintf(f, "export all %s squash=all anon=1234:4321\n", path("data"));
	fprintf(f, "export ro %s ro squash=none\n", path("data"));
	fprintf(f, "export own %s listen=%s:%d key=%s\n", path("data"), host,
		PORT2, path("key2"));
	fclose(f);
}

/* This program again, as another process: a fork of one that has threads may find the
 * sanitizer's locks held by a thread that it does not have. */
static pid_t start_self(char **argv)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv("/proc/self/exe", argv);
		_exit(127);
	}
	return pid;
}

static void stop_server(int signal)
{
	u64 end = o2g_now_us() + LIMIT_S * 1000000;
	int status;

	if (!server)
		return;
	kill(server, signal);
	while (waitpid(server, &status, WNOHANG) != server) {
		assert_true(o2g_now_us() < end);
		usleep(1000);
	}
	server = 0;
	if (signal == SIGTERM)
		is(status, 0); /* and no leak, says the sanitizer */
}

static bool reaches(int family, const void *at, socklen_t len)
{
	int fd = socket(family, SOCK_STREAM, 0);
	bool there = !connect(fd, at, len);

	close(fd);
	return there;
}

static struct sockaddr_un status_socket(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path("socket"));
	return a;
}

/* The socket is the last of what it opens. */
static bool answers(void)
{
	struct sockaddr_un status = status_socket();
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons(PORT2) };

	inet_pton(AF_INET, host, &a.sin_addr);
	return reaches(AF_INET, &a, sizeof(a)) &&
	       reaches(AF_UNIX, &status, sizeof(status));
}

static void start_server(void)
{
	char *argv[] = { "o2gfsd", "-f", (char *)path("conf"), NULL };
	u64 end = o2g_now_us() + LIMIT_S * 1000000;

	server = start_self(argv);
	while (!answers()) {
		assert_true(o2g_now_us() < end);
		is(waitpid(server, NULL, WNOHANG), 0);
		usleep(5000);
	}
}

static void write_key(const char *name, int seed)
{
	char text[66];

	for (int i = 0; i < 32; i++)
		sprintf(text + 2 * i, "%02x", (i * seed) & 255);
	strcpy(text + 64, "\n");
	write_text(name, text, 0600);
}

static int setup(void **state)
{
	strcpy(dir, "/tmp/fsd-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	umask(0);
	ok(chmod(dir, 0755));
	ok(mkdir(path("data"), 0777));
	choose_host();
	write_key("key", 3);
	write_key("key2", 5);
	configure();
	start_server();
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	stop_server(SIGTERM);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* --- clients --- */

static void prepare(struct client *k, int seed, int at)
{
	memset(k, 0, sizeof(*k));
	p9c_init(&k->c);
	k->c.call = p9c_o2g_call;
	k->c.arg = &k->o;
	k->o.timeout_ms = LIMIT_S * 1000;
	for (int i = 0; i < 32; i++)
		k->o.key[i] = (unsigned char)(i * seed);
	p9c_o2g_at(&k->o, host, at);
	p9c_o2g_new_session(&k->o);
}

static void mount_as(struct client *k, const char *name, u32 uid)
{
	prepare(k, 3, PORT);
	ok(p9c_o2g_connect(&k->o));
	is(k->o.welcome.known, 0);
	ok(p9c_version(&k->c, FS_MSIZE_DEFAULT, "9P2000.L"));
	ok(p9c_attach(&k->c, ROOT, uid, name));
}

static void leave(struct client *k)
{
	p9c_o2g_close(&k->o);
	p9c_cleanup(&k->c);
}

/* The connection breaks, and a new one is made for the same session. */
static void reconnect(struct client *k, bool known)
{
	p9c_o2g_close(&k->o);
	ok(p9c_o2g_connect(&k->o));
	is(le32_to_cpu(k->o.welcome.known), known);
}

/* --- tests --- */

static void files(void **state)
{
	struct client k;
	u32 n = 1 << 20;
	u8 *out = malloc(n), *in = malloc(n);

	mount_as(&k, "data", 0);
	for (u32 i = 0; i < n; i++)
		out[i] = (u8)(i * 5 + i / 255);
	is(p9c_walk(&k.c, ROOT, F, ""), 0);
	ok(p9c_lcreate(&k.c, F, "file", O_RDWR, 0644, 0));
	for (u64 i = 0; i < 8; i++)
		is(p9c_write(&k.c, F, i * n, out, n), n);
	for (u64 i = 0; i < 8; i++) {
		memset(in, 0, n);
		is(p9c_read(&k.c, F, i * n, in, n), n);
		assert_memory_equal(in, out, n);
	}
	for (int i = 0; i < 2000; i++)
		is(p9c_read(&k.c, F, (u64)i, in, 1 + (u32)i), 1 + i);
	ok(p9c_fsync(&k.c, F));
	ok(p9c_clunk(&k.c, F));
	leave(&k);
	free(in);
	free(out);
}

/* Whoever is refused calls again, for as long as this says. */
static void call_for(int64_t seconds)
{
	((struct o2g_settings *)o2g_settings())->tcp_timeout = seconds;
}

static void keys(void **state)
{
	int64_t usual = o2g_settings()->tcp_timeout;
	struct client k;

	call_for(1);
	prepare(&k, 7, PORT);
	assert_true(p9c_o2g_connect(&k.o) < 0);
	p9c_cleanup(&k.c);
	/* The key of one export is none of another. */
	prepare(&k, 3, PORT2);
	assert_true(p9c_o2g_connect(&k.o) < 0);
	p9c_cleanup(&k.c);
	call_for(usual);
	prepare(&k, 5, PORT2);
	ok(p9c_o2g_connect(&k.o));
	ok(p9c_version(&k.c, FS_MSIZE_DEFAULT, "9P2000.L"));
	is(p9c_attach(&k.c, ROOT, 0, "data"), -ENOENT);
	ok(p9c_attach(&k.c, ROOT, 0, "own"));
	leave(&k);
}

static void hello(void **state)
{
	struct client k, other;

	/* requests before it, or another after it */
	prepare(&k, 3, PORT);
	ok(p9c_o2g_connect(&k.o));
	k.o.timeout_ms = 3000;
	struct fs_hello h = { .version = 1 };
	is(o2g_send(k.o.ep, 0, FS_TAG_SESSION, &h, sizeof(h), 0), 0);
	struct fs_welcome w;
	is(o2g_recv(k.o.ep, 0, FS_TAG_SESSION, 0, &w, sizeof(w), NULL), 0);
	is(le32_to_cpu(w.status), EALREADY);
	leave(&k);
	/* a session is not opened by another key */
	prepare(&k, 3, PORT);
	ok(p9c_o2g_connect(&k.o));
	prepare(&other, 5, PORT2);
	memcpy(other.o.uuid, k.o.uuid, sizeof(k.o.uuid));
	is(p9c_o2g_connect(&other.o), -EACCES);
	leave(&other);
	leave(&k);
}

struct busy {
	struct client k;
	int number, failed;
	pthread_t thread;
};

/* Makes, writes, reads and removes files of its own, in a folder that all share. */
static void *work(void *arg)
{
	struct busy *b = arg;
	struct p9c *c = &b->k.c;
	char name[40], text[40], back[40];

	for (int i = 0; i < 200 && !b->failed; i++) {
		int n;

		snprintf(name, sizeof(name), "of-%d-%d", b->number, i);
		n = snprintf(text, sizeof(text), "%d wrote %d", b->number, i);
		b->failed |= p9c_walk(c, ROOT, F, "") != 0;
		b->failed |= p9c_lcreate(c, F, name, O_RDWR | P9_EXCL, 0644, 0);
		b->failed |= p9c_write(c, F, 0, text, (u32)n) != n;
		b->failed |= p9c_read(c, F, 0, back, sizeof(back)) != n;
		b->failed |= memcmp(text, back, (size_t)n) != 0;
		b->failed |= p9c_clunk(c, F);
		b->failed |= p9c_unlinkat(c, ROOT, name, 0);
	}
	return NULL;
}

static void many_clients(void **state)
{
	enum { N = 4 };
	struct busy b[N];

	for (int i = 0; i < N; i++) {
		b[i] = (struct busy){ .number = i };
		mount_as(&b[i].k, "data", 0);
	}
	for (int i = 0; i < N; i++)
		ok(pthread_create(&b[i].thread, NULL, work, &b[i]));
	for (int i = 0; i < N; i++) {
		pthread_join(b[i].thread, NULL);
		is(b[i].failed, 0);
		leave(&b[i].k);
	}
}

/* --- it is killed --- */

static void restarted(void **state)
{
	struct p9c_lock l = { P9_WRLCK, 0, 0, 1 };
	struct p9c_attr a;
	struct client k;
	char text[40];
	u64 epoch;

	mount_as(&k, "data", 0);
	epoch = k.o.welcome.epoch;
	ok(p9c_mkdir(&k.c, ROOT, "d", 0755));
	is(p9c_walk(&k.c, ROOT, F, "d"), 1);
	is(p9c_walk(&k.c, F, G, ""), 0);
	ok(p9c_lcreate(&k.c, G, "file", O_RDWR, 0600, 0));
	is(p9c_write(&k.c, G, 0, "before", 6), 6);
	/* what does not outlive it */
	is(p9c_walk(&k.c, F, H, ""), 0);
	ok(p9c_lcreate(&k.c, H, "locked", O_RDWR, 0600, 0));
	is(p9c_lock(&k.c, H, &l), P9_LOCKED);
	is(p9c_walk(&k.c, F, 20, ""), 0);
	ok(p9c_lcreate(&k.c, 20, "unlinked", O_RDWR, 0600, 0));
	ok(p9c_unlinkat(&k.c, F, "unlinked", 0));
	is(p9c_write(&k.c, 20, 0, "x", 1), 1);

	stop_server(SIGKILL);
	start_server();
	reconnect(&k, true);
	assert_true(k.o.welcome.epoch != epoch);
	is(p9c_write(&k.c, G, 6, "-after", 6), 6);
	is(p9c_read(&k.c, G, 0, text, 40), 12);
	assert_memory_equal(text, "before-after", 12);
	ok(p9c_getattr(&k.c, F, &a));
	is(a.qid.type, P9_QTDIR);
	is(p9c_walk(&k.c, F, 21, "file"), 1);
	is(p9c_write(&k.c, H, 0, "x", 1), -ESTALE);
	is(p9c_write(&k.c, 20, 0, "x", 1), -ESTALE);
	ok(p9c_clunk(&k.c, H));
	ok(p9c_clunk(&k.c, 20));
	/* and in order */
	stop_server(SIGTERM);
	start_server();
	reconnect(&k, true);
	is(p9c_read(&k.c, G, 0, text, 40), 12);
	leave(&k);
}

/* A request whose answer was lost is asked again, over a new connection or of a new
 * server: it is done once. */
static void asked_twice(struct client *k, void (*between)(struct client *k))
{
	struct p9c *c = &k->c;
	struct stat st;

	ok(p9c_mkdir(c, ROOT, "d", 0755));
	between(k);
	ok(p9c_repeat(c));
	is(p9c_mkdir(c, ROOT, "d", 0755), -EEXIST);
	between(k);
	is(p9c_repeat(c), -EEXIST);

	is(p9c_walk(c, ROOT, F, ""), 0);
	between(k);
	ok(p9c_repeat(c));
	ok(p9c_lcreate(c, F, "log", O_WRONLY | P9_APPEND | P9_EXCL, 0644, 0));
	between(k);
	ok(p9c_repeat(c));
	is(p9c_write(c, F, 0, "line\n", 5), 5);
	between(k);
	ok(p9c_repeat(c));
	ok(stat(path("data/log"), &st));
	is(st.st_size, 5);
	ok(p9c_renameat(c, ROOT, "log", ROOT, "log2"));
	between(k);
	ok(p9c_repeat(c));
	ok(p9c_unlinkat(c, ROOT, "d", P9_REMOVEDIR));
	between(k);
	ok(p9c_repeat(c));
	ok(p9c_clunk(c, F));
	between(k);
	ok(p9c_repeat(c));
	is(p9c_clunk(c, F), -EBADF);
	/* An answer that is too long to be kept: it is done again. */
	ok(p9c_mkdir(c, ROOT, "w", 0755));
	is(p9c_walk(c, ROOT, G, "w/../w/../w/../w"), 7);
	between(k);
	ok(p9c_repeat(c));
	is(p9_get16(&c->in), 7);
	ok(p9c_clunk(c, G));
	ok(p9c_unlinkat(c, ROOT, "w", P9_REMOVEDIR));
	ok(p9c_unlinkat(c, ROOT, "log2", 0));
}

static void new_connection(struct client *k)
{
	reconnect(k, true);
}

static void new_server(struct client *k)
{
	stop_server(SIGKILL);
	start_server();
	reconnect(k, true);
}

static void repeated(void **state)
{
	struct client k;

	mount_as(&k, "data", 0);
	asked_twice(&k, new_connection);
	asked_twice(&k, new_server);
	leave(&k);
}

/* --- clients die --- */

static unsigned open_files(void)
{
	unsigned n = 0;
	char proc[40];
	DIR *d;

	snprintf(proc, sizeof(proc), "/proc/%d/fd", (int)server);
	d = opendir(proc);
	assert_non_null(d);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* In a process of its own, where nobody looks at a failed assertion. */
#define must(cond) ((cond) ? (void)0 : _exit(1))

/* "victim", the address, the descriptor to tell by, and the byte to lock */
static void die_mounted(char **argv)
{
	struct p9c_lock l = { P9_WRLCK, (u64)atoi(argv[3]), 1, 1 };
	int tell = atoi(argv[2]);
	struct client k;

	snprintf(host, sizeof(host), "%s", argv[1]);
	prepare(&k, 3, PORT);
	must(!p9c_o2g_connect(&k.o));
	must(!p9c_version(&k.c, FS_MSIZE_DEFAULT, "9P2000.L"));
	must(!p9c_attach(&k.c, ROOT, 0, "data"));
	for (u32 i = 100; i < 300; i++)
		must(!p9c_walk(&k.c, ROOT, i, ""));
	must(p9c_walk(&k.c, ROOT, F, "lock") == 1);
	must(!p9c_lopen(&k.c, F, O_RDWR));
	must(p9c_lock(&k.c, F, &l) == P9_LOCKED);
	must(write(tell, "x", 1) == 1);
	pause();
	_exit(1);
}

/* A process of its own is killed with files open and a lock held. Since when? */
static u64 kill_client(u32 lock_at)
{
	char text[2][12], *argv[] = { "victim", host, text[0], text[1], NULL };
	int fds[2], status;
	u64 when;
	char byte;
	pid_t pid;

	ok(pipe(fds));
	snprintf(text[0], sizeof(text[0]), "%d", fds[1]);
	snprintf(text[1], sizeof(text[1]), "%u", lock_at);
	pid = start_self(argv);
	close(fds[1]);
	is(read(fds[0], &byte, 1), 1);
	when = o2g_now_us();
	kill(pid, SIGKILL);
	is(waitpid(pid, &status, 0), pid);
	close(fds[0]);
	return when;
}

static void clients_die(void **state)
{
	struct p9c_lock l = { P9_WRLCK, 0, 0, 2 };
	u64 end = o2g_now_us() + LIMIT_S * 1000000;
	struct client k;
	unsigned before;
	u64 since = 0;
	int got;

	write_text("data/lock", "", 0666);
	mount_as(&k, "data", 0);
	is(p9c_walk(&k.c, ROOT, F, "lock"), 1);
	ok(p9c_lopen(&k.c, F, O_RDWR));
	before = open_files();
	for (u32 i = 0; i < 2; i++)
		since = kill_client(i);
	/* Its locks are kept for a while, in case it comes again. */
	got = p9c_lock(&k.c, F, &l);
	if (o2g_now_us() - since < GRACE_S * 1000000)
		is(got, P9_BLOCKED);
	while (got != P9_LOCKED && p9c_lock(&k.c, F, &l) != P9_LOCKED) {
		assert_true(o2g_now_us() < end);
		usleep(50000);
	}
	while (open_files() > before + 8) {
		assert_true(o2g_now_us() < end);
		usleep(50000);
	}
	leave(&k);
}

/* --- clients lie --- */

static void strangers(void **state)
{
	struct client k, good;
	unsigned seed = 1;

	mount_as(&good, "data", 0);
	for (int i = 0; i < 30; i++) {
		u8 junk[300];
		size_t len = (size_t)rand_r(&seed) % sizeof(junk);

		prepare(&k, 3, PORT);
		ok(p9c_o2g_connect(&k.o));
		for (size_t j = 0; j < sizeof(junk); j++)
			junk[j] = (u8)rand_r(&seed);
		junk[4] = (u8)(rand_r(&seed) % 128);
		/* as a request, as an answer, or as nothing that is known */
		o2g_send(k.o.ep, 0, (u64)rand_r(&seed) << 33 | (u64)i << 16,
			 junk, len, 0);
		o2g_send(k.o.ep, 0, fs_tag_request((u64)i, 3), junk, len, 0);
		p9c_o2g_close(&k.o);
		p9c_cleanup(&k.c);
		is(p9c_walk(&good.c, ROOT, F, ""), 0);
		ok(p9c_clunk(&good.c, F));
	}
	leave(&good);
}

/* --- users --- */

static u32 owner(const char *name)
{
	struct stat st;

	ok(lstat(path(name), &st));
	return st.st_uid;
}

static void create(struct client *k, const char *name, u32 gid)
{
	is(p9c_walk(&k->c, ROOT, F, ""), 0);
	ok(p9c_lcreate(&k->c, F, name, O_RDWR, 0600, gid));
	ok(p9c_clunk(&k->c, F));
}

static unsigned sessions_on_disk(void)
{
	DIR *d = opendir(path("state"));
	unsigned n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));)
		n += strstr(e->d_name, ".session") != NULL;
	closedir(d);
	return n;
}

/* A thread that has just acted for somebody keeps the server's own files as itself. */
static void kept_as_itself(void **state)
{
	u64 end = o2g_now_us() + LIMIT_S * 1000000;
	struct client k;

	if (geteuid())
		skip();
	for (int i = 0; i < 5; i++) {
		mount_as(&k, "data", 1000);
		is(p9c_walk(&k.c, ROOT, F, ""), 0);
		ok(p9c_lopen(&k.c, F, O_RDONLY | O_DIRECTORY));
		ok(p9c_clunk(&k.c, F));
		ok(p9c_clunk(&k.c, ROOT));
		leave(&k);
		while (sessions_on_disk()) {
			assert_true(o2g_now_us() < end);
			usleep(20000);
		}
	}
}

static void users(void **state)
{
	struct client root, safe, all, user;
	struct stat st;

	if (geteuid())
		skip();
	mount_as(&root, "data", 0);
	mount_as(&safe, "safe", 0);
	mount_as(&all, "all", 1000);
	mount_as(&user, "safe", 1000);
	create(&root, "of-root", 0);
	create(&safe, "of-nobody", 0);
	create(&all, "of-anon", 77);
	create(&user, "of-user", 1000);
	is(owner("data/of-root"), 0);
	is(owner("data/of-nobody"), 65534);
	is(owner("data/of-anon"), 1234);
	ok(stat(path("data/of-anon"), &st));
	is(st.st_gid, 4321);
	is(owner("data/of-user"), 1000);
	ok(stat(path("data/of-user"), &st));
	is(st.st_gid, 1000);
	/* and what they may */
	is(p9c_walk(&safe.c, ROOT, F, "of-root"), 1);
	is(p9c_lopen(&safe.c, F, O_RDONLY), -EACCES);
	is(p9c_walk(&user.c, ROOT, F, "of-root"), 1);
	is(p9c_lopen(&user.c, F, O_RDONLY), -EACCES);
	struct p9c_change ch = { .valid = P9_SET_MODE, .mode = 0666 };
	is(p9c_setattr(&user.c, F, &ch), -EPERM);
	is(p9c_walk(&root.c, ROOT, F, "of-user"), 1);
	ok(p9c_lopen(&root.c, F, O_RDWR));
	ok(mkdir(path("data/private"), 0700));
	write_text("data/private/x", "", 0666);
	is(p9c_walk(&user.c, ROOT, G, "private/x"), 1); /* not into it */
	ok(p9c_walk(&root.c, ROOT, G, "private/x") != 2);
	leave(&root);
	leave(&safe);
	leave(&all);
	leave(&user);
}

static void read_only(void **state)
{
	struct p9c_change ch = { .valid = P9_SET_MODE, .mode = 0600 };
	struct client k;
	char text[10];

	write_text("data/f", "text", 0666);
	mount_as(&k, "ro", 0);
	is(p9c_walk(&k.c, ROOT, F, "f"), 1);
	is(p9c_lopen(&k.c, F, O_RDWR), -EROFS);
	is(p9c_lopen(&k.c, F, O_RDONLY | P9_TRUNC), -EROFS);
	is(p9c_setattr(&k.c, F, &ch), -EROFS);
	is(p9c_xattrcreate(&k.c, F, "user.x", 1, 0), -EROFS);
	is(p9c_link(&k.c, ROOT, F, "g"), -EROFS);
	is(p9c_rename(&k.c, F, ROOT, "g"), -EROFS);
	is(p9c_renameat(&k.c, ROOT, "f", ROOT, "g"), -EROFS);
	is(p9c_mkdir(&k.c, ROOT, "g", 0755), -EROFS);
	is(p9c_symlink(&k.c, ROOT, "g", "f"), -EROFS);
	is(p9c_mknod(&k.c, ROOT, "g", S_IFIFO | 0600, 0, 0), -EROFS);
	is(p9c_unlinkat(&k.c, ROOT, "f", 0), -EROFS);
	is(p9c_walk(&k.c, ROOT, G, ""), 0);
	is(p9c_lcreate(&k.c, G, "g", O_RDONLY, 0600, 0), -EROFS);
	is(p9c_walk(&k.c, ROOT, H, "f"), 1);
	is(p9c_remove(&k.c, H), -EROFS);
	ok(p9c_lopen(&k.c, F, O_RDONLY));
	is(p9c_read(&k.c, F, 0, text, 10), 4);
	leave(&k);
}

/* --- looking at it --- */

static void status(void **state)
{
	struct sockaddr_un a = status_socket();
	char text[20000];
	ssize_t n, sum = 0;
	struct client k;
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	mount_as(&k, "data", 0);
	is(p9c_walk(&k.c, ROOT, F, ""), 0);
	ok(connect(fd, (struct sockaddr *)&a, sizeof(a)));
	while ((n = read(fd, text + sum, sizeof(text) - 1 - (size_t)sum)) > 0)
		sum += n;
	text[sum] = '\0';
	close(fd);
	assert_non_null(
		strstr(text, "\"walk\": { \"count\": 1, \"errors\": 0"));
	assert_non_null(strstr(text, "\"connected\": true, \"fids\": 2"));
	leave(&k);
}

#define SOCKETS 300

struct sockets {
	char dir[40];
	int fds[SOCKETS];
};

static struct sockaddr_un socket_of(const struct sockets *s, int i)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/%d", s->dir, i);
	return a;
}

static void *make_sockets(void *arg)
{
	struct sockets *s = arg;

	for (int i = 0; i < SOCKETS; i++)
		s->fds[i] = fsd_status_open(socket_of(s, i).sun_path);
	return NULL;
}

/* Whoever sees the socket can connect to it: scripts wait for the one to do the other. */
static void status_early(void **state)
{
	struct sockets s = { "/tmp/fsd-test-XXXXXX", { 0 } };
	u64 end = o2g_now_us() + LIMIT_S * 1000000;
	int fd, ret, refused = 0;
	pthread_t maker;

	assert_non_null(mkdtemp(s.dir));
	ok(pthread_create(&maker, NULL, make_sockets, &s));
	for (int i = 0; i < SOCKETS; i++) {
		struct sockaddr_un a = socket_of(&s, i);

		do {
			fd = socket(AF_UNIX, SOCK_STREAM, 0);
			ret = connect(fd, (struct sockaddr *)&a, sizeof(a));
			refused += ret && errno != ENOENT;
			close(fd);
			assert_true(o2g_now_us() < end);
		} while (ret);
	}
	pthread_join(maker, NULL);
	for (int i = 0; i < SOCKETS; i++) {
		close(s.fds[i]);
		ok(unlink(socket_of(&s, i).sun_path));
	}
	ok(rmdir(s.dir));
	is(refused, 0);
}

#undef T
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		T(files),
		T(keys),
		T(hello),
		T(many_clients),
		T(restarted),
		T(repeated),
		T(kept_as_itself),
		T(clients_die),
		T(strangers),
		T(users),
		T(read_only),
		T(status),
		cmocka_unit_test(status_early),
	};

	setenv("O2G_CHANNELS", "tcp", 1);
	setenv("O2G_ENGINE", "user", 1);
	if (!strcmp(argv[0], "o2gfsd"))
		return fsd_run(argc, argv);
	if (!strcmp(argv[0], "victim"))
		die_mounted(argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
