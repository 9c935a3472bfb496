# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""The MPIs that are compared, and how each starts a job at its best.

No launcher binds anything: in namespaces each would take the same first core.
The programs pin themselves where that matters (--pin), the same for all.
"""

import os
import shutil
import subprocess

from . import netns

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
AGENT = os.path.join(HERE, "nsagent")
HOSTS = ",".join(netns.ADDRESSES)


def line_with(name, *words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
    except OSError:
        return "?"
    found = [x.strip() for x in done.stdout.splitlines() if name in x]
    return found[0] if found else "?"


class O2G:
    key, title = "o2g", "O2G"

    def __init__(self, build):
        self.mpiexec = os.path.join(build, "bin", "mpiexec")

    def version(self):
        return line_with("", self.mpiexec, "--version")

    def shm(self, ranks):
        return [self.mpiexec, "-n", str(ranks)], {"O2G_CHANNELS": "shm"}

    def tcp(self, ranks):
        return ([self.mpiexec, "-n", str(ranks), "-hosts", HOSTS,
                 "-agent", AGENT], {"O2G_CHANNELS": "tcp"})


class MPICH:
    key, title = "mpich", "MPICH"
    mpiexec = "mpiexec.mpich"

    def version(self):
        return "MPICH " + line_with("Version:", "mpichversion").split()[-1]

    def shm(self, ranks):
        return [self.mpiexec, "-n", str(ranks)], {}

    def tcp(self, ranks):
        # Without UCX_TLS, UCX sees one machine and shares memory.
        return ([self.mpiexec, "-launcher", "ssh", "-launcher-exec", AGENT,
                 "-hosts", HOSTS, "-n", str(ranks)],
                {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": netns.DEVICE})


class OpenMPI:
    key, title = "openmpi", "Open MPI"
    mpiexec = "mpiexec.openmpi"
    # --oversubscribe also makes waiting ranks yield when there are more of
    # them than cores, which is what Open MPI does best then.
    common = ["--allow-run-as-root", "--bind-to", "none", "--oversubscribe",
              "--mca", "pml", "ob1"]

    def version(self):
        return line_with("Open", self.mpiexec, "--version").replace(
            "mpiexec.openmpi (OpenRTE)", "Open MPI")

    def shm(self, ranks):
        return ([self.mpiexec, *self.common, "--mca", "btl", "vader,self",
                 "-n", str(ranks)], {})

    def tcp(self, ranks):
        return ([self.mpiexec, *self.common, "--mca", "plm_rsh_agent", AGENT,
                 "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include",
                 netns.DEVICE, "--host", HOSTS, "-n", str(ranks)], {})


def available(build):
    """Those whose programs have been built and whose launcher is there."""
    found = []
    for impl in (O2G(build), MPICH(), OpenMPI()):
        if (os.path.isdir(os.path.join(build, "bench", impl.key)) and
                shutil.which(impl.mpiexec)):
            found.append(impl)
    return found
