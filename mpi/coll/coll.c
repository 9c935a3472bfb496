/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Memory and sets of requests for the length of one collective call. */
#include "coll/coll.h"

#define ALIGN 16 /* malloc's, and enough for every basic type */

void *coll_memory_get(struct coll_memory *m, MPI_Count bytes)
{
	m->heap = NULL;
	if (bytes <= (MPI_Count)sizeof(m->small))
		return m->small;
	m->heap = malloc(bytes);
	if (!m->heap)
		mpii_fail(MPI_ERR_NO_MEM, "no memory for %lld bytes",
			  (long long)bytes);
	return m->heap;
}

void *coll_memory_typed(struct coll_memory *m, MPI_Count count,
			const struct mpii_type *t)
{
	MPI_Aint far = count > 1 ? (count - 1) * t->extent : 0;
	MPI_Aint low = t->true_lb + (far < 0 ? far : 0);
	MPI_Count bytes = t->true_extent + (far < 0 ? -far : far);
	char *p = coll_memory_get(m, bytes + ALIGN);

	/* what was aligned in the program's buffer is so here */
	return p ? p + (low & (ALIGN - 1)) - low : NULL;
}

int coll_mismatch(const struct coll *k, int err)
{
	if (!k->wrong || (err != MPI_ERR_TRUNCATE && err != MPI_ERR_COUNT))
		return err;
	if (*k->wrong)
		return MPI_SUCCESS;
	*k->wrong = err;
	if (k->task)
		coll_task_note(k->task, err);
	return MPI_SUCCESS;
}

int coll_reqs_init(struct coll_reqs *r, int max)
{
	r->n = 0;
	r->err = MPI_SUCCESS;
	r->k = NULL;
	r->req = coll_memory_get(&r->mem, max * sizeof(*r->req));
	return r->req ? MPI_SUCCESS : MPI_ERR_NO_MEM;
}

static void posted(struct coll_reqs *r, int err)
{
	r->err = err;
	if (!err)
		r->n++;
	else if (r->k->task)
		coll_task_note(r->k->task, err);
}

void coll_post_send(const struct coll *k, struct coll_reqs *r, const void *buf,
		    MPI_Count count, struct mpii_type *t, int dest)
{
	if (r->err)
		return;
	r->k = k;
	posted(r, coll_isend(k, buf, count, t, dest, &r->req[r->n]));
}

void coll_post_recv(const struct coll *k, struct coll_reqs *r, void *buf,
		    MPI_Count count, struct mpii_type *t, int source)
{
	if (r->err)
		return;
	r->k = k;
	posted(r, coll_irecv(k, buf, count, t, source, &r->req[r->n]));
}

int coll_reqs_wait(struct coll_reqs *r)
{
	const struct coll *k = r->k;
	int err = MPI_SUCCESS;

	if (k)
		err = k->task ? coll_task_wait_all(k, r->req, r->n) :
				coll_received(k, mpii_wait_exact(r->req, r->n));
	r->n = 0;
	return r->err ? r->err : err;
}

int coll_reqs_finish(struct coll_reqs *r)
{
	int err = coll_reqs_wait(r);

	coll_memory_put(&r->mem);
	return err;
}

int coll_arrays_init(struct coll_arrays *a, int n)
{
	char *p = coll_memory_get(&a->mem,
				  n * (sizeof(*a->counts) + sizeof(*a->displs) +
				       sizeof(*a->types)));

	if (!p)
		return MPI_ERR_NO_MEM;
	a->counts = (MPI_Count *)p;
	a->displs = (MPI_Aint *)(a->counts + n);
	a->types = (struct mpii_type **)(a->displs + n);
	return MPI_SUCCESS;
}

int coll_arrays_take(struct coll_arrays *a, const struct coll_lists *l, int n,
		     struct coll_side *s)
{
	int err = coll_arrays_init(a, n);

	if (err)
		return err;
	for (int i = 0; l->counts && i < n; i++)
		a->counts[i] = l->counts[i];
	for (int i = 0; l->displs && i < n; i++)
		a->displs[i] = l->displs[i];
	s->n = n;
	s->counts = l->counts ? a->counts : l->counts_c;
	s->displs = l->displs ? a->displs : l->displs_c;
	return MPI_SUCCESS;
}
