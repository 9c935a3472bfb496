/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Events. The callback of a registration runs in the thread to which it
 * happened, inside its MPI call and outside of all locks, so that every level
 * of safety will do: of the callbacks of a registration the one is called that
 * promises least. One that has none counts what it misses and tells its
 * dropped-handler with the next event.
 *
 * Registrations are only read when an event happens, under a lock that allows
 * several readers; a callback that frees its own registration is put off until
 * the readers are gone.
 */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "tools/events.h"
#include "tools/tools.h"

#define MAGIC 0x6d657672
#define ELEMENTS 2
#define LEVELS 4

static const struct {
	const char *name, *desc;
} kinds[MPII_EVENT_COUNT] = {
	[MPII_EVENT_ERROR] = { "error_raised", "an MPI call failed: the error "
					       "code and its class" },
	[MPII_EVENT_COMM_NEW] = { "comm_created", "a communicator was made: "
						  "its context and size" },
	[MPII_EVENT_COMM_FREE] = { "comm_freed", "a communicator was freed: "
						 "its context and size" },
	[MPII_EVENT_WIN_NEW] = { "win_created",
				 "a window was made: its context "
				 "and size" },
	[MPII_EVENT_WIN_FREE] = { "win_freed",
				  "a window was freed: its context "
				  "and size" },
};

static const MPI_T_cb_safety levels[LEVELS] = {
	MPI_T_CB_REQUIRE_NONE,
	MPI_T_CB_REQUIRE_MPI_RESTRICTED,
	MPI_T_CB_REQUIRE_THREAD_SAFE,
	MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
};

struct MPI_ABI_T_event_registration {
	uint32_t magic;
	enum mpii_event kind;
	struct {
		MPI_T_event_cb_function *fn;
		void *user_data;
	} callback[LEVELS];
	MPI_T_event_dropped_cb_function *dropped_fn;
	atomic_llong dropped;
	atomic_bool freed;
	void *free_data;
	MPI_T_event_free_cb_function *free_fn;
	struct MPI_ABI_T_event_registration *next;
};

struct MPI_ABI_T_event_instance {
	enum mpii_event kind;
	MPI_Count when;
	int element[ELEMENTS];
};

atomic_int mpii_events_wanted;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct MPI_ABI_T_event_registration *registrations;
static int readers;

int mpii_events(void)
{
	return MPII_EVENT_COUNT;
}

/* --- what there is --- */

int PMPI_T_event_get_num(int *num_events)
{
	TOOLS_ON();
	GIVE(num_events, MPII_EVENT_COUNT);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_get_num);

static int give_no_hints(MPI_Info *info)
{
	return PMPI_Info_create(info) ? MPI_T_ERR_MEMORY : MPI_SUCCESS;
}

int PMPI_T_event_get_info(int event_index, char *name, int *name_len,
			  int *verbosity, MPI_Datatype array_of_datatypes[],
			  MPI_Aint array_of_displacements[], int *num_elements,
			  MPI_T_enum *enumtype, MPI_Info *info, char *desc,
			  int *desc_len, int *bind)
{
	int room;

	TOOLS_ON();
	if (event_index < 0 || event_index >= MPII_EVENT_COUNT)
		return MPI_T_ERR_INVALID_INDEX;
	room = num_elements ? *num_elements : 0;
	for (int i = 0; i < ELEMENTS && i < room; i++) {
		if (array_of_datatypes)
			array_of_datatypes[i] = MPI_INT;
		if (array_of_displacements)
			array_of_displacements[i] = i * (MPI_Aint)sizeof(int);
	}
	GIVE(num_elements, ELEMENTS);
	mpii_tools_string(kinds[event_index].name, name, name_len);
	mpii_tools_string(kinds[event_index].desc, desc, desc_len);
	GIVE(verbosity, MPI_T_VERBOSITY_USER_BASIC);
	GIVE(enumtype, MPI_T_ENUM_NULL);
	GIVE(bind, MPI_T_BIND_NO_OBJECT);
	return info ? give_no_hints(info) : MPI_SUCCESS;
}
MPII_ALIAS(T_event_get_info);

int PMPI_T_event_get_index(const char *name, int *event_index)
{
	TOOLS_ON();
	if (!name || !event_index)
		return MPI_T_ERR_INVALID;
	for (int i = 0; i < MPII_EVENT_COUNT; i++) {
		if (strcmp(name, kinds[i].name) == 0) {
			*event_index = i;
			return MPI_SUCCESS;
		}
	}
	return MPI_T_ERR_INVALID_NAME;
}
MPII_ALIAS(T_event_get_index);

/* --- their source: one, the clock of this process --- */

int PMPI_T_source_get_num(int *num_sources)
{
	TOOLS_ON();
	GIVE(num_sources, 1);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_source_get_num);

int PMPI_T_source_get_info(int source_index, char *name, int *name_len,
			   char *desc, int *desc_len,
			   MPI_T_source_order *ordering,
			   MPI_Count *ticks_per_second, MPI_Count *max_ticks,
			   MPI_Info *info)
{
	TOOLS_ON();
	if (source_index != 0)
		return MPI_T_ERR_INVALID_INDEX;
	mpii_tools_string("process", name, name_len);
	mpii_tools_string("what happens in this process, by its monotonic "
			  "clock in nanoseconds",
			  desc, desc_len);
	/* threads report independently of each other */
	GIVE(ordering, MPI_T_SOURCE_UNORDERED);
	GIVE(ticks_per_second, 1000000000);
	GIVE(max_ticks, INT64_MAX);
	return info ? give_no_hints(info) : MPI_SUCCESS;
}
MPII_ALIAS(T_source_get_info);

int PMPI_T_source_get_timestamp(int source_index, MPI_Count *timestamp)
{
	TOOLS_ON();
	if (source_index != 0)
		return MPI_T_ERR_INVALID_INDEX;
	GIVE(timestamp, (MPI_Count)o2g_now_ns());
	return MPI_SUCCESS;
}
MPII_ALIAS(T_source_get_timestamp);

/* --- registrations --- */

static bool valid(MPI_T_event_registration r)
{
	return r && r->magic == MAGIC;
}

static int level_of(MPI_T_cb_safety safety)
{
	for (int i = 0; i < LEVELS; i++)
		if (levels[i] == safety)
			return i;
	return -1;
}

int PMPI_T_event_handle_alloc(int event_index, void *obj_handle, MPI_Info info,
			      MPI_T_event_registration *event_registration)
{
	MPI_T_event_registration r;

	TOOLS_ON();
	if (event_index < 0 || event_index >= MPII_EVENT_COUNT)
		return MPI_T_ERR_INVALID_INDEX;
	if (!event_registration)
		return MPI_T_ERR_INVALID;
	r = calloc(1, sizeof(*r));
	if (!r)
		return MPI_T_ERR_MEMORY;
	r->magic = MAGIC;
	r->kind = event_index;
	pthread_mutex_lock(&lock);
	r->next = registrations;
	registrations = r;
	pthread_mutex_unlock(&lock);
	atomic_fetch_add(&mpii_events_wanted, 1);
	*event_registration = r;
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_handle_alloc);

/* With the lock and without readers: unlink one that was freed. */
static MPI_T_event_registration take_freed(void)
{
	MPI_T_event_registration *p, r;

	for (p = &registrations; (r = *p); p = &r->next) {
		if (!atomic_load(&r->freed))
			continue;
		*p = r->next;
		return r;
	}
	return NULL;
}

static void sweep(void)
{
	MPI_T_event_registration r;

	do {
		pthread_mutex_lock(&lock);
		r = readers ? NULL : take_freed();
		pthread_mutex_unlock(&lock);
		if (!r)
			return;
		if (r->free_fn)
			r->free_fn(r, MPI_T_CB_REQUIRE_NONE, r->free_data);
		r->magic = MPII_DEAD;
		free(r);
	} while (true);
}

int PMPI_T_event_handle_free(MPI_T_event_registration event_registration,
			     void *user_data,
			     MPI_T_event_free_cb_function *free_cb_function)
{
	TOOLS_ON();
	if (!valid(event_registration) ||
	    atomic_load(&event_registration->freed))
		return MPI_T_ERR_INVALID_HANDLE;
	event_registration->free_data = user_data;
	event_registration->free_fn = free_cb_function;
	atomic_store(&event_registration->freed, true);
	atomic_fetch_sub(&mpii_events_wanted, 1);
	sweep();
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_handle_free);

int PMPI_T_event_register_callback(MPI_T_event_registration event_registration,
				   MPI_T_cb_safety cb_safety, MPI_Info info,
				   void *user_data,
				   MPI_T_event_cb_function *event_cb_function)
{
	int level = level_of(cb_safety);

	TOOLS_ON();
	if (!valid(event_registration))
		return MPI_T_ERR_INVALID_HANDLE;
	if (level < 0)
		return MPI_T_ERR_INVALID;
	pthread_mutex_lock(&lock);
	event_registration->callback[level].fn = event_cb_function;
	event_registration->callback[level].user_data = user_data;
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_register_callback);

int PMPI_T_event_set_dropped_handler(
	MPI_T_event_registration event_registration,
	MPI_T_event_dropped_cb_function *dropped_cb_function)
{
	TOOLS_ON();
	if (!valid(event_registration))
		return MPI_T_ERR_INVALID_HANDLE;
	pthread_mutex_lock(&lock);
	event_registration->dropped_fn = dropped_cb_function;
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_set_dropped_handler);

/* No hint is known: those given are ignored, and none is in use. */
static int hints(MPI_T_event_registration r, MPI_T_cb_safety safety,
		 MPI_Info *used)
{
	TOOLS_ON();
	if (!valid(r))
		return MPI_T_ERR_INVALID_HANDLE;
	if (level_of(safety) < 0)
		return MPI_T_ERR_INVALID;
	return used ? give_no_hints(used) : MPI_SUCCESS;
}

int PMPI_T_event_handle_set_info(MPI_T_event_registration event_registration,
				 MPI_Info info)
{
	return hints(event_registration, MPI_T_CB_REQUIRE_NONE, NULL);
}
MPII_ALIAS(T_event_handle_set_info);

int PMPI_T_event_handle_get_info(MPI_T_event_registration event_registration,
				 MPI_Info *info_used)
{
	return hints(event_registration, MPI_T_CB_REQUIRE_NONE, info_used);
}
MPII_ALIAS(T_event_handle_get_info);

int PMPI_T_event_callback_set_info(MPI_T_event_registration event_registration,
				   MPI_T_cb_safety cb_safety, MPI_Info info)
{
	return hints(event_registration, cb_safety, NULL);
}
MPII_ALIAS(T_event_callback_set_info);

int PMPI_T_event_callback_get_info(MPI_T_event_registration event_registration,
				   MPI_T_cb_safety cb_safety,
				   MPI_Info *info_used)
{
	return hints(event_registration, cb_safety, info_used);
}
MPII_ALIAS(T_event_callback_get_info);

/* --- raising --- */

static void tell(MPI_T_event_registration r,
		 struct MPI_ABI_T_event_instance *event)
{
	MPI_T_event_dropped_cb_function *dropped_fn;
	MPI_T_event_cb_function *fn = NULL;
	void *user_data = NULL;
	long long missed;

	pthread_mutex_lock(&lock); /* another thread may be registering one */
	dropped_fn = r->dropped_fn;
	for (int i = 0; i < LEVELS && !fn; i++) {
		fn = r->callback[i].fn;
		user_data = r->callback[i].user_data;
	}
	pthread_mutex_unlock(&lock);
	if (!fn) {
		atomic_fetch_add(&r->dropped, 1);
		return;
	}
	missed = atomic_exchange(&r->dropped, 0);
	if (missed && dropped_fn)
		dropped_fn(missed, r, 0, MPI_T_CB_REQUIRE_NONE, user_data);
	fn(event, r, MPI_T_CB_REQUIRE_NONE, user_data);
}

void mpii_event_raise(enum mpii_event e, int a, int b)
{
	struct MPI_ABI_T_event_instance event = { e,
						  (MPI_Count)o2g_now_ns(),
						  { a, b } };
	MPI_T_event_registration r;

	pthread_mutex_lock(&lock);
	readers++;
	r = registrations; /* nothing is unlinked while there are readers */
	pthread_mutex_unlock(&lock);
	for (; r; r = r->next)
		if (r->kind == e && !atomic_load(&r->freed))
			tell(r, &event);
	pthread_mutex_lock(&lock);
	readers--;
	pthread_mutex_unlock(&lock);
	sweep();
}

/* --- reading an event, in its callback --- */

int PMPI_T_event_read(MPI_T_event_instance event_instance, int element_index,
		      void *buffer)
{
	TOOLS_ON();
	if (!event_instance)
		return MPI_T_ERR_INVALID_HANDLE;
	if (element_index < 0 || element_index >= ELEMENTS)
		return MPI_T_ERR_INVALID_INDEX;
	if (!buffer)
		return MPI_T_ERR_INVALID;
	*(int *)buffer = event_instance->element[element_index];
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_read);

int PMPI_T_event_copy(MPI_T_event_instance event_instance, void *buffer)
{
	TOOLS_ON();
	if (!event_instance)
		return MPI_T_ERR_INVALID_HANDLE;
	if (!buffer)
		return MPI_T_ERR_INVALID;
	memcpy(buffer, event_instance->element,
	       sizeof(event_instance->element));
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_copy);

int PMPI_T_event_get_timestamp(MPI_T_event_instance event_instance,
			       MPI_Count *event_timestamp)
{
	TOOLS_ON();
	if (!event_instance)
		return MPI_T_ERR_INVALID_HANDLE;
	GIVE(event_timestamp, event_instance->when);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_get_timestamp);

int PMPI_T_event_get_source(MPI_T_event_instance event_instance,
			    int *source_index)
{
	TOOLS_ON();
	if (!event_instance)
		return MPI_T_ERR_INVALID_HANDLE;
	GIVE(source_index, 0);
	return MPI_SUCCESS;
}
MPII_ALIAS(T_event_get_source);
