/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* What can be asked of a status, and set in it. */
#include "datatype/datatype.h"
#include "env/errors.h"
#include "pt2pt/status.h"

static int bad_status(const char *func)
{
	return mpii_error(NULL, MPI_ERR_ARG, func,
			  "status is a null pointer or MPI_STATUS_IGNORE");
}

/* In whole datatypes; MPI_UNDEFINED when it is no whole number of them. */
static int get_count(const MPI_Status *status, MPI_Datatype datatype,
		     MPI_Count *count, const char *func)
{
	struct mpii_type *t = mpii_type_get(datatype);
	MPI_Count bytes;

	if (!status)
		return bad_status(func);
	if (!t)
		return mpii_bad_type(NULL, datatype, func, "datatype");
	bytes = mpii_status_bytes(status);
	if (t->size == 0)
		*count = bytes == 0 ? 0 : MPI_UNDEFINED;
	else if (bytes % t->size)
		*count = MPI_UNDEFINED;
	else
		*count = bytes / t->size;
	return MPI_SUCCESS;
}

static int get_elements(const MPI_Status *status, MPI_Datatype datatype,
			MPI_Count *count, const char *func)
{
	struct mpii_type *t = mpii_type_get(datatype);

	if (!status)
		return bad_status(func);
	if (!t)
		return mpii_bad_type(NULL, datatype, func, "datatype");
	*count = mpii_type_elements(t, mpii_status_bytes(status));
	return MPI_SUCCESS;
}

/* An int result that does not fit is undefined. */
static int to_int(MPI_Count n)
{
	return n > INT32_MAX ? MPI_UNDEFINED : (int)n;
}

int PMPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
	MPI_Count n = 0;
	int err;

	if (!count)
		return mpii_bad_null(NULL, "MPI_Get_count", "count");
	err = get_count(status, datatype, &n, "MPI_Get_count");
	if (!err)
		*count = to_int(n);
	return err;
}
MPII_ALIAS(Get_count);

int PMPI_Get_count_c(const MPI_Status *status, MPI_Datatype datatype,
		     MPI_Count *count)
{
	if (!count)
		return mpii_bad_null(NULL, "MPI_Get_count_c", "count");
	return get_count(status, datatype, count, "MPI_Get_count_c");
}
MPII_ALIAS(Get_count_c);

int PMPI_Get_elements(const MPI_Status *status, MPI_Datatype datatype,
		      int *count)
{
	MPI_Count n = 0;
	int err;

	if (!count)
		return mpii_bad_null(NULL, "MPI_Get_elements", "count");
	err = get_elements(status, datatype, &n, "MPI_Get_elements");
	if (!err)
		*count = to_int(n);
	return err;
}
MPII_ALIAS(Get_elements);

int PMPI_Get_elements_c(const MPI_Status *status, MPI_Datatype datatype,
			MPI_Count *count)
{
	if (!count)
		return mpii_bad_null(NULL, "MPI_Get_elements_c", "count");
	return get_elements(status, datatype, count, "MPI_Get_elements_c");
}
MPII_ALIAS(Get_elements_c);

int PMPI_Get_elements_x(const MPI_Status *status, MPI_Datatype datatype,
			MPI_Count *count)
{
	if (!count)
		return mpii_bad_null(NULL, "MPI_Get_elements_x", "count");
	return get_elements(status, datatype, count, "MPI_Get_elements_x");
}
MPII_ALIAS(Get_elements_x);

int PMPI_Test_cancelled(const MPI_Status *status, int *flag)
{
	if (!status)
		return bad_status("MPI_Test_cancelled");
	if (!flag)
		return mpii_bad_null(NULL, "MPI_Test_cancelled", "flag");
	*flag = status->MPI_internal[2] != 0;
	return MPI_SUCCESS;
}
MPII_ALIAS(Test_cancelled);

/* --- setting --- */

/* Elements in the first @bytes of an instance; when these end inside an
 * element, up to its end, which *bytes is moved to. */
static MPI_Count elements_at(const struct mpii_type *t, MPI_Count *bytes)
{
	MPI_Count n;

	while ((n = mpii_type_elements(t, *bytes)) == MPI_UNDEFINED)
		++*bytes;
	return n;
}

/* The bytes that @count basic elements of the type's map take. */
static MPI_Count bytes_of(const struct mpii_type *t, MPI_Count count)
{
	MPI_Count low = 0, high = t->size, mid, end;
	MPI_Count per = mpii_type_elements(t, t->size), whole;

	if (per <= 0)
		return 0;
	whole = count / per;
	count %= per;
	/* Elements grow with bytes: find the least that hold the rest. */
	while (low < high) {
		mid = low + (high - low) / 2;
		end = mid;
		if (elements_at(t, &end) >= count)
			high = mid;
		else
			low = end + 1;
	}
	elements_at(t, &low);
	return whole * t->size + low;
}

static int set_elements(MPI_Status *status, MPI_Datatype datatype,
			MPI_Count count, const char *func)
{
	struct mpii_type *t = mpii_type_get(datatype);

	if (!status)
		return bad_status(func);
	if (!t)
		return mpii_bad_type(NULL, datatype, func, "datatype");
	if (count < 0)
		return mpii_bad_count(NULL, count, func, "count");
	mpii_status_set_bytes(status, bytes_of(t, count));
	return MPI_SUCCESS;
}

int PMPI_Status_set_elements(MPI_Status *status, MPI_Datatype datatype,
			     int count)
{
	return set_elements(status, datatype, count, "MPI_Status_set_elements");
}
MPII_ALIAS(Status_set_elements);

int PMPI_Status_set_elements_c(MPI_Status *status, MPI_Datatype datatype,
			       MPI_Count count)
{
	return set_elements(status, datatype, count,
			    "MPI_Status_set_elements_c");
}
MPII_ALIAS(Status_set_elements_c);

int PMPI_Status_set_elements_x(MPI_Status *status, MPI_Datatype datatype,
			       MPI_Count count)
{
	return set_elements(status, datatype, count,
			    "MPI_Status_set_elements_x");
}
MPII_ALIAS(Status_set_elements_x);

int PMPI_Status_set_cancelled(MPI_Status *status, int flag)
{
	if (!status)
		return bad_status("MPI_Status_set_cancelled");
	status->MPI_internal[2] = flag != 0;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_set_cancelled);

int PMPI_Status_get_source(const MPI_Status *status, int *source)
{
	if (!status || !source)
		return bad_status("MPI_Status_get_source");
	*source = status->MPI_SOURCE;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_get_source);

int PMPI_Status_get_tag(const MPI_Status *status, int *tag)
{
	if (!status || !tag)
		return bad_status("MPI_Status_get_tag");
	*tag = status->MPI_TAG;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_get_tag);

int PMPI_Status_get_error(const MPI_Status *status, int *err)
{
	if (!status || !err)
		return bad_status("MPI_Status_get_error");
	*err = status->MPI_ERROR;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_get_error);

int PMPI_Status_set_source(MPI_Status *status, int source)
{
	if (!status)
		return bad_status("MPI_Status_set_source");
	status->MPI_SOURCE = source;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_set_source);

int PMPI_Status_set_tag(MPI_Status *status, int tag)
{
	if (!status)
		return bad_status("MPI_Status_set_tag");
	status->MPI_TAG = tag;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_set_tag);

int PMPI_Status_set_error(MPI_Status *status, int err)
{
	if (!status)
		return bad_status("MPI_Status_set_error");
	status->MPI_ERROR = err;
	return MPI_SUCCESS;
}
MPII_ALIAS(Status_set_error);
