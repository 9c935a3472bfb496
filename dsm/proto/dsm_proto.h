/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Pages with one writer or many readers, on any number of nodes up to DSM_NODES.
 *
 * Every page has a home, which knows who has copies and serves one request for the page
 * at a time. What is asked for meanwhile waits there, and nodes take turns. A home that is
 * idle and has not given the page to a writer has its content; so reading a clean page is
 * a question and an answer, and writing takes two messages more for each other copy.
 *
 * Freestanding: no allocation, no locks, no system calls. An engine brings the table of
 * pages, zeroed, and the functions of struct dsm_ops, and calls in with its lock held. It
 * delivers what one node sends to another in order, and nothing from a node after it
 * has said that the node is lost. docs/dsm.md has messages and states.
 */
#ifndef DSM_PROTO_H
#define DSM_PROTO_H

#include "dsm_msg.h"
#include "dsm_set.h"

/* A page as this node sees it; all zero before anybody has used it. */
struct dsm_page {
	/* here */
	u8 access;	/* what we may do */
	u8 want;	/* what we have asked for and do not have yet */
	u8 home;	/* who is its home, plus 1; 0: who was at first */
	u8 gone : 1;	/* it died with another node */
	u8 delayed : 1; /* somebody wants it back, but it is too new */
	u8 keep : 2;	/* ... and this access stays when it goes */
	u8 taker;	/* ... and this is who asked */
	/* at its home */
	u8 filled : 1; /* somebody could write: it is no longer zeros */
	u8 alone : 1;  /* the one copy may be written */
	u8 busy : 1;   /* `asker` is being served */
	u8 asker;
	u8 asked;  /* access that the asker wants; DSM_NONE: it has died */
	u8 last;   /* whose turn it was */
	u8 wisher; /* who wants to be the home, plus 1 */
	u8 writer; /* who was allowed to write last, plus 1 */
	u8 runs;   /* ... so often in a row */
	u8 pad[4];
	dsm_set passed;	 /* whose questions we have passed on */
	dsm_set copies;	 /* who has one, including us */
	dsm_set pending; /* who has yet to give theirs */
	dsm_set readers; /* who is waiting for their turn */
	dsm_set writers;
};

struct dsm_ops {
	/* Data is a page, or NULL. */
	void (*send)(void *ctx, unsigned to, const struct dsm_msg *msg,
		     const void *data);
	/*
	 * We have this access now; whoever waits for the page looks again. With
	 * DSM_DATA in @flags the content is @data, with DSM_ZERO zeros; with neither
	 * it is what we have.
	 */
	void (*install)(void *ctx, u32 page, enum dsm_access access,
			unsigned flags, const void *data);
	/* From writing to reading. */
	void (*protect)(void *ctx, u32 page);
	/* No access from now on. Returns the content, which stays until the next
	 * call, if it is wanted. */
	const void *(*take)(void *ctx, u32 page, bool wanted);
	/* The content of a page that we may read. */
	const void *(*data)(void *ctx, u32 page);
	/* Has it come so recently that those who asked had no time to use it? Then
	 * dsm_resume() is called later. */
	bool (*held)(void *ctx, u32 page);
	/* It died with another node; whoever waits for it is told. */
	void (*fail)(void *ctx, u32 page);
};

struct dsm_proto {
	const struct dsm_ops *ops;
	void *ctx;
	struct dsm_page *pages;
	u32 npages;
	dsm_set founders; /* whose homes they are at first, in turn */
	dsm_set dead;
	u8 self;
	u8 move_after; /* writes in a row by one node that move the home; 0 never */
};

enum dsm_result { DSM_HAVE, DSM_UNDER_WAY, DSM_LOST };

/* This node wants to read or write; with @home it also wants to be the home. */
enum dsm_result dsm_want(struct dsm_proto *p, u32 page, enum dsm_access access,
			 bool home);
/* 0, or -EPROTO: no node that follows the protocol sends that now. */
int dsm_receive(struct dsm_proto *p, unsigned from, const struct dsm_msg *msg,
		const void *data);
/* A page that was held may go now. */
void dsm_resume(struct dsm_proto *p, u32 page);
/* A node has died; pages [first, first + n) draw their conclusions. Called for all
 * pages before anything else is. */
void dsm_lost(struct dsm_proto *p, unsigned node, u32 first, u32 n);

/* Who we take to be the home of a page. */
unsigned dsm_home(const struct dsm_proto *p, u32 page);

/* --- between the files of this folder --- */

/* The node's side. */
void dsm_node_grant(struct dsm_proto *p, unsigned from, u32 page,
		    enum dsm_access access, unsigned flags, const void *data);
int dsm_node_take(struct dsm_proto *p, unsigned from, u32 page,
		  enum dsm_access keep);
void dsm_node_gone(struct dsm_proto *p, u32 page);

/* The home's. */
void dsm_home_ask(struct dsm_proto *p, u32 page, unsigned node,
		  enum dsm_access access, unsigned flags);
int dsm_home_given(struct dsm_proto *p, unsigned from, u32 page,
		   const void *data);
void dsm_home_lost(struct dsm_proto *p, unsigned node, u32 page);
/* Our own copy has been taken; @data if somebody is to have its content. */
void dsm_home_own_given(struct dsm_proto *p, u32 page, const void *data);
/* Will the content of our own copy be sent? */
bool dsm_home_sends(const struct dsm_proto *p, u32 page);
/* We have become the home, and may write. */
void dsm_home_begin(struct dsm_proto *p, u32 page);

#endif
