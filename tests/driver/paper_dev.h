/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What the cases of the eight calls share: a device, a dump area, peers by hand. */
#ifndef PAPER_DEV_H
#define PAPER_DEV_H

#include "dev.h"
#include "wire.h"

#define AREA (256 << 10)
#define BIG (3 << 20)

extern struct dev d; /* only its fd is used */
extern const struct o2gd_paper_shared *shared;
extern char *area;
extern unsigned char data[BIG], buf[BIG];

int call(unsigned long request, void *arg);
void open_device(uint32_t nsocks);
void set_area(void);
int add_socket(uint32_t rank, int fd);
/* Rank @rank joins; what is returned is its end. */
int peer(uint32_t rank);
/* All of it, and rank 0. */
int begin(void);

void put_all(int fd, const void *from, size_t n);
void put_header(int fd, uint8_t type, int tag, uint64_t len);
void put_message(int fd, int tag, uint64_t len);

struct o2gd_paper_entry entry(int tag, uint64_t size);
bool is_done(const struct o2gd_paper_entry *e);
/* Without a system call that the driver could use. */
void spin_done(const struct o2gd_paper_entry *e);
void wait_done(const struct o2gd_paper_entry *e);
/* The dump area's list. */
struct o2gd_paper_entry *first(void);
struct o2gd_paper_entry *next(const struct o2gd_paper_entry *e);
struct o2gd_paper_entry *wait_first(void);
void start_dumper(void);

#endif
