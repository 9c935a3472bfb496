// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * No protocol that we speak is here. Were we started alone, or by a launcher that talks
 * something else? In the second case each of its N processes would think to be
 * alone, and the user would see the program run N times: refuse instead.
 */
#include "pmi_int.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "pmi.h"

struct launcher {
	const char *sign;     /* a variable that only it sets */
	const char *sizes[2]; /* where it says how many processes there are */
	const char *name;
	const char *advice;
};

#define OURS \
	"start the program with O2G's mpiexec or with MPICH's mpiexec.hydra"

/* The more specific ones first: Open MPI and Slurm may set PMIX_ too. */
static const struct launcher launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE",
	  { "OMPI_COMM_WORLD_SIZE" },
	  "Open MPI's mpirun",
	  OURS },
	{ "SLURM_PROCID",
	  { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS" },
	  "Slurm's srun",
	  "use srun --mpi=pmi2 or --mpi=pmix, or start the program with O2G's mpiexec" },
	{ "FLUX_TASK_RANK",
	  { "FLUX_JOB_SIZE" },
	  "Flux",
	  "use flux run -o pmi=simple, or start the program with O2G's mpiexec" },
	{ "PALS_RANKID",
	  { "PMI_SIZE", "PALS_SIZE" },
	  "HPE's PALS (mpiexec or aprun)",
	  OURS },
	{ "ALPS_APP_PE", { "PMI_SIZE" }, "Cray's aprun", OURS },
	{ "JSM_NAMESPACE_RANK", { "JSM_NAMESPACE_SIZE" }, "IBM's jsrun", OURS },
	{ "MPIRUN_RANK", { "MPIRUN_NPROCS" }, "MVAPICH's mpirun_rsh", OURS },
	{ "PMIX_RANK", { NULL }, "a PMIx launcher", OURS },
	{ "PMIX_NAMESPACE", { NULL }, "a PMIx launcher", OURS },
	{ "PMI2_RANK",
	  { "PMI2_SIZE" },
	  "a PMI-2 launcher without PMI_FD",
	  OURS },
	{ "PMI_RANK",
	  { "PMI_SIZE" },
	  "a launcher that gives PMI_RANK but neither PMI_FD nor PMI_PORT",
	  OURS },
	{ "PMI_SIZE",
	  { "PMI_SIZE" },
	  "a launcher that gives PMI_SIZE but neither PMI_FD nor PMI_PORT",
	  OURS },
};

#define N_LAUNCHERS (sizeof(launchers) / sizeof(*launchers))

static bool is_one(const struct launcher *l)
{
	for (int i = 0; i < 2 && l->sizes[i]; i++) {
		const char *text = getenv(l->sizes[i]);

		if (text)
			return !strcmp(text, "1");
	}
	return false;
}

/* The script of an sbatch job carries the variables of task 0, but it is no
 * task: only srun sets a step. */
static bool is_batch_script(const struct launcher *l)
{
	const char *procid = getenv("SLURM_PROCID");

	return !strcmp(l->sign, "SLURM_PROCID") && !strcmp(procid, "0") &&
	       getenv("SLURM_JOB_ID") && !getenv("SLURM_STEP_ID") &&
	       !getenv("SLURM_STEPID");
}

/* What a variable says, if it is the number of a job's processes; else 0. */
static int size_in(const char *name)
{
	const char *text = name ? getenv(name) : NULL;
	char *end;
	long size = text ? strtol(text, &end, 10) : 0;

	return size > 0 && size < INT_MAX && *text && !*end ? (int)size : 0;
}

int pmi_told_size(void)
{
	int size = size_in("PMI_SIZE");

	for (size_t i = 0; !size && i < N_LAUNCHERS; i++) {
		const struct launcher *l = &launchers[i];

		if (!getenv(l->sign))
			continue;
		size = size_in(l->sizes[0]);
		return size ? size : size_in(l->sizes[1]);
	}
	return size || getenv("PMI_FD") || getenv("PMI_PORT") ? size : 1;
}

int pmi_detect_foreign(void)
{
	for (size_t i = 0; i < N_LAUNCHERS; i++) {
		const struct launcher *l = &launchers[i];

		if (!getenv(l->sign))
			continue;
		if (is_one(l) || is_batch_script(l))
			return 0;
		o2g_error(
			"started by %s (%s is set), which offers neither PMI-1, PMI-2 nor PMIx here, so the processes cannot find each other",
			l->name, l->sign);
		o2g_error("%s; to run one process alone, set O2G_LAUNCHER=none",
			  l->advice);
		return -ENOTSUP;
	}
	return 0;
}
