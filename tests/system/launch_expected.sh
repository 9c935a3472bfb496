#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# What people bring along from other MPIs and from batch systems: options, host files,
# allocations, files of programs and of ranks, output in files.
cd "$(dirname "$0")/../.." && . tests/lib.sh && . tests/system/launch.inc

cat >"$TMP/agent" <<'END'
#!/bin/sh
# The last two words are the host and the program.
while [ $# -gt 2 ]; do words="$words $1"; shift; done
echo "$words $1" >>"$AGENT_LOG"
exec env HOST_IS="$1" sh -c "$2"
END
chmod +x "$TMP/agent"
export AGENT_LOG=$TMP/log
: >"$AGENT_LOG"
where='echo $PMI_RANK ${HOST_IS:-here}'

# places EXPECTED ARGUMENTS: which host each rank is on.
places()
{
	local want=$1

	shift
	run "$@" sh -c "$where"
	expect_rc 0
	[ "$(sort -n "$TMP/out" | cut -d " " -f 2 | xargs)" = "$want" ] ||
		fail "$*: $(sort -n "$TMP/out" | xargs), not $want"
}

# refused PATTERN ARGUMENTS
refused()
{
	local pattern=$1

	shift
	run "$@"
	expect_rc 2
	expect "$TMP/err" "$pattern"
}

a="-agent $TMP/agent"
# --- where ---
places "a a b" $a -hosts a:2,b:2 -n 3 -map-by slot
places "a b a b" $a -hosts a:2,b:2 -n 4 -map-by node
places "a b c b c c" $a -hosts a:1,b:2,c:3 -n 6 -bynode
places "a b a b a" $a -hosts a:1,b:1 -n 5 --map-by node:OVERSUBSCRIBE
places "a a b b" $a -hosts a,b -map-by ppr:2:node
places "a a b b" $a -hosts a,b -N 2
places "a a a b b b" $a -hosts a,b --npernode 3
places "a b" $a -hosts a:4,b:4 -pernode
places "here here" -n 2 -map-by ppr:1:core
refused 'map-by needs slot, node, ppr:N:node' -n 2 -map-by board true
refused 'map-by needs slot, node, ppr:N:node' -n 2 -map-by ppr:x:node true

# An address of ours is this host, and so is one of IPv6 with a zone.
own=$(ip -o -4 addr show scope global | awk '{ sub("/.*", "", $4); print $4; exit }')
[ -z "$own" ] || places "here here" -agent /no/such/agent -hosts "$own:2"
places "here" -agent /no/such/agent -hosts 127.0.0.1
places "192.0.2.1" $a -hosts 192.0.2.1

# --- host files ---
cat >"$TMP/hosts" <<'END'
# of both
a:2 ifname=ib0 user=me
b slots = 1 max-slots=2   # comment
c cpu=1 sockets=1 cores=4
END
places "me@a me@a b c" $a -f "$TMP/hosts"
places "me@a b c me@a" $a -f "$TMP/hosts" -n 4 -map-by node
echo "a slots=1 max_slots=2" >"$TMP/hosts"
places "a a" $a -f "$TMP/hosts" -n 2
refused 'host a is to have at most 2 ranks \(max_slots\)' $a -f "$TMP/hosts" -n 3 true
echo "a slots=3 max_slots=2" >"$TMP/hosts"
refused 'hosts:1: .*max_slots is less than slots' $a -f "$TMP/hosts" true
echo "a color=red" >"$TMP/hosts"
refused 'there is no such field; slots, max_slots and user' $a -f "$TMP/hosts" true

# --- batch systems ---
mkdir "$TMP/bin"
ln -s "$TMP/agent" "$TMP/bin/srun"
ln -s "$TMP/agent" "$TMP/bin/blaunch"
in_job()
{
	local vars=()

	while [ "$1" != -- ]; do vars+=("$1"); shift; done
	shift
	(export PATH=$TMP/bin:$PATH "${vars[@]}"; places "$@") || exit 1
}
in_job SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=n[08-09,11],m' 'SLURM_TASKS_PER_NODE=2(x2),1(x2)' \
	-- "n08 n08 n09 n09 n11 m"
expect "$AGENT_LOG" '--nodes=1 --ntasks=1 .* -w n08$'
in_job SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=r[1-2]c[1-2]' 'SLURM_JOB_CPUS_PER_NODE=1(x4)' \
	-- "r1c1 r1c2 r2c1 r2c2 r1c1" -n 5
in_job SLURM_JOB_ID=7 SLURM_JOB_NODELIST=x,y SLURM_TASKS_PER_NODE=4,4 -- "x y" -N 1
in_job SLURM_JOB_ID=7 SLURM_JOB_NODELIST=x,y -- "z" $a -hosts z
in_job SLURM_JOB_ID=7 SLURM_JOB_NODELIST=x,y -- "here" -rmk none
in_job SLURM_JOB_ID=7 'SLURM_JOB_NODELIST=x[1' -- "here"
expect "$TMP/err" 'a job of Slurm, but SLURM_JOB_NODELIST makes no sense'
printf 'p\np\nq\n' >"$TMP/nodes"
in_job PBS_JOBID=1 "PBS_NODEFILE=$TMP/nodes" -- "p p q" $a
in_job LSB_JOBID=1 'LSB_MCPU_HOSTS=u 1 v 2' -- "u v v"
expect "$AGENT_LOG" '^ v$'

# --- files of programs, files of ranks ---
cat >"$TMP/programs" <<'END'
# two of one and one of the other
-n 2 sh -c 'echo $PMI_RANK "first  kind"'

-n 1 -env NAME "a value" \
	sh -c "echo \$PMI_RANK \$NAME"
END
run -configfile "$TMP/programs"
expect_rc 0
sorted_is '0 first  kind
1 first  kind
2 a value'
refused 'a quote is not closed' -configfile <(echo 'echo "x')
refused 'there must be no program' -configfile "$TMP/programs" true

cat >"$TMP/ranks" <<'END'
rank 1=b slot=0
rank 0=a slot=0:0
rank 2 = +n1 slot=0
END
places "a b b" $a -hosts a,b -rankfile "$TMP/ranks"
places "a b" $a -hosts a,b -rf "$TMP/ranks" -n 2
run $a -hosts a,b -rf "$TMP/ranks" -report-bindings true
expect "$TMP/err" 'rank 1 on b is bound to a set of cores: CPUs '
refused 'has no line for rank 3' $a -hosts a,b -rf "$TMP/ranks" -n 4 true
echo "rank 0=a slot=999" >"$TMP/ranks"
run $a -rf "$TMP/ranks" true
expect_rc 1
expect "$TMP/err" 'rank 0 cannot be bound to "999" as the rank file says: host a has'
echo "rank 0=a" >"$TMP/ranks"
refused 'expected rank N=HOST slot=LIST' $a -rf "$TMP/ranks" true

# --- output ---
run --tag-output -n 2 sh -c 'echo out; echo err >&2'
grep -qxF '[1,1]<stdout>:out' "$TMP/out" || fail "no tag: $(cat "$TMP/out")"
grep -qxF '[1,0]<stderr>:err' "$TMP/err" || fail "no tag: $(cat "$TMP/err")"
run -output-filename "$TMP/deep/er" -n 11 sh -c 'echo out $PMI_RANK; echo err >&2'
expect_lines "$TMP/out" 11
[ "$(cat "$TMP/deep/er/1/rank.07/stdout")" = "out 7" ] || fail "no file of rank 7"
[ "$(cat "$TMP/deep/er/1/rank.10/stderr")" = err ] || fail "no errors of rank 10"
run -output-filename "$TMP/quiet:nocopy" -n 2 sh -c 'echo out; echo more'
expect_lines "$TMP/out" 0
[ "$(cat "$TMP/quiet/1/rank.1/stdout" | xargs)" = "out more" ] || fail "not in the file"
run -outfile-pattern "$TMP/of.%r" -n 2 sh -c 'echo $PMI_RANK; echo e >&2'
expect_lines "$TMP/out" 0
expect_lines "$TMP/err" 2
[ "$(cat "$TMP/of.1")" = 1 ] || fail "no file by pattern"
run -output-filename /proc/nowhere -n 2 echo x
expect_rc 1
expect "$TMP/err" 'cannot write to /proc/nowhere/1/rank.'
run -v $a -hosts a:2 true
expect "$TMP/err" '2 of 2 ranks on a, '
expect "$TMP/err" 'rank 1 on a exited with code 0'
run --merge-stderr-to-stdout -n 1 sh -c 'echo e >&2'
expect "$TMP/out" '^e$'

# --- programs of another MPI: each of their processes would be rank 0 of 1 ---
mkdir "$TMP/lib"
echo 'int MPI_Init(int *c, char ***v) { return 0; }' >"$TMP/lib.c"
cat >"$TMP/linked.c" <<'END'
int MPI_Init(int *, char ***);
int main(void) { return MPI_Init(0, 0); }
END
cat >"$TMP/loads.c" <<'END'
#include <dlfcn.h>
#include <unistd.h>
int main(int argc, char **argv) { return dlopen(argv[1], RTLD_NOW) ? sleep(3) : 1; }
END
gcc -shared -fPIC -Wl,-soname,libmpi.so.40 -o "$TMP/lib/libmpi.so.40" "$TMP/lib.c" ||
	fail "gcc"
gcc -o "$TMP/linked" "$TMP/linked.c" "$TMP/lib/libmpi.so.40" -Wl,-rpath,"$TMP/lib" ||
	fail "gcc"
gcc -o "$TMP/loads" "$TMP/loads.c" -ldl || fail "gcc"
run -n 3 "$TMP/linked"
expect_rc 0
expect_lines "$TMP/err" 1
expect "$TMP/err" 'linked uses Open MPI \(libmpi.so.40\), .* each of the 3 ranks is a job'
run -n 2 "$TMP/loads" "$TMP/lib/libmpi.so.40"
expect "$TMP/err" 'loads uses Open MPI'
run -n 1 "$TMP/linked"
expect_lines "$TMP/err" 0
run -n 2 "$PROG" board
expect_lines "$TMP/err" 0

# --- what others' command lines bring along ---
run --oversubscribe --allow-run-as-root --mca btl tcp,self --mca pml ob1 -n 2 echo hi
expect_rc 0
expect_lines "$TMP/out" 2
expect_lines "$TMP/err" 1
expect "$TMP/err" 'these are not needed here, and ignored: --oversubscribe, --allow-run-as-root, --mca$'
for how in "-iface lo" "--mca btl_tcp_if_include lo"; do
	run $how -n 1 sh -c 'echo "$O2G_TCP_INTERFACES"'
	[ "$(cat "$TMP/out" "$TMP/err")" = lo ] || fail "$how chooses no interface"
done
refused '--mca needs 2 more arguments' --mca x
refused '-nolocal is not an option' -nolocal -n 2 true
exit 0
