#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# 9pnet_o2g.ko and o2gfsd: POSIX behaviour, every way of access with every byte checked, a
# server that is killed in the middle.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs
T=$BUILD/lab/fs

export=/tmp/export
mkdir -p $export
# Before 6.6 the guest's /tmp has no attributes of users.
no_xattr=
setfattr -n user.try -v 1 $export 2>/dev/null || no_xattr=noxattr
"$T/posix" $export $no_xattr || fail "the test itself is wrong here"
fsd_start
fs_mount '' "cache=none,aname=x" || fail "it does not mount"
"$T/posix" $MNT $no_xattr || fail "POSIX behaviour"
"$T/mix" $MNT 150 1 || fail "mix"
dd if=/dev/urandom of=/tmp/random bs=1M count=6 status=none
cp /tmp/random $MNT/copy && cmp /tmp/random $export/copy || fail "copy"
dd if=$MNT/copy bs=1M iflag=direct status=none | cmp - /tmp/random || fail "direct"

# Mapped, with the page cache.
mkdir -p /tmp/mnt2
fs_mount '' cache=mmap,aname=x /tmp/mnt2 || fail "cache=mmap"
"$T/mix" /tmp/mnt2 mapped 100 2 || fail "mix, mapped"
umount /tmp/mnt2 || fail umount

# Killed and started again, twice, while it is written to and read from.
"$T/mix" $MNT 200 3 &
mix=$!
dd if=/tmp/random of=$MNT/again bs=64k oflag=direct status=none &
dd=$!
for i in 1 2; do
	sleep 1
	kill -9 $server
	sleep 0.5
	fsd_start
done
wait $mix || fail "mix over a restart"
wait $dd || fail "dd over a restart"
cmp /tmp/random $export/again || fail "other bytes after a restart"
cat /proc/fs/o2gfs
