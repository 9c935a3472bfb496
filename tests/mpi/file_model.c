/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * Random views, pointers and accesses of all ranks against a model: an array of
 * bytes in which each access is done byte by byte. All ranks draw the same random
 * numbers, so each knows what the others do, and what is in the file.
 *
 * A view repeats a pattern in which every byte belongs to one rank or to nobody.
 * So accesses never overlap, ranks are mixed in every way, and bytes of nobody show
 * what was written that should not have been.
 */
#include <unistd.h>

#include "check.h"

#define RANKS 16
#define PATTERN 400
#define ROOM (1 << 20)

static unsigned long long seed;
static MPI_File f;
static char name[256];

static unsigned char model[ROOM];
static long model_size;

/* Of each rank. */
static struct {
	MPI_Offset disp;
	int extent, n;	     /* bytes of the pattern, and of this rank's */
	int byte[PATTERN];   /* where those are */
	MPI_Offset position; /* in etypes */
} view[RANKS];
static int esize, common;
static long shared_position;
static MPI_Datatype etype, filetype;

static long draw(long lo, long hi)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return lo + (long)((seed >> 33) % (unsigned long long)(hi - lo + 1));
}

/* --- views --- */

static long byte_of(int r, long pos)
{
	return view[r].disp + pos / view[r].n * view[r].extent +
	       view[r].byte[pos % view[r].n];
}

/* Runs of whole etypes; @all: every rank has the same view. */
static void draw_pattern(int all)
{
	int length = (int)draw(1, draw(0, 3) ? 12 : PATTERN / esize);
	int longest = (int)draw(1, 8);

	for (int r = 0; r < size; r++) {
		view[r].n = 0;
		view[r].extent = length * esize;
		view[r].position = 0;
	}
	for (int at = 0; at < length;) {
		int run = (int)draw(1, longest),
		    owner = (int)draw(-1, size - 1);

		for (; run && at < length; run--, at++)
			for (int b = 0; owner >= 0 && b < esize; b++)
				for (int r = 0; r < size; r++)
					if (all || r == owner)
						view[r].byte[view[r].n++] =
							at * esize + b;
	}
	for (int r = 0; r < size; r++) /* nobody is left without any */
		if (view[r].n == 0) {
			for (int b = 0; b < esize; b++)
				view[r].byte[b] = view[r].extent +
						  (all ? 0 : r) * esize + b;
			view[r].n = esize;
		}
	for (int r = 0; r < size; r++)
		view[r].extent += (size + 1) * esize;
}

static MPI_Datatype type_of_pattern(int r)
{
	static int lengths[PATTERN];
	static MPI_Aint displs[PATTERN];
	MPI_Datatype list, t;
	int n = 0;

	for (int i = 0; i < view[r].n; i++) {
		if (n && displs[n - 1] + lengths[n - 1] == view[r].byte[i]) {
			lengths[n - 1]++;
			continue;
		}
		displs[n] = view[r].byte[i];
		lengths[n++] = 1;
	}
	OK(MPI_Type_create_hindexed(n, lengths, displs, MPI_BYTE, &list));
	OK(MPI_Type_create_resized(list, 0, view[r].extent, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Type_free(&list));
	return t;
}

static void plain_view(void)
{
	for (int r = 0; r < size; r++) {
		view[r].n = view[r].extent = esize;
		view[r].position = 0;
		for (int b = 0; b < esize; b++)
			view[r].byte[b] = b;
	}
}

static void set_view(int all)
{
	MPI_Offset disp = draw(0, 100);

	if (filetype != MPI_DATATYPE_NULL && filetype != etype)
		OK(MPI_Type_free(&filetype));
	esize = draw(0, 1) ? 1 : 4;
	etype = esize == 1 ? MPI_BYTE : MPI_INT;
	if (all && draw(0, 1))
		plain_view();
	else
		draw_pattern(all);
	for (int r = 0; r < size; r++)
		view[r].disp = disp;
	filetype = view[rank].extent == esize ? etype : type_of_pattern(rank);
	shared_position = 0;
	OK(MPI_File_set_view(f, disp, etype, filetype, "native",
			     MPI_INFO_NULL));
}

/* --- the model --- */

static unsigned char value(long step, int r, long i)
{
	return (unsigned char)(step * 31 + r * 7 + i + i / 251 + 1);
}

static void model_write(long step, int r, long pos, long bytes)
{
	for (long i = 0; i < bytes; i++) {
		long at = byte_of(r, pos + i);

		CHECK(at < ROOM);
		model[at] = value(step, r, i);
		if (at >= model_size)
			model_size = at + 1;
	}
}

/* How much of it there is. */
static long model_there(int r, long pos, long bytes)
{
	for (long i = 0; i < bytes; i++)
		if (byte_of(r, pos + i) >= model_size)
			return i;
	return bytes;
}

static void compare_file(void)
{
	static unsigned char all[ROOM];
	FILE *in;
	size_t n;

	OK(MPI_Barrier(WORLD));
	if (rank == 0) {
		in = fopen(name, "r");
		CHECK(in);
		n = fread(all, 1, ROOM, in);
		fclose(in);
		EQUAL(n, model_size);
		for (long i = 0; i < model_size; i++)
			EQUAL(all[i], model[i]);
	}
	OK(MPI_Barrier(WORLD));
}

/* --- memory: one piece, or with gaps --- */

#define GAP 0xe5
static unsigned char buf[ROOM];

static MPI_Datatype memory_type(int kind)
{
	MPI_Datatype v, t;

	if (kind == 0)
		return etype;
	OK(MPI_Type_vector(1, 1, 1, etype, &v));
	OK(MPI_Type_create_resized(v, 0, esize + 3, &t));
	OK(MPI_Type_commit(&t));
	OK(MPI_Type_free(&v));
	return t;
}

static unsigned char *memory_at(int kind, long i)
{
	return &buf[kind == 0 ? i : i / esize * (esize + 3) + i % esize];
}

/* --- accesses --- */

enum { AT, POINTER, ORDERED };
enum { NOW, LATER, SPLIT };

/* The call of this form. */
static void do_write(int where, int all, int when, MPI_Offset at, int n,
		     MPI_Datatype t, MPI_Status *st)
{
	MPI_Request q = MPI_REQUEST_NULL;

	if (where == ORDERED && when == SPLIT) {
		OK(MPI_File_write_ordered_begin(f, buf, n, t));
		OK(MPI_File_write_ordered_end(f, buf, st));
	} else if (where == ORDERED) {
		OK(MPI_File_write_ordered(f, buf, n, t, st));
	} else if (when == SPLIT && where == AT) {
		OK(MPI_File_write_at_all_begin(f, at, buf, n, t));
		OK(MPI_File_write_at_all_end(f, buf, st));
	} else if (when == SPLIT) {
		OK(MPI_File_write_all_begin_c(f, buf, n, t));
		OK(MPI_File_write_all_end(f, buf, st));
	} else if (when == NOW && where == AT) {
		OK(all ? MPI_File_write_at_all(f, at, buf, n, t, st) :
			 MPI_File_write_at_c(f, at, buf, n, t, st));
	} else if (when == NOW) {
		OK(all ? MPI_File_write_all_c(f, buf, n, t, st) :
			 MPI_File_write(f, buf, n, t, st));
	} else if (where == AT) {
		OK(all ? MPI_File_iwrite_at_all(f, at, buf, n, t, &q) :
			 MPI_File_iwrite_at(f, at, buf, n, t, &q));
	} else {
		OK(all ? MPI_File_iwrite_all(f, buf, n, t, &q) :
			 MPI_File_iwrite(f, buf, n, t, &q));
	}
	if (when == LATER && where != ORDERED)
		OK(MPI_Wait(&q, st));
}

static void do_read(int where, int all, int when, MPI_Offset at, int n,
		    MPI_Datatype t, MPI_Status *st)
{
	MPI_Request q = MPI_REQUEST_NULL;

	if (where == ORDERED && when == SPLIT) {
		OK(MPI_File_read_ordered_begin(f, buf, n, t));
		OK(MPI_File_read_ordered_end(f, buf, st));
	} else if (where == ORDERED) {
		OK(MPI_File_read_ordered(f, buf, n, t, st));
	} else if (when == SPLIT && where == AT) {
		OK(MPI_File_read_at_all_begin(f, at, buf, n, t));
		OK(MPI_File_read_at_all_end(f, buf, st));
	} else if (when == SPLIT) {
		OK(MPI_File_read_all_begin(f, buf, n, t));
		OK(MPI_File_read_all_end(f, buf, st));
	} else if (when == NOW && where == AT) {
		OK(all ? MPI_File_read_at_all(f, at, buf, n, t, st) :
			 MPI_File_read_at(f, at, buf, n, t, st));
	} else if (when == NOW) {
		OK(all ? MPI_File_read_all(f, buf, n, t, st) :
			 MPI_File_read_c(f, buf, n, t, st));
	} else if (where == AT) {
		OK(all ? MPI_File_iread_at_all(f, at, buf, n, t, &q) :
			 MPI_File_iread_at(f, at, buf, n, t, &q));
	} else {
		OK(all ? MPI_File_iread_all(f, buf, n, t, &q) :
			 MPI_File_iread(f, buf, n, t, &q));
	}
	if (when == LATER && where != ORDERED)
		OK(MPI_Wait(&q, st));
}

/* What a read must have brought, and nothing else. */
static void check_read(int kind, long bytes, long pos, long there)
{
	for (long i = 0; i < bytes; i++)
		EQUAL(*memory_at(kind, i),
		      i < there ? model[byte_of(rank, pos + i)] : GAP);
}

static void check_status(MPI_Status *st, MPI_Datatype t, long there)
{
	MPI_Count n;

	OK(MPI_Get_elements_c(st, MPI_BYTE, &n));
	EQUAL(n, there);
	OK(MPI_Get_elements_c(st, t, &n));
	EQUAL(n, there % esize ? MPI_UNDEFINED : there / esize);
}

/* Where every rank's access begins; pointers move on. Bytes are @bytes[r]. */
static void place_all(int where, const MPI_Offset *at, const long *bytes,
		      long *pos)
{
	long before = shared_position;

	for (int r = 0; r < size; r++) {
		pos[r] = (long)at[r] * esize;
		if (where == POINTER) {
			pos[r] = (long)view[r].position * esize;
			view[r].position += bytes[r] / esize;
		} else if (where == ORDERED) {
			pos[r] = before * esize;
			before += bytes[r] / esize;
		}
	}
	if (where == ORDERED)
		shared_position = before;
}

static void step(long number)
{
	int write = (int)draw(0, 1), where = (int)draw(AT, POINTER);
	int all = (int)draw(0, 2) > 0, when = (int)draw(NOW, SPLIT);
	int ordered = draw(0, 4) == 0, much = draw(0, 6) == 0, kind, n;
	long bytes[RANKS], pos[RANKS], there = 0;
	MPI_Offset at[RANKS], now;
	MPI_Datatype t;
	MPI_Status st;

	/* A view that all have is for ordered access only. */
	if (draw(0, 2) == 0 || filetype == MPI_DATATYPE_NULL || ordered ||
	    common)
		set_view(ordered);
	common = ordered;
	if (ordered)
		where = ORDERED;
	if (when == SPLIT)
		all = 1;
	for (int r = 0; r < size; r++) {
		at[r] = draw(0, 50);
		bytes[r] = draw(0, 5) * draw(0, 100) * esize;
		/* much of one, or of all: several rounds of the exchange */
		if (much || draw(0, 9) == 0)
			bytes[r] = draw(0, 4000) * esize;
	}
	place_all(where, at, bytes, pos);
	kind = (int)draw(0, 1);
	t = memory_type(kind);
	n = (int)(bytes[rank] / esize);
	memset(buf, GAP, sizeof(buf));
	if (write) {
		for (long i = 0; i < bytes[rank]; i++)
			*memory_at(kind, i) = value(number, rank, i);
		do_write(where, all, when, at[rank], n, t, &st);
		for (int r = 0; r < size; r++)
			model_write(number, r, pos[r], bytes[r]);
		check_status(&st, t, bytes[rank]);
	} else {
		do_read(where, all, when, at[rank], n, t, &st);
		there = model_there(rank, pos[rank], bytes[rank]);
		check_status(&st, t, there);
		check_read(kind, bytes[rank], pos[rank], there);
	}
	for (int r = 0; r < size && where == POINTER && !write && when == NOW;
	     r++) /* the end of the file stops a pointer */
		view[r].position =
			(pos[r] + model_there(r, pos[r], bytes[r])) / esize;
	if (kind)
		OK(MPI_Type_free(&t));
	OK(MPI_File_get_position(f, &now));
	EQUAL(now, view[rank].position);
	if (where == ORDERED) {
		OK(MPI_File_get_position_shared(f, &now));
		EQUAL(now, shared_position);
	}
	compare_file();
}

static void open_file(int turn)
{
	static const char *const sizes[] = { "8388608", "4096", "32768" };
	static const char *const nodes[] = { "1", "2", "3", "16" };
	static const char *const when[] = { "automatic", "enable", "disable" };
	MPI_Info info;

	snprintf(name, sizeof(name), "%s/o2g_file_model.%d",
		 getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp", (int)getpid());
	OK(MPI_Bcast(name, sizeof(name), MPI_CHAR, 0, WORLD));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "cb_buffer_size", sizes[turn % 3]));
	OK(MPI_Info_set(info, "cb_nodes", nodes[draw(0, 3)]));
	OK(MPI_Info_set(info, "striping_unit", turn % 2 ? "512" : "4096"));
	OK(MPI_Info_set(info, "romio_cb_write", when[turn % 3]));
	OK(MPI_Info_set(info, "romio_cb_read", when[turn % 3]));
	OK(MPI_Info_set(info, "romio_ds_read", when[draw(0, 2)]));
	OK(MPI_File_open(WORLD, name,
			 MPI_MODE_CREATE | MPI_MODE_RDWR |
				 MPI_MODE_DELETE_ON_CLOSE,
			 info, &f));
	OK(MPI_Info_free(&info));
	memset(model, 0, sizeof(model));
	model_size = 0;
	filetype = MPI_DATATYPE_NULL;
	if (turn % 4 == 3)
		OK(MPI_File_set_atomicity(f, 1));
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 12, steps = 25;

	OK(MPI_Init(&argc, &argv));
	OK(MPI_Comm_rank(WORLD, &rank));
	OK(MPI_Comm_size(WORLD, &size));
	CHECK(size <= RANKS);
	seed = 42 + size;
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 10);
	for (int turn = 0; turn < turns; turn++) {
		open_file(turn);
		for (int i = 0; i < steps; i++)
			step(turn * steps + i);
		if (filetype != etype)
			OK(MPI_Type_free(&filetype));
		OK(MPI_File_close(&f));
		CHECK(access(name, F_OK) != 0);
	}
	OK(MPI_Finalize());
	return 0;
}
