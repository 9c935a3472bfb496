/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the parts of lab/fuzz_dev share: dice, memory to use, bad packets. */
#ifndef LAB_FUZZ_H
#define LAB_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/o2g.h"
#include "wire.h"

#define MEMORY (1 << 20)

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

/* --- connections --- */

int tcp_pair(int pair[2]);
/* A packet with this header and some body, or almost; in pieces. */
void fuzz_send(int fd, struct o2g_hdr *h);

/* --- fuzz_paper.c --- */

void paper_begin(void);
/* One call, or one mishap; of others: an endpoint and a connection. */
void paper_thing(int endpoint, int connection);
int paper_fd(void);

#endif
