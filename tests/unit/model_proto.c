/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/fuzz/fuzz_proto.c */
/*
 * The world of the protocol fuzzer with random inputs: no coverage to guide it,
 * but far more of them in the same time.
 *
 * model_proto [worlds [seed]]; one seed is fixed, one is the time.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <sanitizer/asan_interface.h>

#include "../fuzz/proto_world.h"
#include "rnd.h"

#define FIXED_SEED 20040921

/* Each world can be run alone by the seed that is printed for it. */
static void one_world(u64 seed)
{
	u8 data[1024];
	size_t n;

	rng = seed * 2 + 1;
	rnd();
	n = 8 + rnd() % (rnd() % 4 ? 200 : 1000);
	for (size_t i = 0; i < n; i++)
		data[i] = (u8)rnd();
	LLVMFuzzerTestOneInput(data, n);
}

static u64 current;

static void report(void)
{
	fprintf(stderr, "model_proto 1 %llu repeats it\n",
		(unsigned long long)current);
}

static void on_abort(int sig)
{
	report();
}

static void run(u64 worlds, u64 seed)
{
	printf("seed %llu: %llu worlds\n", (unsigned long long)seed,
	       (unsigned long long)worlds);
	fflush(stdout);
	for (current = seed; current < seed + worlds; current++)
		one_world(current);
}

int main(int argc, char **argv)
{
	u64 worlds = argc > 1 ? strtoull(argv[1], NULL, 10) : 2500;

	signal(SIGABRT, on_abort);
	__sanitizer_set_death_callback(report);
	if (!worlds) {
		fprintf(stderr, "usage: %s [worlds [seed]]\n", argv[0]);
		return 1;
	}
	if (argc > 2) {
		run(worlds, strtoull(argv[2], NULL, 10));
		return 0;
	}
	run(worlds / 2, FIXED_SEED);
	run(worlds - worlds / 2, (u64)time(NULL) << 16);
	return 0;
}
