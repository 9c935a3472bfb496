/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Window objects: attributes, names, groups, info, memory that is shared, memory
 * that comes and goes, and windows over communicators of any shape.
 */
#include "check.h"

static void attributes(MPI_Win w, void *base, MPI_Aint size, int unit,
		       int flavor)
{
	MPI_Aint *bytes;
	void *at;
	int *v, flag;

	OK(MPI_Win_get_attr(w, MPI_WIN_BASE, &at, &flag));
	CHECK(flag && at == base);
	OK(MPI_Win_get_attr(w, MPI_WIN_SIZE, &bytes, &flag));
	CHECK(flag && *bytes == size);
	OK(MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &v, &flag));
	CHECK(flag && *v == unit);
	OK(MPI_Win_get_attr(w, MPI_WIN_CREATE_FLAVOR, &v, &flag));
	CHECK(flag && *v == flavor);
	OK(MPI_Win_get_attr(w, MPI_WIN_MODEL, &v, &flag));
	CHECK(flag && *v == MPI_WIN_UNIFIED);
}

static int deleted;

static int on_delete(MPI_Win w, int key, void *value, void *extra)
{
	deleted++;
	EQUAL(*(int *)value, 42);
	return MPI_SUCCESS;
}

static void names_and_groups(MPI_Win w, MPI_Comm c)
{
	char name[MPI_MAX_OBJECT_NAME];
	int key, value = 42, len, result;
	MPI_Group g, of_comm;

	OK(MPI_Win_get_name(w, name, &len));
	EQUAL(len, 0);
	OK(MPI_Win_set_name(w, "halo"));
	OK(MPI_Win_get_name(w, name, &len));
	CHECK(!strcmp(name, "halo") && len == 4);
	OK(MPI_Win_get_group(w, &g));
	OK(MPI_Comm_group(c, &of_comm));
	OK(MPI_Group_compare(g, of_comm, &result));
	EQUAL(result, MPI_IDENT);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&of_comm));
	OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, on_delete, &key, NULL));
	OK(MPI_Win_set_attr(w, key, &value));
	OK(MPI_Win_free_keyval(&key));
	deleted = 0;
	/* on_delete sees a variable of ours: not after we return */
	OK(MPI_Win_free(&w));
	EQUAL(deleted, 1);
}

static int has(MPI_Info info, const char *key, const char *want)
{
	char value[MPI_MAX_INFO_VAL];
	int len = sizeof(value), flag;

	OK(MPI_Info_get_string(info, key, &len, value, &flag));
	return flag && (!want || !strcmp(value, want));
}

static void info(void)
{
	MPI_Info in, out;
	MPI_Win w;
	void *base;

	OK(MPI_Info_create(&in));
	OK(MPI_Info_set(in, "no_locks", "true"));
	OK(MPI_Info_set(in, "accumulate_ordering", "none"));
	OK(MPI_Info_set(in, "nonsense", "1"));
	OK(MPI_Info_set(in, "mpi_minimum_memory_alignment", "16384"));
	OK(MPI_Win_allocate(8, 1, in, WORLD, &base, &w));
	EQUAL((MPI_Aint)base % 16384, 0);
	OK(MPI_Win_get_info(w, &out));
	CHECK(has(out, "no_locks", "true"));
	CHECK(has(out, "accumulate_ordering", "none"));
	CHECK(has(out, "accumulate_ops", "same_op_no_op"));
	CHECK(has(out, "same_size", "false"));
	CHECK(has(out, "same_disp_unit", "false"));
	CHECK(has(out, "o2g_async_progress", NULL));
	CHECK(!has(out, "nonsense", NULL));
	OK(MPI_Info_free(&out));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w), MPI_ERR_RMA_SYNC);
	FAILS(MPI_Win_lock_all(0, w), MPI_ERR_RMA_SYNC);
	OK(MPI_Win_set_info(w, in));
	OK(MPI_Win_set_info(w, MPI_INFO_NULL));
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_free(&w));
	OK(MPI_Info_free(&in));
}

/* --- memory that is shared --- */

static void shared(int contiguous)
{
	int n, me, unit;
	MPI_Aint bytes, sum = 0;
	MPI_Info i;
	MPI_Comm c;
	MPI_Win w;
	char *mine, *at, *next = NULL;

	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			       &c));
	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &n);
	OK(MPI_Info_create(&i));
	OK(MPI_Info_set(i, "alloc_shared_noncontig",
			contiguous ? "false" : "true"));
	OK(MPI_Win_allocate_shared(100 + 8 * me, 1 + me, i, c, &mine, &w));
	OK(MPI_Info_free(&i));
	OK(MPI_Win_fence(0, w));
	fill(mine, 100 + 8 * (size_t)me, me);
	OK(MPI_Win_fence(0, w));
	for (int r = 0; r < n; r++) {
		OK(MPI_Win_shared_query(w, r, &bytes, &unit, &at));
		EQUAL(bytes, 100 + 8 * r);
		EQUAL(unit, 1 + r);
		CHECK(!contiguous || !next || at == next);
		next = at + bytes;
		sum += bytes;
		for (int k = 0; k < bytes; k++)
			EQUAL((unsigned char)at[k], pattern(r, (size_t)k));
		CHECK(r != me || at == mine);
	}
	OK(MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &at));
	EQUAL(bytes, 100);
	OK(MPI_Win_fence(0, w));
	OK(MPI_Win_free(&w));
	OK(MPI_Comm_free(&c));
}

/* Some bring nothing. */
static void shared_of_some(void)
{
	MPI_Aint bytes;
	MPI_Comm c;
	MPI_Win w;
	int n, me, unit, *mine, *at;

	OK(MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			       &c));
	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &n);
	OK(MPI_Win_allocate_shared(me == n - 1 ? 64 : 0, 4, MPI_INFO_NULL, c,
				   &mine, &w));
	OK(MPI_Win_shared_query(w, MPI_PROC_NULL, &bytes, &unit, &at));
	EQUAL(bytes, 64);
	OK(MPI_Win_lock_all(0, w));
	if (me == n - 1)
		*at = 77;
	OK(MPI_Win_sync(w));
	OK(MPI_Barrier(c));
	OK(MPI_Win_sync(w));
	EQUAL(*at, 77);
	OK(MPI_Win_unlock_all(w));
	if (n > 1) {
		OK(MPI_Win_shared_query(w, 0, &bytes, &unit, &at));
		EQUAL(bytes, 0);
		CHECK(!at);
	}
	OK(MPI_Win_free(&w));
	OK(MPI_Comm_free(&c));
}

static void query_of_others(void)
{
	MPI_Aint bytes, unit_c;
	int unit, own[4];
	void *at, *base;
	MPI_Win w;

	OK(MPI_Win_create(own, sizeof(own), 4, MPI_INFO_NULL, WORLD, &w));
	OK(MPI_Win_shared_query(w, rank, &bytes, &unit, &at));
	CHECK(bytes == sizeof(own) && unit == 4 && at == own);
	OK(MPI_Win_free(&w));
	OK(MPI_Win_allocate(32, 8, MPI_INFO_NULL, WORLD, &base, &w));
	for (int r = 0; r < size; r++) {
		OK(MPI_Win_shared_query_c(w, r, &bytes, &unit_c, &at));
		CHECK((bytes == 32 && at) || (bytes == 0 && !at));
		EQUAL(unit_c, 8);
	}
	OK(MPI_Win_free(&w));
}

/* --- memory that comes and goes --- */

static void dynamic(void)
{
	MPI_Aint mine, all[64];
	int a[8] = { 0 }, b[8] = { 0 }, v = rank + 1, got = 0;
	int right = (rank + 1) % size;
	MPI_Win w;

	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &w));
	attributes(w, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_attach(w, a, sizeof(a)));
	OK(MPI_Win_attach(w, b, sizeof(b)));
	FAILS(MPI_Win_attach(w, a + 4, 4), MPI_ERR_RMA_ATTACH);
	OK(MPI_Get_address(b, &mine));
	OK(MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, WORLD));
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, w));
	OK(MPI_Put(&v, 1, MPI_INT, right, MPI_Aint_add(all[right], 4), 1,
		   MPI_INT, w));
	OK(MPI_Win_unlock(right, w));
	OK(MPI_Barrier(WORLD));
	EQUAL(b[1], (rank + size - 1) % size + 1);
	OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w));
	OK(MPI_Get(&got, 1, MPI_INT, right, MPI_Aint_add(all[right], 4), 1,
		   MPI_INT, w));
	OK(MPI_Win_unlock(right, w));
	EQUAL(got, v);
	OK(MPI_Barrier(WORLD));
	OK(MPI_Win_detach(w, b));
	OK(MPI_Barrier(WORLD));
	OK(MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w));
	got = MPI_Get(&v, 1, MPI_INT, right, all[right], 1, MPI_INT, w);
	if (got == MPI_SUCCESS)
		got = MPI_Win_flush(right, w);
	FAILS(got, MPI_ERR_RMA_RANGE);
	OK(MPI_Win_unlock(right, w));
	FAILS(MPI_Win_detach(w, b), MPI_ERR_BASE);
	OK(MPI_Barrier(WORLD));
	OK(MPI_Win_detach(w, a));
	OK(MPI_Win_free(&w));
}

/* An error at once where the target is oneself, else with the flush. */
static int put_and_flush(const int *from, int n, int to, MPI_Aint at, int count,
			 MPI_Datatype t, MPI_Win w)
{
	int err = MPI_Put(from, n, MPI_INT, to, at, count, t, w);

	return err ? err : MPI_Win_flush(to, w);
}

/*
 * Regions that lie end to end are one to whoever accesses them, in whichever order they
 * were attached; and what lies between the pieces of a type need not be attached.
 */
static void regions(void)
{
	static const int places[] = { 5, 32 };
	MPI_Aint mine, all[64], at;
	int a[40] = { 0 }, ones[20];
	int right = (rank + 1) % size;
	MPI_Datatype two;
	MPI_Win w;

	for (int i = 0; i < 20; i++)
		ones[i] = 1;
	OK(MPI_Type_create_indexed_block(2, 3, places, MPI_INT, &two));
	OK(MPI_Type_commit(&two));
	OK(MPI_Win_create_dynamic(MPI_INFO_NULL, WORLD, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Win_attach(w, a + 10, 10 * sizeof(int)));
	OK(MPI_Win_attach(w, a + 30, 10 * sizeof(int)));
	OK(MPI_Win_attach(w, a + 10, 0));
	OK(MPI_Win_attach(w, a, 10 * sizeof(int)));
	FAILS(MPI_Win_attach(w, a + 5, 20 * sizeof(int)), MPI_ERR_RMA_ATTACH);
	OK(MPI_Get_address(a, &mine));
	OK(MPI_Allgather(&mine, 1, MPI_AINT, all, 1, MPI_AINT, WORLD));
	at = all[right];
	OK(MPI_Win_lock_all(0, w));
	OK(put_and_flush(ones, 20, right, at, 20, MPI_INT, w));
	OK(put_and_flush(ones, 6, right, at, 1, two, w));
	FAILS(put_and_flush(ones, 20, right, at + 4, 20, MPI_INT, w),
	      MPI_ERR_RMA_RANGE);
	FAILS(put_and_flush(ones, 6, right, at + 8 * 4, 1, two, w),
	      MPI_ERR_RMA_RANGE);
	OK(MPI_Barrier(WORLD));
	for (int i = 0; i < 40; i++)
		EQUAL(a[i], i < 20 || (i >= 32 && i < 35));
	OK(MPI_Win_unlock_all(w));
	OK(MPI_Barrier(WORLD));
	OK(MPI_Win_detach(w, a + 10));
	OK(MPI_Win_detach(w, a + 10));
	FAILS(MPI_Win_detach(w, a + 10), MPI_ERR_BASE);
	OK(MPI_Win_detach(w, a));
	OK(MPI_Win_free(&w));
	OK(MPI_Type_free(&two));
}

/* Tools see windows come and go, and how their operations are done. */
static void told(MPI_T_event_instance e, MPI_T_event_registration r,
		 MPI_T_cb_safety safety, void *user)
{
	++*(int *)user;
}

static unsigned long long operations(MPI_T_pvar_session s, const char *name)
{
	unsigned long long v = 0;
	MPI_T_pvar_handle h;
	int i, n;

	OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &i));
	OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &n));
	EQUAL(n, 1);
	OK(MPI_T_pvar_read(s, h, &v));
	OK(MPI_T_pvar_handle_free(s, &h));
	return v;
}

static void tools(void)
{
	MPI_T_event_registration r;
	MPI_T_pvar_session s;
	unsigned long long before, after;
	int provided, i, seen = 0, v = 5, *base;
	MPI_Win w;

	OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
	OK(MPI_T_event_get_index("win_created", &i));
	OK(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r));
	OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE,
					 MPI_INFO_NULL, &seen, told));
	OK(MPI_T_pvar_session_create(&s));
	OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, WORLD, &base, &w));
	EQUAL(seen, 1);
	before = operations(s, "window_operations_direct") +
		 operations(s, "window_operations_asked");
	OK(MPI_Win_fence(0, w));
	OK(MPI_Put(&v, 1, MPI_INT, rank, 0, 1, MPI_INT, w));
	OK(MPI_Put(&v, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, w));
	OK(MPI_Win_fence(0, w));
	after = operations(s, "window_operations_direct") +
		operations(s, "window_operations_asked");
	EQUAL(after - before, 2);
	OK(MPI_Win_free(&w));
	OK(MPI_T_pvar_session_free(&s));
	OK(MPI_T_event_handle_free(r, NULL, NULL));
	OK(MPI_T_finalize());
}

/* Ranks in another order, and not all of them. */
static void of_some(void)
{
	MPI_Comm c;
	MPI_Win w;
	int *base, me, n, v;

	OK(MPI_Comm_split(WORLD, rank % 2, -rank, &c));
	MPI_Comm_rank(c, &me);
	MPI_Comm_size(c, &n);
	OK(MPI_Win_allocate(4, 4, MPI_INFO_NULL, c, &base, &w));
	*base = -1;
	OK(MPI_Win_fence(0, w));
	v = rank;
	OK(MPI_Put(&v, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, w));
	OK(MPI_Win_fence(0, w));
	EQUAL(*base, me == 0 ? rank % 2 : rank + 2);
	OK(MPI_Win_free(&w));
	OK(MPI_Comm_free(&c));
}

int main(int argc, char **argv)
{
	long mem[16];
	void *base;
	MPI_Win w;

	start(&argc, &argv);
	OK(MPI_Win_create(mem, sizeof(mem), 8, MPI_INFO_NULL, WORLD, &w));
	attributes(w, mem, sizeof(mem), 8, MPI_WIN_FLAVOR_CREATE);
	names_and_groups(w, WORLD);
	OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, WORLD, &w));
	attributes(w, NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
	OK(MPI_Win_free(&w));
	OK(MPI_Win_allocate(100 * rank, 2, MPI_INFO_NULL, WORLD, &base, &w));
	attributes(w, base, 100 * rank, 2, MPI_WIN_FLAVOR_ALLOCATE);
	OK(MPI_Win_free(&w));
	OK(MPI_Win_allocate_c(16, 4, MPI_INFO_NULL, MPI_COMM_SELF, &base, &w));
	OK(MPI_Win_free(&w));
	info();
	shared(1);
	shared(0);
	shared_of_some();
	query_of_others();
	dynamic();
	regions();
	of_some();
	tools();
	return finish();
}
