/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: dsm/proto/node.c dsm/proto/home.c dsm/proto/proto.c tests/mock/dsm_world.c */
/* How many messages the shared memory's protocol takes. */
#include "unit.h"
#include "dsm_world.h"

static const struct w_rules rules = { .nodes = 4, .pages = 1, .founders = 1 };

static void take(struct world *w, const struct w_rules *r, enum w_kind kind,
		 unsigned node)
{
	assert_null(w_take(w, r, (struct w_step){ (u8)kind, (u8)node, 0, 0 }));
}

/* Everything that follows; how many messages arrived. */
static unsigned settle(struct world *w, const struct w_rules *r)
{
	struct w_step steps[W_STEPS];
	unsigned messages = 0;

	for (int limit = 1000; !w_quiet(w, r) && limit; limit--) {
		unsigned n = w_steps(w, r, steps), i = 0;

		while (i < n && steps[i].kind <= W_HOME)
			i++;
		assert_true(i < n);
		messages += steps[i].kind == W_DELIVER;
		assert_null(w_take(w, r, steps[i]));
	}
	assert_true(w_quiet(w, r));
	return messages;
}

static unsigned messages_of(struct world *w, const struct w_rules *r,
			    enum w_kind kind, unsigned node)
{
	take(w, r, kind, node);
	return settle(w, r);
}

static void reading__clean(void **state)
{
	struct world w;

	w_begin(&w, &rules);
	assert_int_equal(messages_of(&w, &rules, W_READ, 1), 2);
	assert_int_equal(messages_of(&w, &rules, W_READ, 2), 2);
	assert_int_equal(messages_of(&w, &rules, W_READ, 2), 0);
	/* The home's own accesses are for nothing, and what it wrote is clean. */
	w_begin(&w, &rules);
	assert_int_equal(messages_of(&w, &rules, W_WRITE, 0), 0);
	assert_int_equal(messages_of(&w, &rules, W_READ, 3), 2);
}

static void writing__by_sharers(void **state)
{
	for (unsigned sharers = 0; sharers <= 2; sharers++) {
		struct world w;

		w_begin(&w, &rules);
		for (unsigned i = 0; i < sharers; i++)
			messages_of(&w, &rules, W_READ, 2 + i);
		assert_int_equal(messages_of(&w, &rules, W_WRITE, 1),
				 2 + 2 * sharers);
	}
}

static void written__elsewhere(void **state)
{
	struct world w;

	w_begin(&w, &rules);
	assert_int_equal(messages_of(&w, &rules, W_WRITE, 1), 2);
	assert_int_equal(messages_of(&w, &rules, W_READ, 2), 4);
	/* The writer and the home have copies as well as the reader. */
	assert_int_equal(messages_of(&w, &rules, W_WRITE, 1), 2 + 2 * 1);
	assert_int_equal(messages_of(&w, &rules, W_WRITE, 2), 2 + 2 * 1);
}

/* One writes and another reads, again and again: the home goes to the writer. */
static void home__moves_to_writer(void **state)
{
	struct w_rules moving = rules;
	struct world w;

	moving.move_after = 2;
	w_begin(&w, &moving);
	for (int i = 0; i < 3; i++) {
		messages_of(&w, &moving, W_WRITE, 1);
		messages_of(&w, &moving, W_READ, 2);
	}
	assert_int_equal(messages_of(&w, &moving, W_WRITE, 1), 2);
	assert_int_equal(messages_of(&w, &moving, W_READ, 2), 2);
	/* Whoever does not know it yet asks the old one first. */
	assert_int_equal(messages_of(&w, &moving, W_READ, 3), 3);
}

static void home__on_demand(void **state)
{
	struct w_rules homes = rules;
	struct world w;

	homes.homes = true;
	w_begin(&w, &homes);
	assert_int_equal(messages_of(&w, &homes, W_HOME, 3), 2);
	assert_int_equal(messages_of(&w, &homes, W_WRITE, 3), 0);
	assert_int_equal(messages_of(&w, &homes, W_HOME, 3), 0);
	/* Also of a page that it may write already. */
	assert_int_equal(messages_of(&w, &homes, W_WRITE, 1), 3);
	assert_int_equal(messages_of(&w, &homes, W_HOME, 1), 2);
	assert_int_equal(messages_of(&w, &homes, W_READ, 3), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(reading__clean),     T(writing__by_sharers),
		T(written__elsewhere), T(home__moves_to_writer),
		T(home__on_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
