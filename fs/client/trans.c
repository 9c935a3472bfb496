// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
/* The table of functions that 9p knows a transport by. */
#include "o2gfs.h"

#include <linux/err.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/seq_file.h>

/* 9p's own when no msize is given: with and without room for headers. */
#define MSIZE_9P (128 * 1024)

/* Nobody has asked for a size: as large as is good for us. */
static void choose_msize(struct p9_client *c)
{
	if (c->msize == MSIZE_9P || c->msize == MSIZE_9P + P9_IOHDRSZ)
		c->msize = FS_MSIZE_DEFAULT;
	c->msize = min_t(unsigned int, c->msize, FS_MSIZE_DEFAULT);
}

static int create(struct p9_client *client, O2GFS_CREATE_ARGS)
{
	int port = o2gfs_mount_port() ?:
					o2gfs_options_port(o2gfs_mount_options());
	struct o2gfs_source from;
	struct o2gfs_session *s;
	int err;

	if (port < 0)
		return port;
	err = o2gfs_source_parse(o2gfs_mount_net(), o2gfs_mount_source(), port,
				 &from);
	if (err)
		return err;
	if (client->proto_version != p9_proto_2000L) {
		pr_err("9pnet_o2g: only version=9p2000.L, 9p's default\n");
		return -EPROTONOSUPPORT;
	}
	choose_msize(client);
	s = o2gfs_session_open(client, o2gfs_mount_net(), &from);
	if (IS_ERR(s))
		return PTR_ERR(s);
	client->trans = s;
	client->status = Connected;
	return 0;
}

static void end(struct p9_client *client)
{
	struct o2gfs_session *s = client->trans;

	if (!s)
		return;
	client->status = Disconnected;
	client->trans = NULL;
	o2gfs_session_close(s);
}

static int show_options(struct seq_file *m, struct p9_client *client)
{
	const struct o2gfs_session *s = client->trans;

	/* At the same place in both families. */
	if (s)
		seq_printf(m, ",port=%u",
			   ntohs(((const struct sockaddr_in *)&s->from.addr)
					 ->sin_port));
	return 0;
}

static struct p9_trans_module o2g = {
	.name = "o2g",
	.maxsize = FS_MSIZE_DEFAULT,
	.pooled_rbuffers = false,
	O2GFS_VMALLOC.owner = THIS_MODULE,
	.create = create,
	.close = end,
	.request = o2gfs_request,
	.cancel = o2gfs_cancel,
	.cancelled = o2gfs_cancelled,
	.zc_request = o2gfs_zc_request,
	.show_options = show_options,
};

static int __init o2gfs_init(void)
{
	int err;

	o2gfs_wq = alloc_workqueue("o2gfs", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!o2gfs_wq)
		return -ENOMEM;
	err = o2gfs_rpc_init();
	if (err)
		goto no_rpc;
	err = o2gfs_look_init();
	if (err)
		goto no_look;
	v9fs_register_trans(&o2g);
	return 0;
no_look:
	o2gfs_rpc_exit();
no_rpc:
	destroy_workqueue(o2gfs_wq);
	return err;
}

static void __exit o2gfs_exit(void)
{
	v9fs_unregister_trans(&o2g);
	o2gfs_look_exit();
	o2gfs_rpc_exit();
	destroy_workqueue(o2gfs_wq);
}

module_init(o2gfs_init);
module_exit(o2gfs_exit);
MODULE_ALIAS_9P("o2g");
MODULE_DESCRIPTION("9P over O2G");
MODULE_LICENSE("Dual BSD/GPL");
