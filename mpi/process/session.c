/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Sessions: their beginning and end, and what they were given. */
#include <stdlib.h>
#include <string.h>

#include "env/errhandler.h"
#include "env/errors.h"
#include "info/info.h"
#include "process/runtime.h"
#include "process/session.h"
#include "pt2pt/buffered.h"

#define LEVEL_KEY "mpi_thread_support_level"
/* So the standard's examples call it, and programs that follow them. */
#define LEVEL_KEY_TOO "thread_level"
#define KINDS_KEY "mpi_memory_alloc_kinds"

static const struct {
	int level;
	const char *name;
} levels[] = {
	{ MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE" },
	{ MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED" },
	{ MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED" },
	{ MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE" },
};
#define LEVELS ((int)(sizeof(levels) / sizeof(levels[0])))

void mpii_session_hold(struct mpii_session *s)
{
	if (s)
		mpii_obj_hold(&s->obj);
}

void mpii_session_put(struct mpii_session *s)
{
	if (!s || !mpii_obj_drop(&s->obj))
		return;
	mpii_errh_put(s->errh);
	free(s);
}

int mpii_session_raise(struct mpii_session *s, int code, const char *func)
{
	struct mpii_owner o = mpii_owner_session(s);

	return mpii_raise_on(&o, code, func);
}

int mpii_session_bad_null(struct mpii_session *s, const char *func,
			  const char *arg)
{
	return mpii_session_raise(
		s, mpii_fail(MPI_ERR_ARG, "%s is a null pointer", arg), func);
}

int mpii_session_info(struct mpii_session *s, const char *func, MPI_Info info,
		      struct mpii_info **i)
{
	*i = info == MPI_INFO_NULL ? NULL : mpii_info_get(info);
	if (*i || info == MPI_INFO_NULL)
		return MPI_SUCCESS;
	return mpii_session_raise(s,
				  mpii_fail(MPI_ERR_INFO,
					    "info is not an info "
					    "object or was freed"),
				  func);
}

/* The level that the info asks for; without a word we know, the lowest. */
static int wanted_level(const struct mpii_info *info)
{
	const char *value = mpii_info_value(info, LEVEL_KEY);

	if (!value)
		value = mpii_info_value(info, LEVEL_KEY_TOO);
	for (int i = 0; value && i < LEVELS; i++)
		if (!strcmp(value, levels[i].name))
			return levels[i].level;
	return MPI_THREAD_SINGLE;
}

static int create(MPI_Info info, struct mpii_errh *errh,
		  struct mpii_session **out)
{
	struct mpii_session *s = calloc(1, sizeof(*s));

	if (!s)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	if (mpii_runtime_hold() < 0) {
		free(s);
		return mpii_fail(MPI_ERR_OTHER, "cannot join the job; the "
						"reason was printed before");
	}
	mpii_runtime_stay();
	atomic_store(&mpii.sessions, true);
	s->obj.magic = MPII_SESSION;
	s->obj.refs = 1;
	s->handle = (MPI_Session)s;
	s->errh = errh;
	mpii_errh_hold(errh);
	s->level = wanted_level(info == MPI_INFO_NULL ? NULL :
							mpii_info_get(info));
	if (atomic_load(&mpii.multiple)) {
		s->level = MPI_THREAD_MULTIPLE; /* the process has it */
	} else if (s->level == MPI_THREAD_MULTIPLE) {
		atomic_store(&mpii.multiple, true);
		mpii_context_threads();
	}
	*out = s;
	return MPI_SUCCESS;
}

int PMPI_Session_init(MPI_Info info, MPI_Errhandler errhandler,
		      MPI_Session *session)
{
	static const char func[] = "MPI_Session_init";
	struct mpii_owner o = mpii_owner_in_charge(NULL);
	struct mpii_session *s = NULL;
	struct mpii_errh *e;
	int err = mpii_errh_arg(&o, MPII_ERRH_SESSION, errhandler, func, &e);

	if (err)
		return err;
	if (!session)
		err = mpii_fail(MPI_ERR_ARG, "session is a null pointer");
	else if (info != MPI_INFO_NULL && !mpii_info_get(info))
		err = mpii_fail(MPI_ERR_INFO,
				"info is not an info object or was "
				"freed");
	else
		err = create(info, e, &s);
	if (err) {
		o = (struct mpii_owner){ MPII_ERRH_SESSION, MPI_SESSION_NULL,
					 &e, NULL };
		err = mpii_raise_on(&o, err, func);
	} else {
		*session = s->handle;
	}
	mpii_errh_put(e);
	return err;
}
MPII_ALIAS(Session_init);

int PMPI_Session_finalize(MPI_Session *session)
{
	static const char func[] = "MPI_Session_finalize";
	struct mpii_session *s;

	if (!session)
		return mpii_bad_null(NULL, func, "session");
	s = mpii_session_get(*session);
	if (!s)
		return mpii_bad_session(*session, func);
	mpii_buffer_free(&s->buffer);
	if (atomic_load(&mpii.users) == 1) /* nobody is left to do it later */
		mpii_buffered_drain();
	mpii_detached_drain();
	mpii_obj_end(&s->obj);
	mpii_session_put(s); /* groups may still know it */
	*session = MPI_SESSION_NULL;
	mpii_runtime_put(true);
	return MPI_SUCCESS;
}
MPII_ALIAS(Session_finalize);

int PMPI_Session_get_info(MPI_Session session, MPI_Info *info_used)
{
	static const char func[] = "MPI_Session_get_info";
	struct mpii_session *s = mpii_session_get(session);
	struct mpii_info *i;
	const char *name = "";

	if (!s)
		return mpii_bad_session(session, func);
	if (!info_used)
		return mpii_session_bad_null(s, func, "info_used");
	for (int k = 0; k < LEVELS; k++)
		if (levels[k].level == s->level)
			name = levels[k].name;
	i = mpii_info_copy(NULL);
	if (!i || !mpii_info_add(i, LEVEL_KEY, name) ||
	    !mpii_info_add(i, LEVEL_KEY_TOO, name) ||
	    !mpii_info_add(i, KINDS_KEY, "mpi,system")) {
		mpii_info_destroy(i);
		return mpii_session_raise(
			s, mpii_fail(MPI_ERR_NO_MEM, "out of memory"), func);
	}
	*info_used = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Session_get_info);
