// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * lab/cable: the network cable between two virtual machines, which can be cut,
 * delayed and lossy.
 *
 *	cable FOLDER
 *
 * makes three sockets there: a and b, one for each machine's network card
 * (QEMU's -netdev stream: frames behind a length of four bytes), and ctl, where
 * a machine says what the cable shall do, a line each, and gets "ok" or "what?":
 *
 *	cut, join          nothing gets through; everything does again
 *	delay MS [JITTER]  each frame, in milliseconds; with jitter they overtake
 *	loss PERCENT       of the frames, at random
 *	dup PERCENT        arrive twice
 *	damage PERCENT     arrive with one bit changed
 *	plain              none of these
 *	count              frames that got through, and that did not
 *
 * It ends when both machines have gone.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX_BYTES (256 * 1024)
#define MAX_CTL 4

struct frame {
	struct frame *next;
	uint64_t due_us;
	uint32_t len; /* with the length in front */
	unsigned char data[];
};

struct end {
	int listener, fd;
	bool gone;
	unsigned char in[4 + FRAME_MAX_BYTES];
	uint32_t have;
	struct frame *out; /* ordered by when they are due */
	uint32_t sent;	   /* of the first one */
};

static struct end ends[2];
static int ctl_listener, ctl[MAX_CTL] = { -1, -1, -1, -1 };
static char ctl_line[MAX_CTL][128];
static bool is_cut;
static double delay_ms, jitter_ms, loss, twice, damage;
static unsigned long passed, lost;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ull + t.tv_nsec / 1000;
}

static bool chance(double percent)
{
	return percent > 0 && drand48() * 100 < percent;
}

static int listen_at(const char *folder, const char *name)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", folder,
		     name) >= (int)sizeof(addr.sun_path)) {
		fprintf(stderr, "cable: the path is too long: %s\n", folder);
		exit(1);
	}
	if (fd < 0 || bind(fd, (void *)&addr, sizeof(addr)) || listen(fd, 4)) {
		perror(addr.sun_path);
		exit(1);
	}
	return fd;
}

/* One more frame for an end, at its place in time. */
static void enqueue(struct end *to, const unsigned char *data, uint32_t len)
{
	struct frame **at = &to->out, *f = malloc(sizeof(*f) + len);

	if (!f) {
		lost++;
		return;
	}
	memcpy(f->data, data, len);
	f->len = len;
	f->due_us = now_us() + (delay_ms + jitter_ms * drand48()) * 1000;
	/* The first one may be half sent. */
	if (*at && to->sent)
		at = &(*at)->next;
	while (*at && (*at)->due_us <= f->due_us)
		at = &(*at)->next;
	f->next = *at;
	*at = f;
	passed++;
}

static void pass_on(struct end *to, unsigned char *data, uint32_t len)
{
	if (is_cut || to->fd < 0 || chance(loss)) {
		lost++;
		return;
	}
	/* Beyond the Ethernet header, so that a checksum has to find it. */
	if (len > 4 + 14 && chance(damage))
		data[18 + lrand48() % (len - 18)] ^= 1 << (lrand48() % 8);
	enqueue(to, data, len);
	if (chance(twice))
		enqueue(to, data, len);
}

static void hang_up(struct end *e)
{
	close(e->fd);
	e->fd = -1;
	e->gone = true;
}

static void read_frames(struct end *from, struct end *to)
{
	ssize_t n = read(from->fd, from->in + from->have,
			 sizeof(from->in) - from->have);
	uint32_t at = 0, len;

	if (n <= 0) {
		if (n == 0 || errno != EAGAIN)
			hang_up(from);
		return;
	}
	from->have += n;
	while (from->have - at >= 4) {
		memcpy(&len, from->in + at, 4);
		len = ntohl(len);
		if (len > FRAME_MAX_BYTES) {
			fprintf(stderr, "cable: a frame of %u bytes\n", len);
			hang_up(from);
			return;
		}
		if (from->have - at < 4 + len)
			break;
		pass_on(to, from->in + at, 4 + len);
		at += 4 + len;
	}
	from->have -= at;
	memmove(from->in, from->in + at, from->have);
}

static void write_frames(struct end *e)
{
	while (e->out && e->out->due_us <= now_us()) {
		struct frame *f = e->out;
		ssize_t n = send(e->fd, f->data + e->sent, f->len - e->sent,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0) {
			if (errno != EAGAIN)
				hang_up(e);
			return;
		}
		e->sent += n;
		if (e->sent < f->len)
			return;
		e->sent = 0;
		e->out = f->next;
		free(f);
	}
}

static bool obey(int fd, const char *line)
{
	double x = 0, y = 0;
	char word[16] = "";

	if (sscanf(line, "%15s %lf %lf", word, &x, &y) < 1)
		return false;
	if (!strcmp(word, "cut"))
		is_cut = true;
	else if (!strcmp(word, "join"))
		is_cut = false;
	else if (!strcmp(word, "delay"))
		delay_ms = x, jitter_ms = y;
	else if (!strcmp(word, "loss"))
		loss = x;
	else if (!strcmp(word, "dup"))
		twice = x;
	else if (!strcmp(word, "damage"))
		damage = x;
	else if (!strcmp(word, "plain"))
		is_cut = false,
		delay_ms = jitter_ms = loss = twice = damage = 0;
	else if (!strcmp(word, "count"))
		dprintf(fd, "%lu passed %lu lost ", passed, lost);
	else
		return false;
	return true;
}

static void read_ctl(int i)
{
	size_t have = strlen(ctl_line[i]);
	ssize_t n = read(ctl[i], ctl_line[i] + have,
			 sizeof(ctl_line[i]) - 1 - have);
	char *end;

	if (n <= 0) {
		close(ctl[i]);
		ctl[i] = -1;
		return;
	}
	ctl_line[i][have + n] = 0;
	while ((end = strchr(ctl_line[i], '\n'))) {
		*end = 0;
		dprintf(ctl[i], obey(ctl[i], ctl_line[i]) ? "ok\n" : "what?\n");
		memmove(ctl_line[i], end + 1, strlen(end + 1) + 1);
	}
	if (have + n == (ssize_t)sizeof(ctl_line[i]) - 1)
		ctl_line[i][0] = 0;
}

static void accept_end(struct end *e)
{
	int fd = accept(e->listener, NULL, NULL);

	if (fd < 0)
		return;
	if (e->fd >= 0)
		close(e->fd);
	e->fd = fd;
	e->have = e->sent = 0;
	e->gone = false;
}

static void accept_ctl(void)
{
	int fd = accept(ctl_listener, NULL, NULL), i;

	for (i = 0; i < MAX_CTL && fd >= 0; i++)
		if (ctl[i] < 0) {
			ctl[i] = fd;
			ctl_line[i][0] = 0;
			return;
		}
	if (fd >= 0)
		close(fd);
}

/* How long until some frame is due; writes those that are. */
static int flush_due(struct pollfd *p)
{
	uint64_t now = now_us(), wait = 1000000;
	int i;

	for (i = 0; i < 2; i++) {
		struct end *e = &ends[i];

		p[i].events = POLLIN;
		if (!e->out || e->fd < 0)
			continue;
		if (e->out->due_us <= now)
			write_frames(e);
		if (e->out && e->out->due_us <= now)
			p[i].events |= POLLOUT;
		else if (e->out && e->out->due_us - now < wait)
			wait = e->out->due_us - now;
	}
	return (wait + 999) / 1000;
}

int main(int argc, char **argv)
{
	struct pollfd p[5 + MAX_CTL];
	int i, wait;

	if (argc != 2) {
		fprintf(stderr, "usage: cable FOLDER\n");
		return 2;
	}
	srand48(getpid());
	for (i = 0; i < 2; i++) {
		ends[i].listener = listen_at(argv[1], i ? "b" : "a");
		ends[i].fd = -1;
	}
	ctl_listener = listen_at(argv[1], "ctl");
	while (!ends[0].gone || !ends[1].gone) {
		wait = flush_due(p);
		for (i = 0; i < 2; i++) {
			p[i].fd = ends[i].fd;
			p[2 + i] =
				(struct pollfd){ ends[i].listener, POLLIN, 0 };
		}
		p[4] = (struct pollfd){ ctl_listener, POLLIN, 0 };
		for (i = 0; i < MAX_CTL; i++)
			p[5 + i] = (struct pollfd){ ctl[i], POLLIN, 0 };
		if (poll(p, 5 + MAX_CTL, wait) < 0)
			return 1;
		for (i = 0; i < 2; i++) {
			if (p[2 + i].revents)
				accept_end(&ends[i]);
			else if (p[i].revents & (POLLIN | POLLHUP | POLLERR))
				read_frames(&ends[i], &ends[1 - i]);
		}
		if (p[4].revents)
			accept_ctl();
		for (i = 0; i < MAX_CTL; i++)
			if (ctl[i] >= 0 && p[5 + i].fd == ctl[i] &&
			    p[5 + i].revents)
				read_ctl(i);
	}
	return 0;
}
