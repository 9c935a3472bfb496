#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# A folder cannot include what docs/architecture.md keeps from it.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
cc=${CC:-cc}

# compiles FOLDER HEADER: a file of that folder that includes it.
compiles()
{
	[ -s "$TMP/$1" ] || make -s BUILD="$BUILD" "print-inc-$1" >"$TMP/$1" ||
		fail "no include paths of $1/"
	echo "#include \"$2\"" >"$TMP/try.c"
	# shellcheck disable=SC2046
	$cc -std=gnu11 -fsyntax-only $(cat "$TMP/$1") "$TMP/try.c" 2>"$TMP/err"
}

may()
{
	compiles "$1" "$2" && return
	cat "$TMP/err"
	fail "$1/ may include $2, and that does not compile"
}

may_not()
{
	[ -n "$(find core base channel engine include mpi launch dsm -path "*/$2")" ] ||
		fail "there is no $2; name another here"
	compiles "$1" "$2" && fail "$1/ must not include $2, and that compiles"
	grep -q "$2: No such file" "$TMP/err" && return
	cat "$TMP/err"
	fail "$1/ cannot include $2, but for another reason"
}

may core proto.h
may core env.h
may base settings.h
may channel channel.h
may channel proto.h
may channel log.h
may engine channel.h
may engine ep.h
may engine o2g.h
may mpi o2g.h
may mpi settings.h
may mpi comm/comm.h
may mpi coll/coll.h
may launch pmi.h
may launch clock.h
may dsm o2g.h
may dsm mpi.h
may dsm settings.h
may fs o2g.h
may fs wire.h
may fs settings.h
may tools choose.h
may tools settings.h

may_not core o2g.h
may_not core log.h
may_not core channel.h
may_not core ep.h
may_not base proto.h
may_not base channel.h
may_not base ep.h
may_not channel ep.h
may_not channel choose.h
may_not channel comm/comm.h
may_not engine comm/comm.h
may_not engine pmi.h
may_not mpi ep.h
may_not mpi env.h
may_not mpi proto.h
may_not mpi channel.h
may_not mpi choose.h
may_not mpi pmi.h
may_not launch ep.h
may_not launch comm/comm.h
may_not launch channel.h
may_not core dsm_env.h
may_not mpi dsm_set.h
may_not engine dsm_proto.h
may_not dsm ep.h
may_not dsm pmi.h
may_not dsm channel.h
may_not dsm env.h
may_not dsm comm/comm.h
may_not fs ep.h
may_not fs proto.h
may_not fs channel.h
may_not fs pmi.h
may_not fs comm/comm.h
may_not tools ep.h
may_not tools proto.h

# A path around the lists: the core's env.h, which names o2g.h, is the only one.
around=$(grep -rn '^#include "\.\./' core base channel engine driver mpi launch dsm tools |
	grep -v '^engine/env/env.h:')
[ -z "$around" ] || { echo "$around"; fail "an include that goes around the lists"; }

# The driver is compiled in a folder of its own, which has links to what it may use.
make -s driver-tree BUILD="$BUILD" DRIVER_OUT="$TMP/driver" || fail "no driver-tree"
[ -e "$TMP/driver/proto.h" ] || fail "the driver does not see core/"
for h in o2g.h channel.h ep.h log.h; do
	[ ! -e "$TMP/driver/$h" ] || fail "the driver sees $h"
done
