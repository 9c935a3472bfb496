/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What errors.c, errcode.c and errhandler.c share. */
#ifndef MPI_ERRORS_H
#define MPI_ERRORS_H

struct mpii_owner;

/* The words recorded with the latest error of this thread if it had this code;
 * else those that a lost rank's code always has, or NULL. */
const char *mpii_last_text(int code);
/* Record @words with MPI_ERR_IN_STATUS, which is returned, and with @code,
 * unless that has its own. */
int mpii_fail_in_status(int code, const char *words);
/* Run o's handler on a code whose words are recorded; returns the code. */
int mpii_handle(const struct mpii_owner *o, int code);

/* errcode.c: NULL when there is no such class. */
const char *mpii_class_text(int class);
const char *mpii_class_name(int class); /* never NULL */
int mpii_class_of_code(int code);
/* The code of errors that name this rank of the world, which was lost; @words,
 * the same each time, do so. The class itself if there is none to be had. */
int mpii_lost_code(int world, const char *words);
/* Of any code: the rank that it names, or -1, and its words, or NULL. */
int mpii_lost_rank(int code);
const char *mpii_lost_text(int code);
/* The largest code in use, for the attribute MPI_LASTUSEDCODE. */
int mpii_last_used_code(void);

#endif
