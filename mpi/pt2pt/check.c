/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Argument checks of messages, in the order a reader would expect. */
#include "env/errors.h"
#include "pt2pt/check.h"

int mpii_check_buffer(struct mpii_comm *c, const void *buf, MPI_Count count,
		      MPI_Datatype datatype, struct mpii_type **t,
		      const char *func)
{
	*t = mpii_type_get(datatype);
	if (count < 0)
		return mpii_bad_count(c, count, func, "count");
	if (!*t || !(*t)->committed)
		return mpii_bad_type(c, datatype, func, "datatype");
	/* MPI_BOTTOM is a null pointer too; it needs a type with addresses,
	 * which is never contiguous from displacement 0. */
	if (!buf && count > 0 && (*t)->size > 0 && (*t)->contiguous)
		return mpii_error(c, MPI_ERR_BUFFER, func,
				  "buf is a null pointer, but count is %lld",
				  (long long)count);
	if (buf == MPI_IN_PLACE)
		return mpii_error(c, MPI_ERR_BUFFER, func,
				  "buf is MPI_IN_PLACE, which is for "
				  "collectives");
	return MPI_SUCCESS;
}

int mpii_check_send(const void *buf, MPI_Count count, MPI_Datatype datatype,
		    int dest, int tag, MPI_Comm comm, struct mpii_comm **c,
		    struct mpii_type **t, const char *func)
{
	int err;

	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_bad_comm(comm, func);
	err = mpii_check_buffer(*c, buf, count, datatype, t, func);
	if (err)
		return err;
	if (dest != MPI_PROC_NULL && (dest < 0 || dest >= (*c)->remote_size))
		return mpii_bad_rank(*c, dest, func, "dest");
	if (tag < 0)
		return mpii_error(*c, MPI_ERR_TAG, func,
				  "tag is %d, but must not be negative%s", tag,
				  tag == MPI_ANY_TAG ? " (MPI_ANY_TAG is for "
						       "receives)" :
						       "");
	return MPI_SUCCESS;
}

int mpii_check_source(struct mpii_comm *c, int source, int tag,
		      const char *func)
{
	if (source != MPI_PROC_NULL && source != MPI_ANY_SOURCE &&
	    (source < 0 || source >= c->remote_size))
		return mpii_bad_rank(c, source, func, "source");
	if (tag < 0 && tag != MPI_ANY_TAG)
		return mpii_error(c, MPI_ERR_TAG, func,
				  "tag is %d, but must "
				  "be MPI_ANY_TAG or not negative",
				  tag);
	return MPI_SUCCESS;
}

int mpii_check_recv(const void *buf, MPI_Count count, MPI_Datatype datatype,
		    int source, int tag, MPI_Comm comm, struct mpii_comm **c,
		    struct mpii_type **t, const char *func)
{
	int err;

	*c = mpii_comm_get(comm);
	if (!*c)
		return mpii_bad_comm(comm, func);
	err = mpii_check_buffer(*c, buf, count, datatype, t, func);
	return err ? err : mpii_check_source(*c, source, tag, func);
}
