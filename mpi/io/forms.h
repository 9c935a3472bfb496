/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The forms of the calls that read and write. */
#ifndef MPII_IO_FORMS_H
#define MPII_IO_FORMS_H

#include "mpii.h"

enum io_where { IO_AT, IO_POINTER, IO_SHARED };
enum io_who { IO_ALONE, IO_ALL };
enum io_return { IO_NOW, IO_LATER, IO_SPLIT };

struct io_form {
	const char *func;
	bool write;
	enum io_where where;
	enum io_who who;
	enum io_return when;
	const char *end; /* of a split one: the call that ends it */
};

struct io_args {
	MPI_File fh;
	MPI_Offset offset; /* IO_AT */
	void *buf;
	MPI_Count count;
	MPI_Datatype datatype;
	MPI_Status *status;   /* IO_NOW */
	MPI_Request *request; /* IO_LATER */
};

int io_call(const struct io_form *form, const struct io_args *g);
/* The second half of a split collective. */
int io_end(MPI_File fh, const void *buf, MPI_Status *status, const char *func);

#endif
