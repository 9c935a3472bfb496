/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_Init to MPI_Finalize, and MPI_Abort. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coll/calls.h"
#include "comm/attr.h"
#include "comm/comm_set.h"
#include "env/errcode.h"
#include "env/errors.h"
#include "log.h"
#include "pmi.h"
#include "process/children.h"
#include "process/end_others.h"
#include "process/runtime.h"
#include "process/spawn.h"
#include "process/stats.h"
#include "pt2pt/buffered.h"
#include "settings.h"
#include "tools/state.h"

struct mpii_process mpii;

static pid_t starter;

/* What there is to say, and what the program has printed. */
static void last_words(const char *text)
{
	if (text)
		o2g_error("%s", text);
	/* That should be seen, but a thread that died inside printf must not
	 * keep us. */
	if (!ftrylockfile(stdout)) {
		fflush_unlocked(stdout);
		funlockfile(stdout);
	}
}

static _Noreturn void end_job(int code, enum pmi_why why, const char *text)
{
	last_words(text);
	/* The child of a fork is not what the launcher has started. */
	if (!starter || starter == getpid()) {
		mpii_end_others(pmi_exit_code(code));
		pmi_abort(code, why);
	}
	_exit(pmi_exit_code(code));
}

_Noreturn void mpii_abort(int code, const char *text)
{
	end_job(code, PMI_ERROR, text);
}

_Noreturn void mpii_abort_some(int code, const char *text, const int *ranks,
			       int n)
{
	last_words(text);
	pmi_abort_some(code, PMI_ERROR, ranks, n);
	_exit(pmi_exit_code(code));
}

/* The level we give for a required one: the same, or the next above. */
static int thread_level(int required)
{
	static const int levels[] = { MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED,
				      MPI_THREAD_SERIALIZED };

	for (int i = 0; i < 3; i++)
		if (required <= levels[i])
			return levels[i];
	return MPI_THREAD_MULTIPLE;
}

static void in_child(void)
{
	mpii.forked = true;
}

static int start(int required, const char *func)
{
	int state = MPII_WORLD_NOT_YET;

	if (!atomic_compare_exchange_strong(&mpii.world, &state,
					    MPII_WORLD_STARTING))
		return mpii_error(NULL, MPI_ERR_OTHER, func,
				  state == MPII_WORLD_FINALIZED ?
					  "MPI cannot be started again "
					  "after MPI_Finalize" :
					  "MPI was initialized already");
	mpii.provided = thread_level(required);
	mpii.main_thread = pthread_self();
	starter = getpid();
	pthread_atfork(NULL, NULL, in_child);
	if (mpii_runtime_hold_all() < 0)
		mpii_abort(MPI_ERR_OTHER, NULL);
	if (mpii.provided == MPI_THREAD_MULTIPLE) {
		atomic_store(&mpii.multiple, true);
		mpii_context_threads();
	}
	if (!mpii_comm_start())
		mpii_abort(MPI_ERR_NO_MEM, "MPI_Init: out of memory");
	atomic_store(&mpii.world, MPII_WORLD_RUNNING);
	mpii_meet_parent();
	mpii_state_phase(O2G_PHASE_RUNNING);
	return MPI_SUCCESS;
}

int PMPI_Init(int *argc, char ***argv)
{
	return start(MPI_THREAD_SINGLE, "MPI_Init");
}
MPII_ALIAS(Init);

int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
	int err = start(required, "MPI_Init_thread");

	if (provided && err == MPI_SUCCESS)
		*provided = mpii.provided;
	return err;
}
MPII_ALIAS(Init_thread);

int PMPI_Initialized(int *flag)
{
	if (!flag)
		return mpii_bad_null(NULL, "MPI_Initialized", "flag");
	*flag = atomic_load(&mpii.world) >= MPII_WORLD_RUNNING;
	return MPI_SUCCESS;
}
MPII_ALIAS(Initialized);

int PMPI_Finalized(int *flag)
{
	if (!flag)
		return mpii_bad_null(NULL, "MPI_Finalized", "flag");
	*flag = atomic_load(&mpii.world) == MPII_WORLD_FINALIZED;
	return MPI_SUCCESS;
}
MPII_ALIAS(Finalized);

/* Has any rank used a session? Then all stay in the job until they end. */
static int any_sessions(bool *some)
{
	struct mpii_set s = mpii_set_all(&mpii_world);
	uint64_t none = !atomic_load(&mpii.sessions);
	int err = mpii_set_and(&s, &none, 1);

	*some = !none;
	return err;
}

static int not_running(const char *func)
{
	return mpii_error(NULL, MPI_ERR_OTHER, func,
			  atomic_load(&mpii.world) == MPII_WORLD_FINALIZED ?
				  "called after MPI_Finalize" :
				  "called before MPI_Init");
}

/* Of a rank that has died its job may do without; one that is there, and cannot be
 * reached, would wait for us. */
static bool is_unreached(int err)
{
	struct o2g_peer_info info;
	int peer = err ? mpii_lost_peer(err) : -1;

	return peer >= 0 && !o2g_peer_info(mpii.ep, peer, &info) &&
	       info.unreached;
}

int PMPI_Finalize(void)
{
	static const char func[] = "MPI_Finalize";
	bool stay;
	int err, left;

	if (!mpii_world_running())
		return not_running(func);
	/* A forked child that exits through handlers meant for its parent, as
	 * Python's do: the job knows nothing of it, and nobody would answer. */
	if (starter != getpid()) {
		atomic_store(&mpii.world, MPII_WORLD_FINALIZED);
		return MPI_SUCCESS;
	}
	/* The standard's hook for libraries: they may still use MPI here. */
	err = mpii_attr_delete_all(MPII_ATTR_COMM, MPI_COMM_SELF,
				   &mpii_self.attrs);
	if (err)
		return mpii_raise(&mpii_self, err, func);
	mpii_state_phase(O2G_PHASE_FINALIZE);
	mpii_buffered_drain();
	mpii_detached_drain();
	mpii_children_finish();
	if (o2g_settings()->stats)
		mpii_stats();
	/* Nobody leaves while others still need answers. Where a rank has died
	 * and the job goes on, each leaves by itself, and whoever waits for it sees
	 * that. */
	err = any_sessions(&stay);
	if (stay)
		mpii_runtime_stay();
	left = err;
	if (!err)
		left = mpii_barrier(&mpii_world);
	left = is_unreached(left) ? mpii_raise(&mpii_self, left, func) :
				    MPI_SUCCESS;
	mpii_comm_stop();
	atomic_store(&mpii.world, MPII_WORLD_FINALIZED);
	mpii_runtime_put(stay && !err);
	return left;
}
MPII_ALIAS(Finalize);

int PMPI_Abort(MPI_Comm comm, int errorcode)
{
	struct mpii_comm *c;
	char text[MPI_MAX_OBJECT_NAME + 64];

	if (!mpii_running())
		return not_running("MPI_Abort");
	c = mpii_comm_get(comm);
	snprintf(text, sizeof(text), "MPI_Abort with code %d on %s", errorcode,
		 c ? mpii_comm_words(c) : "an invalid communicator");
	end_job(errorcode, PMI_CALLED, text);
}
MPII_ALIAS(Abort);

int PMPI_Query_thread(int *provided)
{
	if (!mpii_world_running())
		return not_running("MPI_Query_thread");
	if (!provided)
		return mpii_bad_null(NULL, "MPI_Query_thread", "provided");
	*provided = mpii.provided;
	return MPI_SUCCESS;
}
MPII_ALIAS(Query_thread);

int PMPI_Is_thread_main(int *flag)
{
	if (!mpii_world_running())
		return not_running("MPI_Is_thread_main");
	if (!flag)
		return mpii_bad_null(NULL, "MPI_Is_thread_main", "flag");
	*flag = pthread_equal(pthread_self(), mpii.main_thread) != 0;
	return MPI_SUCCESS;
}
MPII_ALIAS(Is_thread_main);
