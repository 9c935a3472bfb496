# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""The other MPIs, and the ways in which a job of each can be started.

Whether a rank that waits should spin or give its core to others depends on the
case, and in network namespaces no MPI can know that ranks share cores. So the
bench tries every way and goes on with the fastest. DEFAULT is what a user gets
who says nothing but what the case is about: hosts, and the way between them.
"""

import os
import shutil

from . import netns
from .start import AGENT, HERE, line_with

DEFAULT, SPINS, YIELDS = "default", "spins", "yields"


def is_crowded(case):
    """Are there more ranks than cores?"""
    return case.ranks + case.children > len(os.sched_getaffinity(0))


class Peer:
    peer = True

    def __init__(self, build, root=None):
        """root: of another Debian, unpacked beside this one."""
        self.root, self.build = root, build
        self.enter = [os.path.join(HERE, "inroot"), root] if root else []
        if root:
            self.key, self.title = f"{self.key}-new", f"newer {self.title}"
            self.ways = tuple(w for w in self.ways if w != DEFAULT or
                              SPINS not in self.ways)
        self.folder = self.key

    def usable(self):
        if self.root:
            return os.geteuid() == 0 and \
                os.path.exists(os.path.join(self.root, ".complete"))
        return shutil.which(self.mpiexec)

    def runs(self, _):
        return True


class MPICH(Peer):
    key, title = "mpich", "MPICH"
    mpiexec = "mpiexec.mpich"
    ways = (DEFAULT, YIELDS)  # it spins by default

    def version(self):
        return "MPICH " + line_with("Version:", *self.enter,
                                    "mpichversion").split()[-1]

    def start(self, case, hosts, way):
        words, env = [*self.enter, self.mpiexec], {}
        if hosts:
            words += ["-launcher", "ssh", "-launcher-exec", AGENT,
                      "-hosts", ",".join(hosts)]
            # Otherwise UCX sees one machine and shares memory.
            env = {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": netns.DEVICE}
        if way == YIELDS:
            words += ["-genv", "LD_PRELOAD",
                      os.path.join(self.build, "bench", "yield.so")]
        return [*words, "-n", str(case.ranks)], env


class OpenMPI(Peer):
    key, title = "openmpi", "Open MPI"
    mpiexec = "mpiexec.openmpi"
    ways = (SPINS, YIELDS, DEFAULT)
    # What its versions call things.
    crowd = ["--oversubscribe"]
    shared_memory = "vader"
    agent = ["--mca", "plm_rsh_agent", AGENT,
             "--mca", "plm_rsh_no_tree_spawn", "1",
             "--mca", "oob_tcp_if_include", netns.DEVICE]

    def version(self):
        return "Open MPI " + line_with("Open", *self.enter, self.mpiexec,
                                       "--version").split()[-1]

    def tuned(self, case, hosts, way):
        """What is set to make it fast. It reaches other jobs by tcp only."""
        by = "tcp,self" if hosts else f"{self.shared_memory},self" + \
            (",tcp" if case.program in ("spawn", "connect") else "")
        words = ["--mca", "pml", "ob1", "--mca", "btl", by,
                 "--mca", "osc", "^ucx", "--mca", "mpi_yield_when_idle",
                 str(int(way == YIELDS))]
        return words + ([] if hosts else [*self.crowd, "--bind-to", "none"])

    def start(self, case, hosts, way):
        words = [*self.enter, self.mpiexec, "--allow-run-as-root"]
        if hosts:
            slots = -(-case.ranks // len(hosts))
            # In namespaces each daemon would take the same first core.
            words += [*self.agent, *self.crowd, "--bind-to", "none",
                      "--mca", "btl_tcp_if_include", netns.DEVICE,
                      "--host", ",".join(f"{h}:{slots}" for h in hosts)]
        if way != DEFAULT:
            words += self.tuned(case, hosts, way)
        elif (is_crowded(case) or case.children) and not hosts:
            words += self.crowd  # or it does not start
        return [*words, "-n", str(case.ranks)], {}


class NewerOpenMPI(OpenMPI):
    crowd = ["--map-by", ":OVERSUBSCRIBE"]
    shared_memory = "sm"
    agent = ["--prtemca", "plm_ssh_agent", AGENT,
             "--prtemca", "plm_ssh_no_tree_spawn", "1",
             "--prtemca", "prte_if_include", netns.DEVICE]


def every(build):
    root = os.path.join(build, "real", "newer")
    return (MPICH(build), OpenMPI(build), MPICH(build, root),
            NewerOpenMPI(build, root))
