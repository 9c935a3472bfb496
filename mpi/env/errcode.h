/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Error codes and classes, and what they say. */
#ifndef MPII_ENV_ERRCODE_H
#define MPII_ENV_ERRCODE_H

/* NULL when there is no such class. */
const char *mpii_class_text(int class);
const char *mpii_class_name(int class); /* never NULL */
int mpii_class_of_code(int code);
/* The code of errors that name this peer, which was lost; @words, the same each
 * time, do so. The class itself if there is none to be had. */
int mpii_lost_code(int peer, const char *words);
/* Of any code: the peer that it names, or -1, and its words, or NULL. */
int mpii_lost_peer(int code);
const char *mpii_lost_text(int code);
/* The largest code in use, for the attribute MPI_LASTUSEDCODE. */
int mpii_last_used_code(void);

#endif
