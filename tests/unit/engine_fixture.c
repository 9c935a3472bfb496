/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: libo2g */
/* libs: -lnettle */
#include "engine_fixture.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct shared *shared;
struct o2g_ep *ep;
int me, nranks;

static int resolve(void *arg, int rank, char *address, size_t size)
{
	snprintf(address, size, "%s", shared->address[rank]);
	return 0;
}

void meet(atomic_int *counter)
{
	int n = atomic_fetch_add(counter, 1) + 1;
	int want = (n + nranks - 1) / nranks * nranks;

	while (atomic_load(counter) < want)
		usleep(200);
}

static void rank_main(void (*fn)(void))
{
	struct o2g_attr attr = { .rank = me,
				 .size = nranks,
				 .job = "test",
				 .resolve = resolve,
				 .secret = "not very" };

	alarm(LIMIT_S);
	CHECK(o2g_open(&attr, &ep) == 0);
	CHECK(o2g_rank(ep) == me && o2g_size(ep) == nranks);
	CHECK(o2g_address(ep, shared->address[me], O2G_ADDRESS_MAX) == 0);
	meet(&shared->ready);
	fn();
	meet(&shared->round);
	o2g_close(ep);
	exit(0);
}

void job(const char *channels, int n, void (*fn)(void), int may_die)
{
	pid_t pid[MAX_RANKS];
	int failed = 0;

	setenv("O2G_CHANNELS", channels, 1);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	nranks = n;
	for (int i = 0; i < n; i++) {
		fflush(NULL);
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			me = i;
			rank_main(fn);
		}
	}
	for (int i = 0; i < n; i++) {
		int status;

		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		if (status && i != may_die)
			failed++;
	}
	munmap(shared, sizeof(*shared));
	assert_int_equal(failed, 0);
}

void fill(unsigned char *b, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		b[i] = (unsigned char)(seed + i * 7 + (i >> 8));
}

void check_bytes(const unsigned char *b, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		CHECK(b[i] == (unsigned char)(seed + i * 7 + (i >> 8)));
}
