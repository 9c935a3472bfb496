# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Judges the medians and prints the table."""

import statistics

from .cases import TARGETS, TRANSPORTS

SIGN = {"ratio-max": "<=", "max": "<=", "depth-max": "<=",
        "ratio-min": ">=", "min": ">="}


class Results:
    """What was measured: values[case key][implementation][row, column] is a
    list with one value for each round, and distances[case key][implementation]
    how far the cores were apart then, in ns."""

    def __init__(self):
        self.values = {}
        self.failures = {}
        self.distances = {}

    def add(self, case, impl, rows, distance):
        self.distances.setdefault(case.key, {}).setdefault(
            impl, []).append(distance)
        cells = self.values.setdefault(case.key, {}).setdefault(impl, {})
        for row in rows:
            size = int(row.get("size", 0))
            for column, value in row.items():
                if column not in ("bench", "size"):
                    cells.setdefault((size, column), []).append(value)

    def fail(self, case, impl, why):
        self.failures.setdefault(case.key, {})[impl] = why

    def median(self, case, impl, size, column):
        cells = self.values.get(case, {}).get(impl, {})
        values = cells.get((size, column))
        return statistics.median(values) if values else None

    def ratio(self, target):
        """Ours over the better peer's: the median over the rounds, without
        those in which the cores were moved between the runs compared."""
        case, cell = target.case, (target.size, target.column)
        better = min if target.kind == "ratio-max" else max
        same, every = [], []
        mpis = [m for m in ("o2g", "mpich", "openmpi")
                if self.values[case].get(m, {}).get(cell)]
        for n in range(min(len(self.values[case][m][cell]) for m in mpis)):
            at = {m: self.values[case][m][cell][n] for m in mpis}
            far = [self.distances[case][m][n] for m in mpis]
            ratio = at["o2g"] / better(at[m] for m in mpis if m != "o2g")
            every.append(ratio)
            if max(far) <= 1.5 * min(far):
                same.append(ratio)
        return statistics.median(same or every)

    def first_size(self, case, impl):
        return min(size for size, _ in self.values[case][impl])

    def medians(self):
        """All of it, for the file."""
        return [{"case": case, "mpi": impl, "size": size, "column": column,
                 "median": statistics.median(values), "values": values}
                for case, impls in self.values.items()
                for impl, cells in impls.items()
                for (size, column), values in cells.items()]


def judge(results, target):
    """The row of the table for a target; None where nothing was measured."""
    at = {impl: results.median(target.case, impl, target.size, target.column)
          for impl in ("o2g", "mpich", "openmpi")}
    row = {"case": target.case, "text": target.text, "kind": target.kind,
           "limit": target.limit, "values": at, "score": None,
           "verdict": None}
    failures = results.failures.get(target.case, {})
    row["failed"] = [impl for impl in at if impl in failures]
    if "o2g" in failures:
        row["verdict"] = "MISS"
    if all(value is None for value in at.values()) and not failures:
        return None
    peers = [at[peer] for peer in ("mpich", "openmpi") if at[peer] is not None]
    if at["o2g"] is None:
        return row
    if target.kind.startswith("ratio"):
        if not peers:
            return row
        row["score"] = results.ratio(target)
    elif target.kind == "depth-max":
        first = results.first_size(target.case, "o2g")
        row["score"] = at["o2g"] / results.median(target.case, "o2g", first,
                                                  target.column)
    else:
        row["score"] = at["o2g"]
    good = (row["score"] >= target.limit if target.kind.endswith("min")
            else row["score"] <= target.limit)
    row["verdict"] = "PASS" if good else "MISS"
    return row


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    if abs(value) < 0.005:
        return "0"
    return f"{value:.3g}" if abs(value) >= 0.1 else f"{value:.2f}"


def cell(row, impl):
    if impl in row["failed"]:
        return "failed"
    return number(row["values"][impl])


def score(row):
    if row["score"] is None:
        return ""
    ratio = row["kind"] not in ("min", "max")
    return f"{row['score']:.2f}x" if ratio else number(row["score"])


def goal(row):
    ratio = row["kind"] not in ("min", "max")
    limit = f"{row['limit']:g}" + ("x" if ratio else "")
    return f"{SIGN[row['kind']]} {limit}"


def table(results):
    """Prints the table; returns its rows."""
    order = list(TRANSPORTS)
    targets = sorted(TARGETS, key=lambda t: order.index(t.case.split("-")[0]))
    rows = [row for row in (judge(results, t) for t in targets) if row]
    transport = None
    for row in rows:
        now = row["case"].split("-")[0]
        if now != transport:
            transport = now
            print(f"\n{TRANSPORTS[now]:46}{'O2G':>9}{'MPICH':>9}"
                  f"{'Open MPI':>10}{'score':>9}  target")
        print(f"  {row['text']:44}{cell(row, 'o2g'):>9}"
              f"{cell(row, 'mpich'):>9}{cell(row, 'openmpi'):>10}"
              f"{score(row):>9}  {goal(row):8} {row['verdict'] or ''}")
    for case, impls in results.failures.items():
        for impl, why in impls.items():
            print(f"\n{case} failed with {impl}: {why}")
    far = [ns for impls in results.distances.values()
           for all_ns in impls.values() for ns in all_ns if ns]
    if far and max(far) > 1.5 * min(far):
        print(f"\nThe cores were {min(far)} to {max(far)} ns apart: they were "
              "moved while this ran, so\nvalues side by side may differ by "
              "more than the score, which compares rounds.")
    judged = [row for row in rows if row["verdict"]]
    if judged:
        met = sum(row["verdict"] == "PASS" for row in judged)
        print(f"\n{met} of {len(judged)} targets met")
    return rows
