// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* What lies in the driver for a rank, where there is one: as `o2g queues` has it. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "driver_info.h"
#include "rank_state.h"
#include "uapi/o2g.h"
#include "util.h"
#include "why.h"

#define LISTED 4096 /* endpoints of a host that are looked at */
#define QUEUED 1024
#define CONTEXTS 8 /* of a communicator: enum mpii_context */

static void add_message(struct o2g_state *s, const struct o2gd_queue_entry *e)
{
	uint32_t context = (uint32_t)(e->tag >> 32);

	s->messages_all++;
	s->messages_bytes += e->length;
	if (s->messages >= O2G_STATE_MESSAGES)
		return;
	s->message[s->messages++] = (struct o2g_state_message){
		.source = (int)e->source,
		.tag = (int)(uint32_t)e->tag,
		.context = context - context % CONTEXTS,
		.kind = context % CONTEXTS,
		.announced = e->body == O2GD_BODY_ANNOUNCED,
		.bytes = e->length,
	};
}

static void look_at(int fd, const struct o2gd_list_entry *ep,
		    struct o2g_state *s)
{
	struct o2gd_queue_entry *e = xmalloc(QUEUED * sizeof(*e));
	struct o2gd_look q = { .id = ep->id,
			       .max = QUEUED,
			       .addr = (uintptr_t)e,
			       .entry = sizeof(*e) };
	struct o2gd_info info;

	if (!driver_info(fd, ep->id, O2GD_ANY, &info)) {
		s->sent += info.messages_sent;
		s->received += info.messages_received;
		s->bytes_moved += info.bytes_sent + info.bytes_received;
	}
	if (!ioctl(fd, O2GD_QUEUES, &q))
		for (uint32_t i = 0; i < q.count && i < QUEUED; i++)
			if (e[i].queue == O2GD_QUEUE_UNEXPECTED)
				add_message(s, &e[i]);
	free(e);
}

void state_driver(struct o2g_state *s)
{
	struct o2gd_list_entry *list;
	struct o2gd_list l = { .max = LISTED, .entry = sizeof(*list) };
	int fd;

	if (strncmp(s->engine, "kernel", sizeof(s->engine)))
		return;
	fd = open(O2GD_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	list = xmalloc(LISTED * sizeof(*list));
	l.addr = (uintptr_t)list;
	if (!ioctl(fd, O2GD_LIST, &l))
		for (uint32_t i = 0; i < l.count && i < l.max; i++)
			if (list[i].pid == (uint32_t)s->pid &&
			    list[i].kind != O2GD_KIND_PAPER)
				look_at(fd, &list[i], s);
	free(list);
	close(fd);
}
