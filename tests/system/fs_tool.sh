#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# o2gfsd and o2g fs as users start them: keys, configuration, what is said of mistakes.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
FSD=$PWD/$BUILD/bin/o2gfsd
PATH=$PWD/$BUILD/bin:$PATH
server=

at_exit()
{
	[ -z "$server" ] || kill -9 $server 2>/dev/null
}

# wrong PATTERN COMMAND...: fails, and says so.
wrong()
{
	local pattern=$1

	shift
	timeout 20 "$@" >"$TMP/out" 2>&1 && fail "worked: $*"
	expect "$TMP/out" "$pattern"
}

# --- keys ---
"$O2G" fs key "$TMP/key" >/dev/null || fail "no key"
[ "$(stat -c %a "$TMP/key")" = 600 ] || fail "others can read the key"
grep -Eqx '[0-9a-f]{64}' "$TMP/key" || fail "no key is in it"
wrong "File exists" "$O2G" fs key "$TMP/key"
wrong "usage" "$O2G" fs key a b

# --- configuration ---
mkdir "$TMP/x" "$TMP/state"
common=(-f none -k "$TMP/key" -s "$TMP/state" -S "$TMP/sock" -l 127.0.0.1:0)
wrong "nothing is exported" "$FSD" "${common[@]}"
wrong "no such option" "$FSD" "${common[@]}" -e "x $TMP/x speed=high"
wrong "squash is" "$FSD" "${common[@]}" -e "x $TMP/x squash=some"
wrong "anon is" "$FSD" "${common[@]}" -e "x $TMP/x anon=me"
wrong "two exports" "$FSD" "${common[@]}" -e "x $TMP/x" -e "x $TMP/x"
wrong "begins with" "$FSD" "${common[@]}" -e "x x"
wrong "a word is missing" "$FSD" "${common[@]}" -e "x"
wrong "listen= of its own" "$FSD" "${common[@]}" -e "x $TMP/x key=$TMP/key"
wrong "no such setting" "$FSD" "${common[@]}" -o "speed 3"
wrong "not a number from" "$FSD" "${common[@]}" -o "threads 0"
wrong "number is expected" "$FSD" "${common[@]}" -o "threads many"
wrong "is no option" "$FSD" "${common[@]}" -e "x $TMP/x" word
wrong "cannot export" "$FSD" "${common[@]}" -e "x $TMP/nothing"
wrong "cannot read $TMP/none" "$FSD" -f "$TMP/none"
wrong "makes one" "$FSD" "${common[@]}" -e "x $TMP/x" -k "$TMP/nokey"
wrong "is expected" "$FSD" "${common[@]}" -e "x $TMP/x" -l 1.2.3:99
echo short >"$TMP/short" && chmod 600 "$TMP/short"
wrong "is no key" "$FSD" "${common[@]}" -e "x $TMP/x" -k "$TMP/short"
cp "$TMP/key" "$TMP/open" && chmod 644 "$TMP/open"
wrong "chmod 600" "$FSD" "${common[@]}" -e "x $TMP/x" -k "$TMP/open"
"$FSD" --help | grep -q "usage" || fail "no help"

# --- exports ---
cat >"$TMP/conf" <<END
# a comment
listen 127.0.0.1:0
key $TMP/key
state $TMP/state
socket $TMP/sock
export x $TMP/x squash=none	# another
END
"$FSD" -t -f "$TMP/conf" >"$TMP/out" 2>&1 || fail "$(cat "$TMP/out")"
"$O2G" fs export -f "$TMP/conf" y "$TMP/x" ro >/dev/null 2>&1 || fail "no export"
"$O2G" fs export -f "$TMP/conf" >"$TMP/out"
expect "$TMP/out" "^y +$TMP/x +ro"
cp "$TMP/conf" "$TMP/before"
wrong "squash is" "$O2G" fs export -f "$TMP/conf" z "$TMP/x" squash=none-at-all
cmp -s "$TMP/conf" "$TMP/before" || fail "a wrong line stayed"
wrong "no blanks" "$O2G" fs export -f "$TMP/conf" "z z" "$TMP/x"

# --- the server ---
wrong "no server answers" "$O2G" fs status -s "$TMP/sock"
"$FSD" -f "$TMP/conf" 2>"$TMP/log" &
server=$!
wait_for 20 test -S "$TMP/sock" || fail "$(cat "$TMP/log")"
expect "$TMP/log" "exports $TMP/x, read and write, root is root"
expect "$TMP/log" "exports $TMP/x, read-only, root is nobody"
wrong "another o2gfsd" "$FSD" -f "$TMP/conf"
"$O2G" fs status -s "$TMP/sock" >"$TMP/out" || fail "no status"
expect "$TMP/out" "^o2gfsd $server:"
"$O2G" fs status -s "$TMP/sock" --json | python3 -m json.tool >/dev/null ||
	fail "this is no JSON"
"$O2G" fs status -s "$TMP/sock" -d 0.1 -n 2 | grep -q "MB/s" || fail "no rates"
kill $server
wait $server || fail "it ended with $?"
server=
[ ! -e "$TMP/sock" ] || fail "its socket stayed"

# --- mounting, as far as that goes without the module ---
wrong "SERVER or SERVER:NAME" "$O2G" fs mount :x /mnt
wrong "usage" "$O2G" fs mount server
wrong "no host" "$O2G" fs mount -k "$TMP/key" nowhere.invalid:x "$TMP/x"
wrong "cannot read the key" "$O2G" fs mount -k "$TMP/nokey" 127.0.0.1:x "$TMP/x"
wrong "cannot unmount" "$O2G" fs umount "$TMP/x"
exit 0
