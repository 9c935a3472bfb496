/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Attributes: callbacks, their order, refusal, and the deprecated names. */
#include "check.h"

static int copies, deletes, last_deleted, refuse;
static int extra = 5;

static int copy(MPI_Comm c, int key, void *state, void *in, void *out,
		int *flag)
{
	CHECK(state == &extra);
	copies++;
	if (refuse)
		return MPI_ERR_OTHER;
	*(void **)out = (char *)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static int drop(MPI_Comm c, int key, void *value, void *state)
{
	CHECK(state == &extra);
	deletes++;
	last_deleted = (int)(MPI_Aint)value;
	return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static MPI_Aint get(MPI_Comm c, int key)
{
	void *value = NULL;
	int flag;

	OK(MPI_Comm_get_attr(c, key, &value, &flag));
	return flag ? (MPI_Aint)value : -1;
}

static void callbacks(void)
{
	MPI_Comm d, e;
	int key, null_key, dup_key, old;

	OK(MPI_Comm_create_keyval(copy, drop, &key, &extra));
	OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN,
				  MPI_COMM_NULL_DELETE_FN, &null_key, NULL));
	OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN,
				  &dup_key, NULL));
	OK(MPI_Comm_dup(WORLD, &d));
	EQUAL(get(d, key), -1);
	OK(MPI_Comm_set_attr(d, key, (void *)10));
	OK(MPI_Comm_set_attr(d, null_key, (void *)20));
	OK(MPI_Comm_set_attr(d, dup_key, (void *)30));
	EQUAL(get(d, key), 10);
	OK(MPI_Comm_set_attr(d, key, (void *)11)); /* deletes the old one */
	EQUAL(deletes, 1);
	EQUAL(last_deleted, 10);
	OK(MPI_Comm_dup(d, &e));
	EQUAL(copies, 1);
	EQUAL(get(e, key), 12);
	EQUAL(get(e, null_key), -1);
	EQUAL(get(e, dup_key), 30);
	/* a freed key works until its attributes are gone */
	old = key;
	OK(MPI_Comm_free_keyval(&key));
	EQUAL(key, MPI_KEYVAL_INVALID);
	FAILS(MPI_Comm_set_attr(d, old, NULL), MPI_ERR_KEYVAL);
	OK(MPI_Comm_free(&e));
	EQUAL(deletes, 2);
	EQUAL(last_deleted, 12);
	EQUAL(get(d, old), 11);
	OK(MPI_Comm_free_keyval(&(int){ old })); /* again: no harm */
	OK(MPI_Comm_delete_attr(d, old));
	EQUAL(deletes, 3);
	FAILS(MPI_Comm_delete_attr(d, old), MPI_ERR_KEYVAL);
	OK(MPI_Comm_delete_attr(d, dup_key));
	EQUAL(get(d, dup_key), -1);
	FAILS(MPI_Comm_delete_attr(d, dup_key), MPI_ERR_KEYVAL);
	OK(MPI_Comm_free(&d));
	EQUAL(deletes, 3);
	OK(MPI_Comm_free_keyval(&null_key));
	OK(MPI_Comm_free_keyval(&dup_key));
}

/* A callback that returns an error stops the call. */
static void refusal(void)
{
	MPI_Comm d, e;
	int key;

	OK(MPI_Comm_create_keyval(copy, drop, &key, &extra));
	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Comm_set_attr(d, key, (void *)1));
	refuse = 1;
	FAILS(MPI_Comm_dup(d, &e), MPI_ERR_OTHER);
	FAILS(MPI_Comm_delete_attr(d, key), MPI_ERR_OTHER);
	FAILS(MPI_Comm_free(&d), MPI_ERR_OTHER);
	CHECK(d != MPI_COMM_NULL);
	refuse = 0;
	EQUAL(get(d, key), 1);
	OK(MPI_Comm_free(&d));
	OK(MPI_Comm_free_keyval(&key));
}

static void deprecated(void)
{
	MPI_Comm d;
	void *value;
	int key, flag, *ub;

	OK(MPI_Keyval_create(copy, drop, &key, &extra));
	OK(MPI_Comm_dup(WORLD, &d));
	OK(MPI_Attr_put(d, key, (void *)3));
	OK(MPI_Attr_get(d, key, &value, &flag));
	CHECK(flag && (MPI_Aint)value == 3);
	OK(MPI_Attr_delete(d, key));
	OK(MPI_Attr_get(d, key, &value, &flag));
	CHECK(!flag);
	OK(MPI_Comm_free(&d));
	OK(MPI_Keyval_free(&key));
	EQUAL(key, MPI_KEYVAL_INVALID);
	OK(MPI_Keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Keyval_free(&key));
	OK(MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Keyval_free(&key));
	OK(MPI_Attr_get(WORLD, MPI_TAG_UB, &ub, &flag));
	CHECK(flag && *ub == 2147483647);
}

static void wrong(void)
{
	int key = MPI_KEYVAL_INVALID, flag;
	void *value;

	FAILS(MPI_Comm_get_attr(WORLD, key, &value, &flag), MPI_ERR_KEYVAL);
	FAILS(MPI_Comm_free_keyval(&key), MPI_ERR_KEYVAL);
	FAILS(MPI_Comm_set_attr(WORLD, MPI_TAG_UB, NULL), MPI_ERR_KEYVAL);
	FAILS(MPI_Comm_set_attr(WORLD, 424242, NULL), MPI_ERR_KEYVAL);
	FAILS(MPI_Comm_set_attr(MPI_COMM_NULL, 1, NULL), MPI_ERR_COMM);
	FAILS(MPI_Comm_get_attr(WORLD, MPI_TAG_UB, NULL, &flag), MPI_ERR_ARG);
}

int main(int argc, char **argv)
{
	start(&argc, &argv);
	MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	callbacks();
	refusal();
	deprecated();
	wrong();
	return finish();
}
