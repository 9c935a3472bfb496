/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g why for people. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "why.h"

#define WIDTH 78
#define KINDS_SHOWN 5 /* of messages */
#define QUEUES_SHOWN 16

/* Broken into lines, the later ones further in. */
static void print_wrapped(const char *first, const char *rest, const char *text)
{
	size_t col = strlen(first);

	fputs(first, stdout);
	while (*text) {
		size_t word = strcspn(text, " ");

		fwrite(text, 1, word, stdout);
		col += word;
		text += word;
		if (!*text)
			break;
		text++;
		if (col + 1 + strcspn(text, " ") > WIDTH) {
			printf("\n%s", rest);
			col = strlen(rest);
		} else {
			putchar(' ');
			col++;
		}
	}
	putchar('\n');
}

static void print_head(const struct why_job *job)
{
	int hosts = 0, doing[WHY_GETS_ON + 1] = { 0 };

	for (int i = 0; i < job->n; i++) {
		bool known = false;

		for (int j = 0; j < i && !known; j++)
			known = !strcmp(job->rank[i].host, job->rank[j].host);
		hosts += !known;
		doing[job->rank[i].does]++;
	}
	printf("Job %d: %d rank%s on %d host%s", job->mpiexec, job->n,
	       job->n == 1 ? "" : "s", hosts, hosts == 1 ? "" : "s");
	printf("; %d wait%s in MPI, %d run%s, %d ended\n\n",
	       doing[WHY_WAITS] + doing[WHY_POLLS] + doing[WHY_MEETS],
	       doing[WHY_WAITS] + doing[WHY_POLLS] + doing[WHY_MEETS] == 1 ?
		       "s" :
		       "",
	       doing[WHY_COMPUTES] + doing[WHY_SLEEPS] + doing[WHY_NOT_YET] +
		       doing[WHY_GETS_ON],
	       doing[WHY_COMPUTES] + doing[WHY_SLEEPS] + doing[WHY_NOT_YET] +
				       doing[WHY_GETS_ON] ==
			       1 ?
		       "s" :
		       "",
	       doing[WHY_ENDED]);
}

/* Only ranks that run are waited for. */
static bool is_stuck(const struct why_findings *f)
{
	for (int i = 0; i < f->n; i++)
		if (f->at[i].kind != WHY_IS_WAITED_FOR)
			return true;
	return false;
}

static void print_findings(const struct why_findings *f)
{
	if (!f->n) {
		printf("Nothing was found that keeps it from going on.\n\n");
		return;
	}
	printf("%s\n",
	       is_stuck(f) ? "Why it does not go on:" : "What is waited for:");
	for (int i = 0; i < f->n; i++)
		print_wrapped("  * ", "    ", f->at[i].sentence);
	putchar('\n');
}

static int count_of(const bool *set, int n)
{
	int count = 0;

	for (int i = 0; i < n; i++)
		count += set[i];
	return count;
}

/* "waits in ..." of several ranks. */
static void add_plural(struct text *t, const char *words)
{
	static const char *const forms[][2] = {
		{ "waits ", "wait " }, { "calls ", "call " },
		{ "is ", "are " },     { "has ", "have " },
		{ "was ", "were " },   { "gets on: its", "get on: their" },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		size_t n = strlen(forms[i][0]);

		if (strncmp(words, forms[i][0], n))
			continue;
		text_add(t, "%s%s", forms[i][1], words + n);
		return;
	}
	text_add(t, "%s", words);
}

/* Ranks that do the same share a line. */
static void print_ranks(const struct why_job *job)
{
	char **words = calloc((size_t)job->n, sizeof(*words));
	bool *same = calloc((size_t)job->n, sizeof(*same));

	for (int i = 0; words && i < job->n; i++) {
		struct text t = { 0 };

		text_does(&t, job, i, true);
		words[i] = t.at;
	}
	printf("What the ranks do:\n");
	for (int i = 0; words && same && i < job->n; i++) {
		struct text t = { 0 };

		if (!words[i])
			continue;
		memset(same, 0, (size_t)job->n * sizeof(*same));
		for (int j = i; j < job->n; j++)
			same[j] = words[j] && !strcmp(words[i], words[j]);
		text_ranks(&t, same, job->n);
		t.at[0] = (char)toupper((unsigned char)t.at[0]);
		text_add(&t, " ");
		if (count_of(same, job->n) == 1)
			text_add(&t, "%s", words[i]);
		else
			add_plural(&t, words[i]);
		print_wrapped("  ", "    ", t.at);
		text_free(&t);
		for (int j = i + 1; j < job->n; j++) {
			if (!same[j])
				continue;
			free(words[j]);
			words[j] = NULL;
		}
		free(words[i]);
	}
	free(words);
	free(same);
}

/* Those of collective calls that are under way say nothing new. */
static bool is_programs(const struct o2g_state_message *m)
{
	return m->kind == 0; /* enum mpii_context */
}

static uint64_t programs(const struct o2g_state *s)
{
	uint64_t n = s->messages_all;

	for (uint32_t i = 0; i < s->messages; i++)
		n -= !is_programs(&s->message[i]);
	return n;
}

/* How many are like this one; 0: it was counted with an earlier one. */
static uint64_t alike(const struct o2g_state *s, uint32_t i)
{
	const struct o2g_state_message *m = &s->message[i];
	uint64_t n = 0;

	for (uint32_t j = 0; j < s->messages; j++) {
		if (memcmp(m, &s->message[j], sizeof(*m)))
			continue;
		if (j < i)
			return 0;
		n++;
	}
	return is_programs(m) ? n : 0;
}

static void print_queue(const struct why_job *job, int rank)
{
	const struct why_rank *r = &job->rank[rank];
	const struct o2g_state *s = &r->page;
	uint64_t n = programs(s), shown = 0;
	struct text t = { 0 };
	int kinds = 0;

	text_add(&t, "Rank %d: %llu message%s", rank, (unsigned long long)n,
		 n == 1 ? "" : "s");
	for (uint32_t i = 0; i < s->messages && kinds < KINDS_SHOWN; i++) {
		uint64_t same = alike(s, i);

		if (!same)
			continue;
		text_add(&t, kinds++ ? "; " : ": ");
		text_message(&t, r, &s->message[i]);
		if (same > 1)
			text_add(&t, " (%llu times)", (unsigned long long)same);
		shown += same;
	}
	if (n > shown)
		text_add(&t, "; ...");
	print_wrapped("  ", "    ", t.at);
	text_free(&t);
}

static void print_queues(const struct why_job *job)
{
	int shown = 0;

	for (int i = 0; i < job->n; i++) {
		if (!job->rank[i].has_page || !programs(&job->rank[i].page))
			continue;
		if (!shown)
			printf("\nMessages that have come and nobody has asked for:\n");
		if (shown++ == QUEUES_SHOWN) {
			printf("  ... (--json has all)\n");
			return;
		}
		print_queue(job, i);
	}
}

void why_print_text(const struct why_job *job, const struct why_findings *f)
{
	print_head(job);
	print_findings(f);
	print_ranks(job);
	print_queues(job);
}
