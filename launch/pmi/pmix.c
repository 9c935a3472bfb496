// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * PMIx, as Open MPI's mpiexec, PRRTE and `srun --mpi=pmix` serve it. Its
 * protocol is private to its library, which is loaded when the environment says
 * that such a launcher has started us, and is not needed otherwise.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"
#include "pmi.h"
#include "pmi_int.h"
#include "pmix_abi.h"

static struct {
	int (*Init)(struct pmix_abi_proc *, const struct pmix_abi_info *,
		    size_t);
	int (*Finalize)(const struct pmix_abi_info *, size_t);
	int (*Put)(uint8_t, const char *, struct pmix_abi_value *);
	int (*Commit)(void);
	int (*Fence)(const struct pmix_abi_proc *, size_t,
		     const struct pmix_abi_info *, size_t);
	int (*Get_nb)(const struct pmix_abi_proc *, const char *,
		      const struct pmix_abi_info *, size_t,
		      void (*)(int, struct pmix_abi_value *, void *), void *);
	int (*Get)(const struct pmix_abi_proc *, const char *,
		   const struct pmix_abi_info *, size_t,
		   struct pmix_abi_value **);
	int (*Abort)(int, const char *, const struct pmix_abi_proc *, size_t);
	const char *(*Error_string)(int);
} lib;

static const struct {
	const char *name;
	void *slot;
} symbols[] = {
	{ "PMIx_Init", &lib.Init },
	{ "PMIx_Finalize", &lib.Finalize },
	{ "PMIx_Put", &lib.Put },
	{ "PMIx_Commit", &lib.Commit },
	{ "PMIx_Fence", &lib.Fence },
	{ "PMIx_Get_nb", &lib.Get_nb },
	{ "PMIx_Get", &lib.Get },
	{ "PMIx_Abort", &lib.Abort },
	{ "PMIx_Error_string", &lib.Error_string },
};

static struct pmix_abi_proc self;

static int failed(const char *what, int status)
{
	o2g_error("the PMIx launcher failed at %s: %s (%d)", what,
		  lib.Error_string(status), status);
	return -EIO;
}

static int cannot_load(const char *why)
{
	o2g_error(
		"started by a PMIx launcher (PMIX_NAMESPACE is set), but its library cannot be loaded: %s",
		why);
	o2g_error(
		"install %s (Debian: libpmix2), or start the program with O2G's mpiexec; to run one process alone, set O2G_LAUNCHER=none",
		PMIX_ABI_LIBRARY);
	return -ENOTSUP;
}

/* Global: the library's plugins look for its symbols there. It is never
 * unloaded, since its threads may still be on their way out. */
static int load(void)
{
	void *handle = dlopen(PMIX_ABI_LIBRARY, RTLD_NOW | RTLD_GLOBAL);

	if (!handle)
		return cannot_load(dlerror());
	for (size_t i = 0; i < sizeof(symbols) / sizeof(*symbols); i++) {
		void *p = dlsym(handle, symbols[i].name);

		if (!p)
			return cannot_load(dlerror());
		memcpy(symbols[i].slot, &p, sizeof(p));
	}
	return 0;
}

static struct pmix_abi_info yes(const char *key)
{
	struct pmix_abi_info info = { .value.type = PMIX_ABI_BOOL,
				      .value.data.flag = true };

	strcpy(info.key, key);
	return info;
}

/* Of one rank, or of the job as a whole. */
static int number_of(int rank, const char *key, int *number)
{
	struct pmix_abi_proc proc = self;
	struct pmix_abi_value *v = NULL;
	int err = -ENOENT;

	proc.rank = (uint32_t)rank;
	if (lib.Get(&proc, key, NULL, 0, &v) != PMIX_ABI_OK || !v)
		return -ENOENT;
	if (v->type == PMIX_ABI_UINT32) {
		*number = (int)v->data.uint32;
		err = 0;
	}
	free(v);
	return err;
}

/* Its variables alone, inherited from somewhere, are no launcher. */
static bool pmix_offered(void)
{
	static const char *const where[] = {
		"PMIX_SERVER_URI5", "PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
		"PMIX_SERVER_URI3", "PMIX_SERVER_URI21", "PMIX_SERVER_URI2",
		"PMIX_SERVER_URI",
	};

	if (!getenv("PMIX_NAMESPACE") || !getenv("PMIX_RANK"))
		return false;
	for (size_t i = 0; i < sizeof(where) / sizeof(*where); i++)
		if (getenv(where[i]))
			return true;
	return false;
}

static int pmix_init(struct pmi_job *job)
{
	int status, err = load();

	if (err)
		return err;
	status = lib.Init(&self, NULL, 0);
	if (status != PMIX_ABI_OK)
		return failed("PMIx_Init", status);
	job->rank = (int)self.rank;
	if (number_of(PMIX_ABI_ALL_RANKS, "pmix.job.size", &job->size)) {
		o2g_error(
			"the PMIx launcher does not say how many ranks there are");
		lib.Finalize(NULL, 0);
		return -EPROTO;
	}
	number_of(PMIX_ABI_ALL_RANKS, "pmix.local.size", &job->local_size);
	number_of(PMIX_ABI_ALL_RANKS, "pmix.univ.size", &job->universe_size);
	number_of(job->rank, "pmix.appnum", &job->appnum);
	snprintf(job->kvsname, sizeof(job->kvsname), "%.*s",
		 PMI_KVSNAME_MAX - 1, self.nspace);
	return 0;
}

static int pmix_put(const char *key, const char *value)
{
	struct pmix_abi_value v = { .type = PMIX_ABI_STRING };
	int status;

	v.data.string = strdup(value);
	if (!v.data.string)
		return -ENOMEM;
	status = lib.Put(PMIX_ABI_GLOBAL, key, &v);
	free(v.data.string);
	return status == PMIX_ABI_OK ? 0 : failed("PMIx_Put", status);
}

/* With everybody's values brought along, so that none has to be waited for. */
static int pmix_barrier(void)
{
	struct pmix_abi_info collect = yes("pmix.collect");
	int status = lib.Commit();

	if (status != PMIX_ABI_OK)
		return failed("PMIx_Commit", status);
	status = lib.Fence(NULL, 0, &collect, 1);
	return status == PMIX_ABI_OK ? 0 : failed("PMIx_Fence", status);
}

/* The question that is open; a thread of the library brings the answer. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t came;
	struct pmix_abi_proc proc;
	struct pmix_abi_info at_once;
	char key[PMI_KEY_SIZE];
	bool answered;
	int err;
	char *value;
} question = { .lock = PTHREAD_MUTEX_INITIALIZER,
	       .came = PTHREAD_COND_INITIALIZER };

static int copy_string(const struct pmix_abi_value *v, char **value)
{
	if (!v || v->type != PMIX_ABI_STRING || !v->data.string)
		return -ENOENT;
	*value = strdup(v->data.string);
	return *value ? 0 : -ENOMEM;
}

static void on_answer(int status, struct pmix_abi_value *v, void *arg)
{
	pthread_mutex_lock(&question.lock);
	question.err = status == PMIX_ABI_OK ? copy_string(v, &question.value) :
					       -ENOENT;
	question.answered = true;
	pthread_cond_signal(&question.came);
	pthread_mutex_unlock(&question.lock);
}

/* What is not there after the fence never comes: it is not to be waited for. */
static int pmix_ask(int owner, const char *key)
{
	int status;

	question.proc = self;
	question.proc.rank = (uint32_t)owner;
	question.at_once = yes("pmix.immediate");
	snprintf(question.key, sizeof(question.key), "%s", key);
	question.answered = false;
	question.value = NULL;
	status = lib.Get_nb(&question.proc, question.key, &question.at_once, 1,
			    on_answer, NULL);
	if (status != PMIX_ABI_OK)
		on_answer(status, NULL, NULL);
	return 0;
}

static int pmix_answered(bool wait, char **value)
{
	int err = -EINPROGRESS;

	pthread_mutex_lock(&question.lock);
	while (wait && !question.answered)
		pthread_cond_wait(&question.came, &question.lock);
	if (question.answered) {
		err = question.err;
		*value = question.value;
	}
	pthread_mutex_unlock(&question.lock);
	return err;
}

static int pmix_nodes(int *node, int size)
{
	int err = 0;

	for (int rank = 0; rank < size && !err; rank++)
		err = number_of(rank, "pmix.nodeid", &node[rank]);
	return err;
}

static int pmix_finalize(void)
{
	int status = lib.Finalize(NULL, 0);

	return status == PMIX_ABI_OK ? 0 : failed("PMIx_Finalize", status);
}

static void pmix_abort(int code, bool error)
{
	lib.Abort(pmi_exit_code(code), "aborted", NULL, 0);
}

const struct pmi_client pmix_client = {
	.name = "pmix",
	.offered = pmix_offered,
	.init = pmix_init,
	.put = pmix_put,
	.barrier = pmix_barrier,
	.ask = pmix_ask,
	.answered = pmix_answered,
	.nodes = pmix_nodes,
	.finalize = pmix_finalize,
	.abort = pmix_abort,
};
