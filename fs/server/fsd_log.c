/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "fsd_log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "clock.h"

#define LINES_A_SECOND 5

enum fsd_level fsd_log_level = FSD_INFO;

/* One write(2), so that lines of threads do not mix. */
void fsd_log(enum fsd_level level, const char *fmt, ...)
{
	static const char *const words[] = { "error: ", "warning: ", "", "" };
	char line[1024];
	va_list ap;
	int n, m;

	if (level > fsd_log_level)
		return;
	n = snprintf(line, sizeof(line) - 1, "o2gfsd: %s", words[level]);
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - 1 - (size_t)n, fmt, ap);
	va_end(ap);
	n += m < 0 ? 0 : m;
	if (n > (int)sizeof(line) - 2)
		n = (int)sizeof(line) - 2;
	for (int i = 0; i < n; i++) /* names come from strangers */
		if ((unsigned char)line[i] < ' ' || line[i] == 127)
			line[i] = '?';
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, (size_t)n) < 0)
		return; /* there is nobody left to tell */
}

int fsd_log_allowed(void)
{
	static atomic_ullong second;
	static atomic_uint lines;
	unsigned long long now = o2g_now_ns() / 1000000000u;

	if (atomic_exchange(&second, now) != now)
		atomic_store(&lines, 0);
	return atomic_fetch_add(&lines, 1) < LINES_A_SECOND;
}
