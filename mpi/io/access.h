/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* One access to a file: what the calls fill in, and those who do it use. */
#ifndef MPII_IO_ACCESS_H
#define MPII_IO_ACCESS_H

#include "io/file.h"
#include "io/view.h"

struct coll;

struct io_access {
	struct mpii_file *f; /* held */
	struct io_view *v;   /* held */
	struct io_place place;
	bool write;
	/* Where: an etype's position for ordered access is found on the way. */
	MPI_Count pos;	 /* of the first byte in the view's data */
	MPI_Count bytes; /* in the file's form */
	bool ordered;
	/* the memory; what is staged where the file has another form */
	char *buf;
	MPI_Count count;
	struct mpii_type *t; /* held */
	char *staged;
	/* result */
	MPI_Count done;	  /* bytes in the file's form, from the first on */
	int error;	  /* of the system, negative errno */
	MPI_Count native; /* what `done` is in memory, for the status */
};

/* "reading", "writing", for words. */
static inline const char *io_access_verb(const struct io_access *a)
{
	return a->write ? "writing to" : "reading from";
}

/* The memory as a layout: positions are bytes of packed data, and places
 * addresses. */
static inline struct io_place io_access_memory(const struct io_access *a)
{
	return (struct io_place){
		a->staged ? mpii_type_get(MPI_BYTE) : a->t,
		(MPI_Offset)(uintptr_t)(a->staged ? a->staged : a->buf),
		a->staged || a->t->contiguous
	};
}
/* The memory is one piece: its first byte, or NULL. */
static inline char *io_access_plain(const struct io_access *a)
{
	if (a->staged)
		return a->staged;
	return a->t->contiguous ? a->buf : NULL;
}
/* Packed bytes [off, off + n) of the memory. */
void io_access_pack(const struct io_access *a, MPI_Count off, void *to,
		    size_t n);
void io_access_unpack(const struct io_access *a, MPI_Count off,
		      const void *from, size_t n);

/* It begins at etype @at of the view. MPI code: so far no file reaches. */
int io_access_from(struct io_access *a, MPI_Offset at);
/* Convert what is to be written; make room for what is to be read. MPI code. */
int io_access_begin(struct io_access *a);
/* Convert what was read, and fill in a->native. MPI code. */
int io_access_end(struct io_access *a);
void io_access_free(struct io_access *a);

/* This rank for itself; sets done and error (independent.c). */
void io_independent(struct io_access *a);
/*
 * All ranks together (collective.c). @code: this rank cannot take part, and
 * why. MPI code with words, the same class everywhere.
 */
int io_collective(const struct coll *k, struct io_access *a, int code);

#endif
