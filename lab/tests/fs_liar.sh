#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 150
# slow: what is not answered takes time; make test-long
# A server that lies, at random: processes get errors or wrong bytes, no process hangs
# forever, nothing else happens, and the mount goes away.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs

rounds=${FUZZ_ROUNDS:-2}
for seed in $(seq "$rounds"); do
	liar_start --lie 100 --seed "$seed"
	# Mounting itself takes some true answers.
	for i in 1 2 3 4 5; do
		fs_mount soft=2 2>/dev/null && break
	done
	kill -9 $server
	liar_start --lie 40 --seed "$seed"
	mountpoint -q $MNT || fs_mount soft=2 || fail "it does not mount"
	for i in 1 2 3 4 5 6; do
		timeout 10 ls -l $MNT
		timeout 10 cat $MNT/small $MNT/large
		timeout 10 dd if=$MNT/large bs=64k count=8 iflag=direct
		timeout 10 dd if=$MNT/large of=$MNT/small bs=4k count=4 conv=notrunc
		timeout 10 stat -f $MNT
		timeout 10 getfattr -d $MNT/small
		timeout 10 readlink $MNT/dir
	done >/dev/null 2>&1
	cat /proc/fs/o2gfs
	[ "$(fs_stat broken)" -gt 0 ] || fail "no lie was noticed"
	umount -f $MNT || umount -l $MNT || fail "umount"
	kill -9 $server
done
