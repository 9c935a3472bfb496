/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Errors: their words, and raising them. */
#ifndef MPII_ENV_ERRORS_H
#define MPII_ENV_ERRORS_H

#include "mpii.h"

struct mpii_comm;
struct mpii_owner;

/*
 * Report an error of class @code in MPI function @func on @c (NULL: none, use
 * that of MPI_COMM_SELF) with words that name argument and value, and run the
 * error handler. Returns the code to return from the MPI call.
 */
int mpii_error(struct mpii_comm *c, int code, const char *func, const char *fmt,
	       ...) __attribute__((format(printf, 4, 5)));
/* The one place that turns a negative errno of libo2g into an MPI class. */
int mpii_class_of(int error);
/* Handles a non-success @code that came from below with its text already
 * recorded (mpii_fail) for this thread. */
int mpii_raise(struct mpii_comm *c, int code, const char *func);
/* Record words for the error this thread is about to return. Returns @code. */
int mpii_fail(int code, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The common complaints about arguments; each runs the error handler and
 * returns the code. @arg is the name in the standard.
 */
int mpii_bad_comm(MPI_Comm comm, const char *func);
int mpii_bad_type(struct mpii_comm *c, MPI_Datatype type, const char *func,
		  const char *arg);
int mpii_bad_count(struct mpii_comm *c, MPI_Count count, const char *func,
		   const char *arg);
int mpii_bad_rank(struct mpii_comm *c, int rank, const char *func,
		  const char *arg);
int mpii_bad_null(struct mpii_comm *c, const char *func, const char *arg);
int mpii_no_mem(struct mpii_comm *c, const char *func);
/* "MPI_COMM_WORLD", the name given by the program, or "a communicator". */
const char *mpii_comm_words(const struct mpii_comm *c);

/* Of c, or who is in charge when no object is at hand: NULL. */
struct mpii_owner mpii_owner_in_charge(struct mpii_comm *c);

/* As mpii_error and mpii_raise. */
int mpii_error_on(const struct mpii_owner *o, int code, const char *func,
		  const char *fmt, ...) __attribute__((format(printf, 4, 5)));
int mpii_raise_on(const struct mpii_owner *o, int code, const char *func);

/* "win is …": MPI_ERR_WIN, raised; the same for the others. */
int mpii_bad_win(MPI_Win h, const char *func);
int mpii_bad_file(MPI_File h, const char *func);
int mpii_bad_session(MPI_Session h, const char *func);

/* The words recorded with the latest error of this thread if it had this code;
 * else those that a lost rank's code always has, or NULL. */
const char *mpii_last_text(int code);
/* Record @words with MPI_ERR_IN_STATUS, which is returned, and with @code,
 * unless that has its own. */
int mpii_fail_in_status(int code, const char *words);
/* Run o's handler on a code whose words are recorded; returns the code. */
int mpii_handle(const struct mpii_owner *o, int code);

#endif
