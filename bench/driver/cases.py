# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""What is run, and what must come out."""

from dataclasses import dataclass, field


@dataclass
class Case:
    """One program under one transport; all implementations take turns."""
    name: str
    program: str
    transport: str  # shm, tcp, or tcp1g: tcp over a cable of 1 Gbit/s
    args: list
    quick: list = field(default_factory=list)  # what --quick changes
    ranks: int = 2
    rounds: int = 0  # 0: as many as asked for
    limit: int = 90  # seconds before a run is given up

    @property
    def key(self):
        return f"{self.transport}-{self.name}"


@dataclass
class Target:
    """A column of a case's row, and how it is judged.

    ratio-max, ratio-min: ours over the better peer's, at most or at least;
        the median of the rounds' ratios
    max, min: ours, at most or at least
    depth-max: ours over ours in the first row, at most
    """
    case: str
    size: int
    column: str
    text: str
    kind: str
    limit: float


PIN = ["--pin"]
SHORT = ["--reps", "5", "--rep-ms", "10"]

BEST = ["--best", "--reps", "41", "--rep-ms", "3"]
BEST_POSSIBLE = ("latency", "rate", "bandwidth", "alltoall", "barrier",
                 "allreduce", "bcast")

CASES = [
    Case("latency", "latency", "shm",
         ["--sizes", "8,1k,16k,1M", *PIN], SHORT),
    Case("rate", "rate", "shm", ["--sizes", "8", *PIN], SHORT),
    Case("bandwidth", "bandwidth", "shm",
         ["--sizes", "16k,256k,4M", *PIN], SHORT),
    Case("latency", "latency", "tcp",
         ["--sizes", "8,1k,16k,1M", *PIN], SHORT),
    Case("rate", "rate", "tcp", ["--sizes", "8", *PIN], SHORT),
    Case("bandwidth", "bandwidth", "tcp",
         ["--sizes", "16k,256k,4M", *PIN], SHORT),
    Case("overlap", "overlap", "tcp1g",
         ["--sizes", "64k,256k,1M,4M,16M", "--rep-ms", "40"],
         ["--reps", "3"], rounds=3),
    Case("overlap", "overlap", "tcp",
         ["--sizes", "64k,256k,1M,4M,16M", "--rep-ms", "40"],
         ["--reps", "3"], rounds=3),
    Case("oversubscribe", "alltoall", "shm", ["--sizes", "8,1k,64k"],
         SHORT, ranks=8),
    Case("barrier", "barrier", "shm", [], SHORT),
    Case("allreduce", "allreduce", "shm", ["--sizes", "8,64k"], SHORT),
    Case("bcast", "bcast", "shm", ["--sizes", "8,64k"], SHORT),
    Case("match_depth", "depth", "shm",
         ["--limit-ms", "500", *PIN], ["--limit-ms", "100"], rounds=3),
    Case("idle", "idle", "shm", ["--ms", "10000"], ["--ms", "3000"], rounds=1),
    Case("idle", "idle", "tcp", ["--ms", "10000"], ["--ms", "3000"], rounds=1),
    Case("flood", "flood", "shm", ["--messages", "1000000"],
         ["--messages", "200000", "--sleep-ms", "1000"], rounds=1),
    Case("flood", "flood", "tcp", ["--messages", "1000000"],
         ["--messages", "200000", "--sleep-ms", "1000"], rounds=1),
    Case("flood-last", "flood", "shm",
         ["--messages", "100000", "--last", "1", "--sleep-ms", "500"],
         rounds=1),
    Case("flood-last", "flood", "tcp",
         ["--messages", "100000", "--last", "1", "--sleep-ms", "500"],
         rounds=1),
]

KB, MB = 1 << 10, 1 << 20
OVERLAP_SIZES = (64 * KB, 256 * KB, MB, 4 * MB, 16 * MB)

# O2G_UNEXPECTED is 64 MiB; the first use of a channel's own buffers shows too.
FLOOD_LIMIT = 64

TARGETS = [
    Target("shm-latency", 8, "usec", "8 B half round trip, us",
           "ratio-max", 1.0),
    Target("shm-rate", 8, "Mmsg/s", "8 B message rate, M/s",
           "ratio-min", 1.2),
    Target("shm-bandwidth", 16 * KB, "MB/s", "16 KiB bandwidth, MB/s",
           "ratio-min", 1.0),
    Target("shm-bandwidth", 4 * MB, "MB/s", "4 MiB bandwidth, MB/s",
           "ratio-min", 1.0),
    Target("tcp-latency", 8, "usec", "8 B half round trip, us",
           "ratio-max", 0.9),
    Target("tcp-latency", 16 * KB, "usec", "16 KiB half round trip, us",
           "ratio-max", 1.0),
    Target("tcp-bandwidth", 4 * MB, "MB/s", "4 MiB bandwidth, MB/s",
           "ratio-min", 1.0),
    Target("tcp-rate", 8, "Mmsg/s", "8 B message rate, M/s",
           "ratio-min", 1.5),
    *(Target("tcp1g-overlap", size, "hidden%",
             f"{size // KB} KiB hidden behind computing, %", "min", 90)
      for size in OVERLAP_SIZES),
    *(Target("tcp1g-overlap", size, "idle%",
             f"{size // KB} KiB, threads without traffic, %", "max", 1)
      for size in OVERLAP_SIZES[-1:]),
    *(Target("tcp-overlap", size, "hidden%",
             f"{size // KB} KiB hidden behind computing, %", "min", 90)
      for size in OVERLAP_SIZES),
    Target("shm-idle", 0, "cpu %", "blocked in MPI_Recv, % of a core",
           "max", 1),
    Target("tcp-idle", 0, "cpu %", "blocked in MPI_Recv, % of a core",
           "max", 1),
    *(Target("shm-oversubscribe", size, "usec",
             f"8 ranks, alltoall of {size} B, us", "ratio-max", 0.5)
      for size in (8, KB, 64 * KB)),
    Target("shm-match_depth", 100000, "posted us",
           "posted receives, depth 100,000, us", "depth-max", 2),
    Target("shm-match_depth", 100000, "unexpected us",
           "unexpected messages, depth 100,000, us", "depth-max", 2),
    Target("shm-flood", 4 * KB, "growth MiB", "flood: memory growth, MiB",
           "max", FLOOD_LIMIT),
    Target("tcp-flood", 4 * KB, "growth MiB", "flood: memory growth, MiB",
           "max", FLOOD_LIMIT),
    Target("shm-flood-last", 4 * KB, "growth MiB",
           "flood, last one first: growth, MiB", "max", FLOOD_LIMIT),
    Target("tcp-flood-last", 4 * KB, "growth MiB",
           "flood, last one first: growth, MiB", "max", FLOOD_LIMIT),
]

TRANSPORTS = {
    "shm": "shared memory, one host",
    "tcp": "tcp between two namespaces",
    "tcp1g": "tcp between two namespaces, cable of 1 Gbit/s",
}
