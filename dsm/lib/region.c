/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Regions: made, joined, closed. */
#define _GNU_SOURCE
#include "dsm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "log.h"

#define KEEPER 0 /* of the names */

int dsm_region_check(const struct o2g_dsm *r)
{
	if (!dsm.ep)
		return -ENODEV;
	return atomic_load(&r->lost) || __atomic_load_n(&r->counts->lost,
							__ATOMIC_RELAXED) ?
		       -O2G_ERR_PEER :
		       0;
}

struct o2g_dsm *dsm_region_find(u32 id)
{
	struct o2g_dsm *r = dsm.regions;

	while (r && r->id != id)
		r = r->next;
	return r;
}

static struct o2g_dsm *new_region(const char *name, const struct dsm_answer *a)
{
	struct o2g_dsm *r = aligned_alloc(64, (sizeof(*r) + 63) / 64 * 64);

	if (!r)
		return NULL;
	memset(r, 0, sizeof(*r));
	strcpy(r->name, name);
	r->id = (u32)a->a;
	r->base = (char *)(uintptr_t)a->b;
	r->bytes = a->c;
	r->founders = a->d;
	r->uffd = r->gone_fd = r->fd = -1;
	pthread_mutex_init(&r->lock, NULL);
	r->proto = (struct dsm_proto){
		.ops = &dsm_user_ops,
		.ctx = r,
		.npages = (u32)(r->bytes / DSM_PAGE_SIZE),
		.founders = r->founders,
		.self = (u8)dsm.rank,
		.move_after = 2,
	};
	return r;
}

static void free_region(struct o2g_dsm *r)
{
	pthread_mutex_destroy(&r->lock);
	free(r);
}

int dsm_region_map(struct o2g_dsm *r, int flags, int fd)
{
	char *at = mmap(r->base, r->bytes, PROT_READ | PROT_WRITE,
			flags | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);

	if (at != MAP_FAILED && at != r->base) {
		munmap(at, r->bytes);
		errno = EEXIST;
		at = MAP_FAILED;
	}
	if (at == MAP_FAILED) {
		int err = errno == EEXIST ? EADDRINUSE : errno;

		o2g_error("dsm: region %s cannot be mapped at %p: %s", r->name,
			  (void *)r->base, strerror(err));
		return -err;
	}
	r->mapped = true;
	return 0;
}

static void enlist(struct o2g_dsm *r)
{
	pthread_mutex_lock(&dsm.lock);
	r->next = dsm.regions;
	dsm.regions = r;
	pthread_mutex_unlock(&dsm.lock);
}

static void strike(struct o2g_dsm *r)
{
	struct o2g_dsm **at = &dsm.regions;

	pthread_mutex_lock(&dsm.lock);
	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	dsm_objects_forget(r->id);
	dsm_heap_forget(r->id);
	pthread_mutex_unlock(&dsm.lock);
}

static int begin(struct o2g_dsm *r)
{
	int err = dsm.engine->start(r);

	if (!err)
		enlist(r);
	return err;
}

static void end(struct o2g_dsm *r)
{
	strike(r);
	dsm.engine->stop(r);
}

/* Whether it went well or not, the others are told. */
static int make_ready(struct o2g_dsm *r)
{
	int mine = begin(r);
	struct dsm_call call = { .op = DSM_NAME_READY,
				 .a = r->id,
				 .b = (u64)(int64_t)mine };
	int err = dsm_ask(NULL, KEEPER, &call, NULL);

	if (!mine && err)
		end(r);
	return mine ? mine : err;
}

static int obtain(const char *name, struct dsm_call *call,
		  struct o2g_dsm **region)
{
	struct dsm_answer a;
	struct o2g_dsm *r;
	int err;

	if (!dsm.ep)
		return -ENODEV;
	if (!name || !*name || strlen(name) > O2G_DSM_NAME_MAX)
		return -EINVAL;
	strcpy(call->name, name);
	err = dsm_ask(NULL, KEEPER, call, &a);
	if (err)
		return err;
	r = new_region(name, &a);
	if (!r)
		return -ENOMEM;
	err = make_ready(r);
	if (err)
		free_region(r);
	else
		*region = r;
	return err;
}

int o2g_dsm_create(const char *name, size_t size, unsigned flags,
		   struct o2g_dsm **region)
{
	struct dsm_call call = { .op = DSM_NAME_CREATE, .b = flags };

	if (!size || size > (u64)UINT32_MAX * DSM_PAGE_SIZE ||
	    flags & ~(unsigned)O2G_DSM_ALONE)
		return -EINVAL;
	call.a = (size + DSM_PAGE_SIZE - 1) / DSM_PAGE_SIZE * DSM_PAGE_SIZE;
	return obtain(name, &call, region);
}

int o2g_dsm_join(const char *name, struct o2g_dsm **region)
{
	struct dsm_call call = { .op = DSM_NAME_JOIN };

	return obtain(name, &call, region);
}

/* After a death nobody is waited for. */
int o2g_dsm_close(struct o2g_dsm *r)
{
	struct dsm_call call = { .op = DSM_NAME_CLOSE, .a = r->id };
	int err = dsm_region_check(r);

	if (!err)
		err = dsm_ask(r, KEEPER, &call, NULL);
	end(r);
	free_region(r);
	return err;
}

void *o2g_dsm_base(const struct o2g_dsm *r)
{
	return r->base;
}

size_t o2g_dsm_bytes(const struct o2g_dsm *r)
{
	return r->bytes;
}

int o2g_dsm_on_loss(struct o2g_dsm *r, void (*fn)(void *arg, int rank),
		    void *arg)
{
	pthread_mutex_lock(&dsm.lock);
	r->on_loss = fn;
	r->on_loss_arg = arg;
	pthread_mutex_unlock(&dsm.lock);
	return dsm_region_check(r);
}
