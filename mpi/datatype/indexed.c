/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The constructors that take a list of blocks: indexed, hindexed, their _block
 * forms, and struct. All are one loop over blocks; they differ in whether block
 * lengths, types and the unit of the displacements are given once or per block.
 * The int forms widen their arrays first.
 */
#include <stdlib.h>

#include "datatype/build.h"
#include "env/errors.h"

struct list {
	const char *func;
	bool large;
	int combiner;
	MPI_Count count;
	const MPI_Count *bls; /* of the _block forms: bl for all */
	MPI_Count bl;
	const MPI_Count *disps;
	bool bytes; /* displacements are in bytes, not in extents */
	const MPI_Datatype *types; /* of a struct; of others: type for all */
	MPI_Datatype type;
};

static bool has_lengths(const struct list *l)
{
	return l->combiner != MPI_COMBINER_INDEXED_BLOCK &&
	       l->combiner != MPI_COMBINER_HINDEXED_BLOCK;
}

static bool has_types(const struct list *l)
{
	return l->combiner == MPI_COMBINER_STRUCT;
}

static MPI_Count block_length(const struct list *l, MPI_Count i)
{
	return has_lengths(l) ? l->bls[i] : l->bl;
}

static MPI_Datatype block_type(const struct list *l, MPI_Count i)
{
	return has_types(l) ? l->types[i] : l->type;
}

/* Without blocks the arrays may be anything. */
static int check_arrays(const struct list *l, const void *bls,
			const void *disps)
{
	if (l->count <= 0)
		return MPI_SUCCESS;
	if (has_lengths(l) && !bls)
		return mpii_bad_null(NULL, l->func, "array_of_blocklengths");
	if (!disps)
		return mpii_bad_null(NULL, l->func, "array_of_displacements");
	if (has_types(l) && !l->types)
		return mpii_bad_null(NULL, l->func, "array_of_types");
	return MPI_SUCCESS;
}

static int check_list(const struct list *l, MPI_Datatype *newtype)
{
	struct mpii_type *old;
	int err = mpii_type_args(l->func, l->count,
				 has_types(l) ? MPI_BYTE : l->type, newtype,
				 &old);

	if (!err)
		err = check_arrays(l, l->bls, l->disps);
	if (err)
		return err;
	for (MPI_Count i = 0; i < l->count; i++) {
		if (block_length(l, i) < 0)
			return mpii_error(NULL, MPI_ERR_ARG, l->func,
					  "blocklength %lld of block %lld is "
					  "negative",
					  (long long)block_length(l, i),
					  (long long)i);
		if (!mpii_type_get(block_type(l, i)))
			return mpii_error(NULL, MPI_ERR_TYPE, l->func,
					  "type %p of block %lld is not a "
					  "datatype",
					  (void *)block_type(l, i),
					  (long long)i);
	}
	return MPI_SUCCESS;
}

static struct mpii_made *record_list(const struct list *l)
{
	MPI_Count ntypes = has_types(l) ? l->count : 1;
	struct mpii_made *m = mpii_made_create(
		l->combiner, l->large, 0,
		1 + (has_lengths(l) ? l->count : 1) + (l->bytes ? 0 : l->count),
		l->bytes ? l->count : 0, ntypes);

	if (!m)
		return NULL;
	mpii_made_num(m, l->count);
	if (has_lengths(l))
		mpii_made_nums(m, l->count, l->bls);
	else
		mpii_made_num(m, l->bl);
	for (MPI_Count i = 0; i < l->count; i++) {
		if (l->bytes)
			mpii_made_addr(m, l->disps[i]);
		else
			mpii_made_num(m, l->disps[i]);
	}
	for (MPI_Count i = 0; i < ntypes; i++)
		mpii_made_type(m, mpii_type_get(block_type(l, i)));
	return m;
}

static int make_list(const struct list *l, MPI_Datatype *newtype)
{
	struct mpii_build b;
	int err = check_list(l, newtype);

	if (err)
		return err;
	err = mpii_build_begin(&b);
	if (err)
		return mpii_raise(NULL, err, l->func);
	for (MPI_Count i = 0; i < l->count && !err; i++) {
		struct mpii_type *old = mpii_type_get(block_type(l, i));
		MPI_Aint unit = l->bytes ? 1 : old->extent;

		err = mpii_build_add(&b, l->disps[i] * unit, 1, 0,
				     block_length(l, i), old);
	}
	return mpii_type_finish(l->func, &b, err, record_list(l), newtype);
}

/* The int forms: widen what is there, then as above. */
static int make_narrow(struct list *l, const int *bls, const int *disps,
		       const MPI_Aint *addrs, MPI_Datatype *newtype)
{
	MPI_Count n = l->count > 0 ? l->count : 0;
	MPI_Count *wide;
	int err = check_arrays(l, bls, l->bytes ? (const void *)addrs : disps);

	if (err)
		return err;
	wide = calloc(2 * n + 1, sizeof(*wide));
	if (!wide)
		return mpii_no_mem(NULL, l->func);
	for (MPI_Count i = 0; i < n; i++) {
		wide[i] = bls ? bls[i] : 0;
		wide[n + i] = l->bytes ? addrs[i] : disps[i];
	}
	l->bls = wide;
	l->disps = wide + n;
	err = make_list(l, newtype);
	free(wide);
	return err;
}

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
		      const int array_of_displacements[], MPI_Datatype oldtype,
		      MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_indexed",
			  .combiner = MPI_COMBINER_INDEXED,
			  .count = count,
			  .type = oldtype };

	return make_narrow(&l, array_of_blocklengths, array_of_displacements,
			   NULL, newtype);
}
MPII_ALIAS(Type_indexed);

int PMPI_Type_indexed_c(MPI_Count count,
			const MPI_Count array_of_blocklengths[],
			const MPI_Count array_of_displacements[],
			MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_indexed_c",
			  .large = true,
			  .combiner = MPI_COMBINER_INDEXED,
			  .count = count,
			  .bls = array_of_blocklengths,
			  .disps = array_of_displacements,
			  .type = oldtype };

	return make_list(&l, newtype);
}
MPII_ALIAS(Type_indexed_c);

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
			      const MPI_Aint array_of_displacements[],
			      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_hindexed",
			  .combiner = MPI_COMBINER_HINDEXED,
			  .count = count,
			  .bytes = true,
			  .type = oldtype };

	return make_narrow(&l, array_of_blocklengths, NULL,
			   array_of_displacements, newtype);
}
MPII_ALIAS(Type_create_hindexed);

int PMPI_Type_create_hindexed_c(MPI_Count count,
				const MPI_Count array_of_blocklengths[],
				const MPI_Count array_of_displacements[],
				MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_hindexed_c",
			  .large = true,
			  .combiner = MPI_COMBINER_HINDEXED,
			  .count = count,
			  .bls = array_of_blocklengths,
			  .disps = array_of_displacements,
			  .bytes = true,
			  .type = oldtype };

	return make_list(&l, newtype);
}
MPII_ALIAS(Type_create_hindexed_c);

int PMPI_Type_create_indexed_block(int count, int blocklength,
				   const int array_of_displacements[],
				   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_indexed_block",
			  .combiner = MPI_COMBINER_INDEXED_BLOCK,
			  .count = count,
			  .bl = blocklength,
			  .type = oldtype };

	return make_narrow(&l, NULL, array_of_displacements, NULL, newtype);
}
MPII_ALIAS(Type_create_indexed_block);

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
				     const MPI_Count array_of_displacements[],
				     MPI_Datatype oldtype,
				     MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_indexed_block_c",
			  .large = true,
			  .combiner = MPI_COMBINER_INDEXED_BLOCK,
			  .count = count,
			  .bl = blocklength,
			  .disps = array_of_displacements,
			  .type = oldtype };

	return make_list(&l, newtype);
}
MPII_ALIAS(Type_create_indexed_block_c);

int PMPI_Type_create_hindexed_block(int count, int blocklength,
				    const MPI_Aint array_of_displacements[],
				    MPI_Datatype oldtype, MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_hindexed_block",
			  .combiner = MPI_COMBINER_HINDEXED_BLOCK,
			  .count = count,
			  .bl = blocklength,
			  .bytes = true,
			  .type = oldtype };

	return make_narrow(&l, NULL, NULL, array_of_displacements, newtype);
}
MPII_ALIAS(Type_create_hindexed_block);

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
				      const MPI_Count array_of_displacements[],
				      MPI_Datatype oldtype,
				      MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_hindexed_block_c",
			  .large = true,
			  .combiner = MPI_COMBINER_HINDEXED_BLOCK,
			  .count = count,
			  .bl = blocklength,
			  .disps = array_of_displacements,
			  .bytes = true,
			  .type = oldtype };

	return make_list(&l, newtype);
}
MPII_ALIAS(Type_create_hindexed_block_c);

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
			    const MPI_Aint array_of_displacements[],
			    const MPI_Datatype array_of_types[],
			    MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_struct",
			  .combiner = MPI_COMBINER_STRUCT,
			  .count = count,
			  .bytes = true,
			  .types = array_of_types };

	return make_narrow(&l, array_of_blocklengths, NULL,
			   array_of_displacements, newtype);
}
MPII_ALIAS(Type_create_struct);

int PMPI_Type_create_struct_c(MPI_Count count,
			      const MPI_Count array_of_blocklengths[],
			      const MPI_Count array_of_displacements[],
			      const MPI_Datatype array_of_types[],
			      MPI_Datatype *newtype)
{
	struct list l = { .func = "MPI_Type_create_struct_c",
			  .large = true,
			  .combiner = MPI_COMBINER_STRUCT,
			  .count = count,
			  .bls = array_of_blocklengths,
			  .disps = array_of_displacements,
			  .bytes = true,
			  .types = array_of_types };

	return make_list(&l, newtype);
}
MPII_ALIAS(Type_create_struct_c);
