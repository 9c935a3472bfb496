/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * O2G_STATS=1: at the end rank 0 prints who sent to whom, over which channel
 * and how much, and how often collectives have gone through memory that the ranks of a
 * communicator share, and operations on windows that were done on mapped memory. Every
 * rank counts what it has sent.
 */
#include <stdio.h>
#include <stdlib.h>

#include "coll/shared.h"
#include "process/stats.h"
#include "pt2pt/pt2pt.h"
#include "win/win.h"

struct row {
	int from, to; /* -1: all that share memory with it */
	char channel[16];
	uint64_t messages, bytes;
};

static bool add(struct row **rows, int *n, const struct row *row)
{
	struct row *more = realloc(*rows, (*n + 1) * sizeof(*more));

	if (!more)
		return false;
	*rows = more;
	more[(*n)++] = *row;
	return true;
}

static void count_memory(struct row **rows, int *n)
{
	struct row row = { .from = mpii.rank, .to = -1, .channel = "memory" };

	row.messages = coll_shared_count();
	if (row.messages)
		add(rows, n, &row);
	snprintf(row.channel, sizeof(row.channel), "window");
	row.messages = atomic_load(&win_counts.direct);
	if (row.messages)
		add(rows, n, &row);
}

/* What this rank has sent, before the rows themselves are; *rows is malloc'ed.
 * How many there are. */
static int count(struct row **rows)
{
	struct o2g_peer_info info;
	int n = 0;

	*rows = NULL;
	for (int to = 0; to < mpii.size; to++) {
		struct row row = { .from = mpii.rank, .to = to };

		if (o2g_peer_info(mpii.ep, to, &info) || !info.messages_sent)
			continue;
		row.messages = info.messages_sent;
		row.bytes = info.bytes_sent;
		snprintf(row.channel, sizeof(row.channel), "%s", info.channel);
		if (!add(rows, &n, &row))
			break;
	}
	count_memory(rows, &n);
	return n;
}

static void print(const struct row *rows, int n)
{
	for (int i = 0; i < n; i++) {
		char to[16] = "all", bytes[24] = "-";

		if (rows[i].to >= 0) {
			snprintf(to, sizeof(to), "%d", rows[i].to);
			snprintf(bytes, sizeof(bytes), "%llu",
				 (unsigned long long)rows[i].bytes);
		}
		fprintf(stderr, "%6d %6s  %-8s %12llu %16s\n", rows[i].from, to,
			rows[i].channel, (unsigned long long)rows[i].messages,
			bytes);
	}
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
