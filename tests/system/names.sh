#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
# o2g names: two jobs find each other by a name that a server keeps, on one host and on
# two that see no common file; whoever has not its key gets nowhere.
cd "$(dirname "$0")/../.." && . tests/lib.sh
make_tmp

cat >"$TMP/n.c" <<'EOF'
/* n publish NAME: publishes a port, waits for a caller. n hold NAME: waits forever.
 * n lookup NAME: prints how it ends. n call NAME: connects. n both NAME */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int class_of(int err)
{
	int class;

	MPI_Error_class(err, &class);
	return class;
}

static int call(const char *name, char *port)
{
	int err = MPI_ERR_NAME;

	for (int i = 0; i < 300 && class_of(err) == MPI_ERR_NAME; i++) {
		err = MPI_Lookup_name(name, MPI_INFO_NULL, port);
		if (err)
			usleep(50000);
	}
	return err;
}

static const char *word(int err)
{
	static char text[MPI_MAX_ERROR_STRING];
	int len;

	if (!err)
		return "good";
	MPI_Error_string(err, text, &len);
	return text;
}

int main(int argc, char **argv)
{
	char port[MPI_MAX_PORT_NAME] = "";
	const char *what = argv[1], *name = argv[2];
	MPI_Comm c;
	int err;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Open_port(MPI_INFO_NULL, port);
	if (!strcmp(what, "lookup")) {
		printf("%s\n", word(MPI_Lookup_name(name, MPI_INFO_NULL, port)));
	} else if (!strcmp(what, "call")) {
		err = call(name, port);
		if (!err)
			err = MPI_Comm_connect(port, MPI_INFO_NULL, 0,
					       MPI_COMM_SELF, &c);
		printf("%s\n", word(err));
		if (!err)
			MPI_Comm_disconnect(&c);
	} else {
		printf("%s\n", word(MPI_Publish_name(name, MPI_INFO_NULL, port)));
		fflush(stdout);
		if (!strcmp(what, "both"))
			printf("%s\n%s\n",
			       word(MPI_Unpublish_name(name, MPI_INFO_NULL, port)),
			       word(MPI_Unpublish_name(name, MPI_INFO_NULL, port)));
		while (!strcmp(what, "hold"))
			pause();
		if (!strcmp(what, "publish") &&
		    !MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c))
			MPI_Comm_disconnect(&c);
	}
	MPI_Finalize();
	return 0;
}
EOF
"$MPICC" "$TMP/n.c" -o "$TMP/n" || fail "mpicc"

server=
others=()
at_exit()
{
	kill $server "${others[@]}" 2>/dev/null
}
serve() # [PREFIX...]
{
	"$@" "$BUILD/bin/o2g" names "$TMP/where" >"$TMP/server" 2>&1 &
	server=$!
	wait_for 10 test -s "$TMP/where" || fail "no server: $(cat "$TMP/server")"
}
says() # TEXT COMMAND...
{
	local want=$1

	shift
	timeout 30 "$@" >"$TMP/out" 2>&1
	expect "$TMP/out" "$want"
}

serve
[ "$(stat -c %a "$TMP/where")" = 600 ] || fail "others can read the key"
export O2G_NAMES=$TMP/where
says "MPI_ERR_NAME.*nobody has published" "$TMP/n" lookup one
"$TMP/n" publish one >"$TMP/pub" 2>&1 &
says "^good$" "$TMP/n" call one
wait $! || fail "the publisher"
says "MPI_ERR_SERVICE" "$TMP/n" both two # the second time
expect "$TMP/out" "^good$"

# twice is refused; a process that is killed leaves no name behind
"$TMP/n" hold three >"$TMP/pub" 2>&1 &
holder=$!
others+=($holder)
wait_for 10 grep -q good "$TMP/pub" || fail "not published"
says "MPI_ERR_SERVICE.*published already" "$TMP/n" both three
kill -9 $holder
gone() { "$TMP/n" lookup three | grep -q "nobody has published"; }
wait_for 10 gone || fail "the name of a dead process is still there"

# by the line itself; with a wrong key; through a file that others can read
O2G_NAMES=$(cat "$TMP/where") says "MPI_ERR_NAME" "$TMP/n" lookup one
O2G_NAMES=$(sed 's/^o2g1:..../o2g1:0000/' "$TMP/where") \
	says "name server.*not reached" "$TMP/n" lookup one
chmod 644 "$TMP/where"
says "must be yours and closed to others" "$TMP/n" lookup one
chmod 600 "$TMP/where"

kill $server
wait_for 10 test ! -e "$TMP/where" || fail "its file is still there"
printf 'o2g1:gone\n' >"$TMP/where"
chmod 600 "$TMP/where"
says "name server.*is .o2g names. running" "$TMP/n" lookup one
rm -f "$TMP/where"

netns_possible || exit 0
netns_pair || exit 0
serve ip netns exec "$NETNS_A"
ip netns exec "$NETNS_A" timeout 30 "$TMP/n" publish far >"$TMP/pub" 2>&1 &
says "^good$" ip netns exec "$NETNS_B" "$TMP/n" call far
wait $! || fail "the publisher in another network"
exit 0
