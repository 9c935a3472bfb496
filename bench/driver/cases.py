# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""What is run, and what must come out."""

from dataclasses import dataclass, field

KB, MB = 1 << 10, 1 << 20
OURS = ("o2g", "o2g-bpf", "o2g-kernel")
PEERS = ("mpich", "openmpi", "mpich-new", "openmpi-new")


@dataclass
class Case:
    """One program under one transport; all implementations take turns."""
    name: str
    program: str    # a command of bench/perf, nas/KERNEL, or match_peers
    transport: str  # shm, tcp, tcp1g (cables of 1 Gbit/s), host (one host,
    #                 by whatever way an MPI takes there), or core: no MPI
    args: list = field(default_factory=list)
    quick: list = field(default_factory=list)  # what --quick changes
    ranks: int = 2
    children: int = 0   # processes that they spawn
    rounds: int = 0     # 0: as many as asked for
    peer_rounds: int = 0  # the same for other MPIs, where they take long
    turns: int = 1      # of every implementation, in a round
    limit: int = 90     # seconds before a run is given up
    patient: bool = False  # a peer may take all of that
    in_quick: bool = True
    about: int = 4      # seconds it takes, as long as that is not known
    only: tuple = ()    # the implementations it is for; (): all
    env: dict = field(default_factory=dict)  # None: not set
    plain: tuple = ()   # a program of bench/plain that does it without MPI
    plain_bpf: tuple = ()  # the same, in the way of the bpf channel
    plain_flag: tuple = ()  # and with the least that a BPF program can do

    @property
    def key(self):
        return f"{self.transport}-{self.name}"

    @property
    def is_nas(self):
        return self.program.startswith("nas/")


@dataclass
class Target:
    """A column of a case's row, and how it is judged.

    ratio-max, ratio-min: ours over the better peer's, at most or at least;
        the median of the rounds' ratios, for the peer that makes it worse
    mpich-min: ours over MPICH's, at least; of Debian's own version
    max, min: ours, at most or at least
    depth-max: ours over ours in the first row, at most
    own-max, own-min: ours over ours elsewhere, at most or at least
    """
    case: str
    size: int
    column: str
    text: str
    kind: str
    limit: float
    ours: str = "o2g"
    peers: tuple = PEERS
    optional: bool = False  # not shown where there is nothing to judge
    to: tuple = ()  # own-: case, size and column to compare with


PIN = ["--pin"]
TURNS = 3  # for what differs more from one run to the next than it should
SHORT = ["--reps", "5", "--rep-ms", "10"]
LATENCY = ["--sizes", "0,8,64,512,4k,16k,64k,256k,1M,4M", *PIN]
BANDWIDTH = ["--sizes", "64,512,4k,16k,64k,256k,1M,4M", *PIN]
FEW = ["--sizes", "8,16k,1M", *SHORT]
FEW_LARGE = ["--sizes", "16k,4M", *SHORT]
# 64 KiB alone would fit the cable's burst, and take no time there.
OVERLAP = ["--sizes", "64k,256k,1M,4M,16M", "--rep-ms", "40", "--least",
           "1048576"]
HUGE = ["--sizes", "16M,64M,256M,1G", "--reps", "3"]

BEST = ["--best", "--reps", "41", "--rep-ms", "3"]
NOT_BEST = ("overlap", "idle", "calls", "instructions", "launch", "depth",
            "flood", "startup", "match_peers", "spawn", "connect", "inter")

# Collectives: name, sizes. A line here is a case for shm and one for tcp.
COLLECTIVES = [
    ("barrier", None),
    ("bcast", "8,4k,64k,1M"),
    ("reduce", "8,4k,64k"),
    ("allreduce", "8,4k,64k,1M"),
    ("allgather", "8,4k,64k"),
    ("alltoall", "8,1k,64k"),
    ("alltoallv", "8,1k,64k"),
    ("reduce_scatter_block", "8,4k,64k"),
]
COLLECTIVE_RANKS = 8
IN_QUICK = ("barrier", "allreduce", "alltoall")

# Every collective, few ranks: what it costs beside the others' at three sizes.
EVERY_COLLECTIVE = ("barrier", "bcast", "reduce", "allreduce", "gather",
                    "gatherv", "scatter", "scatterv", "allgather",
                    "allgatherv", "alltoall", "alltoallv",
                    "reduce_scatter_block", "scan", "exscan")
EVERY_RANKS = 4
EVERY_SIZES = (8, 4 * KB, MB)
# Many ranks on few cores, where what counts is how often each has to wait.
CROWD = ("barrier", "allreduce")
CROWD_RANKS = 16

# Data in pieces: commands of bench/perf.
DATATYPES = ("vector", "face", "struct")

# Operations of bench/perf/onesided.c, in its order.
ONE_SIDED = ("put8", "get8", "fetch_and_op", "compare_and_swap", "accumulate")
# At most so much of the better peer's time, by transport.
ONE_SIDED_GOALS = {"tcp": (0.9, 0.9, 0.8, 0.8), "shm": (1.0, 1.0, 1.0)}

# Ranks for the cost of growing. 16 is what one run in namespaces starts at
# most; more ranks than that share them.
GROWTH = (2, 4, 8, 16, 32, 64)

# Ranks of a job on one host, from its start to the first collectives.
LAUNCH_RANKS = (64, 256, 512)
# Processes that are spawned at once.
SPAWNED = (1, 8)
# The seats that were loaded for the bpf channel are not what ranks usually find.
NO_SEATS = {"O2G_BPF_DIR": None}

# Files: ranks that take turns in blocks; dimensions of an array, and ranks.
IO_RANKS = (4, 16)
IO_ARRAYS = ((3, 4), (3, 8), (4, 4), (4, 8))
# Contiguous files beside pwrite and pread: where, and with what.
IO_PLAIN = (("mem", "/dev/shm", "0"), ("disk", "/var/tmp", "0"),
            ("sync", "/var/tmp", "1"))
IO_PLAIN_RANKS = (1, 4)
IO_PLAIN_SIZES = ("1M", "16M", "64M")
IO_ARRAY_BYTES = {3: 8 * 81 ** 3, 4: 8 * 27 ** 4}  # of 4 MiB about

NAS = ("is", "ep", "cg", "mg", "ft")
NAS_RANKS = (2, 4, 16)


def point_to_point():
    for over in ("shm", "tcp"):
        yield Case("latency", "latency", over, LATENCY, FEW, turns=TURNS,
                   plain=("trip", "8,16k") if over == "tcp" else (),
                   plain_bpf=("ring",) if over == "tcp" else (),
                   plain_flag=("flag",) if over == "tcp" else ())
        yield Case("rate", "rate", over, ["--sizes", "8", *PIN], SHORT,
                   turns=TURNS)
        yield Case("bandwidth", "bandwidth", over, BANDWIDTH, FEW_LARGE)
        yield Case("bidirectional", "bidirectional", over, BANDWIDTH,
                   FEW_LARGE, in_quick=False)
        yield Case("huge", "bandwidth", over,
                   [*HUGE, "--window", "1"], rounds=1, limit=180,
                   in_quick=False, about=30)
        yield Case("incast", "incast", over, ["--sizes", "8,1k,64k"], SHORT,
                   ranks=8, in_quick=over == "tcp")


def encrypted():
    """Ours in clear and encrypted: what TLS costs on a cable, and where none limits it."""
    for over in ("tcp1g", "tcp"):
        for name, value in (("clear", "0"), ("encrypted", "1")):
            yield Case(name, "bandwidth", over, ["--sizes", "8,4k,64k,1M,4M"],
                       SHORT, only=("o2g",), env={"O2G_ENCRYPT": value},
                       in_quick=False)


def many_to_one_core():
    """Where waiting ranks outnumber the cores, and a receiver its senders."""
    yield Case("incast-16", "incast", "tcp", ["--sizes", "8,1k"], SHORT,
               ranks=16, limit=60, rounds=3, in_quick=False)
    yield Case("alltoall-64B", "alltoall", "tcp", ["--sizes", "64"], SHORT,
               ranks=16, limit=60, rounds=3, in_quick=False)
    yield Case("calls", "calls", "tcp", ["--late", "1"], rounds=3)


def instructions():
    """Rank 1 is executed step by step, so one round says it. Without the
    progress thread: a call takes a thousand times as long as it should, and
    the thread would wake up in the middle of it."""
    for over in ("shm", "tcp"):
        for name, args, only in (("instructions", [], ()),
                                 ("instructions-met", ["--met", "1"], OURS)):
            yield Case(name, "instructions", over, args, rounds=1, only=only,
                       in_quick=False, env={"O2G_PROGRESS_THREAD": "0"})


def datatypes():
    for over in ("shm", "tcp"):
        for name in DATATYPES:
            yield Case(name, name, over, ["--sizes", "4k,64k,1M", *PIN],
                       SHORT, in_quick=False)


def one_sided():
    for over in ("shm", "tcp"):
        for call in ("put", "get"):
            yield Case(call, call, over, ["--sizes", "8,4k,64k,1M", *PIN],
                       SHORT, in_quick=False)
        # One by one: compare_and_swap of Open MPI 4.1.4 on one host crashes.
        for number, name in enumerate(ONE_SIDED):
            for away in (0, 1):
                yield Case(f"{name}{'-away' if away else ''}", "onesided", over,
                           ["--only", str(number), "--away", str(away), *PIN],
                           rounds=3, in_quick=False,
                           plain=("word",) if (over, away) == ("tcp", 0) and
                           number < 4 else ())
        for one in (0, 1):
            yield Case(f"accumulate-{'one' if one else 'all'}-16", "accumulate",
                       over, ["--one", str(one), "--rounds",
                              "20000" if over == "shm" else "500"], SHORT,
                       ranks=16, rounds=3, in_quick=False)
        yield Case("epochs-4", "epochs", over, ranks=4, rounds=3,
                   in_quick=False)


def progress():
    yield Case("overlap", "overlap", "tcp1g", OVERLAP, ["--reps", "3"],
               rounds=3, about=8, plain=("overlap", OVERLAP[1]))
    yield Case("overlap", "overlap", "tcp", OVERLAP, ["--reps", "3"],
               rounds=3, about=8, in_quick=False)
    for over in ("shm", "tcp"):
        yield Case("idle", "idle", over, ["--ms", "10000"], ["--ms", "2000"],
                   rounds=1, about=12)
    yield Case("match_depth", "depth", "shm", ["--limit-ms", "500", *PIN],
               ["--limit-ms", "50"], rounds=3, about=10)
    yield Case("match_peers", "match_peers", "core", rounds=3, ranks=1,
               only=("o2g",))
    for over in ("shm", "tcp"):
        yield Case("flood", "flood", over, ["--messages", "1000000"],
                   rounds=1, in_quick=False, about=15)
        yield Case("flood-last", "flood", over,
                   ["--messages", "100000", "--last", "1", "--sleep-ms",
                    "500"], rounds=1, in_quick=False)


def collectives():
    for over in ("shm", "tcp"):
        for name, sizes in COLLECTIVES:
            yield Case(name, name, over,
                       ["--sizes", sizes] if sizes else [], SHORT,
                       ranks=COLLECTIVE_RANKS, limit=60, rounds=3,
                       in_quick=over == "tcp" and name in IN_QUICK,
                       plain=("alltoall", sizes)
                       if (over, name) == ("shm", "alltoall") else ())


def every_collective():
    for over in ("shm", "tcp"):
        for name in EVERY_COLLECTIVE:
            yield Case(f"{name}-{EVERY_RANKS}", name, over,
                       [] if name == "barrier" else ["--sizes", "8,4k,1M"],
                       SHORT, ranks=EVERY_RANKS, limit=60, rounds=3,
                       in_quick=False)
    for name in CROWD:
        yield Case(f"{name}-{CROWD_RANKS}", name, "shm",
                   [] if name == "barrier" else ["--sizes", "8"], SHORT,
                   ranks=CROWD_RANKS, limit=60, rounds=3, in_quick=False)


def growth():
    for over in ("shm", "tcp"):
        for ranks in GROWTH:
            yield Case(f"startup-{ranks}", "startup", over, ranks=ranks,
                       rounds=3, limit=60, in_quick=ranks in (2, 16))
            yield Case(f"growth-{ranks}", "alltoall", over,
                       ["--sizes", "8,4k", *SHORT], ranks=ranks, rounds=3,
                       limit=60, in_quick=ranks in (4, 16) and over == "tcp")


def launch():
    """A whole job on one host, far more ranks than cores."""
    for ranks in LAUNCH_RANKS:
        yield Case(f"launch-{ranks}", "launch", "host", ranks=ranks, rounds=3,
                   peer_rounds=1, limit=150, patient=True,
                   in_quick=False, env=NO_SEATS,
                   about=2 if ranks < 100 else 30)


def dynamic():
    """Debian's MPICH can neither spawn nor open a port."""
    both = ("o2g", "o2g-base", "openmpi", "openmpi-new")
    for n in SPAWNED:
        yield Case(f"spawn-{n}", "spawn", "host",
                   ["--children", str(n), "--reps", "5"], ranks=1,
                   children=n, rounds=3, in_quick=False, env=NO_SEATS,
                   only=both)
    for over in ("shm", "tcp"):
        yield Case("connect", "connect", over, rounds=3, in_quick=False,
                   only=both)
        yield Case("inter", "inter", over, ["--reps", "51", *PIN], rounds=3,
                   in_quick=False, only=OURS)


def nas():
    for ranks in NAS_RANKS:
        for kernel in NAS:
            yield Case(f"nas-{kernel}-{ranks}", f"nas/{kernel}", "tcp", ["A"],
                       ["W" if kernel in ("is", "ft") else "S"],
                       ranks=ranks, rounds=3, limit=120, about=15,
                       in_quick=ranks == 4 or (ranks, kernel) == (16, "is"))
    # Small enough for MPICH to end, also where it spins on others' cores.
    yield Case("nas-is-w-16", "nas/is", "tcp", ["W"], ranks=16, rounds=3,
               limit=120, about=15, in_quick=False)


def files():
    """In memory: what is compared is the library, not the disk."""
    env = {"TMPDIR": "/dev/shm"}
    for where, folder, sync in IO_PLAIN:
        for ranks in IO_PLAIN_RANKS:
            yield Case(f"io-{where}-{ranks}", "io", "shm",
                       ["--sizes", ",".join(IO_PLAIN_SIZES), "--sync", sync],
                       SHORT, ranks=ranks, rounds=3, env={"TMPDIR": folder},
                       in_quick=False, limit=300)
    for over in ("shm", "tcp"):
        for ranks in IO_RANKS:
            yield Case(f"io-mixed-{ranks}", "io_mixed", over,
                       ["--sizes", "1M,4M"], SHORT, ranks=ranks, rounds=3,
                       env=env, in_quick=False, limit=120)
    for array, ranks in IO_ARRAYS:
        yield Case(f"io-cube-{array}d-{ranks}", "io_cube", "shm",
                   ["--sizes", "4M", "--dims", str(array)], SHORT, ranks=ranks,
                   rounds=3, env=env, in_quick=False, limit=120)
    yield Case("io-overlap-2", "io_overlap", "shm", ["--sizes", "16M"], SHORT,
               ranks=2, rounds=3, env=env, in_quick=False, limit=120)
    yield Case("io-append-16", "io_append", "shm", [], SHORT, ranks=16,
               rounds=3, env=env, in_quick=False, limit=120)


CASES = [*point_to_point(), *encrypted(), *instructions(), *datatypes(),
         *many_to_one_core(), *one_sided(), *progress(), *collectives(),
         *every_collective(), *growth(), *launch(), *dynamic(), *nas(),
         *files()]

OVERLAP_SIZES = (64 * KB, 256 * KB, MB, 4 * MB, 16 * MB)

# O2G_UNEXPECTED is 64 MiB; the first use of a channel's own buffers shows too.
FLOOD_LIMIT = 64

# EP hardly communicates: as fast as others, but for what runs differ by.
NAS_GOALS = {("is", 16): 1.5, ("ep", 4): 0.97, ("ep", 16): 0.97}

TARGETS = [
    Target("shm-latency", 8, "usec", "8 B half round trip, us",
           "ratio-max", 1.0),
    Target("shm-rate", 8, "Mmsg/s", "8 B message rate, M/s",
           "ratio-min", 1.2),
    Target("shm-bandwidth", 16 * KB, "MB/s", "16 KiB bandwidth, MB/s",
           "ratio-min", 1.0),
    Target("shm-bandwidth", 4 * MB, "MB/s", "4 MiB bandwidth, MB/s",
           "ratio-min", 1.0),
    *(Target(f"{over}-{name}", size, "MB/s",
             f"{name} of {size >> 10} KiB, MB/s", "ratio-min", 1.0)
      for over in ("shm", "tcp") for name in DATATYPES
      for size in (4 * KB, 64 * KB, MB)),
    Target("tcp-latency", 8, "usec", "8 B half round trip, us",
           "ratio-max", 0.9),
    Target("tcp-latency", 16 * KB, "usec", "16 KiB half round trip, us",
           "ratio-max", 1.0),
    Target("tcp-bandwidth", 4 * MB, "MB/s", "4 MiB bandwidth, MB/s",
           "ratio-min", 1.0),
    Target("tcp-rate", 8, "Mmsg/s", "8 B message rate, M/s",
           "ratio-min", 1.5),
    *(Target("tcp1g-encrypted", size, "MB/s",
             f"encrypted bandwidth of {size // KB} KiB, over clear, MB/s",
             "own-min", 0.8, to=("tcp1g-clear", size, "MB/s"))
      for size in (64 * KB, MB, 4 * MB)),
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
    *(Target("shm-alltoall", size, "usec",
             f"8 ranks, alltoall of {size} B, us", "ratio-max", 0.5)
      for size in (8, KB, 64 * KB)),
    *(Target(f"{over}-{name}-{EVERY_RANKS}", size, "usec",
             f"{EVERY_RANKS} ranks, {name} of {size} B, us", "ratio-max", 1.0)
      for over in ("shm", "tcp") for name in EVERY_COLLECTIVE
      for size in ((0,) if name == "barrier" else EVERY_SIZES)),
    *(Target(f"shm-{name}-{CROWD_RANKS}", 0 if name == "barrier" else 8,
             "usec", f"{CROWD_RANKS} ranks, {name}, us", "ratio-max", 0.5)
      for name in CROWD),
    Target("shm-match_depth", 100000, "posted us",
           "posted receives, depth 100,000, us", "depth-max", 2),
    Target("shm-match_depth", 100000, "unexpected us",
           "unexpected messages, depth 100,000, us", "depth-max", 2),
    Target("core-match_peers", 1000, "ns",
           "receives posted for 1,000 peers, ns", "depth-max", 2),
    *(Target(f"{over}-flood{last}", 4 * KB, "growth MiB",
             f"flood{', last one first' if last else ''}: growth, MiB",
             "max", FLOOD_LIMIT)
      for over in ("shm", "tcp") for last in ("", "-last")),
    *(Target(f"tcp-nas-{kernel}-{ranks}", 0, "Mop/s",
             f"NAS {kernel.upper()}, {ranks} ranks, Mop/s", "ratio-min",
             NAS_GOALS.get((kernel, ranks), 1.0))
      for kernel in NAS for ranks in (4, 16)),
    Target("tcp-nas-is-16", 0, "Mop/s", "NAS IS, 16 ranks, over MPICH",
           "mpich-min", 2.8),
    Target("tcp-nas-is-w-16", 0, "Mop/s",
           "NAS IS class W, 16 ranks, over MPICH", "mpich-min", 2.8),
]

TARGETS += [
    *(Target(f"{over}-{name}", 0, "usec", f"{name} of 8 B and flush, us",
             "ratio-max", goal)
      for over, goals in ONE_SIDED_GOALS.items()
      for name, goal in zip(ONE_SIDED, goals)),
    *(Target(f"{over}-{name}-away", 0, "usec",
             f"{name}, target computes, over waits",
             "own-max", 2.0, to=(f"{over}-{name}", 0, "usec"))
      for over in ("shm", "tcp") for name in ONE_SIDED[:4]),
    *(Target(f"{over}-{call}", size, "MB/s",
             f"{call} of {size // KB} KiB, over what is sent", "own-min", 0.95,
             to=(f"{over}-bandwidth", size, "MB/s"))
      for over in ("shm", "tcp") for call in ("put", "get")
      for size in (64 * KB, MB)),
    *(Target(f"{over}-put8", 0, "Mops/s", "8 B puts under one flush, M/s",
             "ratio-min", 2.0) for over in ("shm", "tcp")),
    *(Target(f"shm-accumulate-{kind}-16", 0, "Mops/s",
             f"16 ranks accumulate, {kind}, M/s", "ratio-min", 1.0)
      for kind in ("all", "one")),
    *(Target(f"tcp-accumulate-{kind}-16", 0, "Mops/s",
             f"16 ranks accumulate, {kind}, M/s", "ratio-min", 2.0)
      for kind in ("all", "one")),
    *(Target(f"{over}-epochs-4", 0, f"{what} us", f"4 ranks, {what}, us",
             "ratio-max", 1.0)
      for over in ("shm", "tcp") for what in ("fence", "pscw", "lock")),
]

BPF = {"ours": "o2g-bpf"}
OWN_TCP = {"ours": "o2g-bpf", "peers": ("o2g",)}

TARGETS += [
    Target("tcp-latency", 8, "usec", "bpf: 8 B half round trip, us",
           "ratio-max", 0.75, **BPF),
    Target("tcp-latency", 8, "usec", "bpf: the same, over our tcp",
           "ratio-max", 0.9, **OWN_TCP),
    Target("tcp-rate", 8, "Mmsg/s", "bpf: 8 B message rate, M/s",
           "ratio-min", 2.0, **BPF),
    Target("tcp-bandwidth", 4 * MB, "MB/s", "bpf: 4 MiB, over our tcp",
           "ratio-min", 1.0, **OWN_TCP),
    Target("tcp-incast-16", 8, "Mmsg/s", "bpf: incast from 15, 8 B, M/s",
           "ratio-min", 1.5, **BPF),
    Target("tcp-alltoall-64B", 64, "usec",
           "bpf: 16 ranks, alltoall of 64 B, us", "ratio-max", 0.4, **BPF),
    Target("tcp-calls", 0, "calls", "bpf: system calls to receive",
           "max", 0.1, **BPF),
    Target("tcp-idle", 0, "cpu %", "bpf: blocked in MPI_Recv, % of a core",
           "max", 1, **BPF),
]

# Against another build of ours.
SAME, SAME_TIME = 1.01, 1.1
TARGETS += [
    Target(f"{over}-instructions", 8, "instructions",
           f"{title}instructions, half a trip of 8 B", "ratio-max", SAME,
           ours=ours, peers=(before,))
    for over, title, ours, before in (
        ("shm", "", "o2g", "o2g-base"), ("tcp", "", "o2g", "o2g-base"),
        ("tcp", "bpf: ", "o2g-bpf", "o2g-base-bpf"))]
LAUNCH = [("ready s", "from start to 5 allreduces, s", SAME_TIME),
          ("MB a rank", "memory of a rank, MB", SAME)]
TARGETS += [
    Target(f"host-launch-{ranks}", ranks, column, *judged)
    for ranks in LAUNCH_RANKS for column, text, same in LAUNCH
    for judged in (
        (f"{ranks} ranks, {text}", "ratio-max", 1.0),
        ("the same, over O2G before", "ratio-max", same, "o2g",
         ("o2g-base",), True))]

# Processes that come and meet. Level: but for what two turns differ by.
LEVEL = 1.05
TARGETS += [
    *(Target(f"host-spawn-{n}", n, "spawn ms",
             f"spawn of {n}, until all have answered, ms", "ratio-max", 0.5)
      for n in SPAWNED),
    *(Target(f"{over}-connect", 0, "connect us", "accept and connect, us",
             "ratio-max", 1.0) for over in ("shm", "tcp")),
    *(Target(f"{over}-inter", 8, "usec",
             "8 B between ranks that met at a port, over world, us",
             "own-max", LEVEL, to=(f"{over}-inter", 8, "world usec"))
      for over in ("shm", "tcp")),
    *(Target(f"{over}-instructions-met", 8, "instructions",
             "... and instructions, half a trip of 8 B", "own-max", SAME,
             to=(f"{over}-instructions", 8, "instructions"))
      for over in ("shm", "tcp")),
]

TRANSPORTS = {
    "shm": "shared memory, one host",
    "tcp": "tcp between namespaces",
    "tcp1g": "tcp between namespaces, cables of 1 Gbit/s",
    "host": "one host, by whatever way each takes",
    "core": "the matching by itself",
}
TARGETS += [
    Target(f"{over}-io-mixed-{ranks}", MB, f"{what} MB/s",
           f"files, {over}: {ranks} ranks, 4 KiB in turn, {what}, MB/s",
           "ratio-min", 2.0)
    for over in ("shm", "tcp") for ranks in IO_RANKS
    for what in ("write", "read")]
TARGETS += [
    Target(f"{over}-io-mixed-{ranks}", MB, f"{what} MB/s",
           f"the same, {what}, over alltoall and pwrite", "own-min", 0.83,
           to=(f"{over}-io-mixed-{ranks}", MB, f"plain {what}"))
    for over in ("shm", "tcp") for ranks in IO_RANKS
    for what in ("write", "read")]
TARGETS += [
    Target(f"shm-io-cube-{array}d-{ranks}", IO_ARRAY_BYTES[array],
           f"{what} MB/s",
           f"files: {array}-D array of {ranks} ranks, {what}, MB/s",
           "ratio-min", 2.0)
    for array, ranks in IO_ARRAYS for what in ("write", "read")]
TARGETS += [
    Target(f"shm-io-cube-{array}d-{ranks}", IO_ARRAY_BYTES[array],
           f"{what} MB/s", f"the same, {what}, over alltoallv and pwrite",
           "own-min", 0.83, to=(f"shm-io-cube-{array}d-{ranks}",
                                IO_ARRAY_BYTES[array], f"plain {what}"))
    for array, ranks in IO_ARRAYS for what in ("write", "read")]
TARGETS += [
    Target(f"shm-io-{where}-{ranks}", size * MB, f"{what} MB/s",
           f"files, {where}, {ranks}x{size} MiB: {what} over plain",
           "own-min", 0.97,
           to=(f"shm-io-{where}-{ranks}", size * MB, f"plain {what}"))
    for where, _, _ in IO_PLAIN for ranks in IO_PLAIN_RANKS
    for size in (1, 16, 64) for what in ("write", "read")]
TARGETS += [
    Target("shm-io-overlap-2", 16 * MB, "hidden%",
           "files: collective write behind a computation, %", "min", 80),
    Target("shm-io-overlap-2", 16 * MB, "hidden%",
           "the same, over a thread that calls pwrite", "own-min", 1.0,
           to=("shm-io-overlap-2", 16 * MB, "plain hidden%")),
    Target("shm-io-append-16", KB, "records/s",
           "files: 16 ranks append 1 KiB records, 1/s", "ratio-min", 5.0),
    Target("shm-io-append-16", KB, "records/s",
           "the same, over an atomic variable and pwrite", "own-min", 0.97,
           to=("shm-io-append-16", KB, "plain/s"))]
