# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Two files of results side by side.

What the other MPIs gained or lost between the two is the machine's doing, so
that is taken out of our own change."""

import statistics

from .results import LESS, MORE
from .table import number


def change(old, new, where, impl):
    """How many times as good it has become; None where it cannot be told."""
    key, size, column = where
    before = old.median(key, impl, size, column)
    after = new.median(key, impl, size, column)
    if not before or not after or before < 0 or after < 0:
        return None
    return before / after if column in LESS else after / before


def cells(results):
    return {(key, size, column)
            for key, impls in results.values.items()
            for size, column in impls.get("o2g", {})
            if column in LESS or column in MORE}


def compare(old, new, threshold=1.1):
    """Prints what differs by more than the threshold; returns the rows."""
    shared = sorted(cells(old) & cells(new))
    rows = []
    for where in shared:
        ours = change(old, new, where, "o2g")
        peers = [c for c in (change(old, new, where, impl)
                             for impl in ("mpich", "openmpi")) if c]
        if ours:
            machine = statistics.median(peers) if peers else 1
            rows.append((ours / machine, ours, machine, where))
    rows.sort()
    shown = [r for r in rows if not 1 / threshold < r[0] < threshold]
    print(f"\n{len(rows)} values compared, {len(shown)} of them changed by "
          f"more than {threshold:g}x beyond what the other MPIs changed")
    if shown:
        print(f"{'':40}{'before':>10}{'after':>10}{'better':>9}{'machine':>9}")
    for net, _, machine, (key, size, column) in shown:
        name = f"{key} {size or ''} {column}"
        print(f"{name:40}{number(old.median(key, 'o2g', size, column)):>10}"
              f"{number(new.median(key, 'o2g', size, column)):>10}"
              f"{net:>8.2f}x{machine:>8.2f}x")
    return rows
