# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Which pictures and tables there are, made from the results."""

from dataclasses import dataclass

from driver.cases import (COLLECTIVES, EVERY_COLLECTIVE, EVERY_RANKS,
                          EVERY_SIZES, GROWTH, NAS, NAS_RANKS)
from driver.table import PICTURED, number

from . import svg

OVER = {"shm": "shared memory", "tcp": "tcp"}
LESS, MORE = min, max


@dataclass
class Figure:
    key: str      # the name of its file, when it is written by itself
    picture: str
    head: list    # of the table below it
    rows: list


class Maker:
    """Makes the figures of one file of results; those without data are left
    out."""

    def __init__(self, data, results):
        self.data, self.results = data, results
        self.busy = data["machine"].get("busy_before", 0) > 0.05

    def note(self, text):
        return text + "; measured on a busy machine" * self.busy

    # what is there

    def names(self, *keys):
        """(key, title) of the implementations that measured any of these."""
        there = {i for key in keys for i in self.results.values.get(key, {})}
        there |= {i for key in keys for i in self.results.failures.get(key, {})
                  if any(k in self.results.values for k in keys)}
        return [(i, title) for i, title in PICTURED.items() if i in there]

    def value(self, case, impl, size, column):
        return self.results.median(case, impl, size, column)

    def ratio_text(self, case, size, column, better):
        ratio = self.results.ratio(case, size, column, better)
        if ratio is None:
            return "–"
        return f"{ratio:.2f}×"

    # pictures

    def curve(self, key, case, column, title, note, better, unit,
              x_form=svg.in_bytes, x_title="size", log=None, top=None,
              sizes=None):
        sizes = sizes or self.results.sizes(case, column)
        names = self.names(case)
        if not sizes or not names:
            return None
        series = {i: {s: self.value(case, i, s, column) for s in sizes}
                  for i, _ in names}
        rows = [[x_form(s), self.ratio_text(case, s, column, better),
                 *(number(series[i][s]) for i, _ in names)] for s in sizes]
        return Figure(key, svg.curves(title, self.note(note), sizes, series,
                                      names, x_form, unit, log, top),
                      [x_title, "ratio", *(n for _, n in names)], rows)

    def ratio_bars(self, key, cases, column, title, note, better, scale=None):
        """cases: (label, case, size). Bars relative to the better peer, so
        that it stands at 1; the table has the values."""
        names = self.names(*(case for _, case, _ in cases))
        groups, rows = [], []
        for label, case, size in cases:
            at = {i: self.value(case, i, size, column) for i, _ in names}
            peers = [at[i] for i in ("mpich", "openmpi") if at.get(i)]
            if not any(at.values()):
                continue
            best = better(peers) if peers else at.get("o2g") or 1
            ratio = self.results.ratio(case, size, column, better)
            relative = {i: at[i] / best if at[i] else None for i, _ in names}
            if "o2g" in relative and ratio:
                relative["o2g"] = ratio
            texts = {i: f"{v:.2f}×" for i, v in relative.items() if v}
            groups.append((label, relative, texts))
            rows.append([label, f"{ratio:.2f}×" if ratio else "–",
                         *(number(at[i]) if at[i] is not None else "failed"
                           for i, _ in names)])
        if not groups:
            return None
        spread = [v for _, at, _ in groups for v in at.values() if v]
        log = max(spread) / min(spread) > 30
        return Figure(key, svg.bars(title, self.note(note), groups, names,
                                    lambda v: f"{v:g}×", one=True, log=log),
                      ["", "ratio", *(n for _, n in names)], rows)

    def value_bars(self, key, cases, column, title, note, form, head):
        names = self.names(*(case for _, case, _ in cases))
        groups, rows = [], []
        for label, case, size in cases:
            at = {i: self.value(case, i, size, column) for i, _ in names}
            if not any(v is not None for v in at.values()):
                continue
            groups.append((label, at, {}))
            rows.append([label, *(number(at[i]) if at[i] is not None
                                  else "failed" for i, _ in names)])
        if not groups:
            return None
        return Figure(key, svg.bars(title, self.note(note), groups, names,
                                    form),
                      [head, *(n for _, n in names)], rows)

    def growth(self, key, over, program, column, title, note, unit,
               better=LESS, size_of=lambda ranks: ranks):
        """One value for each number of ranks."""
        cases = [(r, f"{over}-{program}-{r}") for r in GROWTH]
        names = self.names(*(c for _, c in cases))
        series = {i: {r: self.value(c, i, size_of(r), column)
                      for r, c in cases} for i, _ in names}
        ranks = [r for r, _ in cases
                 if any(series[i][r] is not None for i, _ in names)]
        if not ranks:
            return None
        rows = [[str(r), self.ratio_text(f"{over}-{program}-{r}", size_of(r),
                                         column, better),
                 *(number(series[i][r]) for i, _ in names)] for r in ranks]
        return Figure(key, svg.curves(title, self.note(note), ranks, series,
                                      names, str, unit),
                      ["ranks", "ratio", *(n for _, n in names)], rows)


def section(title, text, figures):
    return (title, text, [f for f in figures if f])


def latency(m):
    return section(
        "Latency", "Half the round trip of a message between two ranks. A "
        "ratio below 1 means that O2G is faster than the better of the two.",
        [m.curve(f"latency-{over}", f"{over}-latency", "usec",
                 f"Latency, {name}", "microseconds; less is better", LESS,
                 "us") for over, name in OVER.items()])


def bandwidth(m):
    figures = []
    for case, text in (("bandwidth", "Bandwidth"),
                       ("bidirectional", "Bandwidth both ways")):
        figures += [m.curve(f"{case}-{over}", f"{over}-{case}", "MB/s",
                            f"{text}, {name}", "MB/s; more is better", MORE,
                            "MB/s") for over, name in OVER.items()]
    figures += [m.curve(f"huge-{over}", f"{over}-huge", "MB/s",
                        f"Large messages, {name}",
                        "MB/s, one at a time; more is better", MORE, "MB/s")
                for over, name in OVER.items()]
    return section("Bandwidth", "64 messages under way, unless said "
                   "otherwise. A ratio above 1 means that O2G is faster.",
                   figures)


def rates(m):
    cases = [(f"{name}", f"{over}-rate", 8) for over, name in OVER.items()]
    incast = [(f"{svg.in_bytes(s)}B {over}", f"{over}-incast", s)
              for over in OVER for s in (8, 1024, 65536)]
    many = [(f"{svg.in_bytes(s)}B", "tcp-incast-16", s)
            for s in m.results.sizes("tcp-incast-16", "Mmsg/s")]
    return section(
        "Message rate", "Messages of 8 bytes from one rank to another, and "
        "seven ranks that send to one.",
        [m.ratio_bars("rate", cases, "Mmsg/s", "Messages per second",
                      "relative to the better of MPICH and Open MPI; more is "
                      "better", MORE),
         m.ratio_bars("incast", incast, "Mmsg/s", "Seven send to one",
                      "messages per second, relative to the better peer",
                      MORE),
         m.ratio_bars("incast-16", many, "Mmsg/s", "Fifteen send to one, tcp",
                      "messages per second, relative to the better peer",
                      MORE)])


def class_of(m, case):
    args = m.data["cases"].get(case, {}).get("args", ["?"])
    return args[0]


def nas(m):
    figures = []
    for ranks in NAS_RANKS:
        cases = [(f"{k.upper()}.{class_of(m, f'tcp-nas-{k}-{ranks}')}",
                  f"tcp-nas-{k}-{ranks}", 0) for k in NAS]
        figures.append(m.ratio_bars(
            f"nas-{ranks}", cases, "Mop/s", f"NAS kernels, {ranks} ranks, tcp",
            "speed, relative to the better of MPICH and Open MPI", MORE))
    return section(
        "NAS kernels", "One rank in each network namespace. Bars are "
        "relative to the better peer; the table has Mop/s.", figures)


def overlap(m):
    waits = [(name, f"{over}-idle", 0) for over, name in OVER.items()]
    return section(
        "Overlap, and what waiting costs", "How much of a message's time "
        "hides behind a computation that makes no MPI call, and how much of "
        "a core a rank uses that is blocked in MPI_Recv.",
        [m.curve("overlap", "tcp1g-overlap", "hidden%",
                 "Hidden behind computing, 1 Gbit/s",
                 "% of the message's time; more is better", MORE, "%",
                 log=False, top=100),
         m.curve("overlap-fast", "tcp-overlap", "hidden%",
                 "Hidden behind computing, no limit",
                 "%; on few cores the copying itself takes the cores", MORE,
                 "%", log=False, top=100),
         m.value_bars("idle", waits, "cpu %", "CPU while waiting",
                      "% of a core; less is better", lambda v: f"{v:.3g}%",
                      "blocked in MPI_Recv over")])


def matching(m):
    return section(
        "Matching", "The time for one message when many others wait in the "
        "queue, and (in O2G's core alone) when receives for many peers are "
        "posted.",
        [m.curve(f"depth-{word}", "shm-match_depth", f"{word} us",
                 f"Depth of the queue: {text}",
                 "microseconds for a message; less is better", LESS, "us",
                 svg.short, "depth", log=True)
         for word, text in (("posted", "posted receives"),
                            ("unexpected", "unexpected messages"))] +
        [m.curve("peers", "core-match_peers", "ns",
                 "Peers with receives posted", "nanoseconds for a match",
                 LESS, "ns", svg.short, "peers", log=False)])


def collectives(m):
    figures = []
    for over, name in OVER.items():
        for size, text in ((8, "8 bytes"), (65536, "64 KiB")):
            cases = [(short_name(c), f"{over}-{c}", size if sizes else 0)
                     for c, sizes in COLLECTIVES if sizes or size == 8]
            ranks = next((m.data["cases"][c]["ranks"] for _, c, _ in cases
                          if c in m.data["cases"]), "?")
            figures.append(m.ratio_bars(
                f"collectives-{over}-{size}", cases, "usec",
                f"Collectives, {text}, {name}",
                f"time on {ranks} ranks, relative to the better peer; less is "
                "better", LESS))
    for over, name in OVER.items():
        for size in EVERY_SIZES:
            figures += every_collective(m, over, name, size)
    return section("Collectives", "The table has microseconds.", figures)


def every_collective(m, over, name, size):
    """Eight to a picture: more names would not fit."""
    for half in (EVERY_COLLECTIVE[:8], EVERY_COLLECTIVE[8:]):
        cases = [(short_name(c), f"{over}-{c}-{EVERY_RANKS}",
                  0 if c == "barrier" else size) for c in half
                 if c != "barrier" or size == EVERY_SIZES[0]]
        yield m.ratio_bars(
            f"every-{over}-{size}-{half[0]}", cases, "usec",
            f"{EVERY_RANKS} ranks, {svg.in_bytes(size)}B, {name}: "
            f"{half[0]} to {half[-1]}",
            "time, relative to the better peer; less is better", LESS)


def short_name(collective):
    return {"reduce_scatter_block": "rs_block", "allreduce": "allred.",
            "allgather": "allgath.", "allgatherv": "allgv",
            "alltoallv": "a2av", "alltoall": "a2a", "scatterv": "scattv",
            "gatherv": "gathv"}.get(collective, collective)


def one_sided(m):
    return section(
        "One-sided", "MPI_Put and MPI_Get, each completed by a flush.",
        [m.curve(f"{call}-{over}", f"{over}-{call}", "usec",
                 f"{call.title()}, {name}", "microseconds; less is better",
                 LESS, "us")
         for call in ("put", "get") for over, name in OVER.items()])


def growth(m):
    figures = []
    for over, name in OVER.items():
        figures += [
            m.growth(f"job-{over}", over, "startup", "job ms",
                     f"A whole job, {name}",
                     "milliseconds from mpiexec to its end", "ms"),
            m.growth(f"memory-{over}", over, "startup", "MiB after",
                     f"Memory of a rank, {name}",
                     "MiB, after talking to all others", "MiB"),
            m.growth(f"alltoall-{over}", over, "growth", "usec",
                     f"Alltoall of 8 bytes, {name}", "microseconds", "us",
                     size_of=lambda ranks: 8)]
    figures.append(m.growth("sockets-tcp", "tcp", "startup", "sockets after",
                            "Sockets of a rank, tcp",
                            "after talking to all others", ""))
    return section("Cost as the number of ranks grows", "More ranks than "
                   "cores, on purpose: that is where waiting costs.", figures)


def flood(m):
    cases = [(f"{name}{text}", f"{over}-flood{last}", 4096)
             for over, name in (("shm", "shm"), ("tcp", "tcp"))
             for last, text in (("", ""), ("-last", ", last first"))]
    return section(
        "Flood", "Messages sent to a rank that sleeps: how far its memory "
        "grows.",
        [m.value_bars("flood", cases, "growth MiB", "Memory of the receiver",
                      "MiB; less is better", svg.short, "flood over")])


SECTIONS = (nas, latency, bandwidth, overlap, matching, rates, collectives,
            one_sided, growth, flood)

# What README shows.
README = ("latency-tcp", "overlap")


def all_sections(data, results):
    maker = Maker(data, results)
    made = [make(maker) for make in SECTIONS]
    return [s for s in made if s[2]]
