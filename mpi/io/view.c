/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* MPI_File_set_view and what asks about a view. */
#include <stdlib.h>
#include <string.h>

#include "comm/comm.h"
#include "env/errors.h"
#include "info/info.h"
#include "io/cb.h"
#include "io/file.h"
#include "io/rep.h"
#include "io/shared.h"
#include "io/view.h"

void io_view_put(struct io_view *v)
{
	if (!v || atomic_fetch_sub(&v->refs, 1) != 1)
		return;
	mpii_type_put(v->etype);
	mpii_type_put(v->filetype);
	if (v->layout)
		mpii_type_put((struct mpii_type *)v->layout);
	free(v->theirs);
	free(v->their_blocks);
	free(v);
}

static struct io_view *create(MPI_Offset disp, struct mpii_type *etype,
			      struct mpii_type *filetype)
{
	struct io_view *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	v->refs = 1;
	v->disp = disp;
	v->etype = etype;
	v->filetype = filetype;
	mpii_type_hold(etype);
	mpii_type_hold(filetype);
	return v;
}

struct io_view *io_view_bytes(void)
{
	struct mpii_type *byte = mpii_type_get(MPI_BYTE);
	struct io_view *v = create(0, byte, byte);

	if (!v)
		return NULL;
	v->layout = byte;
	mpii_type_hold(byte);
	v->esize = 1;
	v->rep = &io_native;
	v->contiguous = true;
	return v;
}

/* --- setting one --- */

static int check_type(MPI_Datatype h, const char *arg, struct mpii_type **t)
{
	*t = mpii_type_get(h);
	if (h == MPI_DATATYPE_NULL)
		return mpii_fail(MPI_ERR_TYPE, "%s is MPI_DATATYPE_NULL", arg);
	if (!*t)
		return mpii_fail(MPI_ERR_TYPE,
				 "%s is not a datatype or was freed", arg);
	if (!(*t)->committed)
		return mpii_fail(MPI_ERR_TYPE, "%s was not committed", arg);
	return MPI_SUCCESS;
}

static int check_layout(const struct mpii_file *f, struct io_view *v)
{
	const struct mpii_type *t = v->layout;
	bool tiles, apart, overlaps = io_type_overlaps(t, &apart);

	if (v->esize == 0)
		return mpii_fail(MPI_ERR_TYPE, "etype has no data");
	if (t->size % v->esize)
		return mpii_fail(MPI_ERR_TYPE,
				 "filetype has %lld bytes, which is no "
				 "multiple of the %lld of etype",
				 (long long)t->size, (long long)v->esize);
	if (!io_type_monotonic(t, &tiles))
		return mpii_fail(MPI_ERR_TYPE,
				 "the displacements of filetype are negative "
				 "or decrease");
	if (!(f->amode & MPI_MODE_RDONLY) && overlaps)
		return mpii_fail(MPI_ERR_TYPE,
				 "parts of filetype overlap, but the file was "
				 "opened for writing");
	v->read_once = !tiles;
	v->write_once = !tiles || !apart;
	return MPI_SUCCESS;
}

static int lay_out(struct io_view *v)
{
	struct mpii_type *etype, *layout;
	int err = io_rep_layout(v->rep, v->etype, &etype);

	if (err)
		return err;
	v->esize = etype->size;
	mpii_type_put(etype);
	err = io_rep_layout(v->rep, v->filetype, &layout);
	if (err)
		return err;
	v->layout = layout;
	v->contiguous = layout->contiguous;
	return MPI_SUCCESS;
}

/* In sequential files the view begins where the shared pointer is. */
static int check_disp(struct mpii_file *f, MPI_Offset *disp)
{
	bool sequential = f->amode & MPI_MODE_SEQUENTIAL;

	if (*disp == MPI_DISPLACEMENT_CURRENT) {
		if (!sequential)
			return mpii_fail(MPI_ERR_DISP,
					 "disp is MPI_DISPLACEMENT_CURRENT, "
					 "but the file was not opened with "
					 "MPI_MODE_SEQUENTIAL");
		return io_shared_byte(f, disp);
	}
	if (sequential)
		return mpii_fail(MPI_ERR_DISP,
				 "disp must be MPI_DISPLACEMENT_CURRENT in a "
				 "file that was opened with "
				 "MPI_MODE_SEQUENTIAL");
	return *disp >= 0 ? MPI_SUCCESS :
			    mpii_fail(MPI_ERR_DISP,
				      "disp is %lld, but must not be negative",
				      (long long)*disp);
}

static int make(struct mpii_file *f, MPI_Offset disp, MPI_Datatype etype,
		MPI_Datatype filetype, const char *datarep,
		struct io_view **view)
{
	const struct io_rep *rep;
	struct mpii_type *e, *ft;
	struct io_view *v;
	int err = check_type(etype, "etype", &e);

	if (!err)
		err = check_type(filetype, "filetype", &ft);
	if (!err)
		err = check_disp(f, &disp);
	if (err)
		return err;
	if (!datarep)
		return mpii_fail(MPI_ERR_ARG, "datarep is a null pointer");
	rep = io_rep_find(datarep);
	if (!rep)
		return mpii_fail(MPI_ERR_UNSUPPORTED_DATAREP,
				 "there is no data representation \"%s\"",
				 datarep);
	v = create(disp, e, ft);
	if (!v)
		return mpii_fail(MPI_ERR_NO_MEM, "out of memory");
	v->rep = rep;
	err = lay_out(v);
	if (!err)
		err = check_layout(f, v);
	if (err)
		io_view_put(v);
	else
		*view = v;
	return err;
}

int PMPI_File_set_view(MPI_File fh, MPI_Offset disp, MPI_Datatype etype,
		       MPI_Datatype filetype, const char *datarep,
		       MPI_Info info)
{
	static const char func[] = "MPI_File_set_view";
	struct mpii_file *f = mpii_file_get(fh);
	struct io_view *v = NULL, *old;
	struct io_hints hints;
	int err = MPI_SUCCESS;

	if (!f)
		return mpii_bad_file(fh, func);
	hints = f->hints;
	if (info != MPI_INFO_NULL && !mpii_info_get(info))
		err = mpii_fail(MPI_ERR_INFO,
				"info is not an info object or was freed");
	if (!err)
		err = make(f, disp, etype, filetype, datarep, &v);
	if (!err && info != MPI_INFO_NULL)
		io_hints_take(&hints, mpii_info_get(info));
	err = io_cb_meet(f, v, &hints, err);
	if (err) {
		io_view_put(v);
		return io_raise(f, err, func);
	}
	pthread_mutex_lock(&f->lock);
	old = f->view;
	f->view = v;
	f->position = 0;
	pthread_mutex_unlock(&f->lock);
	io_view_put(old);
	return MPI_SUCCESS;
}
MPII_ALIAS(File_set_view);

/* --- asking --- */

static MPI_Datatype give(struct mpii_type *t)
{
	mpii_type_hold(t);
	return t->handle;
}

int PMPI_File_get_view(MPI_File fh, MPI_Offset *disp, MPI_Datatype *etype,
		       MPI_Datatype *filetype, char *datarep)
{
	static const char func[] = "MPI_File_get_view";
	struct mpii_file *f = mpii_file_get(fh);

	if (!f)
		return mpii_bad_file(fh, func);
	if (!disp || !etype || !filetype || !datarep)
		return io_error(f, MPI_ERR_ARG, func,
				"an argument is a null pointer");
	pthread_mutex_lock(&f->lock);
	*disp = f->view->disp;
	*etype = give(f->view->etype);
	*filetype = give(f->view->filetype);
	strcpy(datarep, io_rep_name(f->view->rep));
	pthread_mutex_unlock(&f->lock);
	return MPI_SUCCESS;
}
MPII_ALIAS(File_get_view);

int PMPI_File_get_byte_offset(MPI_File fh, MPI_Offset offset, MPI_Offset *disp)
{
	static const char func[] = "MPI_File_get_byte_offset";
	struct mpii_file *f = mpii_file_get(fh);
	MPI_Count pos;
	struct io_place p;
	bool told;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!disp)
		return io_error(f, MPI_ERR_ARG, func, "disp is a null pointer");
	if (offset < 0)
		return io_error(f, MPI_ERR_ARG, func,
				"offset is %lld, but must not be negative",
				(long long)offset);
	if (f->amode & MPI_MODE_SEQUENTIAL)
		return io_error(f, MPI_ERR_UNSUPPORTED_OPERATION, func,
				"the file was opened with "
				"MPI_MODE_SEQUENTIAL");
	pthread_mutex_lock(&f->lock);
	p = io_view_place(f->view);
	told = !__builtin_mul_overflow(offset, f->view->esize, &pos) &&
	       pos < INT64_MAX && (!p.t->size || io_place_reaches(&p, pos + 1));
	if (told)
		*disp = p.t->size ? io_place_byte(&p, pos) : f->view->disp;
	pthread_mutex_unlock(&f->lock);
	return told ? MPI_SUCCESS :
		      io_error(f, MPI_ERR_ARG, func,
			       "offset is %lld: so far no file reaches",
			       (long long)offset);
}
MPII_ALIAS(File_get_byte_offset);

static int type_extent(MPI_File fh, MPI_Datatype datatype, const void *extent,
		       MPI_Count *bytes, const char *func)
{
	struct mpii_file *f = mpii_file_get(fh);
	struct mpii_type *t = mpii_type_get(datatype), *layout;
	int err;

	if (!f)
		return mpii_bad_file(fh, func);
	if (!t)
		return io_error(f, MPI_ERR_TYPE, func,
				datatype == MPI_DATATYPE_NULL ?
					"datatype is MPI_DATATYPE_NULL" :
					"datatype is not a datatype or was "
					"freed");
	if (!extent)
		return io_error(f, MPI_ERR_ARG, func,
				"extent is a null pointer");
	err = io_rep_layout(f->view->rep, t, &layout);
	if (err)
		return io_raise(f, err, func);
	*bytes = layout->extent;
	mpii_type_put(layout);
	return MPI_SUCCESS;
}

int PMPI_File_get_type_extent(MPI_File fh, MPI_Datatype datatype,
			      MPI_Aint *extent)
{
	MPI_Count bytes;
	int err = type_extent(fh, datatype, extent, &bytes,
			      "MPI_File_get_type_extent");

	if (!err)
		*extent = bytes;
	return err;
}
MPII_ALIAS(File_get_type_extent);

int PMPI_File_get_type_extent_c(MPI_File fh, MPI_Datatype datatype,
				MPI_Count *extent)
{
	MPI_Count bytes;
	int err = type_extent(fh, datatype, extent, &bytes,
			      "MPI_File_get_type_extent_c");

	if (!err)
		*extent = bytes;
	return err;
}
MPII_ALIAS(File_get_type_extent_c);
