/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* sources: tests/unit/engine_fixture.c */
/* o2g_watch: tells who waits, and for what, but only of those that wait for long. */
#include "engine_fixture.h"

#include <stdlib.h>

static struct {
	int begins, told, ends;
	struct o2g_pending first; /* of the latest wait */
	size_t total;
	int any, own;
	struct o2g_looked looked;
	struct o2g_unexpected message;
} seen;
static unsigned news;
static int mine;

static void *begins(void *arg)
{
	seen.begins++;
	return &mine;
}

static void waits(void *arg, void *my, const struct o2g_waits *w)
{
	CHECK(my == &mine);
	seen.told++;
	seen.total = w->total;
	seen.any = w->any;
	seen.own = w->cond != NULL;
	if (w->n)
		seen.first = w->pending[0];
}

static void ends(void *arg, void *my)
{
	CHECK(my == &mine);
	seen.ends++;
}

static void look(void *arg, const struct o2g_looked *l)
{
	seen.looked = *l;
	if (l->n)
		seen.message = l->messages[0];
}

static const struct o2g_watch watch = { .begins = begins,
					.waits = waits,
					.ends = ends,
					.look = look,
					.news = &news };

static void receive(void)
{
	char b[16] = "";

	if (me == 1) {
		CHECK(o2g_send(ep, 0, 5, b, 3, 0) ==
		      0); /* nobody asks for it */
		usleep(700000);
		CHECK(o2g_send(ep, 0, 7, b, 1, 0) == 0);
		CHECK(o2g_send(ep, 0, 8, b, 1, 0) == 0);
		return;
	}
	o2g_watch(ep, &watch);
	CHECK(o2g_recv(ep, 1, 7, 0, b, sizeof(b), NULL) == 0);
	CHECK(seen.begins == 1 && seen.ends == 1 && seen.told > 0);
	CHECK(seen.total == 1 && !seen.any && !seen.own);
	CHECK(seen.first.doing == O2G_RECEIVES &&
	      seen.first.stage == O2G_UNMATCHED && seen.first.peer == 1 &&
	      seen.first.tag == 7 && seen.first.ignore == 0 &&
	      seen.first.length == sizeof(b));
	CHECK(seen.looked.unexpected == 1 && seen.looked.n == 1);
	CHECK(seen.message.source == 1 && seen.message.tag == 5 &&
	      seen.message.length == 3 && !seen.message.announced);
	/* What is there already is not waited for. */
	CHECK(o2g_recv(ep, 1, 8, 0, b, sizeof(b), NULL) == 0);
	CHECK(seen.begins == 1);
	o2g_watch(ep, NULL);
	CHECK(o2g_recv(ep, 1, 5, 0, b, sizeof(b), NULL) == 0);
}

/* Any of several, from anybody; a probe; and a send that is not received. */
static void several(void)
{
	static char big[1 << 20];
	struct o2g_req *r[2];
	struct o2g_status s;
	struct o2g_seg seg = { big, 8 };
	size_t index;

	if (me == 1) {
		usleep(400000);
		CHECK(o2g_send(ep, 0, 2, big, 1, 0) == 0);
		usleep(400000);
		CHECK(o2g_send(ep, 0, 3, big, 1, 0) == 0);
		usleep(400000);
		CHECK(o2g_recv(ep, 0, 4, 0, big, sizeof(big), NULL) == 0);
		CHECK(o2g_send(ep, 0, 1, big, 1, 0) == 0);
		return;
	}
	o2g_watch(ep, &watch);
	CHECK(o2g_irecv(ep, 1, 1, 0, &seg, 1, &r[0]) == 0);
	CHECK(o2g_irecv(ep, O2G_ANY_SOURCE, 2, 0, &seg, 1, &r[1]) == 0);
	CHECK(o2g_wait_any(ep, r, 2, &index, NULL) == 0 && index == 1);
	CHECK(seen.begins == 1 && seen.any && seen.total == 2);
	CHECK(o2g_probe(ep, O2G_ANY_SOURCE, 3, 0, &s) == 0);
	CHECK(seen.begins == 2 && seen.first.doing == O2G_PROBES &&
	      seen.first.peer == O2G_ANY_SOURCE && seen.first.tag == 3);
	CHECK(o2g_recv(ep, 1, 3, 0, big, 1, NULL) == 0);
	CHECK(o2g_send(ep, 1, 4, big, sizeof(big), 0) == 0);
	CHECK(seen.begins == 3 && seen.first.doing == O2G_SENDS &&
	      seen.first.peer == 1 && seen.first.length == sizeof(big));
	/* By reference it waits once more, and may be told of then. */
	CHECK(seen.first.stage == O2G_ANNOUNCED ||
	      seen.first.stage == O2G_MOVING);
	CHECK(o2g_wait(r[0], NULL) == 0);
	CHECK(seen.begins == seen.ends);
}

OVER(receive, 2, receive, -1)
OVER(several, 2, several, -1)

int main(void)
{
	const struct CMUnitTest tests[] = { BOTH(receive), BOTH(several) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
