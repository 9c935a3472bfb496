/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Asking mpiexec (launch/mpiexec/why.h has what it says), and what each rank does
 * at first sight. Pages come from ranks, which may write anything: counts are
 * limited and texts ended here, so that nobody has to think of it afterwards.
 */
#define _GNU_SOURCE
#include "why.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "why_socket.h"

#define MAX_RANKS (1 << 22)
#define ANSWER_S 10
#define BUSY_PERCENT 2
#define POLL_US 100 /* a call that finds nothing, and the loop around it */

struct input {
	char *data;
	size_t n, at;
	bool bad;
};

static uint32_t get_u32(struct input *in)
{
	uint32_t v;

	if (in->n - in->at < sizeof(v)) {
		in->bad = true;
		in->at = in->n;
		return 0;
	}
	memcpy(&v, in->data + in->at, sizeof(v));
	in->at += sizeof(v);
	return le32toh(v);
}

static void get_str(struct input *in, char *to, size_t size)
{
	const char *s = in->data + in->at;
	const char *nul = memchr(s, '\0', in->n - in->at);

	if (!nul) {
		in->bad = true;
		in->at = in->n;
		return;
	}
	snprintf(to, size, "%s", s);
	in->at += nul + 1 - s;
}

/* --- what may be relied on --- */

/* Texts of ranks end, and cannot upset a terminal. */
static void clean(char *text, size_t size)
{
	text[size - 1] = '\0';
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 127)
			*text = '?';
}

static void limit(uint32_t *n, uint32_t max)
{
	if (*n > max)
		*n = max;
}

static void clean_wait(struct o2g_state_wait *w)
{
	if (w->frames > O2G_STATE_FRAMES)
		w->frames = O2G_STATE_FRAMES;
	if (w->parts > O2G_STATE_PARTS)
		w->parts = O2G_STATE_PARTS;
	clean(w->call, sizeof(w->call));
}

static void clean_page(struct o2g_state *s)
{
	limit(&s->modules, O2G_STATE_MODULES);
	limit(&s->comms, O2G_STATE_COMMS);
	limit(&s->messages, O2G_STATE_MESSAGES);
	clean(s->engine, sizeof(s->engine));
	for (uint32_t i = 0; i < s->modules; i++) {
		limit(&s->module[i].build_id_len, O2G_STATE_BUILD_ID);
		clean(s->module[i].path, sizeof(s->module[i].path));
	}
	for (int i = 0; i < O2G_STATE_WAITS; i++)
		clean_wait(&s->wait[i]);
	for (uint32_t i = 0; i < s->comms; i++) {
		struct o2g_state_comm *c = &s->comm[i];

		clean(c->name, sizeof(c->name));
		for (int j = 0; j < O2G_STATE_NOTES; j++)
			clean(c->note[j].call, sizeof(c->note[j].call));
	}
}

/* --- asking --- */

static int connect_to(int pid)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { .tv_sec = ANSWER_S };
	socklen_t len = sizeof(struct ucred);
	struct ucred who;
	int n, err = 0;
	uid_t uid = geteuid();

	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	/* Root may ask about anybody's. */
	if (uid == 0)
		uid = why_owner(pid);
	n = snprintf(at.sun_path + 1, sizeof(at.sun_path) - 1, WHY_SOCKET,
		     (unsigned)uid, pid);
	if (connect(fd, (struct sockaddr *)&at,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)))
		err = -errno;
	/* Anybody can take a name. */
	else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
		 who.uid != uid || who.pid != pid)
		err = -EPERM;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int receive(int fd, struct input *in)
{
	size_t room = 0;
	ssize_t n;

	for (;;) {
		if (in->n == room) {
			char *more = realloc(in->data, room += 1 << 20);

			if (!more)
				return -ENOMEM;
			in->data = more;
		}
		n = read(fd, in->data + in->n, room - in->n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		in->n += (size_t)n;
	}
}

/* FRAME_STATE */
static void get_state(struct input *in, struct why_rank *r)
{
	uint64_t low;

	r->answered = true;
	r->pid = (int)get_u32(in);
	r->process = (char)get_u32(in);
	r->pmi_state = (int)get_u32(in);
	r->in_barrier = get_u32(in) != 0;
	r->cpu_ms = get_u32(in);
	r->polls = get_u32(in);
	r->window_ms = get_u32(in);
	low = get_u32(in);
	r->now_ns = (uint64_t)get_u32(in) << 32 | low;
	if (in->bad || in->at == in->n)
		return;
	r->has_page = !o2g_state_unpack(
		&r->page, (const uint8_t *)in->data + in->at, in->n - in->at);
	if (r->has_page)
		clean_page(&r->page);
}

static void get_rank(struct input *in, struct why_rank *r)
{
	struct input state;
	uint32_t len;

	get_str(in, r->host, sizeof(r->host));
	clean(r->host, sizeof(r->host));
	r->exited = get_u32(in) != 0;
	r->status = (int)get_u32(in);
	r->pmi_state = (int)get_u32(in);
	len = get_u32(in);
	if (in->n - in->at < len) {
		in->bad = true;
		return;
	}
	state = (struct input){ in->data + in->at, len, 0, false };
	in->at += len;
	if (len)
		get_state(&state, r);
}

/* An answer that is cut off: mpiexec has ended meanwhile. */
static int parse(struct input *in, struct why_job *job)
{
	uint32_t version = get_u32(in), n = get_u32(in);

	if (in->bad)
		return -ECONNRESET;
	if (version != WHY_VERSION || !n || n > MAX_RANKS)
		return -EPROTO;
	job->rank = calloc(n, sizeof(*job->rank));
	if (!job->rank)
		return -ENOMEM;
	job->n = (int)n;
	for (uint32_t i = 0; i < n && !in->bad; i++)
		get_rank(in, &job->rank[i]);
	return in->bad ? -ECONNRESET : 0;
}

int why_read(int pid, struct why_job *job)
{
	struct input in = { 0 };
	int fd = connect_to(pid), err;

	if (fd < 0)
		return fd;
	err = receive(fd, &in);
	close(fd);
	if (!err)
		err = parse(&in, job);
	free(in.data);
	job->mpiexec = pid;
	if (err)
		why_free(job);
	return err;
}

void why_free(struct why_job *job)
{
	free(job->rank);
	free(job->waits);
	*job = (struct why_job){ 0 };
}

/* Sockets of this name, also of others where root asks. */
static int for_each_socket(int (*fn)(unsigned uid, int pid, void *arg),
			   void *arg)
{
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512];
	unsigned uid;
	int pid, ret = 0;

	while (f && !ret && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "@o2g-why/");

		/* connections to it have the same name, and another state */
		if (at && sscanf(at, "@" WHY_SOCKET, &uid, &pid) == 2 &&
		    strstr(line, " 00010000 "))
			ret = fn(uid, pid, arg);
	}
	if (f)
		fclose(f);
	return ret;
}

struct search {
	int *pids, n, max, pid;
	unsigned uid;
};

static int is_owner(unsigned uid, int pid, void *arg)
{
	struct search *s = arg;

	s->uid = pid == s->pid ? uid : s->uid;
	return pid == s->pid;
}

unsigned why_owner(int pid)
{
	struct search s = { .pid = pid, .uid = 0 };

	for_each_socket(is_owner, &s);
	return s.uid;
}

static int is_mine(unsigned uid, int pid, void *arg)
{
	struct search *s = arg;

	if (uid == geteuid() && s->n < s->max)
		s->pids[s->n++] = pid;
	return 0;
}

int why_find(int *pids, int max)
{
	struct search s = { .pids = pids, .max = max };

	for_each_socket(is_mine, &s);
	return s.n;
}

/* --- what each does --- */

const struct o2g_state_wait *why_wait_of(const struct why_rank *r)
{
	const struct o2g_state_wait *first = NULL;

	for (int i = 0; r->has_page && i < O2G_STATE_WAITS; i++) {
		const struct o2g_state_wait *w = &r->page.wait[i];

		if (w->used == 2 && (!first || w->since_ns < first->since_ns))
			first = w;
	}
	return first;
}

const struct o2g_state_comm *why_comm(const struct why_rank *r,
				      uint32_t context)
{
	for (uint32_t i = 0; r->has_page && i < r->page.comms; i++)
		if (r->page.comm[i].context == context)
			return &r->page.comm[i];
	return NULL;
}

const struct o2g_state_comm *why_comm_of(const struct why_job *job, int rank,
					 const struct o2g_state_part *p)
{
	const struct o2g_state_comm *c = why_comm(&job->rank[rank], p->context);

	if (!c && p->doing == O2G_PART_SEND && p->peer >= 0 && p->peer < job->n)
		c = why_comm(&job->rank[p->peer], p->context);
	return c;
}

static bool holds(const struct o2g_state *s, const struct o2g_state_part *p)
{
	for (int i = 0; i < O2G_STATE_LOCKS; i++)
		if (s->lock[i].used == 2 && s->lock[i].context == p->context &&
		    s->lock[i].target == p->peer)
			return true;
	return false;
}

/* Between hosts a lock counts as held from when it is asked for. */
static bool waits_too(const struct why_rank *r, const struct o2g_state_part *p)
{
	const struct o2g_state_wait *w = why_wait_of(r);

	for (int i = 0; w && i < w->parts; i++)
		if (w->part[i].doing == O2G_PART_LOCK &&
		    w->part[i].context == p->context &&
		    w->part[i].peer == p->peer)
			return true;
	return false;
}

int why_holders(const struct why_job *job, int rank,
		const struct o2g_state_part *p, bool *whom)
{
	int n = 0;

	for (int i = 0; i < job->n; i++) {
		if (i == rank || !job->rank[i].has_page || whom[i] ||
		    !holds(&job->rank[i].page, p) ||
		    waits_too(&job->rank[i], p))
			continue;
		whom[i] = true;
		n++;
	}
	return n;
}

static bool polls(const struct why_rank *r)
{
	return r->polls && r->cpu_ms * 1000ull / r->polls <= POLL_US;
}

static bool uses_cpu(const struct why_rank *r)
{
	return r->cpu_ms * 100ull > (uint64_t)r->window_ms * BUSY_PERCENT;
}

static enum why_does does(const struct why_rank *r)
{
	if (r->exited || (r->answered && (!r->process || r->process == 'Z')))
		return WHY_ENDED;
	if (!r->answered)
		return WHY_UNKNOWN;
	if (r->process == 'T' || r->process == 't')
		return WHY_STOPPED;
	if (why_wait_of(r))
		return WHY_WAITS;
	if (r->in_barrier)
		return WHY_MEETS;
	if (polls(r))
		return WHY_POLLS;
	if (uses_cpu(r))
		return WHY_COMPUTES;
	return r->has_page ? WHY_SLEEPS : WHY_NOT_YET;
}

/* Something has moved, or it is another call. */
static bool has_changed(const struct why_rank *a, const struct why_rank *b)
{
	const struct o2g_state_wait *v = why_wait_of(a), *w = why_wait_of(b);

	if (!a->has_page || !b->has_page)
		return false;
	if (a->page.sent != b->page.sent ||
	    a->page.received != b->page.received ||
	    a->page.bytes_moved != b->page.bytes_moved)
		return true;
	return v && w && (v->since_ns != w->since_ns || v->times != w->times);
}

void why_judge(struct why_job *job, const struct why_job *before)
{
	for (int i = 0; i < job->n; i++) {
		struct why_rank *r = &job->rank[i];

		r->does = does(r);
		if (i < before->n &&
		    (r->does == WHY_WAITS || r->does == WHY_POLLS) &&
		    has_changed(&before->rank[i], r))
			r->does = WHY_GETS_ON;
	}
}
