/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 */
/* Ports: how two jobs that know nothing of each other meet. See tcp/port.h. */
#include "tcp/port.h"

#include "channels.h"
#include "log.h"

_Static_assert(O2G_PORT_NAME_MAX == TCP_PORT_NAME, "name of a port");
_Static_assert(O2G_SECRET_SIZE == TCP_PORT_SECRET, "secret of a port");

/* struct o2g_port is never defined: it is a struct tcp_port. */
static struct tcp_port *port_of(struct o2g_port *port)
{
	return (struct tcp_port *)port;
}

int o2g_port_open(struct o2g_ep *ep, struct o2g_port **port, char *name,
		  size_t size)
{
	char node[40], why[256] = "";
	struct tcp_port *p;
	int err;

	eng_node_id(node, sizeof(node));
	err = tcp_port_open(ep ? (u32)ep->rank : 0, node, &p, name, size, why,
			    sizeof(why));
	if (err) {
		o2g_error("cannot open a port: %s",
			  why[0] ? why : strerror(-err));
		return err;
	}
	*port = (struct o2g_port *)p;
	return 0;
}

void o2g_port_close(struct o2g_port *port)
{
	if (port)
		tcp_port_close(port_of(port));
}

void o2g_port_stop(struct o2g_port *port)
{
	tcp_port_stop(port_of(port));
}

int o2g_port_accept(struct o2g_port *port, int timeout_ms,
		    unsigned char secret[O2G_SECRET_SIZE])
{
	return tcp_port_accept(port_of(port), timeout_ms, secret);
}

int o2g_port_connect(const char *name, int timeout_ms,
		     unsigned char secret[O2G_SECRET_SIZE])
{
	char node[40];

	eng_node_id(node, sizeof(node));
	return tcp_port_call(name, node, timeout_ms, secret);
}
