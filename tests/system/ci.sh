#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# scripts/fresh-root says in one line why there can be no root, and leaves nothing;
# scripts/prove counts its steps with the tests. debootstrap and make are made up.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
mkdir "$TMP/bin" "$TMP/tmp" "$TMP/scripts"
cp scripts/fresh-root scripts/prove "$TMP/scripts/"
chmod -R a+rX "$TMP"

fake()
{
	{ echo '#!/bin/sh' && cat; } >"$TMP/bin/$1" && chmod 755 "$TMP/bin/$1"
}

# refused WORDS COMMAND...
refused()
{
	local words=$1 rc

	shift
	"$@" >"$TMP/out" 2>&1
	rc=$?
	[ $rc = 77 ] || { cat "$TMP/out"; fail "exit code $rc, not 77"; }
	expect "$TMP/out" "^fresh-root: no fresh root can be made: .*$words"
	[ -z "$(ls "$TMP/tmp")" ] || fail "something is left: $(ls "$TMP/tmp")"
}
export TMPDIR=$TMP/tmp

if [ "$(id -u)" = 0 ]; then
	refused 'needs root' setpriv --reuid 65534 --regid 65534 --clear-groups \
		bash "$TMP/scripts/fresh-root" true
	if command -v apt-get >/dev/null && unshare --mount --pid --fork true; then
		echo 'echo "E: nothing here"; exit 1' | fake debootstrap
		echo 'echo "http://nowhere/ any Debian"' | fake apt-get
		refused 'debootstrap: E: nothing here' \
			env PATH="$TMP/bin:$PATH" scripts/fresh-root true
	fi
else
	refused 'needs root' scripts/fresh-root true
fi

# proves LAST CODE [VAR=VALUE...]: the last line and the exit code of scripts/prove.
proves()
{
	local last=$1 code=$2 rc

	shift 2
	(cd "$TMP" && env PATH="$TMP/bin:$PATH" "$@" scripts/prove) >"$TMP/out" 2>&1
	rc=$?
	[ "$(tail -n 1 "$TMP/out")" = "$last" ] && [ $rc = "$code" ] && return
	cat "$TMP/out"
	fail "exit code $rc, not $code, or the last line is not: $last"
}
fake make <<'END'
case "$*" in
test*) echo "skipped: system/x: no reason"; echo "$TESTS"; [ "${TESTS#*, 0 f}" != "$TESTS" ] ;;
*clang*) exit ${CLANG:-0} ;;
esac
END
cp "$TMP/bin/make" "$TMP/bin/clang-format-14"
echo 'echo Cppcheck 2.10' | fake cppcheck
echo : | fake ../scripts/setup

steps=$(grep -c '^	step ' scripts/prove)
proves "$((10 + steps - 1)) passed, 0 failed, 2 skipped" 0 \
	TESTS="10 passed, 0 failed, 2 skipped"
expect "$TMP/out" '^skipped: system/x: no reason$'
proves "$((10 + steps - 1)) passed, 1 failed" 1 TESTS="10 passed, 1 failed"
expect "$TMP/out" "^== make test: [0-9]+ s, exit code 1\$"
proves "$((10 + steps - 2)) passed, 1 failed" 1 TESTS="10 passed, 0 failed" CLANG=2
expect "$TMP/out" '^failed: .*clang'
# Without a last line nothing has been tested.
proves "$((steps - 1)) passed, 1 failed" 1 TESTS="Segmentation fault"
rm "$TMP/bin/clang-format-14"
if ! command -v clang-format-14 >/dev/null; then
	proves "$((10 + steps - 2)) passed, 0 failed, 1 skipped" 0 \
		TESTS="10 passed, 0 failed"
	expect "$TMP/out" '^skipped: make format-check: this Debian has no'
fi
exit 0
