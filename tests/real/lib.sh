# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Sourced by the scripts of tests/real, in the root of the tree. They run
# programs that others have written, fetched from Debian's archive into $REAL;
# nothing of them is kept in this tree, and nothing is installed.
#
# A script ends with summary, or with skip when what it needs cannot be had.

. tests/lib.sh
REAL=$PWD/$BUILD/real
KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg
passed=0
failed=0
mkdir -p "$REAL"

# judge STATUS WORDS: counts it, and shows $TMP/out and err if STATUS is not 0.
# Returns STATUS.
judge()
{
	local status=$1

	shift
	if [ "$status" = 0 ]; then
		passed=$((passed + 1))
		echo "ok      $*"
		return
	fi
	failed=$((failed + 1))
	echo "FAILED  $*"
	tail -n 20 "$TMP/out" "$TMP/err" 2>/dev/null | sed 's/^/    | /'
	return "$status"
}

# check WORDS: the same, right after a command. Not with $(...) among the words:
# its status would be taken for the command's.
check()
{
	judge $? "$@"
}

# The last line, as of tests/run.
summary()
{
	echo "$(basename "$0" .sh): $passed passed, $failed failed"
	[ $failed = 0 ]
	exit
}

# --- Debian's archive, beside what this machine is set up for ---

apt_own()
{
	local tool=$1

	shift
	"$tool" -o Dir::Etc::sourcelist="$REAL/apt/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::State::lists="$REAL/apt/lists" \
		-o Dir::Cache="$REAL/apt/cache" \
		-o APT::Sandbox::User=root "$@"
}

# The lists of packages, at most once a day, from where this machine gets its
# own.
archive()
{
	local site suite

	command -v apt-get >/dev/null && [ -e $KEYRING ] ||
		skip "needs apt-get and Debian's keyring"
	[ -n "$(find "$REAL/apt/fresh" -mmin -1440 2>/dev/null)" ] && return
	site=$(apt-get indextargets \
		--format '$(ORIGIN) $(LABEL) $(SITE)' 2>/dev/null |
		sed -n 's/^Debian Debian //p' | head -n 1)
	[ -n "$site" ] || skip "this machine has no Debian archive"
	mkdir -p "$REAL/apt/lists/partial" "$REAL/apt/cache/archives/partial"
	for suite in sid trixie bookworm; do
		echo "deb [signed-by=$KEYRING] $site $suite main"
		echo "deb-src [signed-by=$KEYRING] $site $suite main"
	done >"$REAL/apt/sources.list"
	apt_own apt-get -qq update >"$REAL/apt/log" 2>&1 ||
		skip "the archive cannot be reached: see $REAL/apt/log"
	touch "$REAL/apt/fresh"
}

# fetch_source PACKAGE SUITE...: its source as its authors have it, unpacked into
# $REAL/PACKAGE, from the first suite that has it.
fetch_source()
{
	local package=$1 suite tar

	[ -e "$REAL/$package/.complete" ] && return
	shift
	archive
	rm -rf "$REAL/$package" "$REAL/tar/$package"
	mkdir -p "$REAL/$package" "$REAL/tar/$package"
	for suite; do
		(cd "$REAL/tar/$package" && apt_own apt-get -qq source --tar-only \
			--download-only "$package/$suite") >>"$REAL/apt/log" 2>&1
		tar=$(ls "$REAL/tar/$package"/*.orig.tar.?z 2>/dev/null)
		[ -n "$tar" ] && break
	done
	[ -n "$tar" ] || skip "the archive does not hand out the source of $package"
	tar -xf "$tar" -C "$REAL/$package" --strip-components 1 &&
		touch "$REAL/$package/.complete"
}

# fetch_packages DIR SUITE PACKAGE...: built packages, unpacked into $REAL/DIR.
fetch_packages()
{
	local dir=$REAL/$1 suite=$2 deb

	[ -e "$dir/.complete" ] && return
	shift 2
	archive
	rm -rf "$dir" && mkdir -p "$dir/deb"
	(cd "$dir/deb" && apt_own apt-get -qq download "${@/%//$suite}") \
		>>"$REAL/apt/log" 2>&1 ||
		skip "the archive does not hand out $*"
	for deb in "$dir"/deb/*.deb; do
		dpkg-deb -x "$deb" "$dir" || return
	done
	touch "$dir/.complete"
}

# fetch_root DIR SUITE PACKAGE...: these and all that they need, unpacked into
# $REAL/DIR as the root of a system that is never started.
fetch_root()
{
	local dir=$REAL/$1 suite=$2 deb

	[ -e "$dir/.complete" ] && return
	shift 2
	archive
	rm -rf "$dir" && mkdir -p "$dir" && : >"$REAL/apt/status"
	apt_own apt-get -qq -y -o Dir::State::status="$REAL/apt/status" \
		-o APT::Default-Release="$suite" \
		install --download-only --no-install-recommends \
		"${@/%//$suite}" >>"$REAL/apt/log" 2>&1 ||
		skip "the archive does not hand out $*, with what they need"
	# Since usr is one with the root, both must be there before.
	mkdir -p "$dir"/usr/{bin,sbin,lib,lib64} "$dir"/{tmp,proc,sys,dev,etc,root}
	for deb in bin sbin lib lib64; do
		ln -s "usr/$deb" "$dir/$deb"
	done
	for deb in "$REAL"/apt/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$deb" |
			tar -x --keep-directory-symlink -C "$dir" || return
	done
	rm -f "$REAL"/apt/cache/archives/*.deb
	touch "$dir/.complete"
}
