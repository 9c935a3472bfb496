// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#include "kapi.h"

#include <linux/err.h>
#include <linux/inet.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

static char *role = "both";
module_param(role, charp, 0444);
MODULE_PARM_DESC(role, "both, serve or call");

static char *address = "127.0.0.1";
module_param(address, charp, 0444);
MODULE_PARM_DESC(address, "where the server is");

static int port;
module_param(port, int, 0444);
MODULE_PARM_DESC(port, "its port; of a server: 0: any; it is told in the log");

static char *tests = "echo put callbacks cancel death";
module_param(tests, charp, 0444);
MODULE_PARM_DESC(tests, "which, also leave: go with requests under way");

static ulong most = 1 << 20;
module_param(most, ulong, 0444);
MODULE_PARM_DESC(most, "bytes of the longest message");

static ulong user[3];
module_param_array(user, ulong, NULL, 0444);
MODULE_PARM_DESC(user, "memory of a process: pid, address, bytes");

static int net_of;
module_param(net_of, int, 0444);
MODULE_PARM_DESC(net_of, "pid of a process in whose network the server is");

static bool process;
module_param(process, bool, 0444);
MODULE_PARM_DESC(process, "the server is a process");

unsigned int kapi_timeout = 60;
module_param_named(timeout, kapi_timeout, uint, 0444);
MODULE_PARM_DESC(timeout, "seconds for whatever is waited for");

static const struct o2gk_config config = {
	.rank = CALLER,
	.size = 2,
	.secret = "the secret that both ends share",
	.job = "kapi"
};
static struct kapi_server *server;
static struct kapi_caller *caller;

static const struct {
	const char *name;
	int (*run)(struct kapi_caller *c);
} all[] = {
	{ "echo", kapi_test_echo },	      { "put", kapi_test_put },
	{ "callbacks", kapi_test_callbacks }, { "cancel", kapi_test_cancel },
	{ "death", kapi_test_death },	      { "leave", kapi_test_leave },
};

static int run(void)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(all) && !err; i++) {
		unsigned long start = jiffies;

		if (!strstr(tests, all[i].name))
			continue;
		err = all[i].run(caller);
		kapi_say("%s: %d, after %u ms\n", all[i].name, err,
			 jiffies_to_msecs(jiffies - start));
	}
	return err;
}

static int call_server(void)
{
	struct sockaddr_storage to;
	char text[8];
	int err;

	snprintf(text, sizeof(text), "%d",
		 server ? kapi_server_port(server) : port);
	err = inet_pton_with_scope(&init_net, AF_UNSPEC, address, text, &to);
	if (err)
		return err;
	caller = kapi_call(&config, &to);
	if (IS_ERR(caller))
		return PTR_ERR(caller);
	caller->most = most;
	caller->process = process;
	err = kapi_connect(caller);
	return err ? err : run();
}

static struct kapi_server *serve(void)
{
	struct net *net = net_of ? get_net_ns_by_pid(net_of) :
				   get_net(current->nsproxy->net_ns);
	struct kapi_server *s;

	if (IS_ERR(net))
		return ERR_CAST(net);
	s = kapi_serve(&config, net, address, port);
	put_net(net);
	return s;
}

static void end(void)
{
	if (!IS_ERR_OR_NULL(caller))
		kapi_call_end(caller);
	kapi_left_free();
	kapi_serve_end(server);
	kapi_user_close();
}

static int __init kapi_init(void)
{
	int err = user[0] ? kapi_user_open(user[0], user[1], user[2]) : 0;

	if (!err && strcmp(role, "call")) {
		server = serve();
		err = PTR_ERR_OR_ZERO(server);
		if (!err)
			kapi_say("port %d\n", kapi_server_port(server));
	}
	if (!err && strcmp(role, "serve"))
		err = call_server();
	if (err) {
		kapi_err("it failed: %d\n", err);
		end();
	}
	return err;
}
module_init(kapi_init);

static void __exit kapi_exit(void)
{
	end();
}
module_exit(kapi_exit);

MODULE_DESCRIPTION("Tries what o2g.ko offers to other modules");
MODULE_LICENSE("Dual BSD/GPL");
