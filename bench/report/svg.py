# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""Pictures: curves and bars, as SVG without any script.

Colours are classes, so that the page's style (or the one that a picture of its
own carries) chooses them for light, dark and print. Series differ by the shape
of their marks, not by colour alone."""

import math
from html import escape

WIDTH, HEIGHT = 520, 330
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 52, 56

MARKS = {
    "o2g": '<circle class="mark {k}" cx="{x}" cy="{y}" r="4">{t}</circle>',
    "o2g-bpf": '<path class="mark {k}" d="M{x},{y}m-5,0l5,-5l5,5l-5,5z">{t}'
               '</path>',
    "o2g-kernel": '<path class="mark {k}" d="M{x},{y}m-4,-4l8,8m0,-8l-8,8">'
                  '{t}</path>',
    "mpich": '<rect class="mark {k}" x="{xm}" y="{ym}" width="7" height="7">'
             '{t}</rect>',
    "sixth": '<path class="mark {k}" d="M{x},{y}m-4.5,-4l4.5,8l4.5,-8z">{t}'
             '</path>',
    "openmpi": '<path class="mark {k}" d="M{x},{y}m-4.5,4l4.5,-8l4.5,8z">{t}'
               '</path>',
}

STYLE = """
.pic{--ink:#1d2730;--soft:#5b6873;--line:#d5dbe0;--paper:#fff;
--c-o2g:#0069b4;--c-o2g-bpf:#009e9a;--c-o2g-kernel:#7b3fa0;
--c-mpich:#c8560b;--c-openmpi:#3d8b37;--c-sixth:#8a6d00}
@media (prefers-color-scheme:dark){.pic{--ink:#e6ebf0;--soft:#a3b0bb;
--line:#3a444d;--paper:#14191e;--c-o2g:#5ab4f5;--c-o2g-bpf:#3cd1cc;
--c-o2g-kernel:#c491ea;--c-mpich:#ff9a4d;--c-openmpi:#7ccf75;--c-sixth:#e0c04a}}
@media print{.pic{--ink:#000;--soft:#333;--line:#bbb;--paper:#fff;
--c-o2g:#0069b4;--c-o2g-bpf:#009e9a;--c-o2g-kernel:#7b3fa0;
--c-mpich:#c8560b;--c-openmpi:#3d8b37;--c-sixth:#8a6d00}}
.pic{font-family:system-ui,sans-serif;font-size:13px}
.pic .paper{fill:var(--paper)}
.pic text{fill:var(--ink)}
.pic .soft{fill:var(--soft)}
.pic .title{font-size:15px;font-weight:600}
.pic .grid{stroke:var(--line);stroke-width:1}
.pic .one{stroke:var(--soft);stroke-width:1.5;stroke-dasharray:5 3}
.pic .curve{fill:none;stroke-width:2}
.pic .strong{font-weight:700}
""" + "".join(
    f".pic .curve.{k}{{stroke:var(--c-{k})}}"
    f".pic .mark.{k},.pic .bar.{k}{{fill:var(--c-{k})}}"
    for k in MARKS) + """
.pic .mark.o2g-kernel{stroke:var(--c-o2g-kernel);stroke-width:2}
.pic .curve.mpich{stroke-dasharray:7 3}
.pic .curve.openmpi{stroke-dasharray:2 3}
"""


def short(value):
    """A number in few letters."""
    if value == 0:
        return "0"
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            scaled = value / (1e3 if unit == "k" else limit)
            return f"{scaled:.3g}{unit}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def in_bytes(size):
    for shift, unit in ((30, "G"), (20, "M"), (10, "K")):
        if size >= 1 << shift:
            return f"{size / (1 << shift):g}{unit}"
    return str(size)


class Scale:
    """From values to heights; logarithmic where they span much."""

    def __init__(self, values, top_of=None, log=None, low=None):
        values = [v for v in values if v is not None]
        positive = [v for v in values if v > 0] or [1]
        high = max([*values, top_of or 0]) or 1
        self.log = (max(positive) / min(positive) > 20 if log is None
                    else log)
        if self.log:
            self.low = 10 ** math.floor(math.log10(min(positive)))
            self.high = 10 ** math.ceil(math.log10(max(positive) * 1.0001))
        else:
            self.low = min(0, *values, 0) if low is None else low
            step = self.step(high - self.low)
            self.high = step * math.ceil(high / step * 0.9999)
            self.low = step * math.floor(self.low / step)

    @staticmethod
    def step(span):
        raw = span / 5 or 1
        base = 10 ** math.floor(math.log10(raw))
        return next(m * base for m in (1, 2, 5, 10) if m * base >= raw)

    def ticks(self):
        if self.log:
            decades = round(math.log10(self.high / self.low))
            every = -(-decades // 6)
            return [self.low * 10 ** i for i in range(0, decades + 1, every)]
        step = self.step(self.high - self.low)
        count = round((self.high - self.low) / step)
        return [self.low + i * step for i in range(count + 1)]

    def y(self, value):
        if self.log:
            value = max(value, self.low)
            share = (math.log10(value / self.low) /
                     math.log10(self.high / self.low))
        else:
            share = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)


def frame(title, note, body, names):
    """The picture around its plot: title, legend, accessible text."""
    legend, x = [], LEFT
    for key, name in names:
        legend.append(MARKS[key].format(k=key, x=x + 5, y=HEIGHT - 11,
                                        xm=x + 1, ym=HEIGHT - 15, t=""))
        legend.append(f'<text x="{x + 15}" y="{HEIGHT - 6}">{escape(name)}'
                      '</text>')
        x += 34 + 7.2 * len(name)
    return (f'<svg class="pic" xmlns="http://www.w3.org/2000/svg" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(title)}">'
            f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>'
            f'<text class="title" x="10" y="19">{escape(title)}</text>'
            f'<text class="soft" x="10" y="34" font-size="11">{escape(note)}'
            f'</text>{body}{"".join(legend)}</svg>')


def axis(scale, form=short):
    parts = []
    for tick in scale.ticks():
        y = scale.y(tick)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
                     f'y1="{y:.1f}" y2="{y:.1f}"/>'
                     f'<text class="soft" x="{LEFT - 7}" y="{y + 4:.1f}" '
                     f'text-anchor="end">{form(tick)}</text>')
    return "".join(parts)


def curves(title, note, xs, series, names, x_form=in_bytes, unit="",
           log=None, top=None):
    """xs: places on the axis, evenly spaced; series[key][x]: a value or
    nothing."""
    values = [v for points in series.values() for v in points.values()]
    scale = Scale(values, top_of=top, log=log)
    room = (WIDTH - LEFT - RIGHT - 30) / max(len(xs) - 1, 1)
    at = {x: LEFT + 15 + i * room for i, x in enumerate(xs)}
    parts = [axis(scale)]
    every = -(-len(xs) // 11)
    for i, x in enumerate(xs):
        if i % every == 0:
            parts.append(f'<text class="soft" x="{at[x]:.1f}" '
                         f'y="{HEIGHT - BOTTOM + 17}" text-anchor="middle">'
                         f'{x_form(x)}</text>')
    for key, name in reversed(names):
        points = [(at[x], scale.y(series[key][x]), x) for x in xs
                  if series[key].get(x) is not None]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in points)
        parts.append(f'<polyline class="curve {key}" points="{line}"/>')
        for x, y, where in points:
            tip = (f"<title>{escape(name)}, {x_form(where)}: "
                   f"{short(series[key][where])} {unit}</title>")
            parts.append(MARKS[key].format(k=key, x=round(x, 1),
                                           y=round(y, 1), xm=round(x - 3.5, 1),
                                           ym=round(y - 3.5, 1), t=tip))
    return frame(title, note, "".join(parts), names)


def bar_label(middle, text, tops):
    """A number above its bar, and above those beside it that it reaches over."""
    half = 3.6 * len(text) + 1
    y = min(top for left, right, top in tops
            if left < middle + half and right > middle - half)
    return (f'<text class="strong" font-size="12" x="{middle:.1f}" '
            f'y="{y - 4:.1f}" text-anchor="middle">{escape(text)}</text>')


def bars(title, note, groups, names, form=short, one=False, log=False):
    """groups: (label, {key: value or None for one that failed}, {key: text});
    one: a line at 1, which is what bars are compared with."""
    values = [v for _, at, _ in groups for v in at.values() if v is not None]
    scale = Scale(values, top_of=1.2 if one else None, log=log)
    parts = [axis(scale, form)]
    room = (WIDTH - LEFT - RIGHT) / max(len(groups), 1)
    width = min(30, room * 0.8 / max(len(names), 1))
    floor = scale.y(scale.low if scale.log else 0)
    tops, labels = [], []
    for i, (label, at, texts) in enumerate(groups):
        middle = LEFT + (i + 0.5) * room
        parts.append(f'<text x="{middle:.1f}" y="{HEIGHT - BOTTOM + 17}" '
                     f'text-anchor="middle">{escape(label)}</text>')
        left = middle - width * len(names) / 2
        for j, (key, name) in enumerate(names):
            x = left + j * width
            if key not in at:
                continue
            if at[key] is None:
                parts.append(f'<text class="soft" font-size="11" '
                             f'transform="translate({x + width / 2 + 4:.1f},'
                             f'{floor - 4:.1f}) rotate(-90)">failed</text>')
                continue
            y = scale.y(at[key])
            high = max(abs(floor - y), 0.8)
            text = texts.get(key, form(at[key]))
            parts.append(f'<rect class="bar {key}" x="{x + 1:.1f}" '
                         f'y="{min(y, floor):.1f}" width="{width - 2:.1f}" '
                         f'height="{high:.1f}"><title>{escape(name)}, '
                         f'{escape(label)}: {escape(text)}</title></rect>')
            tops.append((x, x + width, min(y, floor)))
            if key == "o2g":
                labels.append((x + width / 2, text))
    parts += [bar_label(at, text, tops) for at, text in labels]
    if one:
        parts.append(f'<line class="one" x1="{LEFT}" x2="{WIDTH - RIGHT}" '
                     f'y1="{scale.y(1):.1f}" y2="{scale.y(1):.1f}"/>')
    return frame(title, note, "".join(parts), names)


SQUARES = 64  # in a line


def squares(title, note, values, tips):
    """A map: squares in lines, from 0, which is empty, to 1."""
    side = (WIDTH - 20) / SQUARES
    parts = []
    for i, (value, tip) in enumerate(zip(values, tips)):
        parts.append(f'<rect class="bar o2g" x="{10 + i % SQUARES * side:.1f}" '
                     f'y="{TOP + i // SQUARES * 2 * side:.1f}" '
                     f'width="{side:.1f}" height="{2 * side:.1f}" '
                     f'fill-opacity="{value:.3g}"><title>{escape(tip)}</title>'
                     "</rect>")
    lines = -(-len(values) // SQUARES)
    parts.append(f'<rect x="10" y="{TOP}" width="{WIDTH - 20}" '
                 f'height="{lines * 2 * side:.1f}" fill="none" class="grid"/>')
    return frame(title, note, "".join(parts), [])


def alone(picture):
    """The same picture as a file of its own."""
    picture = picture.replace("<svg ", f'<svg width="{WIDTH}" '
                              f'height="{HEIGHT}" ', 1)
    at = picture.index(">") + 1
    return ('<?xml version="1.0" encoding="UTF-8"?>\n'
            "<!-- SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0 -->\n" +
            picture[:at] + f"<style>{STYLE}</style>" + picture[at:] + "\n")
