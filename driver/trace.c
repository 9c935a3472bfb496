// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The tracepoints of trace.h, made once. */
#define CREATE_TRACE_POINTS
#include "trace.h"
