/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Info objects: ordered lists of key and value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "env/errors.h"
#include "info/info.h"
#include "process/process.h"

struct pair {
	char *key, *value;
};

struct mpii_info {
	struct mpii_obj obj;
	int n;
	struct pair *pairs; /* in the order they were set */
	pthread_mutex_t lock;
};

static struct mpii_info info_env; /* MPI_INFO_ENV */

static void fill(void)
{
	mpii_info_describe_self(&info_env);
}

static void fill_env(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (mpii_running())
		pthread_once(&once, fill);
}

struct mpii_info *mpii_info_get(MPI_Info h)
{
	struct mpii_info *i = (struct mpii_info *)h;

	if (h == MPI_INFO_ENV) {
		fill_env();
		return &info_env;
	}
	if ((uintptr_t)h < MPII_PREDEFINED_END)
		return NULL;
	return mpii_is_object(h, MPII_INFO) ? i : NULL;
}

static struct mpii_info *create(void)
{
	struct mpii_info *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->obj.magic = MPII_INFO;
	pthread_mutex_init(&i->lock, NULL);
	return i;
}

void mpii_info_destroy(struct mpii_info *i)
{
	if (!i)
		return;
	for (int k = 0; k < i->n; k++) {
		free(i->pairs[k].key);
		free(i->pairs[k].value);
	}
	free(i->pairs);
	mpii_obj_end(&i->obj);
	free(i);
}

static int find(const struct mpii_info *i, const char *key)
{
	for (int k = 0; k < i->n; k++)
		if (!strcmp(i->pairs[k].key, key))
			return k;
	return -1;
}

static bool set(struct mpii_info *i, const char *key, const char *value)
{
	int k = find(i, key);
	struct pair *p, new = { NULL, strdup(value) };

	if (!new.value)
		return false;
	if (k >= 0) {
		free(i->pairs[k].value);
		i->pairs[k].value = new.value;
		return true;
	}
	new.key = strdup(key);
	p = realloc(i->pairs, (i->n + 1) * sizeof(*p));
	if (p)
		i->pairs = p;
	if (!p || !new.key) {
		free(new.key);
		free(new.value);
		return false;
	}
	i->pairs[i->n++] = new;
	return true;
}

struct mpii_info *mpii_info_copy(const struct mpii_info *from)
{
	struct mpii_info *i = create();

	for (int k = 0; i && from && k < from->n; k++) {
		if (!set(i, from->pairs[k].key, from->pairs[k].value)) {
			mpii_info_destroy(i);
			return NULL;
		}
	}
	return i;
}

bool mpii_info_add(struct mpii_info *i, const char *key, const char *value)
{
	return set(i, key, value);
}

const char *mpii_info_value(const struct mpii_info *i, const char *key)
{
	int k = i ? find(i, key) : -1;

	return k < 0 ? NULL : i->pairs[k].value;
}

/* --- the calls --- */

static int bad_info(MPI_Info h, const char *func)
{
	return mpii_error(NULL, MPI_ERR_INFO, func, "info is %s",
			  h == MPI_INFO_NULL ? "MPI_INFO_NULL" :
					       "no info object, or was freed");
}

static int check_key(const char *key, const char *func)
{
	if (!key)
		return mpii_error(NULL, MPI_ERR_INFO_KEY, func,
				  "key is a null pointer");
	if (!key[0])
		return mpii_error(NULL, MPI_ERR_INFO_KEY, func,
				  "key is an empty string");
	if (strlen(key) >= MPI_MAX_INFO_KEY)
		return mpii_error(NULL, MPI_ERR_INFO_KEY, func,
				  "key has %zu characters, at most %d fit",
				  strlen(key), MPI_MAX_INFO_KEY - 1);
	return MPI_SUCCESS;
}

int PMPI_Info_create(MPI_Info *info)
{
	struct mpii_info *i;

	if (!info)
		return mpii_bad_null(NULL, "MPI_Info_create", "info");
	i = create();
	if (!i)
		return mpii_no_mem(NULL, "MPI_Info_create");
	*info = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_create);

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
	struct mpii_info *i;

	if (!info)
		return mpii_bad_null(NULL, "MPI_Info_create_env", "info");
	i = create();
	if (!i || !mpii_info_describe(i, argc, argv)) {
		mpii_info_destroy(i);
		return mpii_no_mem(NULL, "MPI_Info_create_env");
	}
	*info = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_create_env);

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
	struct mpii_info *i = mpii_info_get(info), *copy;

	if (!i)
		return bad_info(info, "MPI_Info_dup");
	if (!newinfo)
		return mpii_bad_null(NULL, "MPI_Info_dup", "newinfo");
	pthread_mutex_lock(&i->lock);
	copy = mpii_info_copy(i);
	pthread_mutex_unlock(&i->lock);
	if (!copy)
		return mpii_no_mem(NULL, "MPI_Info_dup");
	*newinfo = (MPI_Info)copy;
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_dup);

int PMPI_Info_free(MPI_Info *info)
{
	struct mpii_info *i;

	if (!info)
		return mpii_bad_null(NULL, "MPI_Info_free", "info");
	i = mpii_info_get(*info);
	if (!i)
		return bad_info(*info, "MPI_Info_free");
	if (i == &info_env)
		return mpii_error(NULL, MPI_ERR_INFO, "MPI_Info_free",
				  "MPI_INFO_ENV cannot be freed");
	mpii_info_destroy(i);
	*info = MPI_INFO_NULL;
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_free);

/* May the value of this key of @i, which @info stands for, be changed? */
static int check_change(const struct mpii_info *i, MPI_Info info,
			const char *key, const char *func)
{
	if (!i)
		return bad_info(info, func);
	if (i == &info_env)
		return mpii_error(NULL, MPI_ERR_INFO, func,
				  "MPI_INFO_ENV cannot be changed");
	return check_key(key, func);
}

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
	static const char func[] = "MPI_Info_set";
	struct mpii_info *i = mpii_info_get(info);
	bool ok;
	int err;

	err = check_change(i, info, key, func);
	if (err)
		return err;
	if (!value)
		return mpii_error(NULL, MPI_ERR_INFO_VALUE, func,
				  "value is a null pointer");
	if (strlen(value) >= MPI_MAX_INFO_VAL)
		return mpii_error(NULL, MPI_ERR_INFO_VALUE, func,
				  "value has %zu characters, at most %d fit",
				  strlen(value), MPI_MAX_INFO_VAL - 1);
	pthread_mutex_lock(&i->lock);
	ok = set(i, key, value);
	pthread_mutex_unlock(&i->lock);
	return ok ? MPI_SUCCESS : mpii_no_mem(NULL, func);
}
MPII_ALIAS(Info_set);

int PMPI_Info_delete(MPI_Info info, const char *key)
{
	static const char func[] = "MPI_Info_delete";
	struct mpii_info *i = mpii_info_get(info);
	int k, err;

	err = check_change(i, info, key, func);
	if (err)
		return err;
	pthread_mutex_lock(&i->lock);
	k = find(i, key);
	if (k >= 0) {
		free(i->pairs[k].key);
		free(i->pairs[k].value);
		memmove(&i->pairs[k], &i->pairs[k + 1],
			(--i->n - k) * sizeof(i->pairs[0]));
	}
	pthread_mutex_unlock(&i->lock);
	if (k < 0)
		return mpii_error(NULL, MPI_ERR_INFO_NOKEY, func,
				  "there is no key \"%s\"", key);
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_delete);

/* Copies at most room - 1 characters; *len is that of the whole value, or -1
 * when there is no such key. */
static int lookup(MPI_Info info, const char *key, char *value, size_t room,
		  int *len, const char *func)
{
	struct mpii_info *i = mpii_info_get(info);
	const char *v;
	int err;

	if (!i)
		return bad_info(info, func);
	err = check_key(key, func);
	if (err)
		return err;
	pthread_mutex_lock(&i->lock);
	v = mpii_info_value(i, key);
	*len = v ? (int)strlen(v) : -1;
	if (v && room)
		snprintf(value, room, "%s", v);
	pthread_mutex_unlock(&i->lock);
	return MPI_SUCCESS;
}

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen,
			 char *value, int *flag)
{
	static const char func[] = "MPI_Info_get_string";
	int len, err;

	if (!buflen || !flag)
		return mpii_bad_null(NULL, func, buflen ? "flag" : "buflen");
	if (*buflen > 0 && !value)
		return mpii_bad_null(NULL, func, "value");
	err = lookup(info, key, value, *buflen > 0 ? (size_t)*buflen : 0, &len,
		     func);
	if (err)
		return err;
	*flag = len >= 0;
	if (*flag)
		*buflen = len + 1; /* what the whole value needs */
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_get_string);

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value,
		  int *flag)
{
	static const char func[] = "MPI_Info_get";
	int len, err;

	if (!value || !flag)
		return mpii_bad_null(NULL, func, value ? "flag" : "value");
	if (valuelen < 0)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "valuelen is %d, but must not be negative",
				  valuelen);
	/* valuelen does not count the end of the string. */
	err = lookup(info, key, value, (size_t)valuelen + 1, &len, func);
	if (!err)
		*flag = len >= 0;
	return err;
}
MPII_ALIAS(Info_get);

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen,
			   int *flag)
{
	static const char func[] = "MPI_Info_get_valuelen";
	int len, err;

	if (!valuelen || !flag)
		return mpii_bad_null(NULL, func,
				     valuelen ? "flag" : "valuelen");
	err = lookup(info, key, NULL, 0, &len, func);
	if (err)
		return err;
	*flag = len >= 0;
	if (*flag)
		*valuelen = len;
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_get_valuelen);

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
	struct mpii_info *i = mpii_info_get(info);

	if (!i)
		return bad_info(info, "MPI_Info_get_nkeys");
	if (!nkeys)
		return mpii_bad_null(NULL, "MPI_Info_get_nkeys", "nkeys");
	*nkeys = i->n;
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_get_nkeys);

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
	struct mpii_info *i = mpii_info_get(info);

	if (!i)
		return bad_info(info, "MPI_Info_get_nthkey");
	if (!key)
		return mpii_bad_null(NULL, "MPI_Info_get_nthkey", "key");
	if (n < 0 || n >= i->n)
		return mpii_error(NULL, MPI_ERR_ARG, "MPI_Info_get_nthkey",
				  "n is %d, but there are %d keys", n, i->n);
	strcpy(key, i->pairs[n].key);
	return MPI_SUCCESS;
}
MPII_ALIAS(Info_get_nthkey);

int PMPI_Abi_get_info(MPI_Info *info)
{
	static const struct {
		const char *key;
		int bytes;
	} sizes[] = {
		{ "mpi_aint_size", sizeof(MPI_Aint) },
		{ "mpi_count_size", sizeof(MPI_Count) },
		{ "mpi_offset_size", sizeof(MPI_Offset) },
	};
	struct mpii_info *i;
	char text[16];

	if (!info)
		return mpii_bad_null(NULL, "MPI_Abi_get_info", "info");
	i = create();
	for (int k = 0; i && k < 3; k++) {
		snprintf(text, sizeof(text), "%d", sizes[k].bytes);
		if (!set(i, sizes[k].key, text)) {
			mpii_info_destroy(i);
			i = NULL;
		}
	}
	if (!i)
		return mpii_no_mem(NULL, "MPI_Abi_get_info");
	*info = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Abi_get_info);
