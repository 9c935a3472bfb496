# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""What is compared, and how ours starts a job. The others are in peers.py.

No launcher binds anything: in namespaces each would take the same first core.
The programs pin themselves where that matters (--pin), the same for all.
"""

import os
import subprocess

from . import bpf, peers
from .start import AGENT, line_with


class O2G:
    """Ours. A variant is the same library with another engine or channel."""
    folder = "o2g"
    peer = False
    ways = (None,)

    def __init__(self, build, key="o2g", title="O2G", tcp_settings=None):
        self.key, self.title = key, title
        self.mpiexec = os.path.join(build, "bin", "mpiexec")
        self.tool = os.path.join(build, "bin", "o2g")
        self.tcp_settings = tcp_settings or {"O2G_CHANNELS": "tcp"}

    def version(self):
        return line_with("", self.mpiexec, "--version").replace(
            "mpiexec (O2G)", "O2G")

    def usable(self):
        if self.key.endswith("-bpf"):
            return bpf.usable(self.tool)
        try:
            done = subprocess.run([self.tool, "info"], check=False,
                                  env={**os.environ, **self.tcp_settings},
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        except OSError:
            return False
        return done.returncode == 0

    def runs(self, transport):
        return self.key == "o2g" or transport not in ("shm", "host")

    def start(self, case, hosts, _):
        words = [self.mpiexec, "-n", str(case.ranks)]
        if hosts:
            return ([*words, "-hosts", ",".join(hosts), "-agent", AGENT],
                    dict(self.tcp_settings))
        shm = case.transport == "shm"
        return words, {"O2G_CHANNELS": "shm"} if shm else {}


class Base(O2G):
    """Ours, as another build has it."""
    folder = "o2g-base"

    def runs(self, transport):
        return self.key == "o2g-base" or transport not in ("shm", "host")


class Plain:
    """No MPI at all: what is possible, for the cases that have such a program.
    It is started with the names of the namespaces, not by a launcher."""
    folder = "plain"
    peer = False
    ways = (None,)

    def __init__(self, build, key, title):
        self.build, self.key, self.title = build, key, title

    def program(self, case):
        """The program and its arguments; () where there is none."""
        words = getattr(case, self.key.replace("-", "_"))
        path = os.path.join(self.build, "bench", "plain", *words[:1])
        return [path, *words[1:]] if words and os.path.exists(path) else []

    def version(self):
        return self.title

    def usable(self):
        return self.key == "plain" or os.geteuid() == 0

    def runs(self, _):
        return True


def every(build, base=None):
    return (O2G(build),
            O2G(build, "o2g-bpf", "O2G bpf", {"O2G_CHANNELS": "bpf"}),
            O2G(build, "o2g-kernel", "O2G kernel",
                {"O2G_ENGINE": "kernel", "O2G_CHANNELS": "tcp"}),
            *before(base), *peers.every(build), Plain(build, "plain", "no MPI"),
            Plain(build, "plain-bpf", "no MPI, by bpf"),
            Plain(build, "plain-flag", "no MPI, only a flag by bpf"))


def before(base):
    if not base:
        return ()
    return (Base(base, "o2g-base", "O2G before"),
            Base(base, "o2g-base-bpf", "bpf before", {"O2G_CHANNELS": "bpf"}))


def available(build, base=None, wanted=None):
    """Those (of the wanted) whose programs are built and that can be used."""
    return [impl for impl in every(build, base)
            if (not wanted or impl.key in wanted) and
            os.path.isdir(os.path.join(build, "bench", impl.folder)) and
            impl.usable()]
