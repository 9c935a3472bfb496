# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
"""The report: one HTML page that needs nothing else."""

from html import escape

from driver.table import (TITLES, cell, goal_text, plain_text, score_text,
                          title_of, told_failures)

from . import figures, shared, svg

STYLE = """
:root{color-scheme:light dark;--ink:#1d2730;--soft:#5b6873;--line:#d5dbe0;
--paper:#fff;--shade:#f3f5f7;--good:#1a7f37;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#a3b0bb;
--line:#3a444d;--paper:#14191e;--shade:#1d242b;--good:#6fd08c;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:100rem;font:16px/1.5 system-ui,
sans-serif;color:var(--ink);background:var(--paper);overflow-wrap:anywhere}
h1{font-size:1.7rem;line-height:1.2;margin:.5rem 0}
h2{font-size:1.3rem;margin:2.5rem 0 .3rem;border-top:1px solid var(--line);
padding-top:1rem}
p{margin:.3rem 0 1rem;max-width:60rem}
a{color:inherit}
nav{display:flex;flex-wrap:wrap;gap:.3rem 1rem;margin:1rem 0}
.figures{display:grid;gap:1.5rem 2rem;align-items:start;
grid-template-columns:repeat(auto-fill,minmax(min(100%,29rem),1fr))}
figure{margin:0;min-width:0;break-inside:avoid}
figure svg{display:block;width:100%;height:auto;border:1px solid var(--line);
border-radius:6px}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:.85rem;margin:.5rem 0;
font-variant-numeric:tabular-nums}
th,td{padding:.2rem .4rem;text-align:right;border-bottom:1px solid var(--line);
overflow-wrap:normal}
th:first-child,td:first-child{text-align:left;padding-left:0}
th{color:var(--soft);font-weight:600}
.targets td+td{white-space:nowrap}
.ratio{font-weight:700}
.PASS{color:var(--good);font-weight:700}
.MISS{color:var(--bad);font-weight:700}
.targets{max-width:70rem}
.targets td:first-child{overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;
margin:.5rem 0}
dt{color:var(--soft)}
dd{margin:0;min-width:0}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font-size:.75rem;
background:var(--shade);padding:.5rem;border-radius:6px}
@media (max-width:30rem){body{padding:.6rem;font-size:15px}
table{font-size:.75rem}th,td{padding:.2rem .25rem}
.targets .wide{display:none}}
@media print{:root{--ink:#000;--soft:#333;--line:#bbb;--paper:#fff;
--shade:#f3f5f7;--good:#0b5d24;--bad:#8c1d18}body{max-width:none;padding:0}
nav,details{display:none}.figures{grid-template-columns:1fr 1fr;gap:1rem}
h2{break-after:avoid}}
"""


def cells(tag, values, extra=lambda i: ""):
    return "".join(f"<{tag}{extra(i)}>{escape(str(v))}</{tag}>"
                   for i, v in enumerate(values))


def table(head, rows):
    ratio = head.index("ratio") if "ratio" in head else -1

    def mark(i):
        return ' class="ratio"' if i == ratio else ""
    body = "".join(f"<tr>{cells('td', row, mark)}</tr>" for row in rows)
    return (f'<div class="scroll"><table><thead><tr>{cells("th", head)}</tr>'
            f"</thead><tbody>{body}</tbody></table></div>")


def figure(f):
    return f"<figure>{f.picture}{table(f.head, f.rows)}</figure>"


def targets(rows, impls):
    """Scores first: they are what counts; the values come after."""
    body = []
    for row in rows:
        verdict = row["verdict"] or ""
        values = "".join(f'<td class="wide">{escape(cell(row, i))}</td>'
                         for i in impls)
        over = row["case"].split("-")[0]
        body.append(f"<tr><td>{escape(over)}: {escape(row['text'])}</td>"
                    f'<td class="ratio">{score_text(row).replace("x", "×")}'
                    f"</td><td>{escape(goal_text(row).replace('x', '×'))}</td>"
                    f'<td class="{verdict}">{verdict_text(row)}</td>'
                    f"{values}</tr>")
    head = "".join(f'<th class="wide">{escape(TITLES[i])}</th>' for i in impls)
    return ('<div class="scroll"><table class="targets"><thead><tr><th></th>'
            f"<th>score</th><th>goal</th><th></th>{head}</tr></thead><tbody>"
            f"{''.join(body)}</tbody></table></div>")


VERDICT = {"PASS": "met", "MISS": "missed"}


def verdict_text(row):
    """Also what the same takes without MPI, where that is known."""
    plain = plain_text(row).replace("x", "×")
    return VERDICT.get(row["verdict"], "–") + (f"; {plain}" if plain else "")


def goals(rows, impls):
    """Each goal of a collective at each size is one: those that are met are
    folded away."""
    def is_one_of_many(row):
        return (row["verdict"] == "PASS" and " ranks, " in row["text"] and
                "NAS" not in row["text"])
    met = sum(r["verdict"] == "PASS" for r in rows)
    judged = sum(bool(r["verdict"]) for r in rows)
    folded = [r for r in rows if is_one_of_many(r)]
    text = (f"<h2>Goals</h2><p>{met} of {judged} met. A score is a ratio to "
            "the better of MPICH and Open MPI, round by round, where it is "
            "written with ×.</p>" +
            targets([r for r in rows if not is_one_of_many(r)], impls))
    if folded:
        text += (f"<details><summary>{len(folded)} goals of collectives that "
                 f"are met</summary>{targets(folded, impls)}</details>")
    return text


def facts(data):
    machine, settings = data["machine"], data["settings"]
    net = settings["network"]
    cables = ", ".join(f"{k} {net[k]}" for k in ("delay", "rate", "loss")
                       if net[k]) or "as fast as the cores copy"
    pairs = [("measured", data["date"].replace("T", " ").replace("Z", " UTC")),
             ("machine", f"{machine['cpu']}, {machine['cores']} cores, "
                         f"{machine['memory_mib'] / 1024:.0f} GiB"),
             ("kernel", machine["kernel"]),
             ("compared", ", ".join(v for k, v in data["versions"].items()
                                    if k in ("o2g", "mpich", "openmpi"))),
             ("rounds", f"{settings['rounds']}"
                        f"{', the quick form' * settings['quick']}; the "
                        "median counts"),
             ("network", f"{net['hosts']} namespaces on a bridge; cables "
                         f"{cables}")]
    if machine.get("busy_before", 0) > 0.05:
        pairs.append(("busy", f"others used {machine['busy_before']:.0%} of "
                      "the cores before the run"))
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>"
                            for k, v in pairs) + "</dl>"


def failures(results):
    lines = [f"{case}, {title_of(impl)}: {why}"
             for case, impl, why in told_failures(results)]
    if not lines:
        return ""
    return ("<h2>What failed</h2><p>Runs that ended with an error or not "
            "at all within their time limit.</p><ul>" +
            "".join(f"<li>{escape(x)}</li>" for x in lines) + "</ul>")


def commands(data):
    lines = [" ".join([c["case"], c["mpi"], f"({c['way']}):"
                       if c.get("way") else ":",
                       *(f"{k}='{v}'" for k, v in c["environment"].items()
                         if k != "NSAGENT_HOSTS"), *c["command"]])
             for c in data["settings"]["commands"]]
    return ("<details><summary>Command lines</summary>"
            f"<pre>{escape(chr(10).join(lines))}</pre></details>")


def anchor(number, title):
    return f"{number}-" + "".join(c if c.isalnum() else "-"
                                  for c in title.lower())


def part(number, name, data, results):
    """All that one file of results holds."""
    sections = figures.all_sections(data, results)
    nav = "".join(f'<a href="#{anchor(number, t)}">{escape(t)}</a>'
                  for t, _, _ in sections)
    body = [f"<h2>{escape(name)}</h2>" if name else "", facts(data),
            f"<nav>{nav}</nav>",
            goals(data["targets"], results.impls())]
    for title, text, made in sections:
        body.append(f'<h2 id="{anchor(number, title)}">{escape(title)}</h2>'
                    f'<p>{escape(text)}</p><div class="figures">'
                    f"{''.join(figure(f) for f in made)}</div>")
    return "".join(body) + failures(results) + commands(data)


def shared_memory(data):
    title, text, made = shared.section(data)
    return (f"<h2>{escape(title)}</h2><p>{escape(text)}</p>"
            f'<div class="figures">{"".join(figure(f) for f in made)}</div>')


def page(files, dsm=None):
    """files: (name, data, results) of each file; dsm: of bench/dsm-grow."""
    several = len(files) > 1
    body = "".join(part(i, name if several else "", data, results)
                   for i, (name, data, results) in enumerate(files))
    if dsm:
        body += shared_memory(dsm)
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, '
            'initial-scale=1"><title>O2G measured</title>'
            f"<style>{STYLE}{svg.STYLE}</style></head><body>"
            "<h1>O2G measured against MPICH and Open MPI</h1>"
            f"{body}</body></html>\n")
