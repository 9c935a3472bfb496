/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Handles as integers: MPI_X_toint and MPI_X_fromint of the ABI, and the older
 * MPI_X_c2f and MPI_X_f2c, which are the same here since INTEGER is int.
 *
 * A predefined handle is its ABI value. Any other object gets a number above
 * those when somebody first asks for it, keeps it as long as it can be named,
 * and gives it back then. The table grows by blocks that never move, each
 * twice as long as the one before, so looking up a number takes no lock.
 */
#include <stdlib.h>

#include "bindings/handle_int.h"

#define FIRST_BLOCK 1024
#define BLOCKS 20 /* a thousand million handles */

/* A free entry holds the number of the next free one, shifted, with bit 0 set:
 * an object is never at an odd address. */
typedef _Atomic(uintptr_t) entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(entry *) blocks[BLOCKS];
static int used;  /* entries ever given out */
static int avail; /* number of the first free entry; 0: none */

/* Entry @i, or NULL: its block is not there. */
static entry *entry_at(int i)
{
	unsigned n = (unsigned)i / FIRST_BLOCK + 1;
	int block = 31 - __builtin_clz(n);
	entry *b = block < BLOCKS ? atomic_load(&blocks[block]) : NULL;

	return b ? &b[i - ((1 << block) - 1) * FIRST_BLOCK] : NULL;
}

static bool grow(void)
{
	int block = 0;
	entry *b;

	while (block < BLOCKS && atomic_load(&blocks[block]))
		block++;
	if (block == BLOCKS)
		return false;
	b = calloc((size_t)FIRST_BLOCK << block, sizeof(*b));
	atomic_store(&blocks[block], b);
	return b != NULL;
}

/* With the lock. 0: out of memory. */
static int take_number(struct mpii_obj *o)
{
	int n = avail;

	if (n) {
		entry *e = entry_at(n - MPII_PREDEFINED_END);

		avail = (int)(atomic_load(e) >> 1);
		atomic_store(e, (uintptr_t)o);
		return n;
	}
	if (!entry_at(used) && !grow())
		return 0;
	atomic_store(entry_at(used), (uintptr_t)o);
	return MPII_PREDEFINED_END + used++;
}

int mpii_handle_to_int(void *handle)
{
	struct mpii_obj *o = handle;
	int n;

	if ((uintptr_t)handle < MPII_PREDEFINED_END)
		return (int)(uintptr_t)handle;
	n = atomic_load(&o->number);
	if (n)
		return n;
	pthread_mutex_lock(&lock);
	n = atomic_load(&o->number);
	if (!n) {
		n = take_number(o);
		atomic_store(&o->number, n);
	}
	pthread_mutex_unlock(&lock);
	return n;
}

void *mpii_handle_from_int(int number)
{
	entry *e;
	uintptr_t v;

	if (number >= 0 && number < MPII_PREDEFINED_END)
		return (void *)(uintptr_t)number;
	e = number > 0 ? entry_at(number - MPII_PREDEFINED_END) : NULL;
	v = e ? atomic_load(e) : 0;
	return v & 1 ? NULL : (void *)v;
}

void mpii_handle_forget(struct mpii_obj *o)
{
	int n;

	pthread_mutex_lock(&lock);
	n = atomic_exchange(&o->number, 0);
	if (n) {
		atomic_store(entry_at(n - MPII_PREDEFINED_END),
			     (uintptr_t)avail << 1 | 1);
		avail = n;
	}
	pthread_mutex_unlock(&lock);
}

/* --- the functions of the standard --- */

#define CONVERSIONS(X, MPI_X, arg)                \
	int PMPI_##X##_toint(MPI_X arg)           \
	{                                         \
		return mpii_handle_to_int(arg);   \
	}                                         \
	MPII_ALIAS(X##_toint);                    \
	MPI_X PMPI_##X##_fromint(int arg)         \
	{                                         \
		return mpii_handle_from_int(arg); \
	}                                         \
	MPII_ALIAS(X##_fromint);                  \
	MPI_Fint PMPI_##X##_c2f(MPI_X arg)        \
	{                                         \
		return mpii_handle_to_int(arg);   \
	}                                         \
	MPII_ALIAS(X##_c2f);                      \
	MPI_X PMPI_##X##_f2c(MPI_Fint arg)        \
	{                                         \
		return mpii_handle_from_int(arg); \
	}                                         \
	MPII_ALIAS(X##_f2c)

CONVERSIONS(Comm, MPI_Comm, comm);
CONVERSIONS(Errhandler, MPI_Errhandler, errhandler);
CONVERSIONS(File, MPI_File, file);
CONVERSIONS(Group, MPI_Group, group);
CONVERSIONS(Info, MPI_Info, info);
CONVERSIONS(Message, MPI_Message, message);
CONVERSIONS(Op, MPI_Op, op);
CONVERSIONS(Request, MPI_Request, request);
CONVERSIONS(Session, MPI_Session, session);
CONVERSIONS(Type, MPI_Datatype, datatype);
CONVERSIONS(Win, MPI_Win, win);
