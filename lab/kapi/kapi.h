/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * A module that tries the calls of o2g_kernel.h: a caller, rank 0, orders from a server,
 * rank 1, what it is to do. The server may be in this module, in that of another machine,
 * or a process (lab/kapi_peer.c).
 */
#ifndef KAPI_H
#define KAPI_H

#include <linux/atomic.h>
#include <linux/socket.h>
#include <linux/types.h>

#include "o2g_kernel.h"
#include "kapi_orders.h"

#define CALLER 0
#define SERVER 1
#define ALL (~0ull)

extern unsigned int kapi_timeout; /* seconds for whatever is waited for */

#define kapi_err(fmt, ...) pr_err("o2g_kapi: " fmt, ##__VA_ARGS__)
#define kapi_say(fmt, ...) pr_info("o2g_kapi: " fmt, ##__VA_ARGS__)

/* --- memory of every kind --- */

enum kapi_kind {
	KAPI_KMALLOC,
	KAPI_VMALLOC,
	KAPI_PAGES,
	KAPI_USER, /* of the process that was named to the module */
	KAPI_KVEC,
	KAPI_BVEC,
	KAPI_VECTOR, /* many pieces, some of them empty */
	KAPI_MIXED,
	KAPI_KINDS
};

/* Whose it is: memory of the process is divided among them. */
enum kapi_place { KAPI_FROM, KAPI_TO, KAPI_SERVED, KAPI_PLACES };

struct kapi_mem;
/* An ERR_PTR: -E2BIG: this kind has not so much; -ENODEV: no process was named. */
struct kapi_mem *kapi_mem_new(enum kapi_kind kind, size_t size,
			      enum kapi_place place);
void kapi_mem_free(struct kapi_mem *m);
struct o2gk_seg *kapi_mem_segs(struct kapi_mem *m, unsigned int *n);
int kapi_mem_fill(struct kapi_mem *m, u64 seed);
/* Are the first @len bytes what somebody has filled in with @seed? */
int kapi_mem_check(struct kapi_mem *m, u64 seed, size_t len);
const char *kapi_kind_name(enum kapi_kind kind);
int kapi_user_open(int pid, unsigned long addr, size_t len);
void kapi_user_close(void);

/* --- the server --- */

struct kapi_server;
struct kapi_server *kapi_serve(const struct o2gk_config *config,
			       struct net *net, const char *address, int port);
void kapi_serve_end(struct kapi_server *s);
int kapi_server_port(const struct kapi_server *s);

/* --- the caller --- */

struct kapi_caller {
	struct o2gk_ep *ep;
	struct sockaddr_storage to;
	atomic_t connected, lost;
	size_t most;  /* bytes of a message */
	bool process; /* the server is one: it comes back as another */
};

struct kapi_caller *kapi_call(const struct o2gk_config *config,
			      const struct sockaddr_storage *to);
void kapi_call_end(struct kapi_caller *c);
int kapi_connect(struct kapi_caller *c);
/* Start a request, and wait for its end. */
int kapi_order(struct kapi_caller *c, const struct kapi_order *o);
int kapi_wait(struct o2gk_ep *ep, struct o2gk_request *r);
int kapi_send(struct kapi_caller *c, u64 tag, struct kapi_mem *m, bool sync,
	      struct o2gk_request *r);
int kapi_recv(struct kapi_caller *c, u64 tag, struct kapi_mem *m,
	      struct o2gk_request *r);
int kapi_echo(struct kapi_caller *c, enum kapi_kind from, enum kapi_kind to,
	      size_t len, u32 flags);

/* kapi_tests.c, kapi_ends.c */
int kapi_test_echo(struct kapi_caller *c);
int kapi_test_put(struct kapi_caller *c);
int kapi_test_callbacks(struct kapi_caller *c);
int kapi_test_cancel(struct kapi_caller *c);
int kapi_test_death(struct kapi_caller *c);
int kapi_test_leave(struct kapi_caller *c);
/* What it has left, after the endpoint was closed. */
void kapi_left_free(void);

#endif
