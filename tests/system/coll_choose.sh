#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Algorithms that O2G_COLL chooses give the right results too, in all forms of the
# calls; and a wrong name is said once per rank and left out.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
prog=$PWD/$BUILD/tests/mpi/coll_forms

# chosen RANKS VALUE: random collectives with that O2G_COLL.
chosen()
{
	O2G_COLL=$2 timeout 60 "$MPIEXEC" -n "$1" "$prog" 100 6000 >"$TMP/out" 2>&1 ||
		{ cat "$TMP/out"; fail "$1 ranks with $2"; }
	[ -s "$TMP/out" ] && { cat "$TMP/out"; fail "words about $2"; }
}

chosen 4 barrier=dissemination,bcast=binomial,gather=linear,scatter=linear
chosen 4 allgather=ring,allgatherv=ring,alltoall=pairwise,alltoallv=pairwise
chosen 5 reduce=binomial,allreduce=doubling,scan=linear,exscan=linear
chosen 5 barrier=central,bcast=linear,gather=binomial,scatter=binomial
chosen 5 allgather=bruck,alltoall=bruck,alltoallw=pairwise,reduce=scatter_gather
chosen 4 allgather=doubling,allreduce=rabenseifner,reduce_scatter=reduce
chosen 5 reduce_scatter_block=pairwise,scan=pipeline,exscan=pipeline
chosen 3 bcast=scatter_allgather,gatherv=linear,scatterv=linear,alltoall=central
chosen 6 alltoallv=direct,alltoallw=direct,allreduce=scatter_allgather:100-
chosen 6 allreduce=central,reduce_scatter=pairwise,scan=doubling,exscan=doubling

O2G_COLL=bcast=fast timeout 20 "$MPIEXEC" -n 2 "$prog" 10 60 >"$TMP/out" 2>&1 ||
	{ cat "$TMP/out"; fail "the job should have gone on"; }
expect "$TMP/out" 'O2G_COLL: bcast has no algorithm "fast"; it has shared, '
