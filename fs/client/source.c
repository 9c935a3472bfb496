// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/*
 * What a mount says: "ADDRESS[;OPTION]...". Newer kernels hand transports no options but
 * the port, so ours are in the source, on all kernels.
 *
 *	key=NAME	the secret is the logon key "o2gfs:NAME", 32 bytes; "default"
 *	port=N		as the mount option
 *	soft[=SECONDS]	requests end with ETIMEDOUT after so long; 60
 *	hard		they do not; the default
 *
 * The key comes from the keyrings of whoever mounts, so it is on no command line, and
 * the kernel opens no file.
 */
#include "o2gfs.h"

#include <keys/user-type.h>
#include <linux/inet.h>
#include <linux/kernel.h>
#include <linux/key.h>
#include <linux/slab.h>
#include <linux/string.h>

#define SOFT_S 60
#define SOFT_MAX_S 86400

static int read_number(const char *s, u32 low, u32 high, u32 *to)
{
	u32 n;

	if (kstrtou32(s, 10, &n) || n < low || n > high)
		return -EINVAL;
	*to = n;
	return 0;
}

static int read_key(const char *name, struct o2gfs_source *to)
{
	if (!*name || strscpy(to->key, name, sizeof(to->key)) < 0)
		return -EINVAL;
	return 0;
}

static int read_option(char *name, struct o2gfs_source *to, u32 *port)
{
	char *value = name;

	strsep(&value, "=");
	if (!strcmp(name, "hard") && !value)
		to->soft = 0;
	else if (!strcmp(name, "soft") && !value)
		to->soft = SOFT_S;
	else if (!strcmp(name, "soft"))
		return read_number(value, 1, SOFT_MAX_S, &to->soft);
	else if (!strcmp(name, "port") && value)
		return read_number(value, 1, 65535, port);
	else if (!strcmp(name, "key") && value)
		return read_key(value, to);
	else
		return -EINVAL;
	return 0;
}

static int parse(struct net *net, char *words, u32 port,
		 struct o2gfs_source *to)
{
	char *host = strsep(&words, ";"), *word, digits[8];

	while ((word = strsep(&words, ";"))) {
		if (*word && read_option(word, to, &port)) {
			pr_err("9pnet_o2g: no such option in the source: %s; there are key=NAME, port=N, soft[=SECONDS], hard\n",
			       word);
			return -EINVAL;
		}
	}
	snprintf(digits, sizeof(digits), "%u", port);
	if (inet_pton_with_scope(net, AF_UNSPEC, host, digits, &to->addr)) {
		pr_err("9pnet_o2g: the source starts with an address of IPv4 or IPv6, not %s; `o2g fs mount` looks names up\n",
		       host);
		return -EINVAL;
	}
	return 0;
}

int o2gfs_source_parse(struct net *net, const char *source, int port,
		       struct o2gfs_source *to)
{
	char *words;
	int err;

	*to = (struct o2gfs_source){ .key = "default" };
	if (!source)
		return -EINVAL;
	words = kstrdup(source, GFP_KERNEL);
	if (!words)
		return -ENOMEM;
	err = parse(net, words, port ?: FS_PORT, to);
	kfree(words);
	return err;
}

int o2gfs_options_port(const char *options)
{
	const char *at = options;
	unsigned int port;

	for (; at; at = strchr(at, ',')) {
		at += *at == ',';
		if (sscanf(at, "port=%u", &port) == 1)
			return port > 0 && port < 65536 ? port : -EINVAL;
	}
	return 0;
}

static int copy_key(struct key *key, u8 *secret)
{
	const struct user_key_payload *p;
	int err = 0;

	down_read(&key->sem);
	p = user_key_payload_locked(key);
	if (!p)
		err = -EKEYREVOKED;
	else if (p->datalen != O2GK_SECRET)
		err = -EKEYREJECTED;
	else
		memcpy(secret, p->data, O2GK_SECRET);
	up_read(&key->sem);
	return err;
}

int o2gfs_key_get(const char *name, u8 *secret)
{
	char what[O2GFS_NAME + 8];
	struct key *key;
	int err;

	snprintf(what, sizeof(what), "o2gfs:%s", name);
	key = request_key(&key_type_logon, what, NULL);
	if (IS_ERR(key)) {
		err = PTR_ERR(key);
	} else {
		err = copy_key(key, secret);
		key_put(key);
	}
	if (err)
		pr_err("9pnet_o2g: there is no logon key \"%s\" of %d bytes in the keyrings of this process (%d); see `o2g fs mount`, or keyctl padd\n",
		       what, O2GK_SECRET, err);
	return err;
}
