#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Files of machine b used in machine a: 9P over O2G, 9P over TCP with Debian's diod, NFS
# 4.2, and a block device over NBD for scale. What both machines execute for an
# operation: the difference of two runs, one with more of them than the other.
. lab/tests/guest.inc
. lab/tests/fs.inc
. lab/tests/nfs.inc
need_pair
load_driver && fs_load || fail "the modules do not load"

COUNT=$PWD/$BUILD/lab/count
FILES=$PWD/$BUILD/lab/show/files
SRV=/run/nfs/srv # in b, in memory

b()
{
	"$REMOTE" b "cd '$PWD'; $*"
}

# in_b COMMAND: it goes on when this returns.
in_b()
{
	b "setsid $* >>/tmp/log 2>&1 </dev/null & sleep 0.5"
}

serve()
{
	mkdir -p $MNT
	head -c 32 /dev/urandom >$FS_KEY
	keyctl padd logon o2gfs:default @u <$FS_KEY >/dev/null || fail "no key"
	od -An -tx1 $FS_KEY | tr -d ' \n' | b "umask 077; cat >$FS_KEY.hex"
	b ". lab/tests/guest.inc; . lab/tests/nfs.inc; nfs_server" >/tmp/nfsd.log 2>&1 ||
		fail "nfsd: $(cat /tmp/nfsd.log)"
	b "mkdir -p /tmp/state $SRV/names; head -c 16M /dev/urandom >$SRV/big"
	in_b "$BUILD/bin/o2gfsd -f none -e \"x $SRV squash=none\" -k $FS_KEY.hex -s /tmp/state -S none"
	command -v diod >/dev/null && in_b "diod -f -n -N -c /dev/null -e $SRV -l 0.0.0.0:5650"
	command -v nbd-server >/dev/null &&
		in_b "nbd-server -d -C /dev/null 5660 $SRV/big"
}

# use SYSTEM: mounts it at $MNT; sets $big and $plain.
use()
{
	local p9="trans=tcp,version=9p2000.L,port=5650,msize=1048576,access=user,uname=root"

	big=$MNT/big plain=
	[ "$1" = tcp ] && plain=PLAIN=1
	case $1 in
	o2g) mount -t 9p -o trans=o2g,cache=none,aname=x 10.77.0.2 $MNT ;;
	o2g-cached) mount -t 9p -o trans=o2g,cache=loose,aname=x 10.77.0.2 $MNT ;;
	tcp) mount -t 9p -o "$p9,cache=none,aname=$SRV" 10.77.0.2 $MNT ;;
	tcp-cached) mount -t 9p -o "$p9,cache=loose,aname=$SRV" 10.77.0.2 $MNT ;;
	nfs | nfs-cached) modprobe nfs; mount -t nfs4 -o vers=4.2,sec=sys 10.77.0.2:/ $MNT ;;
	nbd) modprobe nbd && nbd-client 10.77.0.2 5660 /dev/nbd0 >/dev/null && big=/dev/nbd0 ;;
	esac
}

leave()
{
	[ "$1" = nbd ] && { nbd-client -d /dev/nbd0; return; } >/dev/null
	umount $MNT
}

# both MODE PATH TIMES: instructions of a, and of b.
both()
{
	local a n

	echo 3 >/proc/sys/vm/drop_caches
	b "$COUNT --begin /tmp/count" || fail "nobody counts in b"
	a=$(timeout 200 env $plain "$FILES" "$@") || fail "files $*"
	n=$(b "$COUNT --end /tmp/count") || fail "nobody counts in b"
	set -- $n # instructions: user N kernel N
	echo "$a $(($3 + $5))"
}

# cost SYSTEM MODE FEW MANY: of three runs each the least, for what else a machine does comes
# on top.
cost()
{
	local path=$big i

	[ "$2" = names ] && path=$MNT/names
	for i in 1 2 3; do
		both "$2" "$path" "$3" && both "$2" "$path" "$4" || exit
	done >/tmp/cost
	awk -v s="$1" -v m="$2" -v n=$(($4 - $3)) '
		{ way = NR % 2
		  if (NR < 3 || $1 < a[way]) a[way] = $1
		  if (NR < 3 || $2 < b[way]) b[way] = $2 }
		END { c = (a[0] - a[1]) / n; d = (b[0] - b[1]) / n
		printf "{\"system\": \"%s\", \"mode\": \"%s\", \"client\": %d, \"server\": %d, \"both\": %d}\n",
			s, m, c, d, c + d }' /tmp/cost
}

serve
# What the network's cards would do for TCP: large segments.
ip link set eth0 mtu 9000 && b ip link set eth0 mtu 9000 || fail "mtu"
for system in ${*:-o2g tcp nfs nbd o2g-cached tcp-cached nfs-cached}; do
	use $system || { echo "{\"failed\": \"$system\"}"; b cat /tmp/log >&2; continue; }
	case $system in
	*-cached) cost $system buffered 4 14 ;;
	*)
		cost $system read 8 40
		cost $system write 8 40
		cost $system small 200 1000
		[ $system = nbd ] || cost $system names 40 200
		;;
	esac
	leave $system || fail "$system does not unmount"
done
rmmod 9pnet_o2g
