#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# Processes that start others: alone, under our mpiexec, under another launcher, on two
# hosts; and what is left when one of them is killed.
# timeout: 120
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp
SPAWN=$MPI_TESTS/dyn_spawn
POOL=$MPI_TESTS/dyn_pool

# works COMMAND...: ends with 0 and says nothing but what is expected.
works()
{
	timeout 60 "$@" >"$TMP/out" 2>&1 && return
	tail -n 20 "$TMP/out" >&2
	fail "$*"
}

works "$SPAWN"
works "$MPIEXEC" -n 1 "$SPAWN"
works "$MPIEXEC" -n 3 "$SPAWN"
O2G_CHANNELS=tcp works "$MPIEXEC" -n 2 "$SPAWN"
works "$POOL" 20 2 50
works "$MPIEXEC" -n 2 "$POOL" 3 2 300
if command -v mpiexec.hydra >/dev/null; then
	works mpiexec.hydra -n 2 "$POOL" 2 2 50
	works mpiexec.hydra -n 1 "$POOL" 15 2 50
fi

# A program of another MPI: PMI-1 as MPICH speaks it. Also under its own launcher, so
# that the test is known to be right.
cat >"$TMP/pmi1.py" <<'EOF'
import os, sys
f = os.fdopen(int(os.environ["PMI_FD"]), "r+b", buffering=0)
def ask(text):
    f.write(text.encode())
    line = b""
    while not line.endswith(b"\n"):
        line += f.read(1)
    return dict(w.split("=", 1) for w in line.decode().split())
ask("cmd=init pmi_version=1 pmi_subversion=1\n")
kvs = ask("cmd=get_my_kvsname\n")["kvsname"]
if len(sys.argv) > 1:
    got = ask(f"cmd=get kvsname={kvs} key=PARENT_ROOT_PORT_NAME\n")
    app = ask("cmd=get_appnum\n")["appnum"]
    print("child", os.environ["PMI_RANK"], "of", os.environ["PMI_SIZE"],
          "app", app, got["value"], *sys.argv[1:])
else:
    text = ""
    for i in (1, 2):
        text += (f"mcmd=spawn\nnprocs={i}\nexecname={sys.executable}\n"
                 f"totspawns=2\nspawnssofar={i}\n"
                 f"arg1={sys.argv[0]}\narg2=word{i}\nargcnt=2\n"
                 "preput_num=1\npreput_key_0=PARENT_ROOT_PORT_NAME\n"
                 "preput_val_0=tag#0$port\ninfo_num=0\nendcmd\n")
    print("spawn", ask(text)["rc"])
ask("cmd=finalize\n")
EOF
for launcher in "$MPIEXEC" mpiexec.hydra; do
	command -v "$launcher" >/dev/null || continue
	works "$launcher" -n 1 python3 "$TMP/pmi1.py"
	expect "$TMP/out" "^spawn 0"
	expect "$TMP/out" "^child 0 of 3 app 0 tag#0\\\$port word1"
	expect "$TMP/out" "^child 2 of 3 app 1 tag#0\\\$port word2"
done

# what spawned processes print, and -usize
cat >"$TMP/p.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	MPI_Comm c;
	int *u, flag, r;

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&c);
	MPI_Comm_rank(MPI_COMM_WORLD, &r);
	if (c == MPI_COMM_NULL) {
		MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &u, &flag);
		printf("universe %d\n", flag ? *u : -1);
		fflush(stdout);
		MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0,
			       MPI_COMM_SELF, &c, MPI_ERRCODES_IGNORE);
	}
	if (argc > 1)
		for (;;)
			pause();
	printf("last words of %d\n", r);
	MPI_Finalize();
	return 0;
}
EOF
"$MPICC" "$TMP/p.c" -o "$TMP/p" || fail "mpicc"
works "$MPIEXEC" -usize 17 -n 1 "$TMP/p"
expect "$TMP/out" "universe 17"
expect "$TMP/out" "last words of 1"
[ "$(grep -c "last words" "$TMP/out")" = 3 ] || fail "words are missing"

# labels, exit codes and files as for other ranks
works "$MPIEXEC" -l -n 1 "$TMP/p"
expect "$TMP/out" "^\[0\] last words of 0"
expect "$TMP/out" "^\[1/1\] last words of 1"
works "$MPIEXEC" -output-filename "$TMP/files" -n 1 "$TMP/p"
expect "$TMP/files/2/rank.1/stdout" "last words of 1"

cat >"$TMP/q.c" <<'EOF'
/* q N KEY VALUE...: spawns N with that info, and says how many there are and where.
 * q exit: they exit with 3; q nest: they spawn one more each, two at once.
 * q words N: one is given N words of two lines each, and says so.
 * q program P: spawns that. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int spawn(char *self, char *arg, int n, MPI_Info info)
{
	char *args[] = { arg, NULL }, text[MPI_MAX_ERROR_STRING];
	int codes[64], got, len, started = 0;
	MPI_Comm c;
	int err = MPI_Comm_spawn(self, arg ? args : MPI_ARGV_NULL, n, info, 0,
				 MPI_COMM_SELF, &c, codes);

	for (int i = 0; i < n; i++)
		started += codes[i] == MPI_SUCCESS;
	if (err) {
		MPI_Error_string(err, text, &len);
		printf("error: %s\n", text);
		return 1;
	}
	MPI_Comm_remote_size(c, &got);
	printf("%d of %d run, %d codes\n", got, n, started);
	MPI_Comm_disconnect(&c);
	return 0;
}

static void words(char *self, int n)
{
	char **args = calloc(n + 1, sizeof(*args));
	MPI_Comm c;

	for (int i = 0; i < n; i++)
		args[i] = "two\nlines";
	MPI_Comm_spawn(self, args, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c,
		       MPI_ERRCODES_IGNORE);
	MPI_Comm_disconnect(&c);
}

int main(int argc, char **argv)
{
	char name[MPI_MAX_PROCESSOR_NAME], dir[4096];
	MPI_Comm c;
	MPI_Info info;
	int len;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_get_parent(&c);
	if (c != MPI_COMM_NULL) {
		if (argc > 1 && !strcmp(argv[1], "nest"))
			spawn(argv[0], "leaf", 1, MPI_INFO_NULL);
		if (argc > 1 && !strcmp(argv[1], "two\nlines"))
			printf("%d words\n", argc - 1);
		fflush(stdout);
		MPI_Comm_disconnect(&c);
		MPI_Get_processor_name(name, &len);
		printf("on %s in %s\n", name, getcwd(dir, sizeof(dir)));
		MPI_Finalize();
		return argc > 1 && !strcmp(argv[1], "exit") ? 3 : 0;
	}
	MPI_Info_create(&info);
	for (int i = 2; i + 1 < argc; i += 2)
		MPI_Info_set(info, argv[i], argv[i + 1]);
	if (argc > 2 && !strcmp(argv[1], "words"))
		words(argv[0], atoi(argv[2]));
	else if (argc > 2 && !strcmp(argv[1], "program"))
		spawn(argv[2], NULL, 1, MPI_INFO_NULL);
	else if (argc > 1 && atoi(argv[1]))
		spawn(argv[0], NULL, atoi(argv[1]), info);
	else
		spawn(argv[0], argv[1], 2, info);
	MPI_Info_free(&info);
	MPI_Finalize();
	return 0;
}
EOF
"$MPICC" "$TMP/q.c" -o "$TMP/q" || fail "mpicc"
timeout 20 "$MPIEXEC" -n 1 "$TMP/q" exit >"$TMP/out" 2>&1
rc=$?
[ $rc = 3 ] || fail "exit code $rc of a spawned process, not 3"
expect "$TMP/out" "spawned job 1: rank . on .* exited with code 3"
works "$MPIEXEC" -n 2 "$TMP/q" nest
[ "$(grep -c "1 of 1 run" "$TMP/out")" = 4 ] || fail "nested spawns"
# a program that is not there is said not to be, soon
for launcher in "$MPIEXEC" mpiexec.hydra; do
	command -v "$launcher" >/dev/null || continue
	works "$launcher" -n 1 "$TMP/q" program ./no/such/program
	expect "$TMP/out" "MPI_ERR_SPAWN.*no/such/program"
	works "$launcher" -n 1 "$TMP/q" program no-such-program
	expect "$TMP/out" "MPI_ERR_SPAWN.*no-such-program"
done
# more words than Hydra takes, and such as it cannot be told: an mpiexec of ours does it
for launcher in "$MPIEXEC" mpiexec.hydra; do
	command -v "$launcher" >/dev/null || continue
	works "$launcher" -n 1 "$TMP/q" words 9000
	expect "$TMP/out" "^9000 words"
done

# slots are taken and given back: three are free, then one is taken by nobody
works "$MPIEXEC" -usize 5 -n 2 "$TMP/q" 8 soft 1:8
expect "$TMP/out" " of 8 run"
works "$MPIEXEC" -usize 5 -n 1 "$TMP/q" 8 soft 1:8:2
expect "$TMP/out" "^3 of 8 run, 3 codes"
works "$MPIEXEC" -n 1 "$TMP/q" 8 soft 2:8
expect "$TMP/out" "no slot is free"
works "$TMP/q" 8 soft 3,5
expect "$TMP/out" "^5 of 8 run, 5 codes"
printf '# where\nwdir = /\nsoft = 1\n' >"$TMP/keys"
works "$TMP/q" 2 file "$TMP/keys"
expect "$TMP/out" "^1 of 2 run"
expect "$TMP/out" " in /$"
works "$MPIEXEC" -n 1 "$TMP/q" 2 wdir /no/such
expect "$TMP/out" "MPI_ERR_SPAWN.*cannot use the working directory /no/such"
works "$MPIEXEC" -n 1 "$TMP/q" 2 file "$TMP/none"
expect "$TMP/out" "MPI_ERR_SPAWN.*none"

# a parent that is killed takes its children with it
count() { pgrep -fc "^$TMP/p" || true; }
has() { [ "$(count)" = "$1" ]; }
"$TMP/p" forever >"$TMP/out" 2>&1 &
pid=$!
wait_for 10 has 3 || fail "no children: $(count)"
kill -9 $pid
wait_for 10 has 0 || fail "$(count) processes are left"
timeout -k 5 3 "$MPIEXEC" -n 1 "$TMP/p" forever >"$TMP/out" 2>&1
wait_for 10 has 0 || fail "$(count) processes are left after a timeout"

netns_possible || exit 0
netns_pair || exit 0
there() # ARGUMENTS: of mpiexec, on two hosts
{
	works ip netns exec "$NETNS_A" "$MPIEXEC" -agent "$TMP/agent" "$@"
}
# the agent is asked once for each host, however much is spawned there
cat >"$TMP/agent" <<EOF
#!/bin/bash
echo asked >>"$TMP/asked"
exec "$PWD/tests/netns-agent" "\$@"
EOF
chmod +x "$TMP/agent"
there -hosts "$NETNS_A:1,$NETNS_B:1" -n 2 "$SPAWN"
[ "$(wc -l <"$TMP/asked")" = 2 ] || fail "the agent was asked again"
# four slots, of which one is taken
there -force-agent -hosts "$NETNS_A:2,$NETNS_B:2" -n 1 "$TMP/q" 8 soft 1:8
expect "$TMP/out" "^3 of 8 run"
there -force-agent -hosts "$NETNS_A:2,$NETNS_B:2" -n 1 "$TMP/q" 2 \
	host "$NETNS_B"
expect "$TMP/out" "^2 of 2 run"
# a host that only the program knows
there -hosts "$NETNS_A" -n 1 "$TMP/q" 2 host "$NETNS_B"
expect "$TMP/out" "^2 of 2 run"
printf '# a file\n%s slots=2\n' "$NETNS_B" >"$TMP/hosts"
there -hosts "$NETNS_A" -n 1 "$TMP/q" 2 hostfile "$TMP/hosts"
expect "$TMP/out" "^2 of 2 run"
exit 0
