/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
#ifndef EXEC_REAP_H
#define EXEC_REAP_H

/* From now on what our descendants leave behind becomes our child. */
void reap_adopt(void);
/* Every descendant gets SIGKILL and is waited for, also one that has left its
 * process group or session; at most for about @ms. */
void reap_all(unsigned ms);

#endif
