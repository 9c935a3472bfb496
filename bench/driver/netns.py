# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Network namespaces that stand for hosts, joined by a bridge.

    node1      node2      node3   ...     10.111.0.1, .2, .3
     eth0       eth0       eth0           one end of a veth pair each
       |          |          |
    ---+----------+----------+---         a bridge, in a namespace of its own
"""

import os
import subprocess
import time

DEVICE = "eth0"  # the same name everywhere: UCX takes one name for all ranks
# A burst below 64 KiB would make the kernel cut every packet that TCP leaves
# to the card to cut: the cable then takes 0.8 of a core, and not 0.04.
BURST = "burst 72kb latency 10ms"


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stdout.strip()}")


class Net:
    """Use in a with statement: the namespaces go when it ends."""

    def __init__(self, hosts, delay=None, rate=None, loss=None):
        self.hosts = hosts
        self.wanted = {"delay": delay, "rate": rate, "loss": loss}
        self.names = [f"node{i + 1}-bench{os.getpid()}" for i in range(hosts)]
        self.switch = f"switch-bench{os.getpid()}"
        self.shape_now = None

    def address(self, i):
        return f"10.111.0.{i + 1}"

    def addresses(self, count):
        return [self.address(i) for i in range(min(count, self.hosts))]

    def __enter__(self):
        try:
            self.create()
        except BaseException:
            self.destroy()
            raise
        return self

    def __exit__(self, *_):
        self.destroy()

    def create(self):
        call("ip", "netns", "add", self.switch)
        call("ip", "-n", self.switch, "link", "add", "br0", "type", "bridge",
             "forward_delay", "0")
        call("ip", "-n", self.switch, "link", "set", "br0", "up")
        for i, name in enumerate(self.names):
            self.add_host(i, name)
        # UCX overlooks an interface that has not quite come up.
        time.sleep(1)
        self.shape(False)

    def add_host(self, i, name):
        port = f"port{i + 1}"
        call("ip", "netns", "add", name)
        call("ip", "link", "add", DEVICE, "netns", name, "type", "veth",
             "peer", "name", port, "netns", self.switch)
        call("ip", "-n", self.switch, "link", "set", port, "master", "br0",
             "up")
        call("ip", "-n", name, "address", "add", self.address(i) + "/24",
             "dev", DEVICE)
        for device in ("lo", DEVICE):
            call("ip", "-n", name, "link", "set", device, "up")

    def destroy(self):
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "delete", name],
                           stderr=subprocess.DEVNULL, check=False)

    def qdisc(self, one_gigabit):
        """What tc makes of each cable; None leaves it as fast as it is."""
        rate = "1gbit" if one_gigabit else self.wanted["rate"]
        delay, loss = self.wanted["delay"], self.wanted["loss"]
        if delay or loss:
            words = ["netem", "limit", "100000"]
            words += ["delay", delay] if delay else []
            words += ["loss", loss] if loss else []
            return words + (["rate", rate] if rate else [])
        return ["tbf", "rate", rate, *BURST.split()] if rate else None

    def shape(self, one_gigabit):
        """Makes the cables what was asked for, or ones of 1 Gbit/s."""
        wanted = self.qdisc(one_gigabit)
        if wanted == self.shape_now:
            return
        for name in self.names:
            if self.shape_now:
                call("tc", "-n", name, "qdisc", "delete", "dev", DEVICE,
                     "root")
            if wanted:
                try:
                    call("tc", "-n", name, "qdisc", "add", "dev", DEVICE,
                         "root", *wanted)
                except OSError as error:
                    raise OSError(f"this kernel does not offer {wanted[0]}, "
                                  f"or not like that: {error}") from None
        self.shape_now = wanted

    def environment(self):
        """What the agent (bench/nsagent) needs to find the namespaces."""
        pairs = (f"{self.address(i)}={n}" for i, n in enumerate(self.names))
        return {"NSAGENT_HOSTS": " ".join(pairs)}
