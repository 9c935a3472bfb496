# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Pictures of shared memory, from what bench/dsm-grow has measured."""

import json

from driver.table import number

from . import svg
from .figures import Figure

# A colour and a mark for each program.
LOOKS = ("o2g", "o2g-bpf", "o2g-kernel", "mpich", "openmpi", "sixth")
MOST_CELLS = 64 * 16
LEVELS = 8
WORST = 5


def load(path):
    """ValueError says what is wrong with the file."""
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        if data["format"] != "o2g dsm 1":
            raise ValueError(f"{path}: its format is {data['format']}")
        return data
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except (KeyError, TypeError, json.JSONDecodeError):
        raise ValueError(f"{path} is not a file of bench/dsm-grow") from None


def ratio(row, over, under):
    return row[over] / row[under] if row[under] else None


def messages_per_fault(row):
    return ratio(row, "messages", "faults")


# key, title, note, unit, value of a row
CURVES = (
    ("dsm-work", "Work in all", "CPU time of all processes; the sequential program is 1",
     "", lambda r: ratio(r, "cpu_s", "cpu_sequential_s")),
    ("dsm-messages", "Messages for a fault", "2 is the least", "",
     messages_per_fault),
    ("dsm-memory", "Memory of a node", "MiB of the region that are there, on average",
     "MiB", lambda r: r["memory_mib"]),
    ("dsm-time", "Time", "sequential / shared; more than the cores cannot help", "",
     lambda r: ratio(r, "sequential_s", "shared_s")),
    ("dsm-mpi", "Time, against MPI", "shared / the same program with messages", "",
     lambda r: ratio(r, "shared_s", "mpi_s")),
)


def curve(rows, key, title, note, unit, value):
    programs = list(dict.fromkeys(r["program"] for r in rows))
    names = list(zip(LOOKS, programs))
    series = {look: {int(r["processes"]): value(r) for r in rows
                     if r["program"] == p and value(r) is not None}
              for look, p in names}
    xs = sorted({x for points in series.values() for x in points})
    if not xs:
        return None
    table = [[x, *(number(series[look].get(x)) if series[look].get(x) is not None
                   else "–" for look, _ in names)] for x in xs]
    return Figure(key, svg.curves(title, note, xs, series, names, str, unit),
                  ["processes", *programs], table)


def cells(heat):
    """Its pages in at most MOST_CELLS, each as hot as the hottest of its pages."""
    each = -(-len(heat) // MOST_CELLS)
    return [max(heat[i:i + each]) for i in range(0, len(heat), each)], each


def heat_map(region):
    hot, each = cells(region["heat"])
    most = max(hot) or 1
    note = (f"{len(region['heat'])} pages" + (f", {each} to a square" if each > 1
                                              else "") +
            f"; the darkest: {most} times taken or handed over")
    worst = sorted(range(len(region["heat"])), key=lambda p: -region["heat"][p])
    table = [[f"{region['base'] + 4096 * p:#x}", region["heat"][p]]
             for p in worst[:WORST] if region["heat"][p]]
    return Figure("dsm-heat", svg.squares(
        f"Pages that go back and forth: {region['region']}", note,
        [-(-h * LEVELS // most) / LEVELS for h in hot],
        [f"{region['base'] + 4096 * each * i:#x}: {h}" for i, h in enumerate(hot)]),
        ["page", "times"], table)


def section(data):
    rows = [r for r in data["rows"] if "failed" not in r]
    made = [curve(rows, *c) for c in CURVES]
    if data.get("map"):
        made.append(heat_map(data["map"]))
    text = (f"Programs on shared memory of user level, over {data['channels']}, on a "
            f"machine with {data['cores']} cores, measured "
            f"{data['date'].replace('T', ' ').replace('Z', ' UTC')}. The map is what "
            "`o2g dsm` saw of SOR on four processes.")
    return "Shared memory", text, [f for f in made if f]
