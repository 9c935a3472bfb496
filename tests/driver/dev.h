/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * For tests of the driver: endpoints made by hand, without libo2g. Two of them
 * in one process, joined by a TCP connection of this host.
 */
#ifndef TEST_DRIVER_DEV_H
#define TEST_DRIVER_DEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver_info.h"
#include "uapi/o2g.h"

#define CHECK(cond)                                          \
	do {                                                 \
		if (!(cond))                                 \
			dev_fail(__FILE__, __LINE__, #cond); \
	} while (0)

void dev_fail(const char *file, int line, const char *what)
	__attribute__((noreturn));

struct dev {
	int fd;
	struct o2gd_setup s;
	char *map;
	struct o2gd_shared *shared;
	struct o2gd_sqe *sq;
	struct o2gd_cqe *cq;
	uint32_t sq_tail, cq_head;
};

/* How much longer things may take here: on a debug kernel several times. */
int dev_patience(void);
/* ioctl: its result, or a negative errno. */
int dev_call(const struct dev *d, unsigned long request, void *arg);
/* Rank @rank of @size, with @slots request slots. */
void dev_open(struct dev *d, uint32_t rank, uint32_t size, uint32_t slots);
/* The same with settings of the test's own in d->s. */
void dev_open_as(struct dev *d, uint32_t slots);
void dev_close(struct dev *d);

/* Two ends of a connection over lo. */
void dev_tcp_pair(int fd[2]);
/* The same, accepted by a socket for IPv4 and IPv6. */
void dev_mapped_pair(int fd[2]);
int dev_register(const struct dev *d, uint32_t peer, int fd);
/* Join two endpoints; the descriptors are closed again. */
void dev_join(const struct dev *a, const struct dev *b);

/* Post a receive: through the ring when it is small, else by system call. */
void dev_recv(struct dev *d, uint32_t slot, uint32_t source, uint64_t tag,
	      void *buf, uint64_t len);
int dev_submit(const struct dev *d, uint8_t op, uint32_t slot, uint32_t peer,
	       uint64_t tag, const void *buf, uint64_t len);
int dev_inject(const struct dev *d, uint32_t peer, uint64_t tag,
	       const void *buf, uint32_t len);
/* The next completion, waited for; its body is copied to @buf. */
struct o2gd_cqe dev_next(struct dev *d, void *buf, uint64_t len);
/* Is there one? */
bool dev_has(const struct dev *d);
void dev_info(const struct dev *d, struct o2gd_info *info);

/* --- a program of many cases --- */

struct dev_case {
	const char *name;
	void (*run)(void);
};

#define DEV_CASE(f)   \
	{             \
#f, f \
	}

/*
 * Run those whose name holds argv[1], or all, each in a process of its own: a
 * failure leaves nothing to the next. What main returns.
 */
int dev_run_cases(int argc, char **argv, const struct dev_case *cases,
		  size_t n);

#endif
