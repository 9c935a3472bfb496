/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The command line, as written; hosts.h turns it into places. */
#ifndef EXEC_ARGS_H
#define EXEC_ARGS_H

#include <stdbool.h>

#include "hosts.h"
#include "util.h"

enum { STDIN_ALL = -1, STDIN_NONE = -2 };

/* What of the launcher's environment a rank gets. */
struct env_spec {
	struct strings set;  /* NAME=VALUE */
	struct strings pass; /* NAME */
	bool all, none;
};

/* One program of `mpiexec a : b`. */
struct app {
	int n; /* 0: not said */
	struct strings argv;
	int words; /* so many words are the program, whatever they are; 0: up to a colon */
	char *wdir; /* NULL: where mpiexec runs */
	char *path; /* directories with the program; NULL: PATH alone */
	char *soft; /* other numbers that will do, as of "soft"; NULL: none */
	struct env_spec env;
	struct hosts hosts; /* empty: the job's */
};

struct options {
	struct app *apps;
	int napps;
	struct env_spec env; /* for every program */
	struct hosts hosts;  /* empty: this one */
	int ppn;	     /* 0: not said */
	bool by_node;	     /* one rank for each host in turn */
	char *rankfile;	     /* says where each rank runs; NULL: none */
	char *configfile;    /* of programs, not read yet */
	bool no_allocation;  /* a batch system is not asked for hosts */
	char *agent;	     /* NULL: ssh */
	bool force_agent;    /* also for this host */
	char *proxy;	     /* path on the other hosts; NULL: as here */
	bool label;	     /* the rank before each line, */
	bool tag;	     /* ... as Open MPI does it */
	bool merge;	     /* stderr goes to stdout */
	bool verbose;
	char *out_dir;			 /* files for each rank; NULL: none */
	bool out_nocopy;		 /* ... and nothing here */
	char *out_pattern, *err_pattern; /* the same by name */
	int stdin_rank;			 /* or STDIN_ALL, STDIN_NONE */
	char *bind_to, *map_by;		 /* NULL: not said */
	int bind_width; /* so many of them for each rank; 0: not said */
	bool report_bindings;
	bool keep_going; /* a failing rank does not end the job */
	int timeout;	 /* seconds; 0: none */
	int universe;	 /* MPI_UNIVERSE_SIZE; 0: not said */
	int parent; /* a descriptor to whoever has spawned this job; 0: none */
	int number; /* of those that another mpiexec has spawned; 0: it is none */
	struct way {
		char *host;
		int fd; /* to a proxy there */
	} * ways;
	int nways;
	int why; /* seconds without a move, then it is explained; 0: not */
};

/* Exits with a message on a bad command line, and after --help, --version. */
void args_parse(int argc, char **argv, struct options *opt);

#endif
