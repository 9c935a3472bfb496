/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Endpoints of the driver in the mock, used as a program would: through the
 * device's calls and its mapping. Two of them, a and b, ranks 0 and 1.
 *
 * A scenario is a function that uses them. It is run again and again, each time
 * with another call of the kernel failing, until there was none left to fail. So
 * whatever it calls may be refused: TRY() ends it then, if the refusal is the
 * one to expect. A completion may tell of a lost peer, once something has failed;
 * then the scenario is over as well, and both ends must have heard of it.
 */
#ifndef MOCK_WORLD_H
#define MOCK_WORLD_H

#include "mock.h"
#include "uapi/o2g.h"

struct end {
	struct file file;
	bool open, lost; /* lost: it was told that its peer is */
	struct o2gd_setup s;
	char *map;
	struct o2gd_shared *shared;
	struct o2gd_sqe *sq;
	struct o2gd_cqe *cq;
	u32 sq_tail, cq_head;
};

extern struct end a, b;
extern int fds[2];     /* the connection, -1 once closed */
extern u32 world_ring; /* entries of each ring, likewise; 16 */
extern u32 world_size; /* ranks, for end_open; 2 at the start of each world */

#define WORLD_BYTES (3 << 19)
extern unsigned char data[WORLD_BYTES], buf[WORLD_BYTES];

#define TRY(call)                            \
	do {                                 \
		int ret_ = (call);           \
		if (ret_ < 0) {              \
			world_refused(ret_); \
			return;              \
		}                            \
	} while (0)

/* Is @err what the failure of this run must look like? */
void world_refused(int err);

/* 0 or a negative errno, as from the system calls. */
int end_call(struct end *e, unsigned int cmd, void *arg);
/* What it counts, and what the endpoint of that id does. */
int end_info(struct end *e, struct o2gd_info *info);
int end_info_of(struct end *e, u64 id, struct o2gd_info *info);
int end_open(struct end *e, u32 rank, u32 slots);
void end_close(struct end *e);
int end_register(struct end *e, u32 peer, int fd);
int end_submit(struct end *e, u8 op, u32 slot, u64 tag, const void *p, u64 len);
int end_inject(struct end *e, u64 tag, const void *p, u32 len);
/* Through the posting ring when it is small. */
int end_recv(struct end *e, u32 slot, u64 tag, u64 len);
bool end_has(const struct end *e);
/* The next completion, its body in buf; -ETIME: there is none. */
int end_next(struct end *e, struct o2gd_cqe *c);
/* ... is this one, or tells of a lost peer: -O2G_ERR_PEER. */
int end_done(struct end *e, u32 slot);
/* ... is a receive of these bytes of data. */
int end_got(struct end *e, u32 slot, u64 tag, u64 len);
/* Send, and see it complete. */
int end_send(struct end *e, u32 slot, u64 tag, u64 len);

/* The process behind a descriptor writes a header to it, by hand. */
struct o2g_hdr;
void world_raw_header(int fd, const struct o2g_hdr *h);

/* a and b, and a connection between them. */
int world_open(void);
/* The driver has the sockets, the process does not need them any more. */
void world_close_fds(void);

/* Run @scenario once in a world without failures; with every one. */
void world_run(void (*scenario)(void));
void world_with_failures(void (*scenario)(void));
/* ... in worlds of several kinds: how data is cut, when it arrives, ... */
void world_in_all(void (*scenario)(void));

#endif
