# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Seats of the bpf channel, for as long as the benchmarks run."""

import json
import os
import subprocess
import tempfile


class Seats:
    """Use in a with statement. Where the program cannot be loaded (no root, an
    old kernel, no clang when O2G was built) there are none, and no harm."""

    def __init__(self, tool, count):
        self.tool, self.count = tool, count
        self.folder = None

    def __enter__(self):
        folder = tempfile.mkdtemp(prefix="o2g-bench-bpf-")
        os.chmod(folder, 0o755)
        os.environ["O2G_BPF_DIR"] = folder
        if self.call("bpf", "load", "--seats", str(self.count)):
            self.folder = folder
        else:
            os.rmdir(folder)
            del os.environ["O2G_BPF_DIR"]
        return self

    def __exit__(self, *_):
        if self.folder:
            self.call("bpf", "unload")
            os.rmdir(self.folder)

    def call(self, *words):
        try:
            return not subprocess.run([self.tool, *words], check=False,
                                      stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL).returncode
        except OSError:
            return False


def usable(tool):
    """Would a rank that is started now use it?"""
    try:
        done = subprocess.run([tool, "info", "--json"], check=False,
                              env={**os.environ, "O2G_CHANNELS": "bpf"},
                              stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL)
        return any(c["name"] == "bpf" and c["usable"]
                   for c in json.loads(done.stdout)["channels"])
    except (OSError, ValueError, KeyError):
        return False
