# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Which way of starting a peer is the fastest in a case.

A try is kept in the results as PEER/WAY. The fastest one counts as the peer's
first round, and the later rounds are run that way."""

import math

from .results import LESS, MORE

# How fast it is does not show in these.
NOT_SPEED = ("MiB after", "sockets after", "growth MiB", "MB a rank",
             "instructions")


def name(peer, way):
    return f"{peer}/{way}"


def cost(column, value):
    """Less is better, and more than 0; None for what is no speed."""
    if column == "hidden%":
        return max(101 - value, 1)
    if column in NOT_SPEED or value <= 0:
        return None
    return value if column in LESS else 1 / value if column in MORE else None


def fastest(results, key, peer, ways):
    """Of those that ended; of several that cannot be told apart the first."""
    ended = [w for w in ways if name(peer, w) in results.values.get(key, {})]
    if not ended:
        return None
    runs = [results.values[key][name(peer, w)] for w in ended]
    shared = set.intersection(*(set(run) for run in runs))

    def total(run):
        costs = [cost(cell[1], run[cell][-1]) for cell in sorted(shared)]
        return sum(math.log(c) for c in costs if c)
    return min(zip(ended, map(total, runs)), key=lambda pair: pair[1])[0]


def why_none(results, key, peer, ways):
    """What to say of a peer that no way brought to an end."""
    failed = results.failures.get(key, {})
    reasons = [failed[name(peer, w)] for w in ways if name(peer, w) in failed]
    return next((r for r in reasons if results.is_no_end(r)),
                reasons[0] if reasons else None)


def settle(results, key, peer, ways):
    """After all ways were tried: the fastest stands for the peer."""
    best = fastest(results, key, peer, ways)
    why = why_none(results, key, peer, ways)
    if best is None:
        if why:  # otherwise there was no time to try
            results.fail(key, peer, why)
        return
    results.ways.setdefault(key, {})[peer] = best
    results.copy(key, name(peer, best), peer)
