/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Arguments that more than one collective has to check. */
#include "coll/coll.h"

int coll_check_comm(const char *func, MPI_Comm h, struct mpii_comm **c)
{
	*c = mpii_comm_get(h);
	return mpii_likely(*c) ? MPI_SUCCESS : mpii_bad_comm(h, func);
}

int coll_check_intra(const char *func, struct mpii_comm *c)
{
	if (!c->inter)
		return MPI_SUCCESS;
	return mpii_error(c, MPI_ERR_COMM, func,
			  "comm is an intercommunicator; %s needs an "
			  "intracommunicator",
			  func);
}

int coll_check_root(const char *func, struct mpii_comm *c, int root)
{
	if (root >= 0 && root < c->remote_size)
		return MPI_SUCCESS;
	if (c->inter && (root == MPI_ROOT || root == MPI_PROC_NULL))
		return MPI_SUCCESS;
	return mpii_error(c, MPI_ERR_ROOT, func,
			  "root %d is not a rank of a group of %d", root,
			  c->remote_size);
}

int coll_check_type(const char *func, struct mpii_comm *c, const char *arg,
		    MPI_Datatype h, struct mpii_type **t)
{
	*t = mpii_type_get(h);
	if (mpii_likely(*t && (*t)->committed))
		return MPI_SUCCESS;
	if (!*t)
		return mpii_bad_type(c, h, func, arg);
	return mpii_error(c, MPI_ERR_TYPE, func,
			  "%s is not committed: call MPI_Type_commit first",
			  arg);
}

int coll_check_buf(const char *func, struct mpii_comm *c, const char *arg,
		   const void *buf, MPI_Count count, const struct mpii_type *t)
{
	if (mpii_unlikely(count < 0))
		return mpii_error(c, MPI_ERR_COUNT, func,
				  "the count of %s is %lld, which is negative",
				  arg, (long long)count);
	if (mpii_unlikely(buf == MPI_IN_PLACE))
		return mpii_error(c, MPI_ERR_BUFFER, func,
				  "%s is MPI_IN_PLACE, which is not allowed "
				  "here",
				  arg);
	/* derived types may hold addresses, relative to MPI_BOTTOM */
	if (mpii_unlikely(!buf && count && t->predefined))
		return mpii_error(c, MPI_ERR_BUFFER, func,
				  "%s is a null pointer but its count is %lld",
				  arg, (long long)count);
	return MPI_SUCCESS;
}

/* Block @i of a v or w form, whose types are known. */
static int check_block(const char *func, struct mpii_comm *c, const char *arg,
		       const struct coll_side *s, int i)
{
	const void *buf = s->buf;

	/* displacements may be addresses, relative to MPI_BOTTOM */
	if (mpii_unlikely(!buf) && s->displs)
		buf = coll_block(s, i);
	return coll_check_buf(func, c, arg, buf, s->counts[i], coll_type(s, i));
}

int coll_check_op(const char *func, struct mpii_comm *c, MPI_Op h,
		  const struct mpii_type *t, struct mpii_op **op)
{
	int err;

	*op = mpii_op_get(h);
	if (!*op)
		return mpii_error(c, MPI_ERR_OP, func,
				  "op %p is not an operation", (void *)h);
	if (h == MPI_REPLACE || h == MPI_NO_OP)
		return mpii_error(c, MPI_ERR_OP, func,
				  "MPI_REPLACE and MPI_NO_OP are for one-sided "
				  "communication only");
	err = mpii_op_check(*op, t);
	return mpii_likely(!err) ? err : mpii_raise(c, err, func);
}

int coll_check_alias(const char *func, struct mpii_comm *c, const void *sendbuf,
		     const void *recvbuf, MPI_Count count)
{
	if (sendbuf != recvbuf || count == 0 || !sendbuf)
		return MPI_SUCCESS;
	return mpii_error(c, MPI_ERR_BUFFER, func,
			  "sendbuf and recvbuf are the same memory: use "
			  "MPI_IN_PLACE");
}

int coll_check_place(const char *func, struct mpii_comm *c, const void *buf)
{
	if (!c->inter || buf != MPI_IN_PLACE)
		return MPI_SUCCESS;
	return mpii_error(c, MPI_ERR_BUFFER, func,
			  "MPI_IN_PLACE is not allowed on an "
			  "intercommunicator");
}

int coll_check_lists(const char *func, struct mpii_comm *c,
		     const struct coll_lists *l, const char *counts,
		     const char *displs)
{
	if (!l->counts && !l->counts_c)
		return mpii_bad_null(c, func, counts);
	if (displs && !l->displs && !l->displs_c)
		return mpii_bad_null(c, func, displs);
	return MPI_SUCCESS;
}

int coll_check_types(const char *func, struct mpii_comm *c,
		     const char *types_arg, const MPI_Datatype *types,
		     const char *buf_arg, struct coll_arrays *w,
		     struct coll_side *s)
{
	int err = MPI_SUCCESS;

	s->unit = 1;
	s->types = w->types;
	for (int i = 0; i < s->n && !err; i++) {
		w->types[i] = coll_bytes();
		if (s->counts[i] == 0) /* then programs give any type */
			continue;
		err = coll_check_type(func, c, types_arg, types[i],
				      &w->types[i]);
		if (!err)
			err = check_block(func, c, buf_arg, s, i);
	}
	return err;
}

int coll_check_side(const char *func, struct mpii_comm *c, const char *type_arg,
		    MPI_Datatype type, const char *buf_arg, int blocks,
		    struct coll_side *s)
{
	int err = coll_check_type(func, c, type_arg, type, &s->t);

	if (err)
		return err;
	s->unit = s->t->extent;
	if (!s->counts)
		return coll_check_buf(func, c, buf_arg, s->buf, s->count, s->t);
	for (int i = 0; i < blocks && !err; i++)
		err = check_block(func, c, buf_arg, s, i);
	return err;
}
