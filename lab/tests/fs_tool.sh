#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# o2g fs with a real mount: the key goes to the kernel, a folder is there, status tells of
# it at both ends, and afterwards nothing is left.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs
O2G=$BUILD/bin/o2g

mkdir -p /tmp/state /tmp/export
"$BUILD/bin/o2gfsd" -f none -e "x /tmp/export squash=none" -e "r /tmp/export ro" \
	-k $FS_KEY.hex -s /tmp/state -S /tmp/fsd.sock >/tmp/fsd.log 2>&1 &
server=$!
wait_for 20 test -S /tmp/fsd.sock || { cat /tmp/fsd.log; fail "o2gfsd does not start"; }
keyctl purge logon o2gfs:default >/dev/null 2>&1

"$O2G" fs mount -k $FS_KEY.hex 127.0.0.1:nothing $MNT 2>/tmp/err && fail "mounted nothing"
grep -q "cannot mount 127.0.0.1" /tmp/err || fail "$(cat /tmp/err)"
"$O2G" fs mount -k $FS_KEY.hex -o cache=none,soft=30 127.0.0.1:x $MNT || fail "mount"
echo text >$MNT/file || fail "write"
[ "$(cat /tmp/export/file)" = text ] || fail "other text"
awk -v m=$MNT '$2 == m' /proc/mounts | grep -q nosuid || fail "not nosuid"
"$O2G" fs status -s /tmp/fsd.sock >/tmp/out || fail "status"
cat /tmp/out
grep -q "^lcreate " /tmp/out || fail "no operation"
grep -q " here " /tmp/out || fail "no client"
grep -q "mounted here" /tmp/out || fail "no mount"

mkdir -p /tmp/mnt2
"$O2G" fs mount -k $FS_KEY.hex localhost:r /tmp/mnt2 || fail "mount read-only"
[ "$(cat /tmp/mnt2/file)" = text ] || fail "other text, read-only"
(: >/tmp/mnt2/new) 2>/dev/null && fail "wrote to what is read-only"
"$O2G" fs umount /tmp/mnt2 || fail "umount"
"$O2G" fs umount $MNT || fail "umount"
# Sessions that have given everything back are gone, here and on disk.
none()
{
	! "$O2G" fs status -s /tmp/fsd.sock | grep -Eq " (here|away) " &&
		! ls /tmp/state/*.session 2>/dev/null
}
wait_for 20 none || fail "a session stays: $(ls /tmp/state; cat /tmp/fsd.log)"
kill $server
wait $server || fail "o2gfsd ended with $?"
server=
