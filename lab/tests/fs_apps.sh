#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# machine: --mem 1536
# timeout: 1500
# slow: programs of others; make test-long
# What others use to try file systems, and what uses one hard, on 9pnet_o2g.ko and
# o2gfsd: fio, dbench, postmark, stress-ng, git, SQLite, PostgreSQL. APPS="fio git" runs
# some of them.
. lab/tests/guest.inc
. lab/tests/fs.inc
need_fs

CACHED=/tmp/cached
fsd_start
mkdir -p $CACHED
fs_mount '' cache=none,aname=x || fail "it does not mount"
fs_mount '' cache=mmap,aname=x $CACHED || fail "cache=mmap"

# try COMMAND...: within its time, or the end of what it has said.
try()
{
	timeout "${LIMIT:-200}" "$@" >/tmp/app.log 2>&1 && return
	tail -n 30 /tmp/app.log
	fail "$*: exit code $?"
}

fio_verify()
{
	local engine direct

	for engine in psync libaio io_uring; do
		for direct in 0 1; do
			try fio --name=$engine-$direct --directory=$MNT --ioengine=$engine \
				--direct=$direct --rw=randrw --bsrange=512-64k --size=2M --numjobs=2 \
				--iodepth=8 --verify=crc32c --verify_fatal=1 --verify_state_save=0 --minimal --randrepeat=0 \
				--blockalign=512
			rm -f $MNT/$engine-*
		done
	done
	try fio --name=mapped --directory=$CACHED --ioengine=mmap --rw=randrw --bs=4k --size=1M \
		--verify=crc32c --verify_fatal=1 --verify_state_save=0 --minimal
}

dbench_run()
{
	local load

	for load in /usr/share/dbench/client.txt /usr/share/dbench/client_plain.txt; do
		[ -e $load ] && break
	done
	LIMIT=120 try dbench -c $load -D $MNT -t 15 2
}

postmark_run()
{
	mkdir -p $MNT/mark
	printf '%s\n' "set location $MNT/mark" "set number 60" "set transactions 120" \
		"set size 500 20000" run quit >/tmp/mark
	try postmark /tmp/mark
	grep -E 'seconds|transactions' /tmp/app.log | head -n 3
	[ -z "$(ls $MNT/mark)" ] || fail "postmark left files"
}

# Those of its file systems' class that work on any file system.
stress_run()
{
	mkdir -p $MNT/stress
	for what in dentry dir fallocate filename fiemap flock fstat hdd io link lockf \
		lockofd rename symlink sync-file touch utime xattr; do
		stress-ng --temp-path $MNT/stress --$what 1 --$what-ops 20 -t 8 \
			--verify >/tmp/app.log 2>&1
		case $? in
		0 | 3 | 4) ;; # done; not possible here
		*) tail -n 10 /tmp/app.log; fail "stress-ng --$what" ;;
		esac
	done
}

git_run()
{
	export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
	(mkdir /tmp/repo && cd /tmp/repo && git init -q . && cp -r "$OLDPWD"/core "$OLDPWD"/base . &&
		git add -A && git -c user.name=n -c user.email=e commit -qm all) || fail "a repository"
	try git clone -q --no-hardlinks /tmp/repo $MNT/clone
	try git -C $MNT/clone fsck --full
	[ -z "$(git -C $MNT/clone status --short)" ] || fail "git sees changes"
	# Part of this project, built there.
	(cd $MNT/clone && for f in core/match.c core/wire.c core/stream.c; do
		timeout 100 gcc -O1 -Icore -Ibase -I"$OLDPWD"/engine/env -I"$OLDPWD"/include \
			-c $f -o ${f%.c}.o || exit
	done) || fail "it does not build"
	diff -r /tmp/repo/core <(:) >/dev/null 2>&1
	diff -rq -x '*.o' -x .git /tmp/repo $MNT/clone || fail "the clone differs"
	rm -rf $MNT/clone
}

# on FOLDER JOURNAL
sqlite_on()
{
	local db=$1/db-$2

	rm -f "$db"*
	try sqlite3 "$db" "pragma journal_mode=$2; create table t(k integer primary key, v text);"
	for i in 1 2 3; do
		for n in $(seq 15); do
			echo "begin; insert into t(v) values(hex(randomblob(200))); commit;"
		done | timeout 100 sqlite3 -cmd ".timeout 20000" "$db" &
	done
	wait $(jobs -p | grep -v "^$server$")
	[ "$(sqlite3 "$db" "select count(*) from t")" = 45 ] || fail "SQLite, $2: rows are lost"
	[ "$(sqlite3 "$db" "pragma integrity_check")" = ok ] || fail "SQLite, $2: damaged"
	rm -f "$db"*
}

sqlite_run()
{
	sqlite_on $MNT delete
	sqlite_on $MNT truncate
}

# The server of the data base is killed in the middle, and finds all it had confirmed.
postgres_run()
{
	local bin data=$MNT/pg n

	bin=$(ls -d /usr/lib/postgresql/*/bin | tail -n 1)
	mkdir -p $data /tmp/pg && chown postgres $data /tmp/pg && chmod 700 $data
	pg()
	{
		LIMIT=300 try setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
	}
	pg "$bin/initdb" -D $data -A trust --no-locale
	pg_up()
	{
		pg "$bin/pg_ctl" -D $data -w -t 200 -l /tmp/pg/log -o "-k /tmp/pg -h '' -c shared_buffers=16MB" start
	}
	pg_up
	pg "$bin/pgbench" -h /tmp/pg -i -s 1 -q postgres
	pg "$bin/pgbench" -h /tmp/pg -c 2 -t 20 postgres
	n=$("$bin/psql" -h /tmp/pg -U postgres -Atc 'select count(*) from pgbench_history' postgres)
	[ "$n" = 40 ] || fail "pgbench: $n rows"
	pg "$bin/pg_ctl" -D $data -m immediate stop
	pg_up
	n=$("$bin/psql" -h /tmp/pg -U postgres -Atc 'select count(*) from pgbench_history' postgres)
	[ "$n" = 40 ] || fail "after its crash: $n rows"
	pg "$bin/pg_ctl" -D $data -m fast stop
	rm -rf $data
}

for app in ${APPS:-fio:fio_verify dbench postmark stress-ng:stress git sqlite3:sqlite postgres}; do
	program=${app%%:*} run=${app##*:}
	if [ "$program" != postgres ] && ! command -v "$program" >/dev/null; then
		echo "$program: not installed (scripts/setup fs)"
		continue
	fi
	[ "$program" = postgres ] && ! ls -d /usr/lib/postgresql/*/bin >/dev/null 2>&1 && continue
	start=$SECONDS
	case $run in fio_verify) fio_verify ;; *) ${run}_run ;; esac
	echo "$program: $((SECONDS - start)) s"
done
umount $CACHED || fail "umount"
cat /proc/fs/o2gfs
