/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Generalized requests. */
#ifndef MPII_PT2PT_GREQUEST_H
#define MPII_PT2PT_GREQUEST_H

#include "pt2pt/request.h"

/* Ask the program for the status of its completed request. */
void mpii_greq_query(struct mpii_req *r);
/* Its status was asked for, and it is about to go: lets the program free what
 * belongs to it. An error of that is the request's. */
void mpii_greq_end(struct mpii_req *r);
int mpii_greq_cancel(struct mpii_req *r);
/* The program gives it up. What its free function has returned, if that was
 * called. */
int mpii_greq_detach(struct mpii_req *r);

#endif
