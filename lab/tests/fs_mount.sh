#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# timeout: 90
# 9pnet_o2g.ko and a small server: mounting, what a wrong mount says, reading and
# writing by every way.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs

wrong()
{
	local why=$1

	shift
	timeout 30 mount -t 9p -o trans=o2g "$@" $MNT 2>/dev/null && fail "mounted: $*"
	dmesg | tail -n 5 | grep -q "9pnet_o2g: .*$why" || fail "no word of $why"
}

wrong "no such option" '127.0.0.1;nonsense'
wrong "no such option" '127.0.0.1;soft=0'
wrong "starts with an address" 'nowhere;hard'
wrong "no logon key" '127.0.0.1;key=none'
wrong "9p2000.L" -o version=9p2000.u 127.0.0.1
keyctl padd logon o2gfs:short @u </etc/hostname >/dev/null
wrong "no logon key" '127.0.0.1;key=short'

liar_start --state /tmp/fids
head -c 32 /dev/urandom | keyctl padd logon o2gfs:other @u >/dev/null
wrong "cannot mount" '127.0.0.1;key=other'
fs_mount || fail "it does not mount"
grep o2g /proc/mounts
grep -q 'port=5640' /proc/mounts || fail "the port is not shown"
[ "$(fs_stat msize)" = 1048600 ] || fail "not a mebibyte at a time"
ls -l $MNT
[ "$(ls $MNT | tr '\n' ' ')" = "dir empty large small " ] || fail "names"
[ "$(stat -c %s $MNT/large)" = 3149828 ] || fail "size"
[ -e $MNT/none ] && fail "there is a file that is not there"

"$LIAR" --bytes >/tmp/large

same()
{
	cmp - /tmp/large || fail "$1: other bytes"
}

# --- reading ---
same cat < <(cat $MNT/large)
same direct < <(dd if=$MNT/large bs=1M iflag=direct status=none)
same "direct, 4 KiB" < <(dd if=$MNT/large bs=4k iflag=direct status=none)
dd if=$MNT/large bs=1000 count=2000 status=none | cmp -n 2000000 - /tmp/large || fail "1,000 bytes"
same "odd sizes" < <(dd if=$MNT/large bs=70001 status=none)
[ "$(wc -c <$MNT/small)" = 1000 ] || fail "a short file"
[ "$(wc -c <$MNT/empty)" = 0 ] || fail "an empty file"
for i in 1 2 3 4 5 6 7 8; do
	dd if=$MNT/large bs=256k iflag=direct status=none | cmp - /tmp/large || touch /tmp/bad &
done
wait $(jobs -p | grep -v "^$server$")
[ -e /tmp/bad ] && fail "eight readers"

# --- writing: the server compares ---
dd if=/tmp/large of=$MNT/large bs=1M oflag=direct conv=notrunc status=none || fail "direct write"
dd if=/tmp/large of=$MNT/large bs=1000 count=500 conv=notrunc status=none || fail "write, 1,000 bytes"
dd if=/tmp/large of=$MNT/large bs=70001 conv=notrunc status=none || fail "write, odd sizes"
printf wrong >/tmp/wrong
dd if=/tmp/wrong of=$MNT/large conv=notrunc status=none 2>/dev/null && fail "errors are lost"

# --- the page cache, in another mount ---
mkdir -p /tmp/mnt2
fs_mount '' cache=mmap /tmp/mnt2 || fail "a second mount"
same "page cache" < <(cat /tmp/mnt2/large)
python3 -c '
import mmap, sys
f = open("/tmp/mnt2/large", "rb")
sys.stdout.buffer.write(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ))
' >/tmp/mapped
same mmap </tmp/mapped
umount /tmp/mnt2 || fail "umount"
[ "$(wc -l </proc/fs/o2gfs)" = 1 ] || fail "two mounts are left"
