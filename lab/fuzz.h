/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the parts of lab/fuzz_dev share: dice, memory to use, endpoints, bad packets. */
#ifndef LAB_FUZZ_H
#define LAB_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/o2g.h"
#include "wire.h"

#define MEMORY (1 << 20)
#define NEPS 3		    /* endpoints of a process */
#define RAW_RANK (2 * NEPS) /* of two processes, and one that is nobody's */
#define NRANKS (RAW_RANK + 1)
#define NSLOTS 64

/* Memory of the process, and some that it may not write to. */
extern char *memory, *read_only;
/* Memory with much behind it that faults: the driver does as it is told. */
char *guarded(size_t n);

/* --- dice; each thread has its own --- */

void fuzz_seed(uint64_t seed);
uint64_t rnd(void);
uint64_t below(uint64_t n);
int one_in(unsigned int n);
/* Numbers that break things: small, at the edge of a type, or anything. */
uint64_t odd_number(void);
/* Mostly what makes sense, below n. */
uint64_t number(uint64_t n);
uint64_t length(void);
uint64_t address(uint64_t len);
uint64_t tag(void);

/* --- fuzz_dev.c: endpoints; threads share them, and races are welcome --- */

extern struct endpoint {
	int fd;
	void *area;
	size_t size;
	struct o2gd_setup setup;
} eps[NEPS];
extern uint32_t first_rank; /* of eps[0]; the other process has the others */

void open_endpoint(int i);
void map_area(int i);
void small_calls(int fd);

/* --- fuzz_socks.c: connections --- */

/* Ends that a process has given to the driver; raw ones are for nonsense. */
#define NSOCKS (3 * NEPS)
extern int socks[NSOCKS], raws[NEPS];

int tcp_pair(int pair[2]);
/* A packet with this header and some body, or almost; in pieces. */
void fuzz_send(int fd, struct o2g_hdr *h);
/* Those of this process; @between: ends of connections to the other one. */
void join(const int between[NEPS]);
/* What a program may do with such a descriptor. */
void socket_calls(int i);

/* --- fuzz_around.c: the process --- */

/* Before it has anything: limits, and memory that is worse than most. */
void around_begin(void);
/* Memory under a transfer goes away, descriptors do, others have them too. */
void surroundings(int i);
/* Have the kernel look for descriptors that only descriptors hold: see sent(). */
void around_end(void);
/* What main does when a process has become this program again. */
int around_after_exec(void);
#define AFTER_EXEC "after-exec"

/* --- fuzz_paper.c --- */

void paper_begin(void);
/* One call, or one mishap; of others: an endpoint and a connection. */
void paper_thing(int endpoint, int connection);
int paper_fd(void);

#endif
