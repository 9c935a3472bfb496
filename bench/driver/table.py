# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Judges the medians and prints the table."""

from . import defaults
from .cases import TARGETS, TRANSPORTS
from .peers import DEFAULT, SPINS, YIELDS

SIGN = {"ratio-max": "<=", "max": "<=", "depth-max": "<=", "own-max": "<=",
        "ratio-min": ">=", "min": ">=", "mpich-min": ">=", "own-min": ">="}
PICTURED = {"o2g": "O2G", "o2g-bpf": "O2G bpf", "o2g-kernel": "O2G kernel",
            "mpich": "MPICH", "openmpi": "Open MPI"}
TITLES = {**PICTURED, "o2g-base": "O2G before", "o2g-base-bpf": "bpf before",
          "mpich-new": "new MPICH", "openmpi-new": "new OpenMPI"}
# What the same takes without MPI, beside whose it is shown.
PLAIN = {"o2g": ("plain",), "o2g-bpf": ("plain-bpf", "plain-flag")}
PLAIN_TITLES = {"plain": "no MPI", "plain-bpf": "no MPI, by bpf",
                "plain-flag": "no MPI, only a flag by bpf"}
WAY_TITLES = {DEFAULT: "its defaults", SPINS: "spinning",
              YIELDS: "yielding"}
LEGEND = """
y: fastest with ranks that yield while they wait. Open MPI does so with
mpi_yield_when_idle; MPICH has no such setting, and bench/yield.c preloaded.
no end: ended after the time that docs/performance.md names."""
PLAIN_SHORT = {"plain": "no MPI", "plain-bpf": "no MPI", "plain-flag": "a flag"}


def score_of(results, target, ours):
    """What a target judges; None where something is missing."""
    kind, where = target.kind, (target.case, target.size, target.column)
    if ours is None:
        return None
    if kind.startswith("ratio"):
        return results.ratio(*where, min if kind == "ratio-max" else max,
                             peers=target.peers, ours=target.ours)
    if kind == "mpich-min":
        return results.ratio(*where, max, peers=("mpich",))
    if kind == "depth-max":
        first = results.sizes(target.case, target.column)[0]
        return ours / results.median(target.case, "o2g", first, target.column)
    if kind.startswith("own"):
        case, size, column = target.to
        other = results.median(case, target.ours, size, column)
        return ours / other if other else None
    return ours


def plain_score(results, target, plain):
    """What a program without MPI would score; None where there is none."""
    value = results.median(target.case, plain, target.size, target.column)
    if value is None or not target.kind.startswith("ratio"):
        return value
    return results.ratio(target.case, target.size, target.column,
                         min if target.kind == "ratio-max" else max,
                         peers=target.peers, ours=plain)


def judge(results, target):
    """The row of the table for a target; None where nothing was measured."""
    at = {impl: results.median(target.case, impl, target.size, target.column)
          for impl in TITLES}
    failures = results.failures.get(target.case, {})
    if all(value is None for value in at.values()) and not failures:
        return None
    if target.ours != "o2g" and at[target.ours] is None and \
            target.ours not in failures:
        return None
    score = score_of(results, target, at[target.ours])
    if target.optional and score is None:
        return None
    verdict = "MISS" if target.ours in failures else None
    if score is not None:
        good = (score >= target.limit if target.kind.endswith("min")
                else score <= target.limit)
        verdict = "PASS" if good else "MISS"
    return {"case": target.case, "text": target.text, "kind": target.kind,
            "size": target.size, "column": target.column,
            "limit": target.limit, "values": at, "score": score,
            "verdict": verdict,
            "plain": {plain: plain_score(results, target, plain)
                      for plain in PLAIN.get(target.ours, ())},
            "ways": results.ways.get(target.case, {}),
            "failed": [impl for impl in at if impl in failures],
            "no end": [impl for impl in at
                       if results.no_end(target.case, impl)]}


def number(value):
    if value is None:
        return "-"
    if abs(value) >= 1000:
        return f"{value:.0f}"
    if abs(value) < 0.005:
        return "0"
    return f"{value:.3g}" if abs(value) >= 0.1 else f"{value:.2f}"


def cell(row, impl):
    if impl in row.get("no end", ()):
        return "no end"
    if impl in row["failed"]:
        return "failed"
    yields = row.get("ways", {}).get(impl) == YIELDS
    return number(row["values"][impl]) + " y" * yields


def is_ratio(row):
    return row["kind"] not in ("min", "max")


def score_number(row, score):
    return f"{score:.2f}x" if is_ratio(row) else number(score)


def score_text(row):
    if row["score"] is None:
        return ""
    return score_number(row, row["score"])


def plain_text(row):
    found = row.get("plain") or {}
    if not isinstance(found, dict):  # in files of before there was but one
        found = {"plain": found}
    return ", ".join(f"{PLAIN_SHORT[plain]}: {score_number(row, score)}"
                     for plain, score in found.items() if score is not None)


def title_of(impl):
    """Also of a peer in one of its ways."""
    name, _, way = impl.partition("/")
    title = TITLES.get(name) or PLAIN_TITLES[name]
    return f"{title} ({WAY_TITLES[way]})" if way else title


def goal_text(row):
    limit = f"{row['limit']:g}" + ("x" if is_ratio(row) else "")
    return f"{SIGN[row['kind']]} {limit}"


def rows_of(results):
    order = list(TRANSPORTS)
    targets = sorted(TARGETS, key=lambda t: order.index(t.case.split("-")[0]))
    return [row for row in (judge(results, t) for t in targets) if row]


def told_failures(results):
    """(case, implementation, why). That one way of a peer was too slow is why
    it is run by another, and no failure."""
    for case, failed in results.failures.items():
        for impl, why in failed.items():
            if "/" not in impl or not results.is_no_end(why):
                yield case, impl, why


def table(results):
    """Prints the table; returns its rows."""
    rows, transport = rows_of(results), None
    impls = results.impls()
    for row in rows:
        now = row["case"].split("-")[0]
        if now != transport:
            transport = now
            print(f"\n{TRANSPORTS[now]:46}" +
                  "".join(f"{TITLES[i]:>12}" for i in impls) +
                  f"{'score':>9}  target")
        print(f"  {row['text']:44}" +
              "".join(f"{cell(row, i):>12}" for i in impls) +
              f"{score_text(row):>9}  {goal_text(row):8} "
              f"{row['verdict'] or '':5} {plain_text(row)}".rstrip())
    if any(c.endswith(" y") or c == "no end" for row in rows
           for c in (cell(row, i) for i in impls)):
        print(LEGEND)
    for case, impl, why in told_failures(results):
        print(f"\n{case}, {title_of(impl)}: {why}")
    defaults.table(results, rows, number)
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
