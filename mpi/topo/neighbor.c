/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Neighborhood collectives: one message to every neighbor and one from each.
 *
 * All messages of a call carry the same tag, so several between the same two
 * processes are told apart by their order: sent in the order of the neighbors,
 * received in that order too. A cartesian grid is special: what goes down is
 * received as coming from above. Where both neighbors of a dimension are one
 * process, because it has only one or two places, that matters; so there the
 * receive from above is posted before the one from below.
 */
#include "topo/neighbor.h"

/* One call, its arguments checked. */
struct call {
	struct mpii_comm *c;
	struct mpii_topo *t;
	struct coll_side send, recv;
	bool one; /* one block goes to all */
	struct coll_arrays swide, rwide;
};

static int run(const struct coll *k, const struct call *n)
{
	const struct mpii_topo *t = n->t;
	bool grid = t->kind == MPI_CART;
	struct coll_reqs reqs;
	int j, err = coll_reqs_init(&reqs, t->indegree + t->outdegree);

	if (err)
		return err;
	for (int i = 0; i < t->indegree; i++) {
		j = grid ? i ^ 1 : i;
		if (t->sources[j] != MPI_PROC_NULL)
			coll_post_recv(k, &reqs, coll_block(&n->recv, j),
				       coll_count(&n->recv, j),
				       coll_type(&n->recv, j), t->sources[j]);
	}
	for (int i = 0; i < t->outdegree; i++) {
		j = n->one ? 0 : i;
		if (t->destinations[i] != MPI_PROC_NULL)
			coll_post_send(k, &reqs, coll_block(&n->send, j),
				       coll_count(&n->send, j),
				       coll_type(&n->send, j),
				       t->destinations[i]);
	}
	return coll_reqs_finish(&reqs);
}

/* --- checks --- */

static int find_types(const char *func, struct mpii_comm *c, int n,
		      const struct nbr_arg *a, struct coll_arrays *w,
		      struct coll_side *s)
{
	int err = MPI_SUCCESS;

	s->unit = 1;
	if (!a->types_given) {
		err = coll_check_type(func, c, a->type_name, a->type, &s->t);
		s->unit = err ? 0 : s->t->extent;
		return err;
	}
	if (n > 0 && !a->types)
		return mpii_bad_null(c, func, a->type_name);
	for (int i = 0; i < n && !err; i++) {
		if (s->counts[i] == 0) /* then programs give any type */
			w->types[i] = coll_bytes();
		else
			err = coll_check_type(func, c, a->type_name,
					      a->types[i], &w->types[i]);
	}
	s->types = w->types;
	return err;
}

static int check_arrays(const char *func, struct mpii_comm *c, int n,
			const struct nbr_arg *a, struct coll_arrays *w,
			struct coll_side *s)
{
	if (n > 0 && !a->counts && !a->counts_c)
		return mpii_bad_null(c, func, a->counts_name);
	if (n > 0 && !a->displs && !a->displs_c)
		return mpii_bad_null(c, func, a->displs_name);
	s->counts = a->counts_c;
	s->displs = a->displs_c;
	for (int i = 0; i < n && a->counts; i++)
		w->counts[i] = a->counts[i];
	for (int i = 0; i < n && a->displs; i++)
		w->displs[i] = a->displs[i];
	if (a->counts)
		s->counts = w->counts;
	if (a->displs)
		s->displs = w->displs;
	return MPI_SUCCESS;
}

/* @n neighbors on this side. */
static int check_side(const char *func, struct mpii_comm *c, int n,
		      const struct nbr_arg *a, struct coll_arrays *w,
		      struct coll_side *s)
{
	int err = MPI_SUCCESS;

	*s = (struct coll_side){ .buf = (char *)a->buf, .count = a->count };
	if (a->vector)
		err = check_arrays(func, c, n, a, w, s);
	if (!err)
		err = find_types(func, c, n, a, w, s);
	if (!err && !a->vector && a->count < 0)
		return mpii_bad_count(c, a->count, func, a->counts_name);
	for (int i = 0; i < n && !err; i++)
		err = coll_check_buf(func, c, a->buf_name, a->buf,
				     coll_count(s, i), coll_type(s, i));
	return err;
}

static int prepare(const char *func, const struct nbr_arg *s,
		   const struct nbr_arg *r, MPI_Comm comm, struct call *n)
{
	int err = mpii_topo_find(func, comm, 0, &n->c, &n->t);

	if (err)
		return err;
	n->one = s->one;
	err = coll_arrays_init(&n->swide, n->t->outdegree);
	if (err)
		return coll_end(func, n->c, err);
	err = coll_arrays_init(&n->rwide, n->t->indegree);
	if (err) {
		coll_arrays_free(&n->swide);
		return coll_end(func, n->c, err);
	}
	err = check_side(func, n->c, n->t->outdegree, s, &n->swide, &n->send);
	if (!err)
		err = check_side(func, n->c, n->t->indegree, r, &n->rwide,
				 &n->recv);
	if (err) {
		coll_arrays_free(&n->swide);
		coll_arrays_free(&n->rwide);
	}
	return err;
}

/* --- the three forms --- */

int mpii_neighbor(const char *func, const struct nbr_arg *s,
		  const struct nbr_arg *r, MPI_Comm comm)
{
	struct call n;
	struct coll k;
	int err = prepare(func, s, r, comm, &n);

	if (err)
		return err;
	k = coll_begin(n.c);
	err = coll_end(func, n.c, run(&k, &n));
	coll_arrays_free(&n.swide);
	coll_arrays_free(&n.rwide);
	return err;
}
