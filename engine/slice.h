/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef ENG_SLICE_H
#define ENG_SLICE_H

/*
 * Ask the scheduler for short turns for the calling thread: it then gets a core that
 * others compute on sooner, and no more of it. Kernels before 6.12 do not know it, and
 * nothing is different there.
 */
void eng_short_slice(void);

#endif
