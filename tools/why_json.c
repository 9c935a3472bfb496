/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* o2g why --json: the same for programs, and all of it. o2g-why(1) has the names. */
#include <string.h>

#include "why.h"

static const char *const does[] = {
	[WHY_UNKNOWN] = "unknown", [WHY_ENDED] = "ended",
	[WHY_STOPPED] = "stopped", [WHY_NOT_YET] = "not-in-mpi",
	[WHY_MEETS] = "starting",  [WHY_WAITS] = "waits",
	[WHY_POLLS] = "polls",	   [WHY_COMPUTES] = "computes",
	[WHY_SLEEPS] = "sleeps",   [WHY_GETS_ON] = "gets-on",
};
static const char *const doing[] = {
	[O2G_PART_SEND] = "send",   [O2G_PART_RECV] = "receive",
	[O2G_PART_PROBE] = "probe", [O2G_PART_PUT] = "put",
	[O2G_PART_GET] = "get",	    [O2G_PART_COLL] = "collective",
	[O2G_PART_LOCK] = "lock",   [O2G_PART_OTHER] = "other",
	[O2G_PART_POST] = "post",   [O2G_PART_COMPLETE] = "complete",
	[O2G_PART_READY] = "ready", [O2G_PART_PORT] = "port",
};
static const char *const moved[] = {
	[O2G_MOVED_NOT] = "no",
	[O2G_MOVED_NO_ROOM] = "no-memory-at-receiver",
	[O2G_MOVED_ASKED] = "not-asked-for",
	[O2G_MOVED_PARTLY] = "partly",
};

/* Bytes that are no UTF-8 become U+FFFD: JSON has no others. */
static size_t utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = *u < 0x80	       ? 1 :
		   (*u & 0xe0) == 0xc0 ? 2 :
		   (*u & 0xf0) == 0xe0 ? 3 :
		   (*u & 0xf8) == 0xf0 ? 4 :
					 0;

	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static void string(const char *s)
{
	putchar('"');
	while (*s) {
		size_t n = utf8_length(s);

		if (!n) {
			fputs("\\ufffd", stdout);
			n = 1;
		} else if (*s == '"' || *s == '\\') {
			printf("\\%c", *s);
		} else if ((unsigned char)*s < ' ') {
			printf("\\u%04x", (unsigned)*s);
		} else {
			fwrite(s, 1, n, stdout);
		}
		s += n;
	}
	putchar('"');
}

/* A rank or tag; null: any. */
static void number_or_any(const char *name, int v)
{
	printf(", \"%s\": ", name);
	if (v == O2G_STATE_ANY)
		printf("\"any\"");
	else if (v < 0)
		printf("null");
	else
		printf("%d", v);
}

static void comm_name(const struct o2g_state_comm *c)
{
	printf(", \"communicator\": ");
	if (c)
		string(c->name);
	else
		printf("null");
}

static void part(const struct why_job *job, int rank,
		 const struct o2g_state_part *p)
{
	printf("{\"what\": \"%s\", \"moved\": \"%s\"",
	       doing[p->doing <= O2G_PART_OTHER ? p->doing : O2G_PART_OTHER],
	       moved[p->moved % 4]);
	number_or_any("rank", p->peer);
	number_or_any("tag", p->tag);
	printf(", \"context\": %u, \"kind\": %u", p->context, p->kind);
	comm_name(why_comm_of(job, rank, p));
	printf(", \"bytes\": %llu, \"arrived\": %llu}",
	       (unsigned long long)p->bytes, (unsigned long long)p->arrived);
}

static void frames(const struct why_rank *r, const struct o2g_state_wait *w)
{
	printf(", \"where\": ");
	string(why_where(r, w));
	printf(", \"stack\": [");
	for (int i = 0; i < w->frames; i++) {
		const struct o2g_state_frame *f = &w->frame[i];

		printf("%s{\"file\": ", i ? ", " : "");
		string(f->module < r->page.modules ?
			       r->page.module[f->module].path :
			       "");
		printf(", \"offset\": %llu}", (unsigned long long)f->offset);
	}
	printf("]");
}

static void wait(const struct why_job *job, int rank,
		 const struct o2g_state_wait *w)
{
	const struct why_rank *r = &job->rank[rank];
	uint64_t ns = r->now_ns > w->since_ns ? r->now_ns - w->since_ns : 0;

	printf("{\"call\": ");
	string(w->call);
	frames(r, w);
	printf(", \"seconds\": %.1f, \"any\": %s", (double)ns / 1e9,
	       w->any ? "true" : "false");
	if (w->collective) {
		comm_name(why_comm(r, w->context));
		printf(", \"context\": %u", w->context);
	}
	if (w->collective == 1)
		printf(", \"collective\": %u", w->seq + 1);
	printf(", \"for\": [");
	for (int i = 0; i < w->parts; i++) {
		printf("%s", i ? ", " : "");
		part(job, rank, &w->part[i]);
	}
	printf("], \"for_total\": %u}", w->parts_all);
}

static void waits(const struct why_job *job, int rank)
{
	const struct why_rank *r = &job->rank[rank];
	const char *comma = "";

	printf(", \"waits\": [");
	for (int i = 0; i < O2G_STATE_WAITS; i++) {
		if (r->page.wait[i].used != 2)
			continue;
		printf("%s", comma);
		comma = ", ";
		wait(job, rank, &r->page.wait[i]);
	}
	printf("]");
}

static void polls(const struct why_rank *r)
{
	const struct o2g_state_poll *p = &r->page.poll;

	printf(", \"polls\": {\"call\": \"%s\", \"where\": ", why_poll_call(p));
	string(why_polls_where(r));
	number_or_any("rank", p->peer);
	number_or_any("tag", p->tag);
	comm_name(why_comm(r, p->context));
	printf(", \"requests\": %u}", p->n);
}

static void unexpected(const struct why_rank *r)
{
	printf(", \"unexpected_total\": %llu, \"unexpected\": [",
	       (unsigned long long)r->page.messages_all);
	for (uint32_t i = 0; i < r->page.messages; i++) {
		const struct o2g_state_message *m = &r->page.message[i];

		printf("%s{\"rank\": %d, \"tag\": %d, \"context\": %u, \"kind\": %u",
		       i ? ", " : "", m->source, m->tag, m->context, m->kind);
		comm_name(why_comm(r, m->context));
		printf(", \"bytes\": %llu, \"at_sender\": %s}",
		       (unsigned long long)m->bytes,
		       m->announced ? "true" : "false");
	}
	printf("]");
}

static void comms(const struct why_rank *r)
{
	printf(", \"communicators\": [");
	for (uint32_t i = 0; i < r->page.comms; i++) {
		const struct o2g_state_comm *c = &r->page.comm[i];

		printf("%s{\"name\": ", i ? ", " : "");
		string(c->name);
		printf(", \"context\": %u, \"rank\": %d, \"size\": %d, \"collectives\": %u}",
		       c->context, c->rank, c->size, c->colls);
	}
	printf("]");
}

static void rank(const struct why_job *job, int i)
{
	const struct why_rank *r = &job->rank[i];
	struct text t = { 0 };

	printf("    {\"rank\": %d, \"host\": ", i);
	string(r->host);
	printf(", \"pid\": %d, \"does\": \"%s\", \"words\": ", r->pid,
	       does[r->does]);
	text_does(&t, job, i, true);
	string(t.at);
	text_free(&t);
	if (r->has_page) {
		waits(job, i);
		if (r->does == WHY_POLLS)
			polls(r);
		unexpected(r);
		comms(r);
	}
	printf("}%s\n", i + 1 < job->n ? "," : "");
}

static void finding(const struct why_job *job, const struct why_finding *f)
{
	const char *comma = "";

	printf("    {\"kind\": \"%s\", \"ranks\": [", why_kind_name(f->kind));
	for (int i = 0; i < job->n; i++) {
		if (!f->ranks[i])
			continue;
		printf("%s%d", comma, i);
		comma = ", ";
	}
	printf("], \"words\": ");
	string(f->sentence);
	printf("}");
}

void why_print_json(const struct why_job *job, const struct why_findings *f)
{
	printf("{\n  \"job\": %d,\n  \"findings\": [\n", job->mpiexec);
	for (int i = 0; i < f->n; i++) {
		finding(job, &f->at[i]);
		printf("%s\n", i + 1 < f->n ? "," : "");
	}
	printf("  ],\n  \"ranks\": [\n");
	for (int i = 0; i < job->n; i++)
		rank(job, i);
	printf("  ]\n}\n");
}
