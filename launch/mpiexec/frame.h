/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The control stream between mpiexec and the proxy of one host: the stdin and
 * stdout of the proxy, carried by whatever agent started it. No port is
 * opened, and it is up to the agent (usually ssh) who may talk.
 *
 * A frame is type, rank and length, 32 bits each, little-endian, then the
 * payload. The proxy writes a line of greeting before its first frame; what
 * comes before that was said by a login script and is shown to the user.
 */
#ifndef EXEC_FRAME_H
#define EXEC_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "buf.h"
#include "loop.h"

#define FRAME_GREETING "o2g-proxy protocol 4\n"
#define FRAME_MAX (64u << 20)
/* More than any login script says before the greeting: this is no proxy. */
#define FRAME_PREFACE_MAX (256u << 10)

enum frame_type {
	/* to the proxy */
	FRAME_START = 1, /* a struct start, see start.h */
	FRAME_STDIN,	 /* bytes for a rank, or for all if rank is -1; empty:
			    end of file */
	FRAME_SIGNAL,	 /* u32 number, to the process group of every rank */
	FRAME_END,	 /* u32 grace in ms: SIGTERM, then SIGKILL to all */
	FRAME_FENCE_OUT, /* key, value, key, value ... of everybody */
	FRAME_TAKEN,	 /* u32 bytes of output that are written */
	FRAME_SHARED,	 /* the same as FENCE_OUT, but nobody has waited */
	FRAME_LEAVE,	 /* whoever wants to leave may */
	FRAME_KILL,	 /* one rank, as by FRAME_END; u32 grace in ms */
	FRAME_LOOK,	 /* what do the ranks wait for? FRAME_STATE answers */
	FRAME_STIR,	 /* does anything move? FRAME_STIRRED answers */
	FRAME_SPAWNED, /* to a rank that has asked for it: u32 the job's number,
			    or 0 and what went wrong */
	FRAME_OVER,    /* u32 that job has ended */
	FRAME_TUNNEL_OPEN, /* another proxy, in the tunnel of that number */
	/* from the proxy */
	FRAME_STDOUT = 16,
	FRAME_STDERR,
	FRAME_STDIN_TAKEN, /* ready for the next FRAME_STDIN */
	FRAME_WAITING,	   /* a rank of this host waits in a barrier */
	FRAME_FENCE_IN,	   /* all of them do: their new keys and values */
	FRAME_ABORT,   /* u32 code, u32 after an error, which ranks: "0-3,7",
			      "" all */
	FRAME_EXIT,    /* u32 wait status, u32 enum rank_state */
	FRAME_CANNOT,  /* u32 exit code, text: a rank could not start */
	FRAME_TEXT,    /* a line for the user */
	FRAME_DONE,    /* all ranks and their children are gone */
	FRAME_SHARE,   /* a rank can be reached: new keys and values */
	FRAME_AWAIT,   /* u32 the rank that this one waits to reach */
	FRAME_LEAVING, /* a rank waits until all that can be reached leave */
	FRAME_STATE, /* of a rank, see why.h; after the last, of rank -1: empty */
	FRAME_STIRRED, /* u32 1 when a rank computes, u64 of all that may move */
	FRAME_STARTED, /* all ranks of this host run */
	FRAME_SPAWN,   /* a rank wants more processes: lines of PMI-1 */
	FRAME_TUNNEL,  /* both ways: bytes in a tunnel; none: its end */
	FRAME_PLACED, /* of a job that was spawned: host, u32 ranks there ... */
};

/* How far a rank has come, as far as PMI shows. */
enum rank_state { RANK_NEW, RANK_IN_MPI, RANK_FINALIZED };

struct chan {
	struct watch in, out; /* fn and arg are the channel's own */
	struct buf inbuf, outbuf;
	bool greeted;	/* the greeting has been seen, or is not expected */
	size_t preface; /* bytes that came before it, */
	char said[64];	/* and how they began, as text for the user */
	void *arg;
	void (*on_frame)(struct chan *c, enum frame_type type, int rank,
			 struct reader *data);
	void (*on_text)(struct chan *c, const char *line);
	/* The stream has ended or is broken. Called once. */
	void (*on_end)(struct chan *c);
};

/* Takes over the descriptors, which may be the same. */
void chan_open(struct chan *c, int in, int out);
void chan_close(struct chan *c);
static inline bool chan_is_open(const struct chan *c)
{
	return c->in.active;
}

/* It has ended because the other side says much, but nothing that we expect. */
static inline bool chan_babbles(const struct chan *c)
{
	return !c->greeted && c->preface > FRAME_PREFACE_MAX;
}

void chan_send(struct chan *c, enum frame_type type, int rank, const void *data,
	       size_t len);
void chan_send_u32(struct chan *c, enum frame_type type, int rank, uint32_t v);
void chan_send_raw(struct chan *c, const void *data, size_t len);
/* Everything queued goes out, for at most @ms. */
void chan_drain(struct chan *c, int ms);

#endif
