#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Every public call has a manual page and is exported, nothing else is, and every
# setting is in o2g(7) with its default.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
bad=0

complain()
{
	echo "$*" >&2
	bad=1
}

for page in docs/man/*.[1-9]; do
	echo "${page##*/}"
	scripts/man-names "$page"
done | sort >"$TMP/pages"
uniq -d "$TMP/pages" | while read -r twice; do
	echo "$twice is there twice"
done >"$TMP/twice"
[ -s "$TMP/twice" ] && complain "$(cat "$TMP/twice")"

# Declarations: a name directly before an opening bracket, at the end of a type.
public=$(sed 's,/\*.*\*/,,; /^typedef/d' include/o2g.h |
	sed -n 's/^[a-z].*[ *]\(o2g_[a-z_0-9]*\)(.*/\1/p' | sort -u)
[ "$(echo "$public" | wc -l)" -gt 40 ] || fail "o2g.h could not be read"
nm -D --defined-only "$BUILD/lib/libo2g.so" | awk '{ print $3 }' |
	sort -u >"$TMP/exported"
for f in $public; do
	grep -qxF "$f.3" "$TMP/pages" || complain "$f has no manual page"
	grep -qxF "$f" "$TMP/exported" || complain "$f is not exported"
done

shared=$(sed 's,/\*.*\*/,,' include/o2g_dsm.h |
	sed -n 's/^[a-z].*[ *]\(o2g_dsm_[a-z_]*\)(.*/\1/p' | sort -u)
[ "$(echo "$shared" | wc -l)" -gt 20 ] || fail "o2g_dsm.h could not be read"
nm -D --defined-only "$BUILD/lib/libo2gdsm.so" | awk '$2 != "A" { print $3 }' |
	sed 's/@.*//' | sort -u >"$TMP/dsm_exported"
for f in $shared; do
	grep -qxF "$f.3" "$TMP/pages" || complain "$f has no manual page"
done
echo "$shared" | diff - "$TMP/dsm_exported" >&2 ||
	complain "libo2gdsm exports something else than o2g_dsm.h says"

# Errors that are no errno are where the words for them are.
errors=$(sed -n 's/^#define \(O2G_ERR_[A-Z]*\) .*/\1/p' include/o2g.h)
[ -n "$errors" ] || fail "o2g.h has no errors"
for e in $errors; do
	grep -qxF ".B $e" docs/man/o2g_peer_info.3 ||
		complain "o2g_strerror(3) lacks $e"
done

# What libo2g shares with libmpi and the tools is declared in a header that says
# so; anything else has no business being visible.
for f in $(comm -23 "$TMP/exported" <(echo "$public")); do
	grep -lE "visibility push" base/*.h engine/*.h engine/*/*.h | xargs grep -qw "$f" ||
		complain "$f is exported, but is in no header that allows it"
done
for f in $(nm -D --defined-only "$BUILD/lib/libmpi.so" |
	awk '$2 != "A" { print $3 }' | grep -vE '^P?MPI_' |
	grep -v '^o2g_mpi_'); do # those are for mpi/fortran/
	complain "libmpi.so exports $f"
done

settings=$(sed -n 's/^SETTING([A-Z]*, [a-z_]*, "\([A-Z_]*\)", "\([^"]*\)".*/\1=\2/p' \
	base/settings.def)
[ "$(echo "$settings" | wc -l)" = "$(grep -c '^SETTING(' base/settings.def)" ] ||
	fail "settings.def could not be read"
# The page without its formatting: O2G_NAME=default.
sed 's/\\-/-/g; s/^\.BR \(O2G_[A-Z_]*\) "*=/\1=/; s/ \(O2G_[A-Z_]*\) =/ \1=/' \
	docs/man/o2g.7 >"$TMP/o2g.7"
for s in $settings; do
	grep -qE "(^|[ \"])O2G_$s([\", ]|\$)" "$TMP/o2g.7" ||
		complain "o2g(7) lacks O2G_$s"
done

if command -v mandoc >/dev/null; then
	mandoc -Tlint -W warning docs/man/*.[1-9] >"$TMP/lint" 2>&1
	grep -vE 'missing date|bad cross reference|referenced manual not found' \
		"$TMP/lint" >&2 && complain "mandoc has complaints"
fi
[ $bad = 0 ] || fail "see above"
