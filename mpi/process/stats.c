/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * O2G_STATS=1: at the end rank 0 prints who sent to whom, over which channel
 * and how much. Every rank counts what it has sent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "process/stats.h"
#include "pt2pt/pt2pt.h"

struct row {
	int from, to;
	char channel[16];
	uint64_t messages, bytes;
};

/* What this rank has sent, before the rows themselves are; *rows is malloc'ed.
 * How many there are. */
static int count(struct row **rows)
{
	struct o2g_peer_info info;
	struct row *more;
	int n = 0;

	*rows = NULL;
	for (int to = 0; to < mpii.size; to++) {
		if (o2g_peer_info(mpii.ep, to, &info) || !info.messages_sent)
			continue;
		more = realloc(*rows, (n + 1) * sizeof(*more));
		if (!more)
			break;
		*rows = more;
		more[n] = (struct row){ .from = mpii.rank,
					.to = to,
					.messages = info.messages_sent,
					.bytes = info.bytes_sent };
		snprintf(more[n].channel, sizeof(more[n].channel), "%s",
			 info.channel);
		n++;
	}
	return n;
}

static void print(const struct row *rows, int n)
{
	for (int i = 0; i < n; i++)
		fprintf(stderr, "%6d %6d  %-8s %12llu %16llu\n", rows[i].from,
			rows[i].to, rows[i].channel,
			(unsigned long long)rows[i].messages,
			(unsigned long long)rows[i].bytes);
}

static int move(int peer, void *buf, int bytes, bool send)
{
	struct mpii_type *byte = mpii_type_get(MPI_BYTE);
	uint32_t context = mpii_world.context + MPII_CTX_GROUP;

	return send ? mpii_send(buf, bytes, byte, peer, 0, &mpii_world,
				context) :
		      mpii_recv(buf, bytes, byte, peer, 0, &mpii_world, context,
				MPI_STATUS_IGNORE);
}

/* What one rank has to say. */
static bool hear(int rank)
{
	struct row *rows;
	bool heard;
	int n;

	if (move(rank, &n, sizeof(n), false))
		return false;
	rows = malloc((n + 1) * sizeof(*rows));
	heard = rows && !move(rank, rows, n * (int)sizeof(*rows), false);
	if (heard)
		print(rows, n);
	free(rows);
	return heard;
}

void mpii_stats(void)
{
	struct row *rows;
	int n = count(&rows);

	if (mpii.rank == 0) {
		fprintf(stderr, "%6s %6s  %-8s %12s %16s\n", "from", "to",
			"channel", "messages", "bytes");
		print(rows, n);
		for (int rank = 1; rank < mpii.size; rank++)
			if (!hear(rank))
				fprintf(stderr, "%6d  no answer\n", rank);
	} else if (!move(0, &n, sizeof(n), true)) {
		move(0, rows, n * (int)sizeof(*rows), true);
	}
	free(rows);
}
