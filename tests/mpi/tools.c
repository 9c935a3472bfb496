/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * MPI_T: settings as control variables, written before MPI starts and refused
 * after; queues and traffic as performance variables that follow what is sent;
 * events of errors and communicators; categories that hold all of them.
 */
#include "check.h"

typedef unsigned long long value;

/* --- control variables --- */

static MPI_T_cvar_handle cvar(const char *name, int *count)
{
	MPI_T_cvar_handle h;
	int i = -1;

	OK(MPI_T_cvar_get_index(name, &i));
	OK(MPI_T_cvar_handle_alloc(i, NULL, &h, count));
	return h;
}

static void every_cvar(void)
{
	int n, name_len, desc_len, scope, bind, verbosity, count, again;
	char name[64], desc[256], buf[2048];
	MPI_Datatype type;
	MPI_T_enum e;
	MPI_T_cvar_handle h;

	OK(MPI_T_cvar_get_num(&n));
	CHECK(n >= 20);
	for (int i = 0; i < n; i++) {
		name_len = sizeof(name);
		desc_len = sizeof(desc);
		OK(MPI_T_cvar_get_info(i, name, &name_len, &verbosity, &type,
				       &e, desc, &desc_len, &bind, &scope));
		EQUAL(name_len, strlen(name) + 1);
		CHECK(strncmp(name, "O2G_", 4) == 0 && desc[0]);
		EQUAL(bind, MPI_T_BIND_NO_OBJECT);
		OK(MPI_T_cvar_get_index(name, &again));
		EQUAL(again, i);
		OK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count));
		CHECK(count == (type == MPI_CHAR ? 1024 : 1));
		OK(MPI_T_cvar_read(h, buf));
		OK(MPI_T_cvar_handle_free(&h));
		CHECK(h == MPI_T_CVAR_HANDLE_NULL);
	}
	OK(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
			       NULL, NULL));
	name_len = 4;
	OK(MPI_T_cvar_get_info(0, name, &name_len, NULL, NULL, NULL, NULL, NULL,
			       NULL, NULL));
	CHECK(strcmp(name, "O2G") == 0 && name_len > 4);
	FAILS(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
				  NULL, NULL),
	      MPI_T_ERR_INVALID_INDEX);
	FAILS(MPI_T_cvar_get_index("O2G_NO_SUCH", &n), MPI_T_ERR_INVALID_NAME);
}

static void write_before_start(void)
{
	value size = 4096;
	int on = 0, count;
	MPI_T_cvar_handle h = cvar("O2G_TCP_EAGER", &count);

	OK(MPI_T_cvar_write(h, &size));
	size = 0;
	OK(MPI_T_cvar_read(h, &size));
	EQUAL(size, 4096);
	OK(MPI_T_cvar_handle_free(&h));
	h = cvar("O2G_STATS", &count);
	OK(MPI_T_cvar_write(h, &on));
	on = 2;
	FAILS(MPI_T_cvar_write(h, &on), MPI_T_ERR_INVALID);
	OK(MPI_T_cvar_read(h, &on));
	EQUAL(on, 0);
	OK(MPI_T_cvar_handle_free(&h));
}

static void enumeration(void)
{
	char name[16];
	int n, value = -1, len = sizeof(name), i;
	MPI_T_enum e;

	OK(MPI_T_cvar_get_index("O2G_PROGRESS_THREAD", &i));
	OK(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL,
			       NULL));
	OK(MPI_T_enum_get_info(e, &n, name, &len));
	EQUAL(n, 2);
	len = sizeof(name);
	OK(MPI_T_enum_get_item(e, 1, &value, name, &len));
	EQUAL(value, 1);
	CHECK(strcmp(name, "on") == 0);
	FAILS(MPI_T_enum_get_item(e, 2, &value, name, &len),
	      MPI_T_ERR_INVALID_ITEM);
	FAILS(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, name, &len),
	      MPI_T_ERR_INVALID_HANDLE);
}

static void write_refused(void)
{
	value size = 8192;
	int count;
	MPI_T_cvar_handle h = cvar("O2G_TCP_EAGER", &count);

	FAILS(MPI_T_cvar_write(h, &size), MPI_T_ERR_CVAR_SET_NOT_NOW);
	OK(MPI_T_cvar_read(h, &size));
	EQUAL(size, 4096);
	OK(MPI_T_cvar_handle_free(&h));
	FAILS(MPI_T_cvar_read(h, &size), MPI_T_ERR_INVALID_HANDLE);
}

/* --- performance variables --- */

static MPI_T_pvar_session session;

static MPI_T_pvar_handle pvar(const char *name, int class, void *object,
			      int *count)
{
	MPI_T_pvar_handle h;
	int i = -1;

	OK(MPI_T_pvar_get_index(name, class, &i));
	OK(MPI_T_pvar_handle_alloc(session, i, object, &h, count));
	return h;
}

static value read_one(MPI_T_pvar_handle h)
{
	value v = 0;

	OK(MPI_T_pvar_read(session, h, &v));
	return v;
}

static void queues(void)
{
	MPI_T_pvar_handle posted, unexpected;
	MPI_Request req[3];
	value before;
	int count, v;

	posted = pvar("posted_receives", MPI_T_PVAR_CLASS_LEVEL, NULL, &count);
	EQUAL(count, 1);
	unexpected = pvar("unexpected_messages", MPI_T_PVAR_CLASS_LEVEL, NULL,
			  &count);
	before = read_one(posted);
	for (int i = 0; i < 3; i++)
		OK(MPI_Irecv(&v, 1, MPI_INT, rank, 50, WORLD, &req[i]));
	EQUAL(read_one(posted), before + 3);
	for (int i = 0; i < 3; i++)
		OK(MPI_Send(&i, 1, MPI_INT, rank, 50, WORLD));
	OK(MPI_Waitall(3, req, MPI_STATUSES_IGNORE));
	EQUAL(read_one(posted), before);
	before = read_one(unexpected);
	OK(MPI_Send(&v, 1, MPI_INT, rank, 51, WORLD));
	EQUAL(read_one(unexpected), before + 1);
	OK(MPI_Recv(&v, 1, MPI_INT, rank, 51, WORLD, IGNORE));
	EQUAL(read_one(unexpected), before);
	FAILS(MPI_T_pvar_reset(session, posted), MPI_T_ERR_PVAR_NO_WRITE);
	FAILS(MPI_T_pvar_start(session, posted), MPI_T_ERR_PVAR_NO_STARTSTOP);
	OK(MPI_T_pvar_handle_free(session, &posted));
	OK(MPI_T_pvar_handle_free(session, &unexpected));
}

static void traffic(void)
{
	int to = (rank + 1) % size, from = (rank + size - 1) % size, count;
	MPI_Comm comm = WORLD;
	char buf[1000] = { 0 };
	value *v = calloc(size, sizeof(*v));
	MPI_T_pvar_handle bytes, all;

	bytes = pvar("bytes_sent_to", MPI_T_PVAR_CLASS_AGGREGATE, &comm,
		     &count);
	EQUAL(count, size);
	all = pvar("messages_sent", MPI_T_PVAR_CLASS_COUNTER, NULL, &count);
	OK(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
	EQUAL(read_one(all), 0);
	OK(MPI_Sendrecv_replace(buf, sizeof(buf), MPI_BYTE, to, 60, from, 60,
				WORLD, IGNORE));
	OK(MPI_T_pvar_read(session, bytes, v));
	EQUAL(v[to], sizeof(buf));
	EQUAL(read_one(all), 1);
	OK(MPI_T_pvar_readreset(session, bytes, v));
	OK(MPI_T_pvar_read(session, bytes, v));
	EQUAL(v[to], 0);
	v[to] = 77;
	OK(MPI_T_pvar_write(session, bytes, v));
	OK(MPI_T_pvar_read(session, bytes, v));
	EQUAL(v[to], 77);
	comm = MPI_COMM_NULL;
	FAILS(MPI_T_pvar_handle_alloc(session, 8, &comm, &all, &count),
	      MPI_T_ERR_INVALID_HANDLE);
	free(v);
}

static void every_pvar(void)
{
	int n, class, bind, readonly, continuous, atomic, len, again;
	char name[64];
	MPI_Datatype type;

	OK(MPI_T_pvar_get_num(&n));
	for (int i = 0; i < n; i++) {
		len = sizeof(name);
		OK(MPI_T_pvar_get_info(i, name, &len, NULL, &class, &type, NULL,
				       NULL, NULL, &bind, &readonly,
				       &continuous, &atomic));
		OK(MPI_T_pvar_get_index(name, class, &again));
		EQUAL(again, i);
		CHECK(type == MPI_UNSIGNED_LONG_LONG && continuous);
	}
	FAILS(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_TIMER, &n),
	      MPI_T_ERR_INVALID_NAME);
}

/* --- events --- */

static int seen, context, freed, dropped;

static void saw(MPI_T_event_instance event, MPI_T_event_registration r,
		MPI_T_cb_safety safety, void *user_data)
{
	MPI_Count when = 0, now = 0;
	int both[2], source = -1;

	CHECK(user_data == &seen);
	OK(MPI_T_event_copy(event, both));
	OK(MPI_T_event_read(event, 0, &context));
	EQUAL(context, both[0]);
	FAILS(MPI_T_event_read(event, 2, &source), MPI_T_ERR_INVALID_INDEX);
	OK(MPI_T_event_get_timestamp(event, &when));
	OK(MPI_T_event_get_source(event, &source));
	OK(MPI_T_source_get_timestamp(source, &now));
	CHECK(when > 0 && when <= now);
	seen++;
}

static void saw_dropped(MPI_Count count, MPI_T_event_registration r, int source,
			MPI_T_cb_safety safety, void *user_data)
{
	dropped += (int)count;
}

static void was_freed(MPI_T_event_registration r, MPI_T_cb_safety safety,
		      void *user_data)
{
	CHECK(user_data == &freed);
	freed++;
}

static MPI_T_event_registration listen(const char *name)
{
	MPI_T_event_registration r;
	MPI_Datatype types[4];
	MPI_Info info;
	int i, n = 4, keys = -1;

	OK(MPI_T_event_get_index(name, &i));
	OK(MPI_T_event_get_info(i, NULL, NULL, NULL, types, NULL, &n, NULL,
				&info, NULL, NULL, NULL));
	EQUAL(n, 2);
	CHECK(types[1] == MPI_INT);
	OK(MPI_Info_get_nkeys(info, &keys));
	EQUAL(keys, 0);
	OK(MPI_Info_free(&info));
	OK(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r));
	return r;
}

static void events(void)
{
	MPI_T_event_registration r = listen("comm_created");
	MPI_Comm dup;

	OK(MPI_T_event_set_dropped_handler(r, saw_dropped));
	OK(MPI_Comm_dup(MPI_COMM_SELF, &dup)); /* nobody listens yet */
	OK(MPI_Comm_free(&dup));
	OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_THREAD_SAFE,
					 MPI_INFO_NULL, &seen, saw));
	OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
	EQUAL(seen, 1);
	EQUAL(dropped, 1);
	CHECK(context > 0);
	OK(MPI_Comm_free(&dup));
	EQUAL(seen, 1);
	OK(MPI_T_event_handle_free(r, &freed, was_freed));
	EQUAL(freed, 1);
	OK(MPI_Comm_dup(MPI_COMM_SELF, &dup));
	OK(MPI_Comm_free(&dup));
	EQUAL(seen, 1);

	r = listen("error_raised");
	OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE,
					 MPI_INFO_NULL, &seen, saw));
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	FAILS(MPI_Send(NULL, 0, MPI_INT, size, 0, WORLD), MPI_ERR_RANK);
	EQUAL(seen, 2);
	EQUAL(context, MPI_ERR_RANK);
	OK(MPI_T_event_handle_free(r, NULL, NULL));
}

/* --- categories --- */

static void categories(void)
{
	int n, top, cvars = 0, pvars = 0, events = 0, all, index[64], k, e, p;

	OK(MPI_T_category_get_num(&n));
	OK(MPI_T_category_get_index("o2g", &top));
	OK(MPI_T_category_get_info(top, NULL, NULL, NULL, NULL, NULL, NULL,
				   &k));
	EQUAL(k, n - 1);
	OK(MPI_T_category_get_categories(top, 64, index));
	for (int i = 0; i < k; i++) {
		OK(MPI_T_category_get_info(index[i], NULL, NULL, NULL, NULL,
					   &all, &p, NULL));
		OK(MPI_T_category_get_num_events(index[i], &e));
		cvars += all;
		pvars += p;
		events += e;
	}
	OK(MPI_T_cvar_get_num(&all));
	EQUAL(cvars, all);
	OK(MPI_T_pvar_get_num(&all));
	EQUAL(pvars, all);
	OK(MPI_T_event_get_num(&all));
	EQUAL(events, all);
	OK(MPI_T_category_get_index("traffic", &k));
	OK(MPI_T_category_get_pvars(k, 1, index));
	EQUAL(index[0], 4);
	FAILS(MPI_T_category_get_cvars(n, 1, index), MPI_T_ERR_INVALID_INDEX);
	OK(MPI_T_category_changed(&n));
}

int main(int argc, char **argv)
{
	int provided, n;

	FAILS(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
	OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
	OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
	every_cvar();
	enumeration();
	write_before_start();
	start(&argc, &argv);
	write_refused();
	every_pvar();
	OK(MPI_T_pvar_session_create(&session));
	queues();
	traffic();
	OK(MPI_T_pvar_session_free(&session));
	FAILS(MPI_T_pvar_start(session, NULL), MPI_T_ERR_INVALID_SESSION);
	events();
	categories();
	OK(MPI_T_finalize());
	OK(MPI_T_cvar_get_num(&n));
	OK(MPI_T_finalize());
	FAILS(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
	return finish();
}
