// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "kvs.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

struct pair {
	struct pair *next;
	char *value;
	char key[];
};

static struct pair **bins;
static size_t nbins, npairs;

static size_t hash(const char *key)
{
	size_t h = 5381;

	while (*key)
		h = h * 33 + (unsigned char)*key++;
	return h;
}

static void grow(void)
{
	size_t n = nbins ? nbins * 4 : 64;
	struct pair **wide = xmalloc(n * sizeof(*wide));

	for (size_t i = 0; i < nbins; i++) {
		while (bins[i]) {
			struct pair *p = bins[i], **bin;

			bins[i] = p->next;
			bin = &wide[hash(p->key) % n];
			p->next = *bin;
			*bin = p;
		}
	}
	free(bins);
	bins = wide;
	nbins = n;
}

static struct pair *find(const char *key)
{
	struct pair *p = nbins ? bins[hash(key) % nbins] : NULL;

	while (p && strcmp(p->key, key))
		p = p->next;
	return p;
}

void kvs_put(const char *key, const char *value)
{
	struct pair *p = find(key), **bin;

	if (p) {
		free(p->value);
		p->value = xstrdup(value);
		return;
	}
	if (npairs++ >= nbins * 2)
		grow();
	p = xmalloc(sizeof(*p) + strlen(key) + 1);
	strcpy(p->key, key);
	p->value = xstrdup(value);
	bin = &bins[hash(key) % nbins];
	p->next = *bin;
	*bin = p;
}

const char *kvs_get(const char *key)
{
	struct pair *p = find(key);

	return p ? p->value : NULL;
}
