# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""A second table: the peers as they are when nothing is set."""

from .peers import DEFAULT
from .ways import name

PEERS = ("mpich", "openmpi")


def default_of(results, row, peer):
    """Its value, or what became of the run; None where that is no news."""
    key, tried = row["case"], name(peer, DEFAULT)
    if results.ways.get(key, {}).get(peer) == DEFAULT:
        return None
    if results.no_end(key, tried):
        return "no end"
    if tried in results.failures.get(key, {}):
        return "failed"
    return results.median(key, tried, row["size"], row["column"])


def rows_of(results, rows):
    """(row, what each peer has with its defaults), where any differs."""
    for row in rows:
        found = [default_of(results, row, peer) for peer in PEERS]
        if any(value is not None for value in found):
            yield row, found


def text(value, number):
    return value if isinstance(value, str) else number(value)


def table(results, rows, number):
    lines = [f"  {row['case'].split('-')[0] + ': ' + row['text']:55}"
             f"{number(row['values'].get('o2g')):>11}" +
             "".join(f"{text(v, number):>11}" for v in found)
             for row, found in rows_of(results, rows)]
    if lines:
        print(f"\n{'the same with exactly their defaults, run once':57}"
              f"{'O2G':>11}{'MPICH':>11}{'Open MPI':>11}",
              *dict.fromkeys(lines), sep="\n")
        print("  -: the defaults are what is in the table above")
