/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * How a datatype was made: the record of the constructor's arguments, and
 * MPI_Type_get_envelope, MPI_Type_get_contents and the count of elements, which
 * read it.
 */
#include <stdlib.h>

#include "datatype/build.h"
#include "datatype/contents.h"
#include "datatype/kinds.h"
#include "env/errors.h"

struct mpii_made *mpii_made_create(int combiner, bool large, MPI_Count ints,
				   MPI_Count nums, MPI_Count addrs,
				   MPI_Count types)
{
	struct mpii_made *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->combiner = combiner;
	m->large = large;
	m->ints = calloc(ints + (large ? 0 : nums) + 1, sizeof(*m->ints));
	m->addrs = calloc((large ? 0 : addrs) + 1, sizeof(*m->addrs));
	m->counts = calloc((large ? nums + addrs : 0) + 1, sizeof(*m->counts));
	m->types = calloc(types + 1, sizeof(*m->types));
	if (m->ints && m->addrs && m->counts && m->types)
		return m;
	mpii_made_destroy(m);
	return NULL;
}

void mpii_made_destroy(struct mpii_made *m)
{
	if (!m)
		return;
	for (MPI_Count i = 0; i < m->ntypes; i++)
		mpii_type_put(m->types[i]);
	free(m->types);
	free(m->counts);
	free(m->addrs);
	free(m->ints);
	free(m);
}

void mpii_made_int(struct mpii_made *m, int v)
{
	m->ints[m->nints++] = v;
}

void mpii_made_num(struct mpii_made *m, MPI_Count v)
{
	if (m->large)
		m->counts[m->ncounts++] = v;
	else
		m->ints[m->nints++] = v;
}

void mpii_made_nums(struct mpii_made *m, MPI_Count n, const MPI_Count *v)
{
	for (MPI_Count i = 0; i < n; i++)
		mpii_made_num(m, v[i]);
}

void mpii_made_addr(struct mpii_made *m, MPI_Count v)
{
	if (m->large)
		m->counts[m->ncounts++] = v;
	else
		m->addrs[m->naddrs++] = v;
}

void mpii_made_type(struct mpii_made *m, struct mpii_type *t)
{
	mpii_type_hold(t);
	m->types[m->ntypes++] = t;
}

/* --- elements --- */

/* Elements in less than one value and index. */
static MPI_Count pair_elements(const struct mpii_type *t, MPI_Count bytes)
{
	MPI_Count index = t->kind == MPII_K_2DOUBLE ? sizeof(double) : 4;

	if (t->kind == MPII_K_PAIR)
		index = t->made->types[1]->size;
	return bytes == t->size - index ? 1 : MPI_UNDEFINED;
}

static MPI_Count struct_elements(const struct mpii_made *m, MPI_Count bytes)
{
	MPI_Count n = 0, k;

	for (MPI_Count i = 0; i < m->ntypes; i++) {
		const struct mpii_type *t = m->types[i];
		MPI_Count bl = m->large ? m->counts[1 + i] : m->ints[1 + i];

		if (bytes < bl * t->size) {
			k = mpii_type_elements(t, bytes);
			return k == MPI_UNDEFINED ? k : n + k;
		}
		n += bl * t->nbasic;
		bytes -= bl * t->size;
	}
	return n;
}

MPI_Count mpii_type_elements(const struct mpii_type *t, MPI_Count bytes)
{
	MPI_Count n, rest;

	if (t->size == 0)
		return bytes ? MPI_UNDEFINED : 0;
	n = bytes / t->size * t->nbasic;
	rest = bytes % t->size;
	if (rest == 0)
		return n;
	if (t->predefined)
		rest = t->class == MPII_C_PAIR ? pair_elements(t, rest) :
						 MPI_UNDEFINED;
	else if (t->made->combiner == MPI_COMBINER_STRUCT)
		rest = struct_elements(t->made, rest);
	else
		rest = mpii_type_elements(t->made->types[0], rest);
	return rest == MPI_UNDEFINED ? rest : n + rest;
}

/* --- envelope and contents --- */

static int small_only(const char *func, const struct mpii_type *t)
{
	if (!t->made || !t->made->large)
		return MPI_SUCCESS;
	return mpii_error(NULL, MPI_ERR_TYPE, func,
			  "the datatype was made by a large-count call: ask "
			  "with %s_c",
			  func);
}

/* The record; of a predefined type, one that says so. */
static const struct mpii_made *made_of(const struct mpii_type *t)
{
	static const struct mpii_made named = { .combiner =
							MPI_COMBINER_NAMED };

	return t->made ? t->made : &named;
}

static int check_out(const char *func, const void *ints, const void *addrs,
		     const void *types, const void *combiner)
{
	if (ints && addrs && types && combiner)
		return MPI_SUCCESS;
	return mpii_bad_null(NULL, func,
			     !ints  ? "num_integers" :
			     !addrs ? "num_addresses" :
			     !types ? "num_datatypes" :
				      "combiner");
}

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers,
			   int *num_addresses, int *num_datatypes,
			   int *combiner)
{
	const char *func = "MPI_Type_get_envelope";
	const struct mpii_made *m;
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (!err)
		err = check_out(func, num_integers, num_addresses,
				num_datatypes, combiner);
	if (!err)
		err = small_only(func, t);
	if (err)
		return err;
	m = made_of(t);
	*num_integers = m->nints;
	*num_addresses = m->naddrs;
	*num_datatypes = m->ntypes;
	*combiner = m->combiner;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_get_envelope);

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
			     MPI_Count *num_addresses,
			     MPI_Count *num_large_counts,
			     MPI_Count *num_datatypes, int *combiner)
{
	const char *func = "MPI_Type_get_envelope_c";
	const struct mpii_made *m;
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (!err)
		err = check_out(func, num_integers, num_addresses,
				num_datatypes, combiner);
	if (!err && !num_large_counts)
		err = mpii_bad_null(NULL, func, "num_large_counts");
	if (err)
		return err;
	m = made_of(t);
	*num_integers = m->nints;
	*num_addresses = m->naddrs;
	*num_large_counts = m->ncounts;
	*num_datatypes = m->ntypes;
	*combiner = m->combiner;
	return MPI_SUCCESS;
}
MPII_ALIAS(Type_get_envelope_c);

static int get_contents(const char *func, MPI_Datatype datatype,
			const MPI_Count max[4], int *ints, MPI_Aint *addrs,
			MPI_Count *counts, MPI_Datatype *types, bool large)
{
	const struct mpii_made *m;
	struct mpii_type *t;
	int err = mpii_type_arg(func, datatype, &t);

	if (!err && !large)
		err = small_only(func, t);
	if (err)
		return err;
	m = t->made;
	if (!m)
		return mpii_error(NULL, MPI_ERR_TYPE, func,
				  "%s is predefined and has no contents",
				  t->name);
	if (max[0] < m->nints || max[1] < m->naddrs || max[2] < m->ncounts ||
	    max[3] < m->ntypes)
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "the arrays are shorter than "
				  "MPI_Type_get_envelope said");
	if ((m->nints && !ints) || (m->naddrs && !addrs) ||
	    (m->ncounts && !counts) || (m->ntypes && !types))
		return mpii_error(NULL, MPI_ERR_ARG, func,
				  "an array is a null "
				  "pointer, but there is something for it");
	for (MPI_Count i = 0; i < m->nints; i++)
		ints[i] = m->ints[i];
	for (MPI_Count i = 0; i < m->naddrs; i++)
		addrs[i] = m->addrs[i];
	for (MPI_Count i = 0; i < m->ncounts; i++)
		counts[i] = m->counts[i];
	for (MPI_Count i = 0; i < m->ntypes; i++) {
		mpii_type_hold(m->types[i]);
		types[i] = m->types[i]->handle;
	}
	return MPI_SUCCESS;
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers,
			   int max_addresses, int max_datatypes,
			   int array_of_integers[],
			   MPI_Aint array_of_addresses[],
			   MPI_Datatype array_of_datatypes[])
{
	const MPI_Count max[] = { max_integers, max_addresses, 0,
				  max_datatypes };

	return get_contents("MPI_Type_get_contents", datatype, max,
			    array_of_integers, array_of_addresses, NULL,
			    array_of_datatypes, false);
}
MPII_ALIAS(Type_get_contents);

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers,
			     MPI_Count max_addresses,
			     MPI_Count max_large_counts,
			     MPI_Count max_datatypes, int array_of_integers[],
			     MPI_Aint array_of_addresses[],
			     MPI_Count array_of_large_counts[],
			     MPI_Datatype array_of_datatypes[])
{
	const MPI_Count max[] = { max_integers, max_addresses, max_large_counts,
				  max_datatypes };

	return get_contents("MPI_Type_get_contents_c", datatype, max,
			    array_of_integers, array_of_addresses,
			    array_of_large_counts, array_of_datatypes, true);
}
MPII_ALIAS(Type_get_contents_c);
