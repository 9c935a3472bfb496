/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Attributes: keys with callbacks, and lists of values that objects carry. A
 * key that is freed lives on while an attribute uses it. Callbacks run without
 * the lock, since they may call MPI.
 */
#include <stdlib.h>

#include "comm/attr.h"
#include "env/errors.h"

struct keyval {
	int number;
	int refs; /* the program's, and one per attribute */
	bool freed;
	enum mpii_attr_kind kind;
	enum mpii_language lang; /* of the callbacks */
	mpii_attr_copy_fn *copy;
	mpii_attr_delete_fn *delete;
	void *extra_state;
	struct keyval *next;
};

struct mpii_attr {
	struct keyval *key;
	enum mpii_language lang; /* that set it; of Fortran, value is a number */
	void *value;
	int integer; /* the number, for C, which gets a pointer to it */
	struct mpii_attr *next; /* the one set before */
};

/* Above every predefined key, so that a mix-up is seen. */
#define FIRST_KEYVAL 10000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct keyval *keyvals;
static int next_number = FIRST_KEYVAL;

int mpii_keyval_create(enum mpii_attr_kind kind, mpii_attr_copy_fn *copy,
		       mpii_attr_delete_fn *delete, void *extra_state)
{
	struct keyval *k = malloc(sizeof(*k));

	if (!k)
		return 0;
	*k = (struct keyval){ .refs = 1,
			      .kind = kind,
			      .lang = mpii_language_take(),
			      .copy = copy,
			      .delete = delete,
			      .extra_state = extra_state };
	pthread_mutex_lock(&lock);
	k->number = next_number++;
	k->next = keyvals;
	keyvals = k;
	pthread_mutex_unlock(&lock);
	return k->number;
}

/* Also one that was freed but is still in use: the standard wants a program to
 * be able to delete the attributes that are left. */
static struct keyval *find(enum mpii_attr_kind kind, int number)
{
	struct keyval *k = keyvals;

	while (k && (k->number != number || k->kind != kind))
		k = k->next;
	return k;
}

/* One that new attributes may use. */
static struct keyval *find_usable(enum mpii_attr_kind kind, int number)
{
	struct keyval *k = find(kind, number);

	return k && !k->freed ? k : NULL;
}

/* With the lock. */
static void drop(struct keyval *k)
{
	struct keyval **p = &keyvals;

	if (--k->refs)
		return;
	while (*p != k)
		p = &(*p)->next;
	*p = k->next;
	free(k);
}

static int no_such_key(int keyval)
{
	if (keyval == MPI_KEYVAL_INVALID)
		return mpii_fail(MPI_ERR_KEYVAL,
				 "keyval is MPI_KEYVAL_INVALID");
	if (keyval < FIRST_KEYVAL)
		return mpii_fail(MPI_ERR_KEYVAL,
				 "keyval %d is predefined and cannot be "
				 "changed",
				 keyval);
	return mpii_fail(MPI_ERR_KEYVAL,
			 "keyval is %d, which is not a key for "
			 "this kind of object or was freed",
			 keyval);
}

int mpii_keyval_free(enum mpii_attr_kind kind, int keyval)
{
	struct keyval *k;

	pthread_mutex_lock(&lock);
	k = find(kind, keyval);
	if (k && !k->freed) {
		k->freed = true;
		drop(k);
	}
	pthread_mutex_unlock(&lock);
	return k ? MPI_SUCCESS : no_such_key(keyval);
}

static struct mpii_attr **place(struct mpii_attr **list, const struct keyval *k)
{
	while (*list && (*list)->key != k)
		list = &(*list)->next;
	return list;
}

/* The predefined functions are the ABI's small numbers. */
static bool is_null_fn(mpii_attr_delete_fn *fn)
{
	return (uintptr_t)fn == (uintptr_t)MPI_COMM_NULL_DELETE_FN;
}

static void store(struct mpii_attr *a, enum mpii_language lang, void *value)
{
	a->lang = lang;
	a->value = value;
	a->integer = (int)(intptr_t)value;
}

/* The value for @lang: C sees a number of Fortran as a pointer to it. */
static void *seen_by(enum mpii_language lang, struct mpii_attr *a)
{
	if (lang != MPII_LANG_C || a->lang == MPII_LANG_C)
		return a->value;
	return a->lang == MPII_LANG_FORTRAN ? (void *)&a->value :
					      (void *)&a->integer;
}

static int run_delete(void *handle, struct mpii_attr *a)
{
	struct keyval *k = a->key;

	if (is_null_fn(k->delete))
		return MPI_SUCCESS;
	return mpii_call_delete(k->lang, k->delete, handle, k->number,
				seen_by(k->lang, a), k->extra_state);
}

static int refused(int code, const char *what)
{
	return mpii_fail(code, "the attribute's %s function returned %d", what,
			 code);
}

int mpii_attr_set(enum mpii_attr_kind kind, void *handle,
		  struct mpii_attr **list, int keyval, void *value)
{
	enum mpii_language lang = mpii_language_take();
	struct mpii_attr *a, *new = malloc(sizeof(*new));
	struct keyval *k;
	int err;

	if (!new)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	pthread_mutex_lock(&lock);
	k = find_usable(kind, keyval);
	a = k ? *place(list, k) : NULL;
	if (k && !a) {
		k->refs++;
		*new = (struct mpii_attr){ .key = k, .next = *list };
		store(new, lang, value);
		*list = new;
		new = NULL;
	}
	pthread_mutex_unlock(&lock);
	free(new);
	if (!k)
		return no_such_key(keyval);
	if (!a)
		return MPI_SUCCESS;
	err = run_delete(handle, a);
	if (err)
		return refused(err, "delete");
	store(a, lang, value);
	return MPI_SUCCESS;
}

int mpii_attr_get(enum mpii_attr_kind kind, struct mpii_attr *list, int keyval,
		  void **value, int *flag)
{
	enum mpii_language lang = mpii_language_take();
	struct mpii_attr *a = NULL;
	struct keyval *k;

	pthread_mutex_lock(&lock);
	k = find(kind, keyval);
	if (k)
		a = *place(&list, k);
	*flag = a != NULL;
	if (a)
		*value = seen_by(lang, a);
	pthread_mutex_unlock(&lock);
	return k ? MPI_SUCCESS : no_such_key(keyval);
}

void mpii_attr_give_int(void *attribute_val, int *value)
{
	if (mpii_language_take() == MPII_LANG_C)
		*(int **)attribute_val = value;
	else
		*(MPI_Aint *)attribute_val = *value;
}

void mpii_attr_give_address(void *attribute_val, MPI_Aint *value)
{
	if (mpii_language_take() == MPII_LANG_C)
		*(MPI_Aint **)attribute_val = value;
	else
		*(MPI_Aint *)attribute_val = *value;
}

/* Run the callback of *p and take it out of the list. */
static int remove_at(void *handle, struct mpii_attr **list, struct mpii_attr *a)
{
	struct mpii_attr **p;
	int err = run_delete(handle, a);

	if (err)
		return refused(err, "delete");
	pthread_mutex_lock(&lock);
	for (p = list; *p && *p != a; p = &(*p)->next)
		;
	if (*p)
		*p = a->next;
	drop(a->key);
	pthread_mutex_unlock(&lock);
	free(a);
	return MPI_SUCCESS;
}

int mpii_attr_delete(enum mpii_attr_kind kind, void *handle,
		     struct mpii_attr **list, int keyval)
{
	struct mpii_attr *a = NULL;
	struct keyval *k;

	pthread_mutex_lock(&lock);
	k = find(kind, keyval);
	if (k)
		a = *place(list, k);
	pthread_mutex_unlock(&lock);
	if (!k)
		return no_such_key(keyval);
	if (!a)
		return mpii_fail(MPI_ERR_KEYVAL,
				 "keyval is %d, which has no "
				 "attribute on this object",
				 keyval);
	return remove_at(handle, list, a);
}

int mpii_attr_delete_all(enum mpii_attr_kind kind, void *handle,
			 struct mpii_attr **list)
{
	int err;

	while (*list) {
		err = remove_at(handle, list, *list);
		if (err)
			return err;
	}
	return MPI_SUCCESS;
}

/* What the copy has: nothing (flag 0), the same value, or what a callback of
 * the program says. */
static int run_copy(void *handle, struct mpii_attr *a, struct mpii_attr *new,
		    int *flag)
{
	const struct keyval *k = a->key;
	void *value = NULL;
	int err;

	*flag = 0;
	store(new, a->lang, a->value);
	if ((uintptr_t)k->copy == (uintptr_t)MPI_COMM_NULL_COPY_FN)
		return MPI_SUCCESS;
	if ((uintptr_t)k->copy == (uintptr_t)MPI_COMM_DUP_FN) {
		*flag = 1;
		return MPI_SUCCESS;
	}
	err = mpii_call_copy(k->lang, k->copy, handle, k->number,
			     k->extra_state, seen_by(k->lang, a), &value, flag);
	store(new, k->lang, value);
	return err;
}

int mpii_attr_copy_all(enum mpii_attr_kind kind, void *handle,
		       struct mpii_attr *from, struct mpii_attr **to)
{
	struct mpii_attr *new;
	int err, flag;

	for (; from; from = from->next) {
		new = calloc(1, sizeof(*new));
		if (!new)
			return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
		new->key = from->key;
		err = run_copy(handle, from, new, &flag);
		if (err || !flag)
			free(new);
		if (err)
			return refused(err, "copy");
		if (!flag)
			continue;
		pthread_mutex_lock(&lock);
		from->key->refs++;
		*to = new; /* at the end: same order as in the original */
		to = &new->next;
		pthread_mutex_unlock(&lock);
	}
	return MPI_SUCCESS;
}
