#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: what waits is given time to end; make test-long
# 9pnet_o2g.ko without its server: it is killed and comes back, it stops, it is away; hard
# and soft mounts, kill -9, umount -f.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs
mkdir -p /tmp/mnt2
"$LIAR" --bytes >/tmp/large

same()
{
	cmp - /tmp/large || fail "$1: other bytes"
}

liar_start --state /tmp/fids
fs_mount || fail "it does not mount"

# --- the server goes, and comes back ---
dd if=$MNT/large bs=4k iflag=direct status=none >/tmp/copy &
reader=$!
cat /dev/null $MNT/large >/dev/null
kill -9 $server
(sleep 0.5; ls $MNT >/dev/null) &
sleep 1
liar_start --state /tmp/fids
wait $reader || fail "a hard mount did not wait"
same again </tmp/copy
timeout 30 ls $MNT >/dev/null || fail "no answer after it has come back"
[ "$(fs_stat connections)" -ge 2 ] || fail "no second connection"

# --- whoever waits can be killed ---
kill -STOP $server
cat $MNT/large >/dev/null &
reader=$!
ls $MNT >/dev/null &
lister=$!
sleep 1
kill -9 $reader $lister
wait_for 20 gone $reader $lister || fail "a process cannot be killed: server stopped"
kill -CONT $server
same "after a kill" < <(timeout 30 cat $MNT/large)
kill -9 $server
cat $MNT/large >/dev/null &
reader=$!
ls $MNT >/dev/null &
lister=$!
sleep 1
kill -9 $reader $lister
wait_for 20 gone $reader $lister || fail "a process cannot be killed: server away"

# --- soft ---
liar_start --state /tmp/fids
fs_mount soft=2 '' /tmp/mnt2 || fail "soft"
kill -9 $server
timeout 20 cat /tmp/mnt2/large 2>&1 >/dev/null | grep -q 'timed out' || fail "soft: no error"
umount -f /tmp/mnt2 || fail "umount -f without a server"
cat /proc/fs/o2gfs
