#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 120
# The report of a small file of results: pictures and tables are there, bad files
# are refused, two files can be compared, and a browser finds nothing wrong.
cd "$(dirname "$0")/../.." && . tests/lib.sh
command -v python3 >/dev/null || skip "python3 is not installed"
make_tmp
results=tests/system/report_results.json

bench/make-report $results -o "$TMP/report.html" --svg "$TMP/svg" >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "make-report"; }
python3 - "$TMP/report.html" <<'END' || fail "the page lacks something"
import re, sys
page = open(sys.argv[1], encoding="utf-8").read()
figures = re.findall(r"<figure>(.*?)</figure>", page, re.S)
assert len(figures) >= 8, len(figures)
for figure in figures:
    assert "<svg" in figure and "<table" in figure
    assert "ratio" in figure or "CPU while" in figure or "Memory" in figure
for word in ("NAS kernels", "Latency", "Bandwidth", "Overlap", "Matching",
             "Cost as the number of ranks grows", "MPICH 4", "Goals"):
    assert word in page, word
assert not re.search(r"<(script|link|img|iframe)|(src|href)=\"(?!#)", page)
for tag in ("figure", "table", "svg", "div", "section"):
    assert page.count(f"<{tag}") == page.count(f"</{tag}>"), tag
END
# With what bench/dsm-grow has measured.
cat >"$TMP/dsm.json" <<'END'
{"format": "o2g dsm 1", "channels": "tcp", "cores": 2, "date": "2026-01-02T03:04:05Z",
 "rows": [{"program": "sor", "n": 258, "processes": 1, "sequential_s": 0.1, "shared_s": 0.1,
           "mpi_s": 0.1, "faults": 0, "messages": 0, "cpu_s": 0.1, "cpu_sequential_s": 0.1,
           "memory_mib": 0.5},
          {"program": "sor", "n": 258, "processes": 2, "sequential_s": 0.1, "shared_s": 0.06,
           "mpi_s": 0.05, "faults": 100, "messages": 220, "cpu_s": 0.13,
           "cpu_sequential_s": 0.1, "memory_mib": 0.26},
          {"program": "tsp", "processes": 2, "failed": "too slow"}],
 "map": {"region": "run <1>", "base": 2199023255552, "processes": [], "heat": [0, 3, 9, 0]}}
END
bench/make-report $results --dsm "$TMP/dsm.json" -o "$TMP/shared.html" >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "make-report with shared memory"; }
for word in 'Shared memory' 'Messages for a fault' 'run &lt;1&gt;' '0x20000002000: 9' '2.2'; do
	grep -q "$word" "$TMP/shared.html" || fail "the report lacks $word"
done
bench/make-report $results --dsm $results -o "$TMP/shared.html" >"$TMP/out" 2>&1 &&
	fail "that is no file of bench/dsm-grow"
for picture in "$TMP"/svg/*.svg; do
	python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' "$picture" ||
		fail "$picture is not XML"
done
python3 - "$TMP/report.html" <<'END' || fail "a bar covers a label"
import re, sys
labels = 0
for picture in re.findall(r"<svg.*?</svg>", open(sys.argv[1], encoding="utf-8").read(), re.S):
    bars = [[float(v) for v in bar] for bar in re.findall(
        r'<rect class="bar [^"]*" x="([^"]*)" y="([^"]*)" width="([^"]*)"', picture)]
    for x, y, text in re.findall(r'<text class="strong"[^>]* x="([^"]*)" y="([^"]*)"'
                                 r'[^>]*>([^<]*)<', picture):
        half, labels = 3.3 * len(text), labels + 1
        for left, top, width in bars:
            if left < float(x) + half and left + width > float(x) - half:
                assert float(y) < top, (text, x, y, left, top)
assert labels
END
[ -e "$TMP/svg/latency-tcp.svg" ] || fail "no pictures"
for picture in $(grep -o 'docs/pictures/[a-z0-9-]*\.svg' README.md); do
	[ -e "$picture" ] || fail "README shows $picture, which is not there"
done

echo '{"format": 1}' >"$TMP/old.json"
echo 'nonsense' >"$TMP/bad.json"
bench/make-report "$TMP/old.json" -o "$TMP/x" 2>"$TMP/out" && fail "an old format was accepted"
expect "$TMP/out" 'format is 1'
bench/make-report "$TMP/bad.json" -o "$TMP/x" 2>"$TMP/out" && fail "nonsense was accepted"
expect "$TMP/out" 'not a file of results'

# The same file compared with itself has not changed; twice the latency has.
bench/run --compare $results --with $results >"$TMP/out" || fail "compare"
expect "$TMP/out" 'values compared, 0 of them changed'
python3 - $results "$TMP/worse.json" <<'END' || fail "python3"
import json, sys
data = json.load(open(sys.argv[1]))
for row in data["measured"]:
    if row["mpi"] == "o2g" and row["case"] == "tcp-latency":
        row["values"] = [2 * v for v in row["values"]]
json.dump(data, open(sys.argv[2], "w"))
END
bench/run --compare $results --with "$TMP/worse.json" >"$TMP/out" || fail "compare"
expect "$TMP/out" '^tcp-latency 8 usec .* 0.50x'

bench/check-report "$TMP/report.html" >"$TMP/out" 2>&1
rc=$?
cat "$TMP/out"
[ $rc = 77 ] && skip "chromium is not installed; all but the browser's part passed"
[ $rc = 0 ] || fail "a browser finds faults"
# A page that is too wide must be found.
sed 's|<body>|<body><p style="width:3000px">wide</p>|' "$TMP/report.html" >"$TMP/wide.html"
bench/check-report "$TMP/wide.html" >"$TMP/out" 2>&1 && fail "a wide page was accepted"
expect "$TMP/out" 'wider than the window at 400'
