/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The calls that read and write. Each is one line of the list at the end, which
 * says where the data is, who takes part, and when the call returns.
 */
#include "io/forms.h"

#define P_AT MPI_Offset offset,
#define P_POINTER
#define P_SHARED
#define O_AT offset
#define O_POINTER 0
#define O_SHARED 0
#define B_READ void
#define B_WRITE const void
#define W_READ false
#define W_WRITE true

#define BODY(name, rw, place, who, when, end, status, request)             \
	{                                                                  \
		static const struct io_form form = {                       \
			"MPI_File_" #name, W_##rw,    IO_##place,          \
			IO_##who,	   IO_##when, end                  \
		};                                                         \
		const struct io_args g = { fh,	   O_##place, (void *)buf, \
					   count,  datatype,  status,      \
					   request };                      \
                                                                           \
		return io_call(&form, &g);                                 \
	}                                                                  \
	MPII_ALIAS(File_##name)

#define NOW(name, count_t, rw, place, who)                         \
	int PMPI_File_##name(MPI_File fh, P_##place B_##rw *buf,   \
			     count_t count, MPI_Datatype datatype, \
			     MPI_Status *status)                   \
		BODY(name, rw, place, who, NOW, NULL, status, NULL)

#define LATER(name, count_t, rw, place, who)                       \
	int PMPI_File_##name(MPI_File fh, P_##place B_##rw *buf,   \
			     count_t count, MPI_Datatype datatype, \
			     MPI_Request *request)                 \
		BODY(name, rw, place, who, LATER, NULL, NULL, request)

#define BEGIN(name, count_t, rw, place, end)                       \
	int PMPI_File_##name(MPI_File fh, P_##place B_##rw *buf,   \
			     count_t count, MPI_Datatype datatype) \
		BODY(name, rw, place, ALL, SPLIT, end, NULL, NULL)

#define END(name, rw)                                                      \
	int PMPI_File_##name(MPI_File fh, B_##rw *buf, MPI_Status *status) \
	{                                                                  \
		return io_end(fh, buf, status, "MPI_File_" #name);         \
	}                                                                  \
	MPII_ALIAS(File_##name)

/* Both kinds of counts. */
#define NOW_2(name, ...)             \
	NOW(name, int, __VA_ARGS__); \
	NOW(name##_c, MPI_Count, __VA_ARGS__)
#define LATER_2(name, ...)             \
	LATER(name, int, __VA_ARGS__); \
	LATER(name##_c, MPI_Count, __VA_ARGS__)
#define SPLIT_2(name, rw, place)                                               \
	BEGIN(name##_begin, int, rw, place, "MPI_File_" #name "_end");         \
	BEGIN(name##_begin_c, MPI_Count, rw, place, "MPI_File_" #name "_end"); \
	END(name##_end, rw)

/* --- the list --- */

NOW_2(read_at, READ, AT, ALONE);
NOW_2(write_at, WRITE, AT, ALONE);
NOW_2(read_at_all, READ, AT, ALL);
NOW_2(write_at_all, WRITE, AT, ALL);
LATER_2(iread_at, READ, AT, ALONE);
LATER_2(iwrite_at, WRITE, AT, ALONE);
LATER_2(iread_at_all, READ, AT, ALL);
LATER_2(iwrite_at_all, WRITE, AT, ALL);
SPLIT_2(read_at_all, READ, AT);
SPLIT_2(write_at_all, WRITE, AT);

NOW_2(read, READ, POINTER, ALONE);
NOW_2(write, WRITE, POINTER, ALONE);
NOW_2(read_all, READ, POINTER, ALL);
NOW_2(write_all, WRITE, POINTER, ALL);
LATER_2(iread, READ, POINTER, ALONE);
LATER_2(iwrite, WRITE, POINTER, ALONE);
LATER_2(iread_all, READ, POINTER, ALL);
LATER_2(iwrite_all, WRITE, POINTER, ALL);
SPLIT_2(read_all, READ, POINTER);
SPLIT_2(write_all, WRITE, POINTER);

NOW_2(read_shared, READ, SHARED, ALONE);
NOW_2(write_shared, WRITE, SHARED, ALONE);
NOW_2(read_ordered, READ, SHARED, ALL);
NOW_2(write_ordered, WRITE, SHARED, ALL);
LATER_2(iread_shared, READ, SHARED, ALONE);
LATER_2(iwrite_shared, WRITE, SHARED, ALONE);
SPLIT_2(read_ordered, READ, SHARED);
SPLIT_2(write_ordered, WRITE, SHARED);
