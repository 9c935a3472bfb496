/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "dump.h"

#include "uapi/o2g.h"

#define ALIGN 16
#define DUMP_MAGIC O2GD_PAPER_MAGIC

struct block {
	u64 size; /* all of it, a multiple of ALIGN */
	u64 prev; /* size of the block before; 0 in the first */
	u64 used; /* 0, or a value that only a message of this area has */
	u64 pad;
};
_Static_assert(sizeof(struct block) % ALIGN == 0, "blocks stay aligned");

struct eng_dump {
	/* as in the driver's dump areas: struct o2gd_paper_dump */
	u64 magic;
	struct queue_entry *first; /* read by the program, without a lock */
	struct eng_dump_msg *last;
	struct block *start, *end; /* end: just behind the last block */
	struct block *rover;	   /* where the next search begins */
	u64 room;		   /* bytes in free blocks */
};

static struct block *next_block(const struct eng_dump *d, struct block *b)
{
	struct block *n = (struct block *)((char *)b + b->size);

	return n == d->end ? d->start : n;
}

static struct block *block_of(struct eng_dump_msg *m)
{
	return (struct block *)m - 1;
}

static u64 block_size(u64 len)
{
	u64 n = sizeof(struct block) + sizeof(struct eng_dump_msg) + len;

	return (n + ALIGN - 1) & ~(u64)(ALIGN - 1);
}

static void *align(void *p, uintptr_t to)
{
	return (void *)(((uintptr_t)p + to - 1) & ~(to - 1));
}

static struct eng_dump *dump_at(void *area)
{
	return align(area, O2GD_PAPER_ALIGN);
}

int eng_dump_init(void *area, size_t size, struct eng_dump **dump)
{
	struct eng_dump *d = dump_at(area);
	size_t head = (char *)(d + 1) - (char *)area + ALIGN;
	struct block *b = align(d + 1, ALIGN);
	u64 left;

	if (size < head + block_size(0))
		return -EINVAL;
	left = ((char *)area + size - (char *)b) & ~(u64)(ALIGN - 1);
	*b = (struct block){ .size = left };
	*d = (struct eng_dump){ .magic = DUMP_MAGIC,
				.start = b,
				.rover = b,
				.room = left };
	d->end = (struct block *)((char *)b + left);
	*dump = d;
	return 0;
}

/* Cut @b down to @size if what is left can hold a message. */
static void split(struct eng_dump *d, struct block *b, u64 size)
{
	struct block *rest = (struct block *)((char *)b + size);
	struct block *after = next_block(d, b);

	if (b->size - size < block_size(0))
		return;
	*rest = (struct block){ .size = b->size - size, .prev = size };
	b->size = size;
	if (after != d->start)
		after->prev = rest->size;
}

struct eng_dump_msg *eng_dump_alloc(struct eng_dump *d, u64 len)
{
	struct block *b = d->rover;
	struct eng_dump_msg *m;
	u64 size;

	if (len > eng_dump_longest(d))
		return NULL;
	size = block_size(len);
	if (size > d->room)
		return NULL;
	while (b->used || b->size < size) {
		b = next_block(d, b);
		if (b == d->rover)
			return NULL;
	}
	split(d, b, size);
	b->used = DUMP_MAGIC ^ (uintptr_t)b;
	d->room -= b->size;
	d->rover = next_block(d, b);
	m = (struct eng_dump_msg *)(b + 1);
	memset(m, 0, sizeof(*m));
	m->entry.buf = m + 1;
	m->entry.size = len;
	return m;
}

void eng_dump_append(struct eng_dump *d, struct eng_dump_msg *m)
{
	struct queue_entry **link = d->last ? &d->last->entry.next : &d->first;

	m->prev = d->last;
	d->last = m;
	/* The program may be walking the list: the entry is whole before. */
	__atomic_store_n(link, &m->entry, __ATOMIC_RELEASE);
}

static struct eng_dump_msg *msg_of(struct queue_entry *e)
{
	return container_of(e, struct eng_dump_msg, entry);
}

static void unlink_msg(struct eng_dump *d, struct eng_dump_msg *m)
{
	struct queue_entry *next = m->entry.next;

	__atomic_store_n(m->prev ? &m->prev->entry.next : &d->first, next,
			 __ATOMIC_RELEASE);
	if (next)
		msg_of(next)->prev = m->prev;
	else
		d->last = m->prev;
}

/* Join @b with the free block behind it; the search must not start inside. */
static void join(struct eng_dump *d, struct block *b, struct block *behind)
{
	struct block *after;

	b->size += behind->size;
	if (d->rover == behind)
		d->rover = b;
	after = next_block(d, b);
	if (after != d->start)
		after->prev = b->size;
}

void eng_dump_free(struct eng_dump *d, struct eng_dump_msg *m)
{
	struct block *b = block_of(m), *n;

	unlink_msg(d, m);
	b->used = 0;
	d->room += b->size;
	n = next_block(d, b);
	if (n != d->start && !n->used)
		join(d, b, n);
	if (b->prev) {
		n = (struct block *)((char *)b - b->prev);
		if (!n->used)
			join(d, n, b);
	}
}

struct eng_dump_msg *eng_dump_find(struct eng_dump *d, struct queue_entry *e)
{
	struct eng_dump_msg *m = msg_of(e);
	struct block *b = block_of(m);

	if (b < d->start || (char *)e + sizeof(*e) > (char *)d->end ||
	    (uintptr_t)b % ALIGN)
		return NULL;
	return b->used == (DUMP_MAGIC ^ (uintptr_t)b) ? m : NULL;
}

u64 eng_dump_longest(const struct eng_dump *d)
{
	return (char *)d->end - (char *)d->start - block_size(0);
}

struct queue_entry *o2g_dump_first(void *area)
{
	struct eng_dump *d = area ? dump_at(area) : NULL;

	if (!d || d->magic != DUMP_MAGIC)
		return NULL;
	return __atomic_load_n(&d->first, __ATOMIC_ACQUIRE);
}
