/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* The hints of MPI's files. */
#include <stdio.h>

#include "info.h"

static const struct hint {
	const char *name, *preset, *meaning;
} hints[] = {
#define HINT(name, kind, field, low, high, preset, meaning) \
	{ #name, preset, meaning },
#include "io/hints.def"
#undef HINT
};
#define HINTS (sizeof(hints) / sizeof(*hints))

void info_hints_text(void)
{
	puts("\nhints of files: name, default, meaning");
	for (size_t i = 0; i < HINTS; i++)
		printf("  %-20s %-28s %s\n", hints[i].name, hints[i].preset,
		       hints[i].meaning);
}

void info_hints_json(void)
{
	puts("  \"hints\": [");
	for (size_t i = 0; i < HINTS; i++)
		printf("    { \"name\": \"%s\", \"default\": \"%s\", "
		       "\"meaning\": \"%s\" }%s\n",
		       hints[i].name, hints[i].preset, hints[i].meaning,
		       i + 1 < HINTS ? "," : "");
	puts("  ],");
}
