/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Between the files of the PMI client. */
#ifndef PMI_INT_H
#define PMI_INT_H

#include <stdbool.h>
#include <stddef.h>

#define PMI_LINE_MAX 16384

/* --- the connection to the launcher (pmi_conn.c) --- */

struct pmi_conn {
	int fd;	     /* -1: none */
	bool lost;   /* said so already; every call fails */
	size_t have; /* bytes in buf */
	size_t used; /* of these, the line handed out last */
	char buf[PMI_LINE_MAX];
};

/* The descriptor in PMI_FD: is it one that a launcher may be behind? */
int pmi_conn_use_fd(struct pmi_conn *c, const char *fd_text);
/* PMI_PORT, "host:port". */
int pmi_conn_use_port(struct pmi_conn *c, const char *where);
void pmi_conn_close(struct pmi_conn *c);
/* @line ends with a newline. */
int pmi_conn_send(struct pmi_conn *c, const char *line);
/* The next line, without its newline, valid until the next call. Waits
 * @timeout_ms, or for ever if negative. */
int pmi_conn_recv(struct pmi_conn *c, int timeout_ms, char **line);

/* --- the words of a line (pmi_field.c), also for the launcher --- */

/* The value of @name in "cmd=x name=value other=value", copied. -ENOENT,
 * -ENOSPC. */
int pmi_field(const char *line, const char *name, char *value, size_t size);
/* -ENOENT: no such field or no number. */
int pmi_field_int(const char *line, const char *name, int *value);

/* --- values as they travel (pmi_value.c) --- */

/* Printable without space, '=', ';': what every launcher takes. Allocated. */
char *pmi_value_encode(const char *text);
/* In place. -EPROTO: not something pmi_value_encode made. */
int pmi_value_decode(char *text);
/* A value too long for one key starts with "%*COUNT:" and goes on in the keys
 * KEY~1 ... KEY~COUNT-1. Returns COUNT and where the text starts. */
int pmi_value_parts(const char *first, const char **text);

/* --- the board of a job of one (pmi_local.c) --- */

int pmi_local_put(const char *key, const char *value);
const char *pmi_local_get(const char *key); /* NULL: not there */
void pmi_local_clear(void);

/* --- launchers that are not ours to understand (pmi_detect.c) --- */

/* 0: nobody started us, or it started only us. -ENOTSUP: two lines printed. */
int pmi_detect_foreign(void);

#endif
