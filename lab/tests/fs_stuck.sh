#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: waits are given time; make test-long
# 9pnet_o2g.ko and a process that reads into memory that never comes, while the server
# goes: it keeps the connection, but whoever waits because of it can be killed, and
# when it has gone itself the mount goes on.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs

mkdir -p /tmp/export
head -c 1M /dev/urandom >/tmp/export/file
fsd_start
fs_mount '' cache=none,aname=x || fail "it does not mount"
"$BUILD/lab/fs/stuck" $MNT/file >/tmp/stuck &
stuck=$!
wait_for 20 grep -q stuck /tmp/stuck || { cat /tmp/stuck; fail "nothing is stuck"; }
cmp $MNT/file /tmp/export/file || fail "another reader, while the server is there"
kill -9 $server
sleep 2
cat $MNT/file >/dev/null &
reader=$!
ls $MNT >/dev/null &
lister=$!
sleep 2
kill -9 $reader $lister
wait_for 20 gone $reader $lister || fail "a process cannot be killed"
kill -9 $stuck
wait_for 20 gone $stuck || fail "the process itself cannot be killed"
fsd_start
timeout 60 cmp $MNT/file /tmp/export/file || fail "the mount does not go on"
cat /proc/fs/o2gfs
