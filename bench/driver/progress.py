# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""A line that says what runs and how long the rest will take."""

import sys
import time


class Progress:
    """plan: all (case, mpi) to come, in order; known: seconds of earlier runs
    by case key and implementation."""

    def __init__(self, plan, known, verbose):
        self.left = list(plan)
        self.total = len(plan)
        self.known = known
        self.verbose = verbose
        self.started = time.monotonic()
        self.last_line = 0.0

    def expected(self, case, mpi):
        runs = self.known.get(case.key, {})
        if mpi.key in runs:
            return runs[mpi.key]
        return max(runs.values(), default=case.about)

    def seconds_left(self):
        return sum(self.expected(c, m) for c, m in self.left)

    def begin(self, case, mpi, number, way):
        line = (f"[{self.total - len(self.left) + 1}/{self.total}] "
                f"{clock(self.seconds_left())} left: round {number + 1}, "
                f"{case.key}, {mpi.title}{f' ({way})' if way else ''}")
        now = time.monotonic()
        if sys.stderr.isatty() and not self.verbose:
            print(f"\r{line:78}", end="", file=sys.stderr, flush=True)
        elif self.verbose or now - self.last_line > 10:
            print(line, file=sys.stderr, flush=True)
            self.last_line = now

    def end(self, case, mpi, seconds):
        self.left.pop(0)
        self.known.setdefault(case.key, {})[mpi.key] = seconds

    def close(self):
        if sys.stderr.isatty():
            print(f"\r{'':78}\r", end="", file=sys.stderr, flush=True)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
