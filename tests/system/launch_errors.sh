#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What can be wrong with a command line, and what is said about it.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

# says CODE PATTERN ARGUMENTS: one line.
says()
{
	local code=$1 pattern=$2

	shift 2
	run "$@"
	expect_rc "$code"
	expect "$TMP/err" "$pattern"
	expect_lines "$TMP/err" 1
}

says 127 'cannot start nosuchprogram on .*: No such file or directory; give its path' \
	-n 2 nosuchprogram
says 127 'cannot start \./nosuch on .*: No such file or directory; check the path, which begins in /' \
	-n 2 ./nosuch
printf '#!/bin/sh\n' >"$TMP/here"
chmod +x "$TMP/here"
says 127 'it is in the working directory: write \./' -wdir "$TMP" -n 1 here
says 126 'cannot start /etc/passwd on .*: Permission denied; is it a program' \
	-n 2 /etc/passwd
printf 'x' >"$TMP/notelf"
printf '#!/no/such/shell\n' >"$TMP/badshell"
chmod +x "$TMP/badshell"
says 127 'cannot start .*badshell on .*No such file.*; the file is there, but not what its first line names' -n 1 "$TMP/badshell"
says 126 'cannot use the working directory /no/dir' -wdir /no/dir -n 1 true

says 2 'no program to run is given' -n 2
says 2 'no program to run is given between the colons' -n 2 true :
says 2 '^mpiexec: -n needs a number of at least 1, not "0"' -n 0 true
says 2 '^mpiexec: -n needs a number of at least 1, not "2x"' -n 2x true
says 2 '^mpiexec: -np needs 1 more argument' -np
says 2 '^mpiexec: -nosuch is not an option' -nosuch true
says 2 '^mpiexec: --hostfle is not an option; did you mean -hostfile\?' --hostfle x true
says 2 '^mpiexec: -q is not an option; mpiexec --help' -q true
says 2 '-stdin 2, but there are only 2 ranks' -stdin 2 -n 2 true
says 2 '-stdin needs a rank, all or none, not "x"' -stdin x -n 2 true
says 2 '-bind-to needs .*, not "moon"' -bind-to moon -n 2 true
says 2 '-env needs the name of a variable, not "A=B"' -env A=B c true

says 2 'cannot read the host file /no/file: No such file' -f /no/file true
says 2 'cannot read the host file /tmp: Is a directory' -f /tmp true
says 1 '1000000 ranks on .* need .* open files, but the limit is .*ulimit -n' \
	-n 1000000 true
line()
{
	printf 'good:1\n%s\n' "$1" >"$TMP/hosts"
	says 2 "hosts:2: \".*\": $2" -f "$TMP/hosts" -n 1 true
}
line 'a:zero' 'the number of slots must be 1 or more'
line 'a:0' 'the number of slots must be 1 or more'
line 'a slots=-1' 'the number of slots must be 1 or more'
line 'a b' 'expected HOST, HOST:SLOTS or HOST slots=N'
line 'a;b' 'that is not the name of a host'
line '$(touch x)' 'that is not the name of a host'
printf '# nothing\n\n' >"$TMP/hosts"
says 2 'the host file .*/hosts names no host' -f "$TMP/hosts" true
says 2 '"a:b" in the list of hosts is neither' -hosts a:b true
says 2 '"-oX=y" in the list of hosts is neither' -hosts a,-oX=y true
says 2 'the list of hosts is empty' -hosts , true
exit 0
