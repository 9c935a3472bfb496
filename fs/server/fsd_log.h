/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Lines of the server on standard error, which the service manager keeps. */
#ifndef FSD_LOG_H
#define FSD_LOG_H

enum fsd_level { FSD_ERROR, FSD_WARN, FSD_INFO, FSD_DEBUG };

extern enum fsd_level fsd_log_level; /* FSD_INFO unless told */

void fsd_log(enum fsd_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define fsd_error(...) fsd_log(FSD_ERROR, __VA_ARGS__)
#define fsd_warn(...) fsd_log(FSD_WARN, __VA_ARGS__)
#define fsd_info(...) fsd_log(FSD_INFO, __VA_ARGS__)
#define fsd_debug(...)                                   \
	do {                                             \
		if (fsd_log_level >= FSD_DEBUG)          \
			fsd_log(FSD_DEBUG, __VA_ARGS__); \
	} while (0)

/* Says whether a line that anybody can cause may be written again: a few a second. */
int fsd_log_allowed(void);

#endif
