#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# The pages are about the tree that is there: whatever file they name exists, the
# tables of files have every file of their folder, and the maps have every folder.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp

if ! git ls-files >"$TMP/all" 2>/dev/null; then
	find . \( -path './build*' -o -path ./.git \) -prune -o -type f -printf '%P\n' >"$TMP/all"
fi
while read -r f; do
	[ -e "$f" ] && echo "$f"
done <"$TMP/all" >"$TMP/files"

cat >"$TMP/read.py" <<'END'
import re, sys

files = open(sys.argv[1]).read().split("\n")
bad = 0

def complain(words):
    global bad
    bad = 1
    print(words)

# --- names in the text: files by their suffix, and what is in a folder of the tree ---

known = set()  # by any of its last components
for f in files:
    parts = f.split("/")
    for end in range(1, len(parts) + 1):
        known.update("/".join(parts[start:end]) for start in range(end))
top = {f.split("/")[0] for f in files if "/" in f}
# Made by the build, or of an example.
made = {"mpi.h", "mpif.h", "program.c", "solver.c", "hello.c"}
suffix = re.compile(r"\.(c|h|sh|def|tsv|inc|in|md|py|mk|map|config|svg)$")

def is_there(word):
    if word in made or any(word + end in known for end in ("", ".c", ".h", ".sh")):
        return True
    return re.match(r"[/~$-]|build|\.\./old", word) or re.search(r"\*|(^|/|_)[A-Z]\b", word)

def names(line):
    for word in re.findall(r"[\w./*+@$~-]+", re.sub(r"\\f[IBR]", " ", line).replace("\\-", "-")):
        word = word.strip(".").rstrip("/").removesuffix("'s").removeprefix("../")
        if suffix.search(word) or "/" in word and word.split("/")[0] in top:
            yield word

for page in sys.argv[2:]:
    for number, line in enumerate(open(page), 1):
        for word in names(line):
            is_there(word) or complain(f"{page}:{number}: there is no {word}")

# --- tables of files: below a heading "folder/", or one in a folder's section ---

def in_folder(folder):
    return {f[len(folder) + 1:] for f in files if f.startswith(folder + "/")}

def entries(cell):
    return [word for word in re.split(r", | and ", cell.replace("`", "")) if word]

def tables(page):
    """(folder, names of its files) of each table, or of several of one folder"""
    found, folder, outer, inside = {}, "", "", False
    for line in open(page):
        if head := re.match(r"(##+) ([\w/]+?)/?$", line):
            folder = f"{outer}/{head[2]}" if head[1] == "###" else head[2]
            outer = outer if head[1] == "###" else folder
        if row := re.match(r"\| file(?: of `(.*)`)? \| (?:subject )?\|", line):
            inside = True
            folder = row[1] or folder
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("|---"):
            found.setdefault(folder, []).extend(entries(line.split("|")[1].strip()))
    return found.items()

count = 0
for page in sys.argv[2:]:
    for folder, listed in tables(page):
        there = in_folder(folder)
        for name in listed:
            if not any(re.fullmatch(name.replace("*", r"\w+") + r"(\.\w+)*", f) for f in there):
                complain(f"{page}: {folder}/ has no {name}")
        for f in sorted(there):
            if "/" not in f and f.endswith(".c") and not any(
                    re.fullmatch(name.replace("*", r"\w+"), f.removesuffix(".c")) for name in listed):
                complain(f"{page}: the table of {folder}/ lacks {f}")
        count += 1
count >= 9 or complain(f"only {count} tables of files were found")

# --- maps: README has every folder of the tree, architecture.md the chapters of mpi/ ---

readme = open("README.md").read().split("## The tree")[1]
for folder in sorted(top - {".cppcheck", ".ci", "pkgconfig", "scripts"}):
    re.search(rf"^    {folder}/ ", readme, re.M) or complain(f"README's map lacks {folder}/")
chapters = {f.split("/")[1] for f in files if re.match("mpi/.*/", f)}
listed = set(re.findall(r"^\| (\w+) \|", open("docs/architecture.md").read().split("| folder | chapter |")[1], re.M))
for folder in sorted(chapters - listed):
    complain(f"docs/architecture.md: the chapters lack mpi/{folder}")
sys.exit(bad)
END
pages=(README.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/man/* mpi/bindings/README.md
	tests/real/README.md)
python3 "$TMP/read.py" "$TMP/files" "${pages[@]}" >&2 || fail "see above"

# A name that is not there is seen.
echo 'As core/nothing.c and `tcp/recv.c` have it.' >"$TMP/page.md"
python3 "$TMP/read.py" "$TMP/files" "${pages[@]}" "$TMP/page.md" >"$TMP/out" &&
	fail "core/nothing.c was not missed"
expect "$TMP/out" 'page.md:1: there is no core/nothing.c'
expect_not "$TMP/out" 'recv.c'
