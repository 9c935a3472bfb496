/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * What two groups of processes that have met do with their intercommunicator: all
 * that works in a job has to work between jobs.
 */
#ifndef DYN_TALK_H
#define DYN_TALK_H

#include "check.h"

static const size_t talk_sizes[] = { 0, 8, 5000, 300000 };

/* Every process with every one of the other side, both ways at once. */
static void talk_pairs(MPI_Comm inter)
{
	int me, n;

	OK(MPI_Comm_rank(inter, &me));
	OK(MPI_Comm_remote_size(inter, &n));
	for (size_t k = 0; k < sizeof(talk_sizes) / sizeof(*talk_sizes); k++) {
		size_t bytes = talk_sizes[k];
		char *out = malloc(n * bytes + 1), *in = malloc(n * bytes + 1);
		MPI_Request req[2 * n];

		for (int i = 0; i < n; i++) {
			fill(out + i * bytes, bytes, me * 100 + i);
			OK(MPI_Irecv(in + i * bytes, (int)bytes, MPI_BYTE, i, 7,
				     inter, &req[i]));
		}
		for (int i = 0; i < n; i++)
			OK(MPI_Isend(out + i * bytes, (int)bytes, MPI_BYTE, i,
				     7, inter, &req[n + i]));
		OK(MPI_Waitall(2 * n, req, MPI_STATUSES_IGNORE));
		for (int i = 0; i < n; i++)
			CHECK(filled(in + i * bytes, bytes, i * 100 + me));
		free(out);
		free(in);
	}
}

static void talk_any(MPI_Comm inter)
{
	int me, n, v, sum = 0;
	MPI_Status st;

	OK(MPI_Comm_rank(inter, &me));
	OK(MPI_Comm_remote_size(inter, &n));
	for (int i = 0; i < n; i++)
		OK(MPI_Send(&me, 1, MPI_INT, i, 9, inter));
	for (int i = 0; i < n; i++) {
		OK(MPI_Probe(MPI_ANY_SOURCE, 9, inter, &st));
		OK(MPI_Recv(&v, 1, MPI_INT, MPI_ANY_SOURCE, 9, inter, &st));
		EQUAL(v, st.MPI_SOURCE);
		sum += v;
	}
	EQUAL(sum, n * (n - 1) / 2);
}

/* Collectives of the intercommunicator; @server: our side is the one to send. */
static void talk_coll(MPI_Comm inter, int server)
{
	int me, n, v, root, sum, all[256];
	MPI_Request req;

	OK(MPI_Comm_rank(inter, &me));
	OK(MPI_Comm_remote_size(inter, &n));
	OK(MPI_Barrier(inter));
	v = me + 1;
	OK(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, inter));
	EQUAL(sum, n * (n + 1) / 2);
	OK(MPI_Iallgather(&v, 1, MPI_INT, all, 1, MPI_INT, inter, &req));
	OK(MPI_Wait(&req, IGNORE));
	for (int i = 0; i < n; i++)
		EQUAL(all[i], i + 1);
	root = !server ? 0 : me == 0 ? MPI_ROOT : MPI_PROC_NULL;
	v = server ? 4711 : 0;
	OK(MPI_Bcast(&v, 1, MPI_INT, root, inter));
	EQUAL(v, 4711);
}

/* One communicator of both. */
static void talk_merged(MPI_Comm inter, int server)
{
	MPI_Comm all, half, shm;
	MPI_Group a, b, both;
	int me, n, v, sum, low, result, *many = malloc(100000 * sizeof(int));

	OK(MPI_Intercomm_merge(inter, !server, &all));
	OK(MPI_Comm_rank(all, &me));
	OK(MPI_Comm_size(all, &n));
	OK(MPI_Comm_size(inter, &low));
	CHECK(server ? me < low : me >= n - low);
	v = me;
	for (int i = 0; i < 3; i++) {
		OK(MPI_Allreduce(&v, &sum, 1, MPI_INT, MPI_SUM, all));
		EQUAL(sum, n * (n - 1) / 2);
	}
	for (int i = 0; i < 100000; i++)
		many[i] = me == n - 1 ? i : 0;
	OK(MPI_Bcast(many, 100000, MPI_INT, n - 1, all));
	EQUAL(many[99999], 99999);
	OK(MPI_Comm_split(all, me % 2, -me, &half));
	OK(MPI_Barrier(half));
	OK(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
			       &shm));
	OK(MPI_Barrier(shm));
	/* the same processes, known in two ways */
	OK(MPI_Comm_remote_group(inter, &a));
	OK(MPI_Comm_group(all, &b));
	OK(MPI_Group_translate_ranks(a, 1, &(int){ 0 }, b, &v));
	CHECK(v == (server ? low : 0));
	OK(MPI_Group_intersection(a, b, &both));
	OK(MPI_Group_compare(a, both, &result));
	EQUAL(result, MPI_IDENT);
	OK(MPI_Group_free(&a));
	OK(MPI_Group_free(&b));
	OK(MPI_Group_free(&both)); /* one that is left keeps its members */
	OK(MPI_Comm_free(&shm));
	OK(MPI_Comm_free(&half));
	OK(MPI_Comm_disconnect(&all));
	free(many);
}

/* Parts of both that meet over the whole: their members know each other only by
 * their leaders. */
static void talk_again(MPI_Comm inter, int server)
{
	MPI_Comm dup, all, part, second;
	int me, ours;

	OK(MPI_Comm_dup(inter, &dup));
	talk_any(dup);
	OK(MPI_Intercomm_merge(dup, server, &all)); /* clients come first */
	OK(MPI_Comm_rank(dup, &me));
	OK(MPI_Comm_split(all, server, me, &part));
	OK(MPI_Comm_size(inter, &ours));
	OK(MPI_Intercomm_create(part, 0, all, server ? 0 : ours, 3, &second));
	talk_any(second);
	talk_coll(second, server);
	OK(MPI_Comm_disconnect(&second));
	OK(MPI_Comm_free(&part));
	OK(MPI_Comm_free(&all));
	OK(MPI_Comm_disconnect(&dup));
}

static void talk(MPI_Comm inter, int server)
{
	talk_pairs(inter);
	talk_any(inter);
	talk_coll(inter, server);
	talk_merged(inter, server);
	talk_again(inter, server);
}

#endif
