/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Performance variables: the lengths of the queues, and messages and bytes, in
 * all and for each rank of a communicator. libo2g counts all the time, so every
 * variable is continuous; what a tool resets or writes is kept in its handle as
 * a difference, and other tools do not see it.
 */
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "process/process.h"
#include "tools/tools.h"
#include "win/win.h"

#define SESSION_MAGIC 0x6d707373
#define HANDLE_MAGIC 0x6d707668

typedef unsigned long long value;

struct pvar {
	const char *name, *desc;
	int class, bind;
	bool readonly;
	value (*of_endpoint)(const struct o2g_ep_info *i);
	value (*of_peer)(const struct o2g_peer_info *i); /* summed, or by rank */
};

/* Functions that read the field of their name. */
#define FIELD(of, name)                             \
	static value name(const struct o2g_##of *i) \
	{                                           \
		return i->name;                     \
	}

FIELD(ep_info, posted)
FIELD(ep_info, unexpected)
FIELD(ep_info, unexpected_bytes)
FIELD(ep_info, unexpected_peak)
FIELD(peer_info, messages_sent)
FIELD(peer_info, bytes_sent)
FIELD(peer_info, messages_received)
FIELD(peer_info, bytes_received)

/* Of windows, which count for themselves. */
static value window_direct(const struct o2g_ep_info *i)
{
	return atomic_load(&win_counts.direct);
}

static value window_asked(const struct o2g_ep_info *i)
{
	return atomic_load(&win_counts.asked);
}

#define WINDOW(name, fn, desc)                                              \
	{                                                                   \
		name, desc, MPI_T_PVAR_CLASS_COUNTER, MPI_T_BIND_NO_OBJECT, \
			false, fn, NULL                                     \
	}
#define QUEUE(class, name, fn, desc)                                        \
	{                                                                   \
		name, desc, MPI_T_PVAR_CLASS_##class, MPI_T_BIND_NO_OBJECT, \
			true, fn, NULL                                      \
	}
#define TOTAL(class, name, fn, desc)                                        \
	{                                                                   \
		name, desc, MPI_T_PVAR_CLASS_##class, MPI_T_BIND_NO_OBJECT, \
			false, NULL, fn                                     \
	}
#define BY_RANK(class, name, fn, desc)                                        \
	{                                                                     \
		name, desc " for each rank of the communicator",              \
			MPI_T_PVAR_CLASS_##class, MPI_T_BIND_MPI_COMM, false, \
			NULL, fn                                              \
	}

/* Those of the queues first: see mpii_pvars_of_queues. */
static const struct pvar pvars[] = {
	QUEUE(LEVEL, "posted_receives", posted,
	      "receives that wait for a message"),
	QUEUE(LEVEL, "unexpected_messages", unexpected,
	      "messages that wait for a receive"),
	QUEUE(LEVEL, "unexpected_bytes", unexpected_bytes,
	      "memory taken by messages that wait for a receive"),
	QUEUE(HIGHWATERMARK, "unexpected_bytes_peak", unexpected_peak,
	      "the most memory that such messages have taken"),
	TOTAL(COUNTER, "messages_sent", messages_sent, "messages sent"),
	TOTAL(AGGREGATE, "bytes_sent", bytes_sent, "bytes sent"),
	TOTAL(COUNTER, "messages_received", messages_received,
	      "messages received"),
	TOTAL(AGGREGATE, "bytes_received", bytes_received, "bytes received"),
	BY_RANK(COUNTER, "messages_sent_to", messages_sent, "messages sent"),
	BY_RANK(AGGREGATE, "bytes_sent_to", bytes_sent, "bytes sent"),
	BY_RANK(COUNTER, "messages_received_from", messages_received,
		"messages received"),
	BY_RANK(AGGREGATE, "bytes_received_from", bytes_received,
		"bytes received"),
	WINDOW("window_operations_direct", window_direct,
	       "operations on windows done on mapped memory"),
	WINDOW("window_operations_asked", window_asked,
	       "operations on windows that targets were asked for"),
};

#define NPVARS ((int)(sizeof(pvars) / sizeof(pvars[0])))

int mpii_pvars(void)
{
	return NPVARS;
}

int mpii_pvars_of_queues(void)
{
	return 4;
}

/* --- what there is --- */

int PMPI_T_pvar_get_num(int *num_pvar)
{
	TOOLS_ON();
	GIVE(num_pvar, NPVARS);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_get_num);

int PMPI_T_pvar_get_info(int pvar_index, char *name, int *name_len,
			 int *verbosity, int *var_class, MPI_Datatype *datatype,
			 MPI_T_enum *enumtype, char *desc, int *desc_len,
			 int *bind, int *readonly, int *continuous, int *atomic)
{
	const struct pvar *v;

	TOOLS_ON();
	if (pvar_index < 0 || pvar_index >= NPVARS)
		return MPI_T_ERR_INVALID_INDEX;
	v = &pvars[pvar_index];
	mpii_tools_string(v->name, name, name_len);
	mpii_tools_string(v->desc, desc, desc_len);
	GIVE(verbosity, MPI_T_VERBOSITY_USER_BASIC);
	GIVE(var_class, v->class);
	GIVE(datatype, MPI_UNSIGNED_LONG_LONG);
	GIVE(enumtype, MPI_T_ENUM_NULL);
	GIVE(bind, v->bind);
	GIVE(readonly, v->readonly);
	GIVE(continuous, 1);
	GIVE(atomic, 0);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_get_info);

int PMPI_T_pvar_get_index(const char *name, int var_class, int *pvar_index)
{
	TOOLS_ON();
	if (!name || !pvar_index)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < NPVARS; i++) {
		if (strcmp(name, pvars[i].name) == 0 &&
		    var_class == pvars[i].class) {
			*pvar_index = i;
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_INVALID_NAME;
}
MPII_ALIAS(T_pvar_get_index);

/* --- sessions and handles --- */

struct MPI_ABI_T_pvar_handle {
	uint32_t magic;
	const struct pvar *var;
	struct MPI_ABI_T_pvar_session *session;
	struct mpii_comm *comm; /* held; NULL: not bound */
	int count;
	value *base;			    /* what reads are lessened by */
	struct MPI_ABI_T_pvar_handle *next; /* in the session */
};

struct MPI_ABI_T_pvar_session {
	uint32_t magic;
	struct MPI_ABI_T_pvar_handle *handles;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the lists */

static bool valid_session(MPI_T_pvar_session s)
{
	return s && s->magic == SESSION_MAGIC;
}

int PMPI_T_pvar_session_create(MPI_T_pvar_session *pe_session)
{
	TOOLS_ON();
	if (!pe_session)
		return MPI_T_ERR_INVALID;
	*pe_session = calloc(1, sizeof(**pe_session));
	if (!*pe_session)
		return MPI_T_ERR_MEMORY;
	(*pe_session)->magic = SESSION_MAGIC;
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_session_create);

static void destroy(MPI_T_pvar_handle h)
{
	if (h->comm)
		mpii_comm_put(h->comm);
	h->magic = MPII_DEAD;
	free(h->base);
	free(h);
}

int PMPI_T_pvar_session_free(MPI_T_pvar_session *pe_session)
{
	MPI_T_pvar_handle h;

	TOOLS_ON();
	if (!pe_session || !valid_session(*pe_session))
		return MPI_T_ERR_INVALID_SESSION;
	while ((h = (*pe_session)->handles)) {
		(*pe_session)->handles = h->next;
		destroy(h);
	}
	(*pe_session)->magic = MPII_DEAD;
	free(*pe_session);
	*pe_session = MPI_T_PVAR_SESSION_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_session_free);

int PMPI_T_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index,
			     void *obj_handle, MPI_T_pvar_handle *handle,
			     int *count)
{
	const struct pvar *v;
	struct mpii_comm *c = NULL;
	MPI_T_pvar_handle h;

	TOOLS_ON();
	if (!valid_session(pe_session))
		return MPI_T_ERR_INVALID_SESSION;
	if (pvar_index < 0 || pvar_index >= NPVARS)
		return MPI_T_ERR_INVALID_INDEX;
	v = &pvars[pvar_index];
	if (v->bind == MPI_T_BIND_MPI_COMM && obj_handle)
		c = mpii_comm_get(*(MPI_Comm *)obj_handle);
	if (!handle || (v->bind == MPI_T_BIND_MPI_COMM && !c))
		return MPI_T_ERR_INVALID_HANDLE;
	h = calloc(1, sizeof(*h));
	if (!h)
		return MPI_T_ERR_MEMORY;
	h->count = c ? c->remote_size : 1;
	h->base = calloc(h->count, sizeof(*h->base));
	if (!h->base) {
		free(h);
		return MPI_T_ERR_MEMORY;
	}
	h->magic = HANDLE_MAGIC;
	h->var = v;
	h->session = pe_session;
	h->comm = c;
	if (c)
		mpii_comm_hold(c);
	pthread_mutex_lock(&lock);
	h->next = pe_session->handles;
	pe_session->handles = h;
	pthread_mutex_unlock(&lock);
	*handle = h;
	GIVE(count, h->count);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_handle_alloc);

static int check(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
	TOOLS_ON();
	if (!valid_session(s))
		return MPI_T_ERR_INVALID_SESSION;
	if (!h || h == MPI_T_PVAR_ALL_HANDLES || h->magic != HANDLE_MAGIC ||
	    h->session != s)
		return MPI_T_ERR_INVALID_HANDLE;
	return MPI_SUCCESS;
}

int PMPI_T_pvar_handle_free(MPI_T_pvar_session pe_session,
			    MPI_T_pvar_handle *handle)
{
	int err = handle ? check(pe_session, *handle) :
			   MPI_T_ERR_INVALID_HANDLE;
	MPI_T_pvar_handle *p;

	if (err)
		return err;
	pthread_mutex_lock(&lock);
	for (p = &pe_session->handles; *p != *handle;)
		p = &(*p)->next;
	*p = (*handle)->next;
	pthread_mutex_unlock(&lock);
	destroy(*handle);
	*handle = MPI_T_PVAR_HANDLE_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_handle_free);

/* --- values --- */

/* Element i as libo2g counts it; nothing has happened before MPI_Init. */
static value current(const struct MPI_ABI_T_pvar_handle *h, int i)
{
	struct o2g_ep_info ep;
	struct o2g_peer_info peer;
	value sum = 0;

	if (!mpii_running())
		return 0;
	if (h->var->of_endpoint)
		return o2g_ep_info(mpii.ep, &ep) ? 0 : h->var->of_endpoint(&ep);
	if (h->comm)
		return o2g_peer_info(mpii.ep, mpii_comm_peer(h->comm, i),
				     &peer) ?
			       0 :
			       h->var->of_peer(&peer);
	for (int r = 0; r < mpii.size; r++)
		if (!o2g_peer_info(mpii.ep, r, &peer))
			sum += h->var->of_peer(&peer);
	return sum;
}

static int check_values(MPI_T_pvar_session s, MPI_T_pvar_handle h,
			const void *buf, bool write)
{
	int err = check(s, h);

	if (err)
		return err;
	if (write && h->var->readonly)
		return MPI_T_ERR_PVAR_NO_WRITE;
	return buf ? MPI_SUCCESS : MPI_T_ERR_INVALID;
}

int PMPI_T_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle,
		     void *buf)
{
	int err = check_values(pe_session, handle, buf, false);
	value *out = buf;

	if (err)
		return err;
	for (int i = 0; i < handle->count; i++)
		out[i] = current(handle, i) - handle->base[i];
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_read);

static int reset(MPI_T_pvar_handle h)
{
	if (h->var->readonly)
		return MPI_T_ERR_PVAR_NO_WRITE;
	for (int i = 0; i < h->count; i++)
		h->base[i] = current(h, i);
	return MPI_SUCCESS;
}

int PMPI_T_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
	int err;

	TOOLS_ON();
	if (handle == MPI_T_PVAR_ALL_HANDLES && valid_session(pe_session)) {
		pthread_mutex_lock(&lock);
		for (MPI_T_pvar_handle h = pe_session->handles; h; h = h->next)
			reset(h);
		pthread_mutex_unlock(&lock);
		return MPI_SUCCESS;
	}
	err = check(pe_session, handle);
	return err ? err : reset(handle);
}
MPII_ALIAS(T_pvar_reset);

int PMPI_T_pvar_readreset(MPI_T_pvar_session pe_session,
			  MPI_T_pvar_handle handle, void *buf)
{
	int err = check_values(pe_session, handle, buf, true);
	value *out = buf;

	if (err)
		return err;
	for (int i = 0; i < handle->count; i++) {
		value now = current(handle, i);

		out[i] = now - handle->base[i];
		handle->base[i] = now;
	}
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_readreset);

int PMPI_T_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle,
		      const void *buf)
{
	int err = check_values(pe_session, handle, buf, true);
	const value *in = buf;

	if (err)
		return err;
	for (int i = 0; i < handle->count; i++)
		handle->base[i] = current(handle, i) - in[i];
	return MPI_SUCCESS;
}
MPII_ALIAS(T_pvar_write);

/* All variables are continuous: there is nothing to start or stop. */
static int startstop(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
	int err;

	TOOLS_ON();
	if (h == MPI_T_PVAR_ALL_HANDLES)
		return valid_session(s) ? MPI_SUCCESS :
					  MPI_T_ERR_INVALID_SESSION;
	err = check(s, h);
	return err ? err : MPI_T_ERR_PVAR_NO_STARTSTOP;
}

int PMPI_T_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
	return startstop(pe_session, handle);
}
MPII_ALIAS(T_pvar_start);

int PMPI_T_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle)
{
	return startstop(pe_session, handle);
}
MPII_ALIAS(T_pvar_stop);
