/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: engine/dump.c */
#include "unit.h"

#include <stdlib.h>

#include "dump.h"

#define AREA 65536

static struct eng_dump *make(char *area, size_t size)
{
	struct eng_dump *d = NULL;

	assert_int_equal(eng_dump_init(area, size, &d), 0);
	return d;
}

static struct eng_dump_msg *add(struct eng_dump *d, u64 len)
{
	struct eng_dump_msg *m = eng_dump_alloc(d, len);

	if (m)
		eng_dump_append(d, m);
	return m;
}

static void init__too_small(void **state)
{
	char area[64];
	struct eng_dump *d;

	assert_int_equal(eng_dump_init(area, sizeof(area), &d), -EINVAL);
}

static void init__any_alignment(void **state)
{
	char *area = malloc(AREA + 16);

	for (int i = 0; i < 16; i++) {
		struct eng_dump *d = make(area + i, AREA);
		u64 longest = eng_dump_longest(d);
		struct eng_dump_msg *m = add(d, longest);

		assert_non_null(m);
		assert_ptr_equal(o2g_dump_first(area + i), &m->entry);
		memset(m->entry.buf, 0xff, longest);
		assert_true((char *)m->entry.buf + longest <= area + i + AREA);
		assert_null(eng_dump_alloc(d, 0));
	}
	free(area);
}

static void alloc__longer_than_area(void **state)
{
	char *area = malloc(AREA);
	struct eng_dump *d = make(area, AREA);

	assert_null(eng_dump_alloc(d, eng_dump_longest(d) + 1));
	assert_null(eng_dump_alloc(d, AREA));
	assert_null(eng_dump_alloc(d, UINT64_MAX));
	assert_null(eng_dump_alloc(d, UINT64_MAX - 100));
	free(area);
}

static void append__keeps_order(void **state)
{
	char *area = malloc(AREA);
	struct eng_dump *d = make(area, AREA);
	struct eng_dump_msg *m[3];

	assert_null(o2g_dump_first(area));
	for (int i = 0; i < 3; i++)
		m[i] = add(d, 10);
	assert_ptr_equal(o2g_dump_first(area), &m[0]->entry);
	assert_ptr_equal(m[0]->entry.next, &m[1]->entry);
	assert_ptr_equal(m[1]->entry.next, &m[2]->entry);
	assert_null(m[2]->entry.next);
	eng_dump_free(d, m[1]);
	assert_ptr_equal(m[0]->entry.next, &m[2]->entry);
	eng_dump_free(d, m[2]);
	assert_null(m[0]->entry.next);
	m[1] = add(d, 10);
	assert_ptr_equal(m[0]->entry.next, &m[1]->entry);
	eng_dump_free(d, m[0]);
	assert_ptr_equal(o2g_dump_first(area), &m[1]->entry);
	free(area);
}

static void find__refuses_strangers(void **state)
{
	char *area = malloc(AREA);
	struct eng_dump *d = make(area, AREA);
	struct eng_dump_msg *m = add(d, 100), *n = add(d, 100);
	struct queue_entry mine;

	assert_ptr_equal(eng_dump_find(d, &m->entry), m);
	assert_ptr_equal(eng_dump_find(d, &n->entry), n);
	assert_null(eng_dump_find(d, &mine));
	assert_null(eng_dump_find(d, (void *)((char *)&m->entry + 16)));
	assert_null(eng_dump_find(d, (void *)((char *)&m->entry + 1)));
	eng_dump_free(d, n);
	assert_null(eng_dump_find(d, &n->entry));
	free(area);
}

static void first__not_an_area(void **state)
{
	char area[256] = { 0 };

	assert_null(o2g_dump_first(NULL));
	assert_null(o2g_dump_first(area));
}

/* Random messages, each full of its own byte, against an array. */
static void check_list(void *area, struct eng_dump_msg **live, int n)
{
	struct queue_entry *e = o2g_dump_first(area);

	for (int i = 0; i < n; i++, e = e->next) {
		u8 *data = live[i]->entry.buf;

		assert_ptr_equal(e, &live[i]->entry);
		for (u64 j = 0; j < e->size; j++)
			assert_int_equal(data[j], e->tag & 0xff);
	}
	assert_null(e);
}

static void model__random(void **state)
{
	static struct eng_dump_msg *live[AREA / 64];
	char *area = malloc(AREA);
	struct eng_dump *d = make(area, AREA);
	int n = 0, full = 0;

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		if (random() % 100 < 55) {
			struct eng_dump_msg *m = add(d, random() % 2000);

			if (!m) {
				full++;
				continue;
			}
			m->entry.tag = i;
			memset(m->entry.buf, i & 0xff, m->entry.size);
			live[n++] = m;
		} else if (n) {
			int k = random() % n;

			eng_dump_free(d, live[k]);
			memmove(live + k, live + k + 1,
				(--n - k) * sizeof(*live));
		}
		if (i % 64 == 0)
			check_list(area, live, n);
	}
	assert_true(full > 100);
	while (n)
		eng_dump_free(d, live[--n]);
	/* All is one block again. */
	assert_non_null(add(d, eng_dump_longest(d)));
	free(area);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(init__too_small),	    T(init__any_alignment),
		T(alloc__longer_than_area), T(append__keeps_order),
		T(find__refuses_strangers), T(first__not_an_area),
		T(model__random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
