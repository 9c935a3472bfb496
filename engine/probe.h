/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_PROBE_H
#define ENG_PROBE_H

#include "ep.h"

/* What is looked for, and what was found. */
struct eng_probe {
	struct o2g_ep *ep;
	u32 src; /* or O2G_MATCH_ANY */
	u64 tag, ignore;
	bool take;
	int result;		  /* -EAGAIN while there is nothing */
	struct o2g_unexp *unexp;  /* in the core; NULL: in the driver, */
	u64 handle;		  /* ... by this handle, if taken */
	struct o2g_status status; /* of either */
};

/* Is there one? For waiting; @probe is a struct eng_probe. */
int eng_probe_cond(void *probe);

struct o2g_msg {
	struct o2g_ep *ep;
	struct o2g_unexp *unexp; /* or NULL, and then the driver's: */
	u64 handle;
};

#endif
