/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The seam for other languages. A callback is called in the language that gave
 * it, and an attribute is seen by a language as the standard wants it (section
 * 19.3.7). That is all libmpi knows of Fortran: the bindings are a library of
 * their own, which says in which language the call it is about to make was
 * written. Routines of Fortran are called with references; a handle is an
 * INTEGER, and TYPE(MPI_Comm) is one too. So callbacks for mpif.h and for
 * mpi_f08 look the same from here.
 */
#ifndef MPI_LANG_H
#define MPI_LANG_H

#include "mpii.h"

struct mpii_req;

enum mpii_language {
	MPII_LANG_C,
	MPII_LANG_FORTRAN,     /* values are INTEGER(MPI_ADDRESS_KIND) */
	MPII_LANG_FORTRAN_INT, /* values are INTEGER: deprecated functions */
};

/* For the bindings: this thread's next call comes from @language. */
__attribute__((visibility("default"))) void o2g_mpi_language(int language);

/* The language of this call; asked once, before any callback runs. */
enum mpii_language mpii_language_take(void);

/* Call an attribute's copy or delete function. @in is as @lang sees it. */
typedef int mpii_attr_copy_fn(void *handle, int keyval, void *extra_state,
			      void *in, void *out, int *flag);
typedef int mpii_attr_delete_fn(void *handle, int keyval, void *value,
				void *extra_state);
int mpii_call_copy(enum mpii_language lang, mpii_attr_copy_fn *fn, void *handle,
		   int keyval, void *extra_state, void *in, void **out,
		   int *flag);
int mpii_call_delete(enum mpii_language lang, mpii_attr_delete_fn *fn,
		     void *handle, int keyval, void *value, void *extra_state);

/* Call an error handler of any kind; @handle is that of the object. */
void mpii_call_errhandler(enum mpii_language lang, void *fn, void *handle,
			  int *code);

/* The callbacks of generalized requests. The state is a number of its own in
 * Fortran, which they share and may change. */
int mpii_call_query(enum mpii_language lang, MPI_Grequest_query_function *fn,
		    void **extra_state, MPI_Status *status);
int mpii_call_free(enum mpii_language lang, MPI_Grequest_free_function *fn,
		   void **extra_state);
int mpii_call_cancel(enum mpii_language lang, MPI_Grequest_cancel_function *fn,
		     void **extra_state, int complete);

/* The functions of a data representation: between @count of @datatype at @userbuf
 * and their form in a file. @large: count is an MPI_Count. */
int mpii_call_datarep(enum mpii_language lang, bool large, void *fn,
		      void *userbuf, MPI_Datatype datatype, MPI_Count count,
		      void *filebuf, void *extra_state);
int mpii_call_datarep_extent(enum mpii_language lang,
			     MPI_Datarep_extent_function *fn,
			     MPI_Datatype datatype, MPI_Aint *extent,
			     void *extra_state);

/*
 * For the bindings, which may have to keep and to copy what a request uses: run
 * start each time the request starts again, done when it has completed, and end
 * with the request. Any of them may be NULL. Takes the hook over (malloc'ed);
 * a request that has nothing left to do runs it at once.
 */
struct o2g_mpi_hook {
	void (*start)(struct o2g_mpi_hook *h);
	void (*done)(struct o2g_mpi_hook *h);
	void (*end)(struct o2g_mpi_hook *h);
	struct o2g_mpi_hook *next;
};
__attribute__((visibility("default"))) void
o2g_mpi_add_hook(MPI_Request request, struct o2g_mpi_hook *h);

void mpii_hooks_start(struct mpii_req *r);
void mpii_hooks_done(struct mpii_req *r);
/* Done first, unless the request is persistent. */
void mpii_hooks_end(struct mpii_req *r);

#endif
