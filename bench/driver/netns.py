# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Two network namespaces joined by a cable (veth) stand for two hosts."""

import os
import subprocess
import time

ADDRESSES = ("10.111.0.1", "10.111.0.2")
DEVICE = "eth0"  # the same name at both ends: UCX takes one name for all ranks
# A burst below 64 KiB would make the kernel cut every packet that TCP leaves
# to the card to cut: the cable then takes 0.8 of a core, and not 0.04.
SHAPE = "rate 1gbit burst 72kb latency 10ms"


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise OSError(f"{' '.join(words)}: {done.stdout.strip()}")


class Link:
    """Use in a with statement: the namespaces go when it ends."""

    def __init__(self):
        self.names = [f"node{i}-bench{os.getpid()}" for i in (1, 2)]
        self.shaped = False

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
        for name in self.names:
            call("ip", "netns", "add", name)
        call("ip", "link", "add", DEVICE, "netns", self.names[0], "type",
             "veth", "peer", "name", DEVICE, "netns", self.names[1])
        for name, address in zip(self.names, ADDRESSES):
            call("ip", "-n", name, "address", "add", address + "/24",
                 "dev", DEVICE)
            for device in ("lo", DEVICE):
                call("ip", "-n", name, "link", "set", device, "up")
        # UCX overlooks an interface that has not quite come up.
        time.sleep(1)

    def destroy(self):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name],
                           stderr=subprocess.DEVNULL, check=False)

    def shape(self, wanted):
        """Makes the cable one of 1 Gbit/s, or as fast as the cores copy."""
        if wanted == self.shaped:
            return
        for name in self.names:
            if wanted:
                call("tc", "-n", name, "qdisc", "add", "dev", DEVICE, "root",
                     "tbf", *SHAPE.split())
            else:
                call("tc", "-n", name, "qdisc", "delete", "dev", DEVICE,
                     "root")
        self.shaped = wanted

    def environment(self):
        """What the agent (bench/nsagent) needs to find the namespaces."""
        pairs = (f"{a}={n}" for a, n in zip(ADDRESSES, self.names))
        return {"NSAGENT_HOSTS": " ".join(pairs)}
