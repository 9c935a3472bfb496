// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * The pages of state of the ranks on this host, and what /proc says about their
 * processes. A rank's processes are its process group.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "clock.h"
#include "proxy.h"
#include "rank_state.h"
#include "util.h"
#include "why.h"

/* Between two looks at how much CPU time is used. */
#define WINDOW_MS 300
/* Less of the time: it does not compute. */
#define BUSY_PERCENT 2
/* A call that finds nothing, and the loop around it, take less. */
#define POLL_US 100

/* A rank's processes at one moment. */
struct sample {
	uint64_t cpu_us;
	uint64_t polls;
};

static int fd = -1, nranks;
static char *pages;
static struct sample *looked,
	*stirred; /* at the latest FRAME_LOOK, FRAME_STIR */
static uint64_t looked_ns, stirred_ns;
static struct timer look_timer;

/* Without the pages everything works, but nothing is known. */
void state_init(int n)
{
	size_t size = (size_t)n * O2G_STATE_BYTES;

	nranks = n;
	looked = xmalloc(n * sizeof(*looked));
	stirred = xmalloc(n * sizeof(*stirred));
	fd = memfd_create(O2G_STATE_FILE, MFD_CLOEXEC);
	if (fd < 0)
		return;
	pages = ftruncate(fd, (off_t)size) ?
			MAP_FAILED :
			mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (pages != MAP_FAILED)
		return;
	pages = NULL;
	close(fd);
	fd = -1;
}

void state_give(const struct rank *r)
{
	char number[16];

	if (fd < 0)
		return;
	fcntl(fd, F_SETFD, 0);
	snprintf(number, sizeof(number), "%d", fd);
	setenv(O2G_STATE_FD, number, 1);
	snprintf(number, sizeof(number), "%d", r->local);
	setenv(O2G_STATE_PIECE, number, 1);
}

/* --- reading a page --- */

static bool copy_part(void *to, const void *from, size_t n,
		      const uint32_t *number)
{
	uint32_t before = __atomic_load_n(number, __ATOMIC_ACQUIRE);

	memcpy(to, from, n);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return before % 2 == 0 &&
	       __atomic_load_n(number, __ATOMIC_RELAXED) == before;
}

/* What is being written all the time, or was when its rank died or was stopped, is
 * taken as it is after a few attempts. */
static void copy(void *to, const void *from, size_t n, const uint32_t *number)
{
	for (int i = 0; i < 100; i++)
		if (copy_part(to, from, n, number))
			return;
}

/* False: the rank has none, or not one that we can read. */
static bool read_page(int local, struct o2g_state *to)
{
	const struct o2g_state *p;
	size_t rest = offsetof(struct o2g_state, number);

	if (!pages)
		return false;
	p = (const void *)(pages + (size_t)local * O2G_STATE_BYTES);
	if (__atomic_load_n(&p->magic, __ATOMIC_ACQUIRE) != O2G_STATE_MAGIC ||
	    p->version != O2G_STATE_VERSION)
		return false;
	memcpy(to, p, offsetof(struct o2g_state, wait));
	for (int i = 0; i < O2G_STATE_WAITS; i++)
		copy(&to->wait[i], &p->wait[i], sizeof(to->wait[i]),
		     &p->wait[i].number);
	copy((char *)to + rest, (const char *)p + rest, sizeof(*to) - rest,
	     &p->number);
	return true;
}

/* --- processes --- */

struct process {
	char state;
	int group;
	uint64_t cpu_us;
};

static bool read_process(const char *pid, struct process *p)
{
	unsigned long user, kernel;
	char path[64], text[512], *at;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	at = strrchr(text, ')'); /* a name may hold anything */
	if (!at ||
	    sscanf(at + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
		   &p->state, &p->group, &user, &kernel) != 4)
		return false;
	p->cpu_us = (user + kernel) * 1000000ull /
		    (unsigned long)sysconf(_SC_CLK_TCK);
	return true;
}

static void add_cpu(struct sample *to, const struct process *p)
{
	for (int i = 0; i < proxy.nranks; i++)
		if (proxy.ranks[i].pid == p->group)
			to[i].cpu_us += p->cpu_us;
}

static void sample(struct sample *to)
{
	struct o2g_state *page = xmalloc(sizeof(*page));
	DIR *dir = opendir("/proc");
	struct process p;
	struct dirent *e;

	memset(to, 0, nranks * sizeof(*to));
	while (dir && (e = readdir(dir)))
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9' &&
		    read_process(e->d_name, &p))
			add_cpu(to, &p);
	if (dir)
		closedir(dir);
	for (int i = 0; i < nranks; i++)
		to[i].polls = read_page(i, page) ? page->poll.times : 0;
	free(page);
}

/* Of the process that uses MPI, which need not be the one that we have started. */
static char state_of(const struct rank *r, const struct o2g_state *page)
{
	struct process p;
	char pid[16];

	if (!r->pid)
		return '\0';
	if (page && page->pid != r->pid) {
		snprintf(pid, sizeof(pid), "%d", page->pid);
		if (read_process(pid, &p) && p.group == r->pid)
			return p.state;
	}
	snprintf(pid, sizeof(pid), "%d", r->pid);
	return read_process(pid, &p) ? p.state : '\0';
}

/* --- FRAME_LOOK --- */

static void put_u64(struct buf *b, uint64_t v)
{
	buf_put_u32(b, (uint32_t)v);
	buf_put_u32(b, (uint32_t)(v >> 32));
}

static uint32_t difference(uint64_t now, uint64_t before)
{
	uint64_t d = now > before ? now - before : 0;

	return d > UINT32_MAX ? UINT32_MAX : (uint32_t)d;
}

static void send_state(const struct rank *r, const struct sample *now,
		       uint64_t now_ns)
{
	struct o2g_state *page = xmalloc(sizeof(*page));
	bool known = read_page(r->local, page);
	const struct sample *before = &looked[r->local];
	struct buf b = { 0 };

	buf_put_u32(&b, known ? (uint32_t)page->pid : (uint32_t)r->pid);
	buf_put_u32(&b, (uint32_t)state_of(r, known ? page : NULL));
	buf_put_u32(&b, r->state);
	buf_put_u32(&b, r->in_barrier);
	buf_put_u32(&b, difference(now->cpu_us, before->cpu_us) / 1000);
	buf_put_u32(&b, difference(now->polls, before->polls));
	buf_put_u32(&b, difference(now_ns, looked_ns) / 1000000);
	put_u64(&b, now_ns);
	if (known) {
		state_driver(page);
		buf_added(&b,
			  o2g_state_pack(page, (uint8_t *)buf_tail(
						       &b, O2G_STATE_PACKED)));
	}
	chan_send(&proxy.up, FRAME_STATE, r->spec->rank, buf_head(&b),
		  buf_len(&b));
	buf_cleanup(&b);
	free(page);
}

static void on_look_time(struct timer *t)
{
	struct sample *now = xmalloc(nranks * sizeof(*now));
	uint64_t now_ns = o2g_now_ns();

	sample(now);
	for (int i = 0; i < proxy.nranks; i++)
		send_state(&proxy.ranks[i], &now[i], now_ns);
	free(now);
	chan_send(&proxy.up, FRAME_STATE, -1, NULL, 0);
}

void state_look(void)
{
	if (look_timer.active || !looked)
		return;
	looked_ns = o2g_now_ns();
	sample(looked);
	look_timer.fn = on_look_time;
	timer_set(&look_timer, WINDOW_MS);
}

/* --- FRAME_STIR --- */

static uint64_t mix(uint64_t digest, uint64_t v)
{
	digest = (digest ^ v) * 0x9e3779b97f4a7c15ull;
	return digest ^ digest >> 29;
}

/* Of what changes when a rank gets on. How often it has looked in vain does not. */
static uint64_t digest_of(const struct rank *r, struct o2g_state *page)
{
	uint64_t d = mix(0, r->pid);

	d = mix(d, r->in_barrier);
	if (!read_page(r->local, page))
		return d;
	state_driver(page);
	d = mix(d, page->phase);
	d = mix(mix(d, page->sent), page->received);
	d = mix(mix(d, page->bytes_moved), page->messages_all);
	for (int i = 0; i < O2G_STATE_WAITS; i++)
		if (page->wait[i].used == 2)
			d = mix(mix(d, page->wait[i].since_ns),
				page->wait[i].times);
	return d;
}

/* It uses the CPU, and not only to look for messages that do not come. */
static bool computes(const struct sample *now, const struct sample *before,
		     uint64_t window_us)
{
	uint64_t cpu = difference(now->cpu_us, before->cpu_us);
	uint64_t polls = difference(now->polls, before->polls);

	return cpu * 100 > window_us * BUSY_PERCENT &&
	       (!polls || cpu / polls > POLL_US);
}

void state_stir(void)
{
	struct o2g_state *page = xmalloc(sizeof(*page));
	struct sample *now = xmalloc((nranks + 1) * sizeof(*now));
	uint64_t now_ns = o2g_now_ns(), digest = 0;
	struct buf b = { 0 };
	bool busy = false;

	sample(now);
	for (int i = 0; i < proxy.nranks; i++) {
		digest = mix(digest, digest_of(&proxy.ranks[i], page));
		if (proxy.ranks[i].pid &&
		    computes(&now[i], &stirred[i],
			     (now_ns - stirred_ns) / 1000))
			busy = true;
	}
	free(stirred);
	stirred = now;
	stirred_ns = now_ns;
	buf_put_u32(&b, busy);
	put_u64(&b, digest);
	chan_send(&proxy.up, FRAME_STIRRED, -1, buf_head(&b), buf_len(&b));
	buf_cleanup(&b);
	free(page);
}
