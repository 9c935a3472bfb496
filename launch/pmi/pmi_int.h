/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Between the files of the PMI client. */
#ifndef PMI_INT_H
#define PMI_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pmi_job;

#define PMI_LINE_MAX 16384
/* The longest key: launchers take 63 characters, and "~COUNT" may follow. */
#define PMI_KEY_MAX 54

/* --- the clients, one for each protocol --- */

/*
 * The calls of pmi.h, which describes them. All but abort are made one at a
 * time; abort may come while another is under way.
 */
struct pmi_client {
	const char *name;      /* for O2G_LAUNCHER */
	bool (*offered)(void); /* does the environment speak of it? */
	int (*init)(struct pmi_job *job); /* failed: nothing is left open */
	int (*put)(const char *key, const char *value);
	int (*barrier)(void);
	/* One question at a time, of which answered says -EINPROGRESS, unless
	 * @wait, or how it ended; the value is the caller's to free. */
	int (*ask)(int owner, const char *key);
	int (*answered)(bool wait, char **value);
	int (*nodes)(int *node, int size);
	int (*finalize)(void);
	void (*abort)(int code, bool error);
	/* What our own launcher can do besides; NULL in other clients. */
	bool (*shares)(void);
	int (*share)(void);
	int (*await)(int owner);
	int (*leave)(void);
	/* @ranks: "0-3,7" */
	void (*abort_some)(int code, bool error, const char *ranks);
	/* Launchers of PMI-1; @text is what pmi_spawn_text has made. */
	int (*spawn)(const char *text, int *child, char *why, size_t size);
	int (*child_runs)(int child);
};

extern const struct pmi_client pmi1_client, pmi2_client, pmix_client;
extern const struct pmi_client pmi_local_client; /* a job of one */

/* Our own mpiexec has started us. */
bool pmi_launched_by_us(void);

/* --- the connection to the launcher (pmi_conn.c) --- */

struct pmi_conn {
	int fd;		 /* -1: none */
	bool lost;	 /* said so already; every call fails */
	size_t have;	 /* bytes in buf */
	size_t used;	 /* of these, what was handed out last */
	int patience_ms; /* for an answer, or to connect; negative: no limit */
	bool slow;	 /* said so already */
	bool nowait;	 /* what is not there yet is -EINPROGRESS */
	uint64_t until;	 /* when patience ends, of o2g_now_ns */
	char buf[PMI_LINE_MAX];
};

/* For patience_ms until the job is joined. All that is asked by then a launcher
 * answers at once, if its host is not overloaded; anything else that holds the
 * other end of the descriptor never does. Later, in a barrier, it takes as long
 * as other ranks do. */
#define PMI_JOIN_MS 60000

/* PMI_FD or PMI_PORT, whichever is set. */
int pmi_conn_open(struct pmi_conn *c);
void pmi_conn_close(struct pmi_conn *c);
int pmi_conn_send(struct pmi_conn *c, const char *text);
/* The next line, without its newline, valid until the next call. */
int pmi_conn_recv(struct pmi_conn *c, char **line);
/* The next message of PMI-2: characters that count, then the text. */
#define PMI2_COUNT 6
int pmi_conn_recv_counted(struct pmi_conn *c, char **text);
/* Says what was received where something else was expected: -EPROTO. */
int pmi_bad_answer(const char *got, const char *expected);
/* The hello of PMI-1 and PMI-2. Returns the version that the launcher speaks,
 * which may be another one than @version. */
int pmi_conn_hello(struct pmi_conn *c, int version);

/* --- the words of a line (pmi_field.c), also for the launcher --- */

/* The value of @name in "cmd=x name=value other=value", copied. -ENOENT,
 * -ENOSPC. */
int pmi_field(const char *line, const char *name, char *value, size_t size);
/* -ENOENT: no such field or no number. */
int pmi_field_int(const char *line, const char *name, int *value);
/* The same in "cmd=x;name=value;other=value;". */
int pmi2_field(const char *text, const char *name, char *value, size_t size);
int pmi2_field_int(const char *text, const char *name, int *value);

/* --- values as they travel in lines (pmi_value.c, pmi_parts.c) --- */

/* Printable without space, '=', ';': what every launcher takes. Allocated. */
char *pmi_value_encode(const char *text);
/* In place. -EPROTO: not something pmi_value_encode made. */
int pmi_value_decode(char *text);

#define PMI_VALUE_MAX 1024
#define PMI_KEY_SIZE 64

/* How one key and one value that fits travel. */
struct pmi_wire {
	struct pmi_conn *conn;
	int (*put)(const char *key, const char *text);
	/* A question, and its answer: -ENOENT: not there. */
	int (*ask)(const char *key);
	int (*answer)(char *text, size_t size);
};

/* A value that is being asked for, part by part; `all` is allocated. */
struct pmi_parts {
	const struct pmi_wire *wire; /* NULL: none */
	char key[PMI_KEY_MAX + 1];
	int part, count; /* the one that was asked for, of how many */
	char *all;	 /* what has come, encoded */
	size_t at;
};

/* A value of any bytes and length. @value_max is the launcher's, with the
 * closing NUL. */
int pmi_parts_put(const struct pmi_wire *wire, int value_max, const char *key,
		  const char *value);
/* Ask for one, and see whether all of it has come: -EINPROGRESS, unless @wait. Any
 * other result ends it; the value, decoded, is the caller's to free. */
int pmi_parts_ask(struct pmi_parts *p, const struct pmi_wire *wire,
		  const char *key);
int pmi_parts_answered(struct pmi_parts *p, bool wait, char **value);
/* -ENOSPC: it does not fit. */
int pmi_copy_out(const char *from, char *value, size_t size);

/* --- starting more (pmi_spawn.c) --- */

struct pmi_program;
/* The lines that ask a launcher of PMI-1 for it; @encoded: ours takes any word.
 * Allocated; NULL, errno ENOTSUP: that is more than it can be told, ENOMEM. */
char *pmi_spawn_text(const struct pmi_program *programs, int count,
		     const char *port, bool encoded);

/* Hydra does not say that it has not found a program, and others would wait. False:
 * @why says which one. */
bool pmi_spawn_is_possible(const struct pmi_program *programs, int count,
			   char *why, size_t size);

/* --- who shares a host (pmi_map.c) --- */

#define PMI_MAP_KEY "PMI_process_mapping"
#define PMI_MAP_MAX 16384

/* From the map that launchers leave under that key; NULL: none. Fills @node for
 * each of @size ranks. -ENOENT: it does not say. */
int pmi_map_nodes(const char *map, int *node, int size);
/* How many ranks share our host, from a variable or the map; 0 unknown. */
int pmi_local_size(const char *map, int rank, int size);

/* --- launchers that are not ours to understand (pmi_detect.c) --- */

/* 0: nobody started us, or it started only us. -ENOTSUP: two lines printed. */
int pmi_detect_foreign(void);

#endif
