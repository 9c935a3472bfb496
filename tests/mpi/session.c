/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Sessions: several, again and again, before, beside and after the world model;
 * process sets, communicators from groups, buffers, error handlers. BESIDE=1: also
 * with the world model.
 */
#include "check.h"

#define RETURN MPI_ERRORS_RETURN
#define NOINFO MPI_INFO_NULL

static MPI_Group group_of(MPI_Session s, const char *name)
{
	MPI_Group g;

	OK(MPI_Group_from_session_pset(s, name, &g));
	return g;
}

static MPI_Comm comm_of(MPI_Session s, const char *name, const char *tag)
{
	MPI_Group g = group_of(s, name);
	MPI_Comm c;

	OK(MPI_Comm_create_from_group(g, tag, NOINFO, RETURN, &c));
	OK(MPI_Group_free(&g));
	return c;
}

/* It is a communicator of all that works. */
static void use(MPI_Comm c)
{
	int r, n, sum, x = -1;
	MPI_Comm d;

	OK(MPI_Comm_rank(c, &r));
	OK(MPI_Comm_size(c, &n));
	EQUAL(r, rank);
	EQUAL(n, size);
	OK(MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, c));
	EQUAL(sum, n * (n - 1) / 2);
	OK(MPI_Sendrecv(&r, 1, MPI_INT, (r + 1) % n, 3, &x, 1, MPI_INT,
			(r + n - 1) % n, 3, c, IGNORE));
	EQUAL(x, (r + n - 1) % n);
	OK(MPI_Comm_split(c, r % 2, 0, &d));
	OK(MPI_Barrier(d));
	OK(MPI_Comm_free(&d));
	FAILS(MPI_Send(&x, 1, MPI_INT, n, 0, c), MPI_ERR_RANK);
}

static void is(MPI_Info i, const char *key, const char *want)
{
	char value[MPI_MAX_INFO_VAL];
	int flag, len = sizeof(value);

	OK(MPI_Info_get_string(i, key, &len, value, &flag));
	CHECK(flag && !strcmp(value, want));
}

/* A session has what it asked for; all have threads once the process has. */
static MPI_Session begin(const char *level)
{
	static int multiple;
	MPI_Info i, used;
	MPI_Session s;

	OK(MPI_Info_create(&i));
	/* the standard's name, and that of its examples */
	OK(MPI_Info_set(i,
			rank % 2 ? "thread_level" : "mpi_thread_support_level",
			level));
	OK(MPI_Session_init(i, RETURN, &s));
	CHECK(s != MPI_SESSION_NULL);
	OK(MPI_Info_free(&i));
	OK(MPI_Session_get_info(s, &used));
	multiple |= !strcmp(level, "MPI_THREAD_MULTIPLE");
	level = multiple ? "MPI_THREAD_MULTIPLE" : level;
	is(used, "mpi_thread_support_level", level);
	is(used, "thread_level", level);
	OK(MPI_Info_free(&used));
	return s;
}

static void end(MPI_Session *s)
{
	OK(MPI_Session_finalize(s));
	CHECK(*s == MPI_SESSION_NULL);
}

static void psets(MPI_Session s)
{
	char name[MPI_MAX_PSET_NAME_LEN], text[16], little[4];
	int n, len, world = 0, self = 0, members;
	MPI_Group g;
	MPI_Info i;

	OK(MPI_Session_get_num_psets(s, NOINFO, &n));
	CHECK(n >= 2);
	for (int k = 0; k < n; k++) {
		len = 0;
		OK(MPI_Session_get_nth_pset(s, NOINFO, k, &len, NULL));
		CHECK(len > 1 && len <= MPI_MAX_PSET_NAME_LEN);
		OK(MPI_Session_get_nth_pset(s, NOINFO, k, &len, name));
		EQUAL(len, strlen(name) + 1);
		len = sizeof(little);
		OK(MPI_Session_get_nth_pset(s, NOINFO, k, &len, little));
		EQUAL(len, strlen(name) + 1);
		CHECK(strlen(little) == 3 && !strncmp(little, name, 3));
		world += !strcmp(name, "mpi://WORLD");
		self += !strcmp(name, "mpi://SELF");
		g = group_of(s, name);
		OK(MPI_Group_size(g, &members));
		snprintf(text, sizeof(text), "%d", members);
		OK(MPI_Session_get_pset_info(s, name, &i));
		is(i, "mpi_size", text);
		OK(MPI_Info_free(&i));
		OK(MPI_Group_rank(g, &len));
		CHECK(len >= 0); /* every set that we see has us */
		OK(MPI_Group_free(&g));
	}
	CHECK(world == 1 && self == 1);
	FAILS(MPI_Session_get_nth_pset(s, NOINFO, n, &len, name), MPI_ERR_ARG);
	FAILS(MPI_Session_get_nth_pset(s, NOINFO, -1, &len, name), MPI_ERR_ARG);
	FAILS(MPI_Session_get_nth_pset(s, NOINFO, 0, NULL, name), MPI_ERR_ARG);
	FAILS(MPI_Session_get_nth_pset(s, (MPI_Info)MPI_INT, 0, &len, name),
	      MPI_ERR_INFO);
	FAILS(MPI_Session_get_num_psets(s, NOINFO, NULL), MPI_ERR_ARG);
	FAILS(MPI_Session_get_num_psets(s, (MPI_Info)MPI_INT, &n),
	      MPI_ERR_INFO);
	FAILS(MPI_Session_get_pset_info(s, "mpi://NOBODY", &i), MPI_ERR_ARG);
	FAILS(MPI_Session_get_pset_info(s, "mpi://SELF", NULL), MPI_ERR_ARG);
	FAILS(MPI_Group_from_session_pset(s, "nothing", &g), MPI_ERR_ARG);
	FAILS(MPI_Group_from_session_pset(s, NULL, &g), MPI_ERR_ARG);
	FAILS(MPI_Group_from_session_pset(s, "mpi://SELF", NULL), MPI_ERR_ARG);
	FAILS(MPI_Session_get_info(s, NULL), MPI_ERR_ARG);
}

/* --- communicators from groups --- */

static void half(MPI_Session s, MPI_Group *mine, MPI_Group *other)
{
	MPI_Group all = group_of(s, "mpi://WORLD");
	int range[1][3] = { { rank % 2, size - 1 - (size - 1 - rank % 2) % 2,
			      2 } };

	OK(MPI_Group_range_incl(all, 1, range, mine));
	OK(MPI_Group_difference(all, *mine, other));
	OK(MPI_Group_free(&all));
}

static void from_groups(MPI_Session s)
{
	MPI_Group mine, other;
	MPI_Comm c, d, merged;
	MPI_Info hint;
	int n, left, r, x;

	c = comm_of(s, "mpi://SELF", "alone");
	OK(MPI_Comm_size(c, &n));
	EQUAL(n, 1);
	OK(MPI_Comm_free(&c));
	half(s, &mine, &other);
	OK(MPI_Info_create(&hint));
	OK(MPI_Info_set(hint, "mpi_assert_no_any_tag", "true"));
	OK(MPI_Comm_create_from_group(mine, "o2g.halves", hint, RETURN, &c));
	OK(MPI_Info_free(&hint));
	OK(MPI_Comm_get_info(c, &hint));
	is(hint, "mpi_assert_no_any_tag", "true");
	OK(MPI_Info_free(&hint));
	OK(MPI_Comm_size(c, &n));
	EQUAL(n, (size + 1 - rank % 2) / 2);
	OK(MPI_Comm_rank(c, &r));
	EQUAL(r, rank / 2);
	OK(MPI_Barrier(c));
	OK(MPI_Comm_free(&c));
	OK(MPI_Group_size(other, &left));
	if (size > 1) { /* the last of each side leads it */
		OK(MPI_Intercomm_create_from_groups(mine, n - 1, other,
						    left - 1, "across", NOINFO,
						    RETURN, &d));
		OK(MPI_Comm_remote_size(d, &x));
		EQUAL(x, left);
		OK(MPI_Intercomm_merge(d, rank % 2, &merged));
		OK(MPI_Comm_size(merged, &n));
		EQUAL(n, size);
		OK(MPI_Barrier(merged));
		OK(MPI_Comm_free(&merged));
		OK(MPI_Comm_free(&d));
	}
	OK(MPI_Group_free(&mine));
	if (other != MPI_GROUP_EMPTY)
		OK(MPI_Group_free(&other));
}

/* Made in another order by everyone, and told apart by their strings. */
static void by_string(MPI_Session s)
{
	MPI_Comm c = comm_of(s, "mpi://WORLD", "first"), d;
	int n;

	use(c);
	d = comm_of(s, "mpi://WORLD", "first"); /* again */
	OK(MPI_Comm_compare(c, d, &n));
	EQUAL(n, MPI_CONGRUENT);
	use(d);
	OK(MPI_Comm_free(&c));
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", NOINFO, RETURN,
				      &c));
	CHECK(c == MPI_COMM_NULL);
}

static void wrong_groups(MPI_Session s)
{
	char big[MPI_MAX_STRINGTAG_LEN + 1];
	MPI_Group g = group_of(s, "mpi://SELF"), none;
	MPI_Comm c;

	memset(big, 'x', sizeof(big));
	big[MPI_MAX_STRINGTAG_LEN] = '\0';
	FAILS(MPI_Comm_create_from_group(MPI_GROUP_NULL, "a", NOINFO, RETURN,
					 &c),
	      MPI_ERR_GROUP);
	FAILS(MPI_Comm_create_from_group(g, NULL, NOINFO, RETURN, &c),
	      MPI_ERR_ARG);
	FAILS(MPI_Comm_create_from_group(g, big, NOINFO, RETURN, &c),
	      MPI_ERR_ARG);
	FAILS(MPI_Comm_create_from_group(g, "a", (MPI_Info)MPI_INT, RETURN, &c),
	      MPI_ERR_INFO);
	FAILS(MPI_Comm_create_from_group(g, "a", NOINFO, RETURN, NULL),
	      MPI_ERR_ARG);
	FAILS(MPI_Intercomm_create_from_groups(g, 1, g, 0, "a", NOINFO, RETURN,
					       &c),
	      MPI_ERR_RANK);
	FAILS(MPI_Intercomm_create_from_groups(g, 0, g, 7, "a", NOINFO, RETURN,
					       &c),
	      MPI_ERR_RANK);
	FAILS(MPI_Intercomm_create_from_groups(MPI_GROUP_NULL, 0, g, 0, "a",
					       NOINFO, RETURN, &c),
	      MPI_ERR_GROUP);
	FAILS(MPI_Intercomm_create_from_groups(g, 0, MPI_GROUP_NULL, 0, "a",
					       NOINFO, RETURN, &c),
	      MPI_ERR_GROUP);
	FAILS(MPI_Intercomm_create_from_groups(g, 0, g, 0, "a", NOINFO, RETURN,
					       NULL),
	      MPI_ERR_ARG);
	if (size > 1) { /* a group without us */
		MPI_Group all = group_of(s, "mpi://WORLD");

		OK(MPI_Group_excl(all, 1, &rank, &none));
		FAILS(MPI_Comm_create_from_group(none, "a", NOINFO, RETURN, &c),
		      MPI_ERR_GROUP);
		OK(MPI_Group_free(&none));
		OK(MPI_Group_free(&all));
	}
	OK(MPI_Group_free(&g));
}

/* --- buffers --- */

static void buffers(MPI_Session s)
{
	MPI_Comm c = comm_of(s, "mpi://WORLD", "buffers"), d;
	static char room[4096];
	int x = rank, y, n, to = (rank + 1) % size;
	int from = (rank + size - 1) % size;
	MPI_Count large;
	MPI_Request q;
	void *p;

	FAILS(MPI_Bsend(&x, 1, MPI_INT, to, 0, c), MPI_ERR_BUFFER);
	FAILS(MPI_Session_detach_buffer(s, &p, &n), MPI_ERR_BUFFER);
	OK(MPI_Session_attach_buffer(s, room, sizeof(room)));
	FAILS(MPI_Session_attach_buffer(s, room, 10), MPI_ERR_BUFFER);
	OK(MPI_Comm_dup(c, &d)); /* of the same session */
	OK(MPI_Bsend(&x, 1, MPI_INT, to, 0, d));
	OK(MPI_Recv(&y, 1, MPI_INT, from, 0, d, IGNORE));
	EQUAL(y, from);
	OK(MPI_Session_flush_buffer(s));
	OK(MPI_Session_detach_buffer(s, &p, &n));
	CHECK(p == room && n == (int)sizeof(room));
	OK(MPI_Session_attach_buffer_c(s, MPI_BUFFER_AUTOMATIC, 0));
	for (int i = 0; i < 50; i++)
		OK(MPI_Bsend(&i, 1, MPI_INT, to, 1, c));
	for (int i = 0; i < 50; i++) {
		OK(MPI_Recv(&y, 1, MPI_INT, from, 1, c, IGNORE));
		EQUAL(y, i);
	}
	OK(MPI_Session_iflush_buffer(s, &q));
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Session_detach_buffer_c(s, &p, &large));
	CHECK(p == MPI_BUFFER_AUTOMATIC);
	FAILS(MPI_Session_attach_buffer(s, room, -1), MPI_ERR_ARG);
	FAILS(MPI_Session_attach_buffer(s, NULL, 8), MPI_ERR_BUFFER);
	FAILS(MPI_Session_detach_buffer(s, NULL, &n), MPI_ERR_ARG);
	FAILS(MPI_Session_detach_buffer_c(s, &p, NULL), MPI_ERR_ARG);
	FAILS(MPI_Session_iflush_buffer(s, NULL), MPI_ERR_ARG);
	/* The buffer of the process serves where neither the communicator nor its
	 * session has one, and needs no world. */
	OK(MPI_Buffer_attach(room, sizeof(room)));
	OK(MPI_Bsend(&x, 1, MPI_INT, to, 2, d));
	OK(MPI_Recv(&y, 1, MPI_INT, from, 2, d, IGNORE));
	EQUAL(y, from);
	OK(MPI_Buffer_flush());
	OK(MPI_Buffer_iflush(&q));
	OK(MPI_Wait(&q, IGNORE));
	OK(MPI_Buffer_detach(&p, &n));
	CHECK(p == room && n == (int)sizeof(room));
	OK(MPI_Buffer_attach_c(MPI_BUFFER_AUTOMATIC, 0));
	OK(MPI_Buffer_detach_c(&p, &large));
	CHECK(p == MPI_BUFFER_AUTOMATIC);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free(&c));
}

/* --- error handlers --- */

static int called;
static MPI_Session on;

static void handler(MPI_Session *s, int *code, ...)
{
	called++;
	on = *s;
}

static void comm_handler(MPI_Comm *c, int *code, ...)
{
}

static void handlers(MPI_Session s)
{
	MPI_Errhandler h, got, wrong;
	MPI_Session own;

	called = 0;
	OK(MPI_Session_get_errhandler(s, &got));
	CHECK(got == RETURN);
	OK(MPI_Session_create_errhandler(handler, &h));
	OK(MPI_Session_set_errhandler(s, h));
	OK(MPI_Session_get_errhandler(s, &got));
	CHECK(got == h);
	OK(MPI_Errhandler_free(&got));
	FAILS(MPI_Session_get_num_psets(s, NOINFO, NULL), MPI_ERR_ARG);
	CHECK(called == 1 && on == s);
	OK(MPI_Session_call_errhandler(s, MPI_ERR_OTHER));
	EQUAL(called, 2);
	OK(MPI_Session_init(NOINFO, h, &own));
	OK(MPI_Errhandler_free(&h));
	FAILS(MPI_Session_get_info(own, NULL), MPI_ERR_ARG);
	CHECK(called == 3 && on == own);
	end(&own);
	OK(MPI_Comm_create_errhandler(comm_handler, &wrong));
	FAILS(MPI_Session_set_errhandler(s, wrong), MPI_ERR_ERRHANDLER);
	EQUAL(called, 4);
	OK(MPI_Errhandler_free(&wrong));
	FAILS(MPI_Session_set_errhandler(s, MPI_ERRHANDLER_NULL),
	      MPI_ERR_ERRHANDLER);
	FAILS(MPI_Session_get_errhandler(s, NULL), MPI_ERR_ARG);
	OK(MPI_Session_set_errhandler(s, RETURN));
	FAILS(MPI_Session_init((MPI_Info)MPI_INT, RETURN, &own), MPI_ERR_INFO);
	FAILS(MPI_Session_init(NOINFO, RETURN, NULL), MPI_ERR_ARG);
}

/* With the world's error handler: a value that is no handle. */
static void wrong_handles(void)
{
	MPI_Session bad[2] = { MPI_SESSION_NULL, (MPI_Session)MPI_INT };
	MPI_Errhandler h;
	MPI_Group g;
	MPI_Info i;
	void *p;
	int n;

	for (int k = 0; k < 2; k++) {
		MPI_Session b = bad[k];

		FAILS(MPI_Session_finalize(&b), MPI_ERR_SESSION);
		FAILS(MPI_Session_get_info(b, &i), MPI_ERR_SESSION);
		FAILS(MPI_Session_get_num_psets(b, NOINFO, &n),
		      MPI_ERR_SESSION);
		FAILS(MPI_Session_get_nth_pset(b, NOINFO, 0, &n, NULL),
		      MPI_ERR_SESSION);
		FAILS(MPI_Session_get_pset_info(b, "mpi://SELF", &i),
		      MPI_ERR_SESSION);
		FAILS(MPI_Group_from_session_pset(b, "mpi://SELF", &g),
		      MPI_ERR_SESSION);
		FAILS(MPI_Session_attach_buffer(b, &n, 1), MPI_ERR_SESSION);
		FAILS(MPI_Session_attach_buffer_c(b, &n, 1), MPI_ERR_SESSION);
		FAILS(MPI_Session_detach_buffer(b, &p, &n), MPI_ERR_SESSION);
		FAILS(MPI_Session_flush_buffer(b), MPI_ERR_SESSION);
		FAILS(MPI_Session_set_errhandler(b, RETURN), MPI_ERR_SESSION);
		FAILS(MPI_Session_get_errhandler(b, &h), MPI_ERR_SESSION);
		FAILS(MPI_Session_call_errhandler(b, MPI_ERR_OTHER),
		      MPI_ERR_SESSION);
	}
	FAILS(MPI_Session_finalize(NULL), MPI_ERR_ARG);
	FAILS(MPI_Session_create_errhandler(NULL, &h), MPI_ERR_ARG);
	FAILS(MPI_Session_create_errhandler(handler, NULL), MPI_ERR_ARG);
}

static void who(MPI_Session s)
{
	MPI_Group g = group_of(s, "mpi://WORLD");

	OK(MPI_Group_rank(g, &rank));
	OK(MPI_Group_size(g, &size));
	OK(MPI_Group_free(&g));
}

static void all(MPI_Session s)
{
	psets(s);
	from_groups(s);
	by_string(s);
	wrong_groups(s);
	buffers(s);
	handlers(s);
}

int main(int argc, char **argv)
{
	MPI_Session a, b;
	MPI_Comm c, d;
	int flag;

	/* again and again, two at once, without the world */
	for (int i = 0; i < 3; i++) {
		a = begin("MPI_THREAD_SINGLE");
		b = begin("MPI_THREAD_MULTIPLE");
		CHECK(a != b);
		who(a);
		OK(MPI_Initialized(&flag));
		CHECK(!flag);
		all(i % 2 ? a : b);
		c = comm_of(a, "mpi://WORLD", "a");
		end(&b);
		use(c);
		OK(MPI_Comm_free(&c));
		end(&a);
	}
	if (!getenv("BESIDE"))
		return 0; /* without MPI_Init and MPI_Finalize */
	/* beside the world, which ends first */
	a = begin("MPI_THREAD_SERIALIZED");
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, RETURN);
	c = comm_of(a, "mpi://WORLD", "beside");
	use(c);
	use(WORLD);
	b = begin("MPI_THREAD_FUNNELED");
	all(b);
	wrong_handles();
	d = comm_of(b, "mpi://WORLD", "later");
	MPI_Finalize();
	OK(MPI_Finalized(&flag));
	CHECK(flag);
	use(c);
	use(d);
	OK(MPI_Comm_free(&c));
	OK(MPI_Comm_free(&d));
	end(&a);
	end(&b);
	/* and after it */
	a = begin("MPI_THREAD_SINGLE");
	c = comm_of(a, "mpi://WORLD", "after");
	use(c);
	OK(MPI_Comm_free(&c));
	end(&a);
	return 0;
}
