/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Between the files that read the command line. */
#ifndef EXEC_ARGS_INT_H
#define EXEC_ARGS_INT_H

#include "args.h"

struct args_state {
	struct options *opt;
	struct app *app;
	const char *name; /* of the option, as given */
};

extern const char args_help[]; /* of --help */

/* "a b" has a; both without dashes. */
bool args_has_name(const char *names, const char *name);

/* --- args_place.c: what these options say --- */
void args_map_by(struct args_state *s, const char *what);
void args_bind_to(struct args_state *s, char *what);
void args_launcher(struct args_state *s, char *what);

/* --- args_foreign.c --- */

/* How many values an option has that others' mpiexec knows, but not ours. -1: it is
 * none. */
int args_foreign(const char *arg);
/* It is noted, unless it says which interfaces to use. */
void args_foreign_take(struct args_state *s, char **arg, int values);
void args_interfaces(struct args_state *s, const char *which);
/* Says once which there were. */
void args_foreign_note(void);

/* --- args_file.c --- */

/* The words of a file: a line is what stands between two colons. */
void args_file(const char *path, struct strings *words);

#endif
