/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/* Seen by libmpi, which shares the one copy inside libo2g. */
#pragma GCC visibility push(default)

enum o2g_log_level { O2G_LOG_ERROR, O2G_LOG_WARN, O2G_LOG_INFO, O2G_LOG_DEBUG };

extern enum o2g_log_level o2g_log_level;

/* "error", "warn", "info" or "debug". */
void o2g_log_set_level(const char *name);
/* Put in front of every line, e.g. "rank 3 on node7". Copied. */
void o2g_log_set_who(const char *who);

void o2g_log_line(enum o2g_log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* One line on stderr: "o2g: [rank 3 on node7: ]text". */
#define o2g_error(...) o2g_log_line(O2G_LOG_ERROR, __VA_ARGS__)
#define o2g_warn(...) o2g_log_line(O2G_LOG_WARN, __VA_ARGS__)
#define o2g_info(...) o2g_log_line(O2G_LOG_INFO, __VA_ARGS__)
#define o2g_debug(...)                                                   \
	do {                                                             \
		if (__builtin_expect(o2g_log_level >= O2G_LOG_DEBUG, 0)) \
			o2g_log_line(O2G_LOG_DEBUG, __VA_ARGS__);        \
	} while (0)

#pragma GCC visibility pop

#endif
