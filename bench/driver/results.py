# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""What was measured, and the file it is kept in."""

import copy
import json
import re
import statistics

FORMAT = 2
NO_END = "did not end in {} s"

# Columns in which less is better; in the others that are compared, more is.
LESS = ("usec", "posted us", "unexpected us", "init ms", "alltoall ms",
        "MiB after", "sockets after", "growth MiB", "cpu %", "ns",
        "instructions", "ready s", "MB a rank", "fence us", "pscw us",
        "lock us", "spawn ms", "connect us")
MORE = ("MB/s", "Mmsg/s", "Mop/s", "Mops/s", "hidden%", "write MB/s",
        "read MB/s", "records/s")


class Results:
    """values[case key][implementation][row, column] is a list with one value
    for each round; distances[case key][implementation] how far the cores were
    apart then, in ns; durations[...] how long a run took, in s."""

    def __init__(self):
        self.values = {}
        self.failures = {}
        self.distances = {}
        self.durations = {}
        self.ways = {}  # [case key][peer]: how it was run, see ways.py

    def add(self, key, impl, rows, distance, seconds):
        self.distances.setdefault(key, {}).setdefault(
            impl, []).append(distance)
        self.durations.setdefault(key, {})[impl] = round(seconds, 2)
        cells = self.values.setdefault(key, {}).setdefault(impl, {})
        for row in rows:
            size = int(row.get("size", 0))
            for column, value in row.items():
                if column != "size" and not isinstance(value, str):
                    cells.setdefault((size, column), []).append(value)

    def fail(self, key, impl, why):
        self.failures.setdefault(key, {})[impl] = why

    def copy(self, key, old, new):
        """What one entry has, as another."""
        for table in (self.values, self.distances, self.durations):
            table[key][new] = copy.deepcopy(table[key][old])

    @staticmethod
    def is_no_end(why):
        return bool(re.fullmatch(NO_END.format(r"\d+"), why))

    def no_end(self, key, impl):
        """Was it ended because it took too long?"""
        return self.is_no_end(self.failures.get(key, {}).get(impl, ""))

    def median(self, key, impl, size, column):
        cells = self.values.get(key, {}).get(impl, {})
        values = cells.get((size, column))
        return statistics.median(values) if values else None

    def impls(self):
        found = {i for table in (self.values, self.failures)
                 for impls in table.values() for i in impls}
        order = ("o2g", "o2g-bpf", "o2g-kernel", "o2g-base", "o2g-base-bpf",
                 "mpich", "openmpi", "mpich-new", "openmpi-new")
        return [i for i in order if i in found]

    def ratio_to(self, peer, key, cell, ours):
        """Ours over a peer's: the median over the rounds, without those in
        which the cores were moved between the two runs. None: not measured."""
        case, same, every = self.values.get(key, {}), [], []
        runs = [case.get(mpi, {}).get(cell, []) for mpi in (ours, peer)]
        far = [self.distances.get(key, {}).get(mpi, []) for mpi in (ours, peer)]
        for mine, theirs, *apart in zip(*runs, *far):
            if not theirs:
                continue
            every.append(mine / theirs)
            if max(apart) <= 1.5 * min(apart):
                same.append(every[-1])
        return statistics.median(same or every) if every else None

    def ratio(self, key, size, column, better, peers=("mpich", "openmpi"),
              ours="o2g"):
        """Ours over the better peer's. Which one is better is told from all
        rounds: the luckier of the two in each would be better than either."""
        ratios = [self.ratio_to(peer, key, (size, column), ours)
                  for peer in peers]
        worst = max if better is min else min
        return worst((r for r in ratios if r is not None), default=None)

    def sizes(self, key, column):
        return sorted({size for cells in self.values.get(key, {}).values()
                       for size, name in cells if name == column})

    def as_list(self):
        """All of it, for the file."""
        return [{"case": key, "mpi": impl, "size": size, "column": column,
                 "median": statistics.median(values), "values": values}
                for key, impls in self.values.items()
                for impl, cells in impls.items()
                for (size, column), values in cells.items()]


def save(path, about, results):
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"format": FORMAT, **about, "failures": results.failures,
                   "durations_s": results.durations,
                   "ways": results.ways,
                   "core_distance_ns": results.distances,
                   "measured": results.as_list()}, f, indent=1)
        f.write("\n")


def load(path):
    """The whole file, and the Results in it; ValueError says what is wrong."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        if data.get("format") != FORMAT:
            raise ValueError(f"its format is {data.get('format')}, not "
                             f"{FORMAT}: please run `make bench` again")
        results = Results()
        results.failures = data["failures"]
        results.durations = data["durations_s"]
        results.distances = data["core_distance_ns"]
        results.ways = data.get("ways", {})
        for row in data["measured"]:
            results.values.setdefault(row["case"], {}).setdefault(
                row["mpi"], {})[row["size"], row["column"]] = row["values"]
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except (KeyError, TypeError, AttributeError, json.JSONDecodeError):
        raise ValueError(f"{path} is not a file of results") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return data, results
