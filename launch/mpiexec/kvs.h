/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Keys and values: what the ranks of this host can see. */
#ifndef EXEC_KVS_H
#define EXEC_KVS_H

void kvs_put(const char *key, const char *value);
const char *kvs_get(const char *key); /* NULL: not there */

#endif
