/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What libmpi knows of the Fortran compiler, and what a Fortran library that
 * was built by another one may tell it (chapter 20 of the standard). The sizes
 * are those of gfortran without options; the values of LOGICAL are 1 and 0 until
 * somebody says otherwise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/fortran_abi.h"
#include "env/errors.h"
#include "info/info.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool booleans_set, info_set;
static atomic_bool unusual; /* booleans other than 1 and 0 */
static int64_t logical_true_ = 1, logical_false_ = 0;

/* --- the values of LOGICAL --- */

static bool is_size(int size)
{
	return size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
}

/* An integer of @size bytes; of 16, the sign is all that the upper half has. */
static int64_t load(const void *p, int size)
{
	int64_t v;

	switch (size) {
	case 1:
		return *(const int8_t *)p;
	case 2:
		return *(const int16_t *)p;
	case 4:
		return *(const int32_t *)p;
	default:
		memcpy(&v, p, sizeof(v));
		return v;
	}
}

static void store(void *p, int size, int64_t v)
{
	__int128 wide = v;

	memcpy(p, &wide, size); /* little-endian */
}

static int bad_size(const char *func, int size)
{
	return mpii_error(NULL, MPI_ERR_ARG, func,
			  "logical_size is %d, but LOGICAL has 1, 2, 4, 8 or "
			  "16 bytes",
			  size);
}

int PMPI_Abi_set_fortran_booleans(int logical_size, void *logical_true,
				  void *logical_false)
{
	static const char func[] = "MPI_Abi_set_fortran_booleans";
	bool again;

	if (!is_size(logical_size))
		return bad_size(func, logical_size);
	if (!logical_true || !logical_false)
		return mpii_bad_null(NULL, func,
				     logical_true ? "logical_false" :
						    "logical_true");
	pthread_mutex_lock(&lock);
	again = booleans_set;
	if (!again) {
		booleans_set = true;
		logical_true_ = load(logical_true, logical_size);
		logical_false_ = load(logical_false, logical_size);
		unusual = logical_true_ != 1 || logical_false_ != 0;
	}
	pthread_mutex_unlock(&lock);
	if (again)
		return mpii_error(NULL, MPI_ERR_ABI, func,
				  "the values of LOGICAL were set already");
	return MPI_SUCCESS;
}
MPII_ALIAS(Abi_set_fortran_booleans);

int PMPI_Abi_get_fortran_booleans(int logical_size, void *logical_true,
				  void *logical_false, int *is_set)
{
	static const char func[] = "MPI_Abi_get_fortran_booleans";

	if (!is_size(logical_size))
		return bad_size(func, logical_size);
	if (!logical_true || !logical_false || !is_set)
		return mpii_bad_null(NULL, func, "an argument");
	pthread_mutex_lock(&lock);
	*is_set = booleans_set;
	if (booleans_set) {
		store(logical_true, logical_size, logical_true_);
		store(logical_false, logical_size, logical_false_);
	}
	pthread_mutex_unlock(&lock);
	return MPI_SUCCESS;
}
MPII_ALIAS(Abi_get_fortran_booleans);

/* --- LOGICAL in reductions, for values other than 1 and 0 --- */

static bool is_fortran_logical(MPI_Datatype basic)
{
	return basic == MPI_LOGICAL || basic == MPI_LOGICAL1 ||
	       basic == MPI_LOGICAL2 || basic == MPI_LOGICAL4 ||
	       basic == MPI_LOGICAL8 || basic == MPI_LOGICAL16;
}

bool mpii_logical_unusual(const struct mpii_type *t)
{
	return atomic_load_explicit(&unusual, memory_order_relaxed) &&
	       is_fortran_logical(t->basic);
}

void mpii_logical_apply(enum mpii_op_index op, int size, const void *in,
			void *inout, MPI_Count n)
{
	const char *a = in;
	char *b = inout;

	for (; n > 0; n--, a += size, b += size) {
		bool x = load(a, size) != logical_false_;
		bool y = load(b, size) != logical_false_;
		bool z = op == MPII_OP_LAND ? x && y :
			 op == MPII_OP_LOR  ? x || y :
					      x != y;

		store(b, size, z ? logical_true_ : logical_false_);
	}
}

/* --- sizes --- */

struct fact {
	const char *key;
	MPI_Datatype type; /* whose size it is; NULL: the value is "true" */
};

static const struct fact facts[] = {
	{ "mpi_logical_size", MPI_LOGICAL },
	{ "mpi_integer_size", MPI_INTEGER },
	{ "mpi_real_size", MPI_REAL },
	{ "mpi_double_precision_size", MPI_DOUBLE_PRECISION },
	{ "mpi_logical1_supported", 0 },
	{ "mpi_logical2_supported", 0 },
	{ "mpi_logical4_supported", 0 },
	{ "mpi_logical8_supported", 0 },
	{ "mpi_logical16_supported", 0 },
	{ "mpi_integer1_supported", 0 },
	{ "mpi_integer2_supported", 0 },
	{ "mpi_integer4_supported", 0 },
	{ "mpi_integer8_supported", 0 },
	{ "mpi_integer16_supported", 0 },
	{ "mpi_real2_supported", 0 },
	{ "mpi_real4_supported", 0 },
	{ "mpi_real8_supported", 0 },
	{ "mpi_real16_supported", 0 },
	{ "mpi_complex4_supported", 0 },
	{ "mpi_complex8_supported", 0 },
	{ "mpi_complex16_supported", 0 },
	{ "mpi_complex32_supported", 0 },
	{ "mpi_double_complex_supported", 0 },
};
#define FACTS (sizeof(facts) / sizeof(facts[0]))

static void value_of(const struct fact *f, char *text, size_t room)
{
	if (f->type)
		snprintf(text, room, "%d", (int)mpii_type_get(f->type)->size);
	else
		snprintf(text, room, "true");
}

int PMPI_Abi_get_fortran_info(MPI_Info *info)
{
	static const char func[] = "MPI_Abi_get_fortran_info";
	struct mpii_info *i;
	char text[16];

	if (!info)
		return mpii_bad_null(NULL, func, "info");
	i = mpii_info_copy(NULL);
	for (size_t k = 0; i && k < FACTS; k++) {
		value_of(&facts[k], text, sizeof(text));
		if (!mpii_info_add(i, facts[k].key, text)) {
			mpii_info_destroy(i);
			i = NULL;
		}
	}
	if (!i)
		return mpii_no_mem(NULL, func);
	*info = (MPI_Info)i;
	return MPI_SUCCESS;
}
MPII_ALIAS(Abi_get_fortran_info);

/* A compiler that lacks a type is fine, one with another size is not. */
static int check_fact(const char *func, const struct fact *f,
		      const struct mpii_info *i)
{
	const char *value = mpii_info_value(i, f->key);
	char ours[16];

	if (!value || !f->type)
		return MPI_SUCCESS;
	value_of(f, ours, sizeof(ours));
	if (!strcmp(value, ours))
		return MPI_SUCCESS;
	return mpii_error(NULL, MPI_ERR_ABI, func,
			  "%s is %s, but this library "
			  "has %s and cannot change it: compile without "
			  "options that change the default kinds",
			  f->key, value, ours);
}

int PMPI_Abi_set_fortran_info(MPI_Info info)
{
	static const char func[] = "MPI_Abi_set_fortran_info";
	struct mpii_info *i = mpii_info_get(info);
	bool again;
	int err;

	if (!i)
		return mpii_error(NULL, MPI_ERR_INFO, func,
				  "info is %p, which is not an info object",
				  (void *)info);
	for (size_t k = 0; k < FACTS; k++) {
		err = check_fact(func, &facts[k], i);
		if (err)
			return err;
	}
	pthread_mutex_lock(&lock);
	again = info_set;
	info_set = true;
	pthread_mutex_unlock(&lock);
	if (again)
		return mpii_error(NULL, MPI_ERR_ABI, func,
				  "the Fortran information was set already");
	return MPI_SUCCESS;
}
MPII_ALIAS(Abi_set_fortran_info);
