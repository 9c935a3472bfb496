// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * Options of MPICH's and Open MPI's mpiexec that command lines bring along, and that
 * change nothing here. They are accepted, and one line says which. Which interfaces to
 * use they say in ways of their own, and that is heeded.
 */
#include <stdlib.h>
#include <string.h>

#include "args_int.h"

static const struct {
	const char *names;
	int values;
} known[] = {
	/* Open MPI */
	{ "oversubscribe nooversubscribe allow-run-as-root use-hwthread-cpus "
	  "display-map display-allocation display-devel-map noprefix "
	  "enable-recovery disable-recovery report-state-on-timeout "
	  "get-stack-traces continuous no-ready-msg quiet prot tag-output-detailed "
	  "nooverload overload-allowed report-events-quiet",
	  0 },
	{ "prefix am tune aborted max-restarts rank-by cpu-list cpu-set "
	  "launch-agent report-uri report-pid ompi-server server-wait-time "
	  "personality display with-ft",
	  1 },
	{ "mca gmca omca pmca pmixmca prtemca gpmixmca gprtemca", 2 },
	/* MPICH */
	{ "print-rank-map print-all-exitcodes disable-hostname-propagation "
	  "enable-x disable-x info usempx",
	  0 },
	{ "order-nodes topolib demux ckpointlib ckpoint-prefix "
	  "ckpoint-interval localhost binding control-port nameserver",
	  1 },
};

static struct strings noted; /* as they were given */

static void note(const char *arg)
{
	for (size_t i = 0; i < noted.n; i++)
		if (!strcmp(noted.at[i], arg))
			return;
	strings_add(&noted, arg);
}

int args_foreign(const char *arg)
{
	const char *name = arg + strspn(arg, "-");

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (args_has_name(known[i].names, name))
			return known[i].values;
	return -1;
}

void args_interfaces(struct args_state *s, const char *which)
{
	char *text = xprintf("O2G_TCP_INTERFACES=%s", which);

	strings_add(&s->opt->env.set, text);
	free(text);
}

void args_foreign_take(struct args_state *s, char **arg, int values)
{
	if (values == 2 && !strcmp(arg[1], "btl_tcp_if_include"))
		args_interfaces(s, arg[2]);
	else
		note(arg[0]);
}

void args_foreign_note(void)
{
	char *all = xstrdup("");

	for (size_t i = 0; i < noted.n; i++) {
		char *more = xprintf("%s%s%s", all, i ? ", " : "", noted.at[i]);

		free(all);
		all = more;
	}
	if (noted.n)
		say("of another MPI's options these are not needed here, and ignored: %s",
		    all);
	free(all);
}
