/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "tls_lib.h"

#ifdef TCP_HAS_TLS

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NAME "libgnutls.so.30"

static struct tls_lib lib;
static bool usable;
static char problem[200];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void *find(void *so, const char *name, bool *all)
{
	void *at = dlsym(so, name);

	if (!at && *all) {
		snprintf(problem, sizeof(problem), "%s has no %s", NAME, name);
		*all = false;
	}
	return at;
}

/* A pointer to a function is not one to data in C, but dlsym() returns both. */
static void store(void *to, void *at)
{
	memcpy(to, &at, sizeof(at));
}

static void load(void)
{
	void *so = dlopen(NAME, RTLD_NOW | RTLD_LOCAL);
	bool all = true;

	if (!so) {
		snprintf(problem, sizeof(problem),
			 "%s cannot be loaded: install GnuTLS (%.120s)", NAME,
			 dlerror());
		return;
	}
#define FIND(name) store(&lib.name, find(so, "gnutls_" #name, &all));
	TLS_LIB_CALLS(FIND)
#undef FIND
	store(&lib.malloc, find(so, "gnutls_malloc", &all));
	usable = all;
}

const struct tls_lib *tls_lib_get(char *why, size_t why_size)
{
	pthread_once(&once, load);
	if (!usable)
		snprintf(why, why_size, "%s", problem);
	return usable ? &lib : NULL;
}

#endif
