/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Attributes of datatypes: callbacks with the right handles, copied by
 * MPI_Type_dup, deleted by MPI_Type_free; keys of windows; wrong arguments.
 */
#include "check.h"

static int copies, deletes, refuse, extra = 5;
static MPI_Datatype copied_from, deleted_of;
static void *deleted_value;

static int copy(MPI_Datatype t, int key, void *state, void *in, void *out,
		int *flag)
{
	CHECK(state == &extra);
	copied_from = t;
	copies++;
	if (refuse)
		return MPI_ERR_OTHER;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static int drop(MPI_Datatype t, int key, void *value, void *state)
{
	CHECK(state == &extra);
	deleted_of = t;
	deleted_value = value;
	deletes++;
	return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static MPI_Aint get(MPI_Datatype t, int key)
{
	void *value = NULL;
	int flag;

	OK(MPI_Type_get_attr(t, key, &value, &flag));
	return flag ? (MPI_Aint)value : -1;
}

static void callbacks(void)
{
	MPI_Datatype t, d, old;
	int key, null_key, dup_key, gone;

	OK(MPI_Type_create_keyval(copy, drop, &key, &extra));
	OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN,
				  MPI_TYPE_NULL_DELETE_FN, &null_key, NULL));
	OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN,
				  &dup_key, NULL));
	OK(MPI_Type_contiguous(3, MPI_INT, &t));
	EQUAL(get(t, key), -1);
	OK(MPI_Type_set_attr(t, key, (void *)10));
	OK(MPI_Type_set_attr(t, null_key, (void *)20));
	OK(MPI_Type_set_attr(t, dup_key, (void *)30));
	OK(MPI_Type_set_attr(t, key, (void *)11));
	CHECK(deletes == 1 && deleted_of == t && deleted_value == (void *)10);
	OK(MPI_Type_dup(t, &d));
	CHECK(copies == 1 && copied_from == t);
	EQUAL(get(d, key), 12);
	EQUAL(get(d, null_key), -1);
	EQUAL(get(d, dup_key), 30);
	/* only a duplicate has them */
	OK(MPI_Type_contiguous(2, t, &old));
	EQUAL(get(old, dup_key), -1);
	OK(MPI_Type_free(&old));
	gone = key;
	OK(MPI_Type_free_keyval(&key));
	EQUAL(key, MPI_KEYVAL_INVALID);
	FAILS(MPI_Type_set_attr(t, gone, NULL), MPI_ERR_KEYVAL);
	old = d;
	OK(MPI_Type_free(&d));
	CHECK(deletes == 2 && deleted_of == old && deleted_value == (void *)12);
	OK(MPI_Type_delete_attr(t, dup_key));
	FAILS(MPI_Type_delete_attr(t, dup_key), MPI_ERR_KEYVAL);
	OK(MPI_Type_free(&t));
	EQUAL(deletes, 3);
	/* a predefined type may have some as well */
	OK(MPI_Type_set_attr(MPI_INT, dup_key, (void *)40));
	EQUAL(get(MPI_INT, dup_key), 40);
	OK(MPI_Type_dup(MPI_INT, &d));
	EQUAL(get(d, dup_key), 40);
	OK(MPI_Type_free(&d));
	OK(MPI_Type_delete_attr(MPI_INT, dup_key));
	OK(MPI_Type_free_keyval(&null_key));
	OK(MPI_Type_free_keyval(&dup_key));
}

static void refusal(void)
{
	MPI_Datatype t, d;
	int key;

	OK(MPI_Type_create_keyval(copy, drop, &key, &extra));
	OK(MPI_Type_contiguous(3, MPI_INT, &t));
	OK(MPI_Type_set_attr(t, key, (void *)1));
	refuse = 1;
	FAILS(MPI_Type_dup(t, &d), MPI_ERR_OTHER);
	FAILS(MPI_Type_delete_attr(t, key), MPI_ERR_OTHER);
	FAILS(MPI_Type_free(&t), MPI_ERR_OTHER);
	CHECK(t != MPI_DATATYPE_NULL);
	refuse = 0;
	EQUAL(get(t, key), 1);
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free_keyval(&key));
}

static void wrong(void)
{
	MPI_Win bad[2] = { MPI_WIN_NULL, (MPI_Win)MPI_INT };
	int key, comm_key, none = MPI_KEYVAL_INVALID, flag;
	char name[MPI_MAX_OBJECT_NAME];
	void *v;

	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
				  MPI_COMM_NULL_DELETE_FN, &comm_key, NULL));
	FAILS(MPI_Type_set_attr(MPI_INT, comm_key, NULL), MPI_ERR_KEYVAL);
	OK(MPI_Comm_free_keyval(&comm_key));
	OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN,
				  MPI_TYPE_NULL_DELETE_FN, &key, NULL));
	FAILS(MPI_Comm_set_attr(WORLD, key, NULL), MPI_ERR_KEYVAL);
	FAILS(MPI_Type_set_attr(MPI_DATATYPE_NULL, key, NULL), MPI_ERR_TYPE);
	FAILS(MPI_Type_get_attr(MPI_DATATYPE_NULL, key, &v, &flag),
	      MPI_ERR_TYPE);
	FAILS(MPI_Type_get_attr(MPI_INT, key, NULL, &flag), MPI_ERR_ARG);
	FAILS(MPI_Type_get_attr(MPI_INT, key, &v, NULL), MPI_ERR_ARG);
	FAILS(MPI_Type_get_attr(MPI_INT, none, &v, &flag), MPI_ERR_KEYVAL);
	FAILS(MPI_Type_delete_attr(MPI_DATATYPE_NULL, key), MPI_ERR_TYPE);
	FAILS(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN,
				     MPI_TYPE_NULL_DELETE_FN, NULL, NULL),
	      MPI_ERR_ARG);
	OK(MPI_Type_free_keyval(&key));
	FAILS(MPI_Type_free_keyval(&none), MPI_ERR_KEYVAL);
	FAILS(MPI_Type_free_keyval(NULL), MPI_ERR_ARG);
	/* windows: keys are there, handles are looked at */
	OK(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN, &key,
				 NULL));
	FAILS(MPI_Type_set_attr(MPI_INT, key, NULL), MPI_ERR_KEYVAL);
	for (int i = 0; i < 2; i++) {
		FAILS(MPI_Win_set_attr(bad[i], key, NULL), MPI_ERR_WIN);
		FAILS(MPI_Win_get_attr(bad[i], key, &v, &flag), MPI_ERR_WIN);
		FAILS(MPI_Win_delete_attr(bad[i], key), MPI_ERR_WIN);
		FAILS(MPI_Win_set_name(bad[i], "w"), MPI_ERR_WIN);
	}
	FAILS(MPI_Win_get_name(bad[1], name, &flag), MPI_ERR_WIN);
	OK(MPI_Win_get_name(MPI_WIN_NULL, name, &flag));
	CHECK(!strcmp(name, "MPI_WIN_NULL"));
	FAILS(MPI_Win_get_name(MPI_WIN_NULL, NULL, &flag), MPI_ERR_ARG);
	OK(MPI_Win_free_keyval(&key));
	EQUAL(key, MPI_KEYVAL_INVALID);
	FAILS(MPI_Win_free_keyval(&key), MPI_ERR_KEYVAL);
	FAILS(MPI_Win_free_keyval(NULL), MPI_ERR_ARG);
	FAILS(MPI_Win_create_keyval(MPI_WIN_DUP_FN, MPI_WIN_NULL_DELETE_FN,
				    NULL, NULL),
	      MPI_ERR_ARG);
}

/* What can be asked of any type, old names too. */
static void asked_wrongly(void)
{
	MPI_Datatype null = MPI_DATATYPE_NULL;
	MPI_Count c, d;
	MPI_Aint a, b;
	char name[MPI_MAX_OBJECT_NAME];
	int n;

	FAILS(MPI_Type_size(null, &n), MPI_ERR_TYPE);
	FAILS(MPI_Type_size(MPI_INT, NULL), MPI_ERR_ARG);
	FAILS(MPI_Type_size_c(MPI_INT, NULL), MPI_ERR_ARG);
	FAILS(MPI_Type_size_x(null, &c), MPI_ERR_TYPE);
	FAILS(MPI_Type_size_x(MPI_INT, NULL), MPI_ERR_ARG);
	FAILS(MPI_Type_get_extent(null, &a, &b), MPI_ERR_TYPE);
	FAILS(MPI_Type_get_extent(MPI_INT, NULL, &b), MPI_ERR_ARG);
	FAILS(MPI_Type_get_extent_x(null, &c, &d), MPI_ERR_TYPE);
	FAILS(MPI_Type_get_extent_x(MPI_INT, &c, NULL), MPI_ERR_ARG);
	FAILS(MPI_Type_get_true_extent(MPI_INT, NULL, &b), MPI_ERR_ARG);
	FAILS(MPI_Type_get_true_extent_x(null, &c, &d), MPI_ERR_TYPE);
	FAILS(MPI_Type_get_true_extent_x(MPI_INT, NULL, &d), MPI_ERR_ARG);
	FAILS(MPI_Type_set_name(null, "x"), MPI_ERR_TYPE);
	FAILS(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
	FAILS(MPI_Type_get_name(MPI_INT, NULL, &n), MPI_ERR_ARG);
	FAILS(MPI_Type_get_name(MPI_INT, name, NULL), MPI_ERR_ARG);
	OK(MPI_Type_size_x(MPI_DOUBLE, &c));
	EQUAL(c, sizeof(double));
	OK(MPI_Type_get_extent_x(MPI_DOUBLE, &c, &d));
	CHECK(c == 0 && d == sizeof(double));
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	callbacks();
	refusal();
	wrong();
	asked_wrongly();
	return finish();
}
