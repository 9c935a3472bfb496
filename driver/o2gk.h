/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/*
 * The driver's state. An endpoint (endpoint.h) has a front (front.h), which it is for,
 * and peers with connections (conn.h); messages go to buffers and come from them (buf.h).
 *
 * Two locks, in this order: a socket's lock (the receive path and everyone who
 * sends on it), then ep->lock (the core and all that is said to be under it).
 * docs/locking.md tells the rest.
 */
#ifndef O2GK_H
#define O2GK_H

#define O2GK_STEP 256 /* things under ep->lock, then others get it */

#include "buf.h"
#include "conn.h"
#include "endpoint.h"
#include "front.h"

#endif
