/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#include "log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum o2g_log_level o2g_log_level = O2G_LOG_WARN;
static char who[96];

void o2g_log_set_level(const char *name)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };

	for (int i = 0; i < 4; i++) {
		if (!strcmp(name, names[i])) {
			o2g_log_level = i;
			return;
		}
	}
	o2g_warn(
		"O2G_LOG is \"%s\", but error, warn, info or debug is expected; using warn",
		name);
}

void o2g_log_set_who(const char *text)
{
	snprintf(who, sizeof(who), "%s", text);
}

/* One write(2) per line, so that lines of several ranks do not mix. */
void o2g_log_line(enum o2g_log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int n, m;

	if (level > o2g_log_level)
		return;
	n = snprintf(line, sizeof(line), "o2g: %s%s", who, who[0] ? ": " : "");
	va_start(ap, fmt);
	m = vsnprintf(line + n, sizeof(line) - n, fmt, ap);
	va_end(ap);
	n += m;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n++] = '\n';
	if (write(STDERR_FILENO, line, n) < 0)
		return;
}
