// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * IS, the integer sort: ranks the keys ten times. Keys are sorted into buckets,
 * all ranks agree on the buckets' sizes (allreduce), whole buckets are given to
 * ranks so that each gets about as many keys, the keys travel (alltoall for
 * how many, alltoallv for the keys), and each rank counts the keys it got.
 */
#include "nas.h"

#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 10, TESTS = 5 };

/*
 * In iteration i the key with index test[] has the rank listed, moved by
 * rise * (i + shift): each iteration changes two keys, so ranks move by one.
 */
static const struct is_class {
	int log_keys, log_max, log_buckets;
	long test[TESTS], rank[TESTS];
	int rise[TESTS], shift[TESTS];
} classes[NAS_CLASSES] = {
	[NAS_S] = { 16,
		    11,
		    9,
		    { 48427, 17148, 23627, 62548, 4431 },
		    { 0, 18, 346, 64917, 65463 },
		    { 1, 1, 1, -1, -1 },
		    { 0, 0, 0, 0, 0 } },
	[NAS_W] = { 20,
		    16,
		    10,
		    { 357773, 934767, 875723, 898999, 404505 },
		    { 1249, 11698, 1039987, 1043896, 1048018 },
		    { 1, 1, -1, -1, -1 },
		    { -2, -2, 0, 0, 0 } },
	[NAS_A] = { 23,
		    19,
		    10,
		    { 2112377, 662041, 5336171, 3642833, 4250760 },
		    { 104, 17523, 123928, 8288932, 8388264 },
		    { 1, 1, 1, -1, -1 },
		    { -1, -1, -1, -1, -1 } },
	[NAS_B] = { 25,
		    21,
		    10,
		    { 41869, 812306, 5102857, 18232239, 26860214 },
		    { 33422937, 10244, 59149, 33135281, 99 },
		    { -1, 1, 1, -1, 1 },
		    { 0, 0, 0, 0, 0 } },
};

struct is {
	struct nas nas;
	const struct is_class *class;
	long first, count; /* the keys generated here, by index */
	int *keys, *by_bucket;
	int buckets, shift; /* key >> shift is its bucket */
	int *size_here;	    /* of each bucket, then the test keys */
	int *size_all;
	int *send_count, *send_at, *recv_count, *recv_at;
	int *arrived;
	long room, arrived_count;
	int low_key, high_key; /* keys that may arrive here: low up to high */
	int *at_most;	       /* arrived keys up to this one, from low */
	long before;	       /* keys on lower ranks */
	long passed;
};

static long first_of(const struct is *s, int rank)
{
	return ((long)rank << s->class->log_keys) / s->nas.ranks;
}

static void generate(struct is *s)
{
	uint64_t seed = nas_skip(NAS_SEED, 4 * s->first);
	double quarter = (1 << s->class->log_max) / 4;

	for (long i = 0; i < s->count; i++) {
		double sum = nas_random(&seed);

		for (int k = 0; k < 3; k++)
			sum += nas_random(&seed);
		s->keys[i] = quarter * sum;
	}
}

static void prepare(struct is *s, int *argc, char ***argv)
{
	nas_start(&s->nas, argc, argv, "IS");
	s->class = &classes[s->nas.class];
	s->buckets = 1 << s->class->log_buckets;
	s->shift = s->class->log_max - s->class->log_buckets;
	if (s->nas.ranks > s->buckets)
		nas_fail("IS of this class runs on at most %d ranks",
			 s->buckets);
	s->first = first_of(s, s->nas.rank);
	s->count = first_of(s, s->nas.rank + 1) - s->first;
	s->keys = nas_alloc(s->count, sizeof(int));
	s->by_bucket = nas_alloc(s->count, sizeof(int));
	s->size_here = nas_alloc(s->buckets + TESTS, sizeof(int));
	s->size_all = nas_alloc(s->buckets + TESTS, sizeof(int));
	s->send_count = nas_alloc(s->nas.ranks, sizeof(int));
	s->send_at = nas_alloc(s->nas.ranks, sizeof(int));
	s->recv_count = nas_alloc(s->nas.ranks, sizeof(int));
	s->recv_at = nas_alloc(s->nas.ranks, sizeof(int));
	/* No bucket range is wider than all keys. */
	s->at_most = nas_alloc(1l << s->class->log_max, sizeof(int));
	generate(s);
}

static bool holds(const struct is *s, long index)
{
	return index >= s->first && index < s->first + s->count;
}

/* Two keys change in each iteration. */
static void change_keys(struct is *s, int iteration)
{
	if (holds(s, iteration))
		s->keys[iteration - s->first] = iteration;
	if (holds(s, iteration + ITERATIONS))
		s->keys[iteration + ITERATIONS - s->first] =
			(1 << s->class->log_max) - iteration;
}

/* Fills size_all; the test keys come along, each from the rank that has it. */
static void agree_on_sizes(struct is *s)
{
	memset(s->size_here, 0, (s->buckets + TESTS) * sizeof(int));
	for (int t = 0; t < TESTS; t++)
		if (holds(s, s->class->test[t]))
			s->size_here[s->buckets + t] =
				s->keys[s->class->test[t] - s->first];
	for (long i = 0; i < s->count; i++)
		s->size_here[s->keys[i] >> s->shift]++;
	MPI_Allreduce(s->size_here, s->size_all, s->buckets + TESTS, MPI_INT,
		      MPI_SUM, MPI_COMM_WORLD);
}

static void sort_into_buckets(struct is *s)
{
	int *at = nas_alloc(s->buckets, sizeof(int));

	for (int b = 1; b < s->buckets; b++)
		at[b] = at[b - 1] + s->size_here[b - 1];
	for (long i = 0; i < s->count; i++)
		s->by_bucket[at[s->keys[i] >> s->shift]++] = s->keys[i];
	free(at);
}

/* Each rank takes buckets until it and those before have their share. */
static void give_buckets(struct is *s)
{
	long sum = 0, sent = 0;
	int b = 0;

	for (int r = 0; r < s->nas.ranks; r++) {
		long share = first_of(s, r + 1);
		int begin = b;

		if (r == s->nas.rank) {
			s->before = sum;
			s->low_key = b << s->shift;
		}
		s->send_at[r] = sent;
		while (b < s->buckets && sum < share) {
			sum += s->size_all[b];
			sent += s->size_here[b++];
		}
		if (r == s->nas.ranks - 1)
			b = s->buckets;
		s->send_count[r] = sent - s->send_at[r];
		if (r == s->nas.rank) {
			s->high_key = b << s->shift;
			s->arrived_count = b > begin ? sum - s->before : 0;
		}
	}
}

static void make_room(struct is *s)
{
	if (s->arrived_count <= s->room)
		return;
	free(s->arrived);
	s->room = s->arrived_count + s->arrived_count / 16;
	s->arrived = nas_alloc(s->room, sizeof(int));
}

static void exchange_keys(struct is *s)
{
	int at = 0;

	make_room(s);
	MPI_Alltoall(s->send_count, 1, MPI_INT, s->recv_count, 1, MPI_INT,
		     MPI_COMM_WORLD);
	for (int r = 0; r < s->nas.ranks; r++) {
		s->recv_at[r] = at;
		at += s->recv_count[r];
	}
	if (at != s->arrived_count)
		nas_fail("%d keys arrive where %ld were expected", at,
			 s->arrived_count);
	MPI_Alltoallv(s->by_bucket, s->send_count, s->send_at, MPI_INT,
		      s->arrived, s->recv_count, s->recv_at, MPI_INT,
		      MPI_COMM_WORLD);
}

static void count_keys(struct is *s)
{
	int width = s->high_key - s->low_key;

	memset(s->at_most, 0, width * sizeof(int));
	for (long i = 0; i < s->arrived_count; i++)
		s->at_most[s->arrived[i] - s->low_key]++;
	for (int k = 1; k < width; k++)
		s->at_most[k] += s->at_most[k - 1];
}

/* The rank of a key is the number of smaller ones. */
static void check_tests(struct is *s, int iteration)
{
	const struct is_class *c = s->class;

	for (int t = 0; t < TESTS; t++) {
		int key = s->size_all[s->buckets + t];
		long rank = s->before;

		if (key < s->low_key || key >= s->high_key)
			continue;
		if (key > s->low_key)
			rank += s->at_most[key - s->low_key - 1];
		if (rank == c->rank[t] + c->rise[t] * (iteration + c->shift[t]))
			s->passed++;
	}
}

static void rank_keys(struct is *s, int iteration)
{
	change_keys(s, iteration);
	agree_on_sizes(s);
	sort_into_buckets(s);
	give_buckets(s);
	exchange_keys(s);
	count_keys(s);
	check_tests(s, iteration);
}

/* Puts the arrived keys in order by their ranks, and looks whether they are. */
static bool sorted_here(struct is *s, long ends[3])
{
	int *sorted = nas_alloc(s->arrived_count, sizeof(int));
	bool good = true;

	for (long i = 0; i < s->arrived_count; i++)
		sorted[--s->at_most[s->arrived[i] - s->low_key]] =
			s->arrived[i];
	for (long i = 1; i < s->arrived_count; i++)
		good &= sorted[i - 1] <= sorted[i];
	ends[0] = s->arrived_count;
	ends[1] = s->arrived_count ? sorted[0] : 0;
	ends[2] = s->arrived_count ? sorted[s->arrived_count - 1] : 0;
	free(sorted);
	return good;
}

static bool sorted_everywhere(struct is *s)
{
	long ends[3], *all = nas_alloc(3 * s->nas.ranks, sizeof(long));
	long total = 0, last = 0;
	int good = sorted_here(s, ends), all_good;

	MPI_Allgather(ends, 3, MPI_LONG, all, 3, MPI_LONG, MPI_COMM_WORLD);
	for (int r = 0; r < s->nas.ranks; r++) {
		if (!all[3 * r])
			continue;
		good &= last <= all[3 * r + 1];
		last = all[3 * r + 2];
		total += all[3 * r];
	}
	good &= total == 1l << s->class->log_keys;
	free(all);
	MPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
	return all_good;
}

static bool verify(struct is *s)
{
	bool sorted = sorted_everywhere(s);
	long passed;

	MPI_Allreduce(&s->passed, &passed, 1, MPI_LONG, MPI_SUM,
		      MPI_COMM_WORLD);
	return sorted && passed == ITERATIONS * TESTS;
}

int main(int argc, char **argv)
{
	static struct is s;
	struct nas_result result = {
		.iterations = ITERATIONS,
		.operation = "keys ranked",
	};
	double start;

	prepare(&s, &argc, &argv);
	rank_keys(&s, 1); /* touches memory and connects the ranks */
	s.passed = 0;
	start = nas_clock_start();
	for (int i = 1; i <= ITERATIONS; i++)
		rank_keys(&s, i);
	result.seconds = nas_clock_stop(start);
	result.size[0] = 1l << s.class->log_keys;
	result.operations = result.size[0] * ITERATIONS;
	result.verified = verify(&s);
	return nas_finish(&s.nas, &result);
}
