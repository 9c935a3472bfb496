# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0
#
# Sourced by lab/vm: how a guest is made and started. The settings are the
# variables vm_*.

lab_cannot()
{
	echo "skipped: $*"
	exit 77
}

# LAB_TMP, removed at the end, with the processes in $helpers.
lab_tmp()
{
	helpers=
	LAB_TMP=$(mktemp -d "${TMPDIR:-/tmp}/o2g-lab.XXXXXX") || exit 1
	trap '[ -n "$helpers" ] && kill $helpers 2>/dev/null; rm -rf "$LAB_TMP"' EXIT
	trap 'exit 130' INT TERM
}

vm_defaults()
{
	vm_kernel=${LAB_KERNEL:-$("$lab/kernel" default)}
	vm_cpus=2 vm_mem=512 vm_time=120
	vm_append= vm_qemu= vm_tty= vm_name=lab vm_tcg=thread=multi vm_cpu=max vm_count=
	pair_words=()
}

# The emulator counts a byte that "rep movsb" copies as an instruction; without erms
# the kernel copies words.
WORDS=max,-erms,-fsrm

# A machine whose clock is the instructions it executes: what it measures does not
# depend on what else the host does. Its processors take turns, and share the time.
virtual_time()
{
	vm_tcg=thread=single vm_cpu=$WORDS
	vm_qemu+=" -icount shift=0,sleep=off"
}

# vm_prepare DIR SHARE COMMAND...: the initramfs, and what the guest shall do.
vm_prepare()
{
	local dir=$1 share=$2 program

	shift 2
	for program in qemu-system-x86_64 busybox cpio; do
		command -v $program >/dev/null || lab_cannot "there is no $program here"
	done
	vm_dir=$("$lab/kernel" dir "$vm_kernel") || lab_cannot "no kernel $vm_kernel"
	vm_version=$(cat "$vm_dir/version")
	make_initramfs || exit
	case $PWD:$vm_dir in /tmp/* | *:/tmp/*) vm_append+=" lab.tmp=keep" ;; esac
	rm -f "$share/rc"
	write_go "$@" >"$share/go"
}

# The initramfs of a kernel is made once; it changes with lab/init.
make_initramfs()
{
	local out=$vm_dir/initramfs.gz stamp ird=$LAB_TMP/ird file n=10

	stamp=$(cat "$lab/init" "$lab/lib.sh" | cksum)
	[ "$(cat "$vm_dir/initramfs.stamp" 2>/dev/null)" = "$stamp" ] &&
		[ -s "$out" ] && return
	mkdir -p "$ird"/{bin,mod,proc,sys,dev}
	cp "$(command -v busybox)" "$ird/bin/busybox"
	cp "$lab/init" "$ird/init"
	chmod 755 "$ird/init"
	for file in $(guest_modules); do
		n=$((n + 1))
		case $file in
		*.xz) xz -dc "$file" >"$ird/mod/$n-$(basename "$file" .xz)" ;;
		*.zst) zstd -qdc "$file" >"$ird/mod/$n-$(basename "$file" .zst)" ;;
		*) cp "$file" "$ird/mod/$n-$(basename "$file")" ;;
		esac
	done
	(cd "$ird" && find . | cpio -o -H newc --quiet | gzip -1) >"$out.$$" &&
		mv "$out.$$" "$out" && echo "$stamp" >"$vm_dir/initramfs.stamp"
}

# What is needed before the root is there, each module after those it needs.
guest_modules()
{
	local m

	for m in virtio_pci 9pnet_virtio 9p overlay virtio_console; do
		/sbin/modprobe -d "$vm_dir/root" -S "$vm_version" --show-depends $m 2>/dev/null
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }'
}

# The script that the guest's first process becomes: see lab/init.
write_go()
{
	echo "cd $(printf %q "$PWD")"
	echo "export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	echo "export HOME=/root TERM=${TERM:-dumb} LAB_GUEST=$vm_name"
	echo "export LAB_KVERSION=$vm_version LAB_KERNEL=$(printf %q "$vm_kernel")"
	declare -p $(compgen -e | grep -E '^(O2G_|BUILD$|FUZZ_|LAB_ALL$|LAB_LINES$)') \
		2>/dev/null | sed 's/^declare -[^ ]*/export/'
	# Modules come from the cache, which is a folder of the host like others.
	echo "mkdir -p /lib/modules/$vm_version"
	echo "mount --bind $(printf %q "$vm_dir/root/lib/modules/$vm_version")" \
		"/lib/modules/$vm_version"
	echo "hostname $vm_name; ip link set lo up"
	echo '. '"$(printf %q "$lab/guest.sh")"
	if [ -n "$vm_tty" ]; then
		echo "setsid -c bash -i </dev/hvc0 >/dev/hvc0 2>&1"
	else
		printf 'out=$(echo /dev/vport*p1)\n'
		printf '%q ' "$@"
		echo '</dev/null >$out 2>&1'
	fi
	echo 'echo $? >/run/lab/rc'
	# No orderly end: nothing of this machine is kept.
	echo 'sync; echo b >/proc/sysrq-trigger; sleep 10'
}

# vm_start DIR SHARE [QEMU WORDS...]: run it; its kernel log goes to DIR/klog.
vm_start()
{
	local dir=$1 share=$2 port=virtserialport
	# Standard output by its descriptor: a chardev on stdio that reads the end
	# of its input is closed, and the guest then waits to write.
	local out="file,id=out,path=/dev/fdset/1,append=on"

	shift 2
	[ -n "$vm_tty" ] && port=virtconsole out="stdio,id=out,signal=off"
	# What it counts goes to its own /run/lab.
	[ -n "$vm_count" ] && set -- "$@" -plugin "${BUILD:-build}/lab/insn.so,out=$share/count"
	# no_timer_check: on a busy machine the emulator may be too late for that check, and
	# the kernel panics when it starts.
	timeout --foreground -k 5 "$vm_time" qemu-system-x86_64 \
		-name "o2g-$vm_name" -nodefaults -no-user-config -display none -no-reboot \
		-machine q35 -accel "tcg,$vm_tcg" -cpu "$vm_cpu" \
		-smp "$vm_cpus" -m "$vm_mem" \
		-kernel "$vm_dir/vmlinuz" -initrd "$vm_dir/initramfs.gz" \
		-append "console=ttyS0 reboot=t panic=-1 oops=panic no_timer_check mitigations=off \
nokaslr audit=0 lsm=landlock,lockdown,yama,bpf random.trust_cpu=on net.ifnames=0 $vm_append" \
		-chardev "file,id=log,path=$dir/klog" -serial chardev:log \
		-device virtio-serial -add-fd fd=9,set=1 -chardev "$out" \
		-device $port,chardev=out \
		-virtfs local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap \
		-virtfs "local,path=$share,mount_tag=share,security_model=none" \
		-device virtio-rng-pci \
		$vm_qemu "$@" 9>&1
}

# keep_log KLOG FILE: a copy, and rc changes if there is a report in it.
keep_log()
{
	[ -n "$2" ] && cp "$1" "$2"
	[ -n "$any_log" ] && return
	"$lab/klog" "$1" >&2 || { [ $rc = 0 ] && rc=126; }
}

# --- two machines ---

# pair_net NAME: QEMU's words for the cards of machine a or b. eth0 is on the
# cable that tests spoil, eth1 on one of its own, for control.
pair_net()
{
	local number=1 path=$LAB_TMP

	[ "$1" = b ] && number=2
	pair_words=(-netdev "stream,id=n0,server=off,addr.type=unix,addr.path=$path/net/$1"
		-device "virtio-net-pci,netdev=n0,mac=52:54:00:77:00:0$number"
		-netdev "stream,id=n1,server=off,addr.type=unix,addr.path=$path/control/$1"
		-device "virtio-net-pci,netdev=n1,mac=52:54:00:78:00:0$number"
		-chardev "socket,id=ctl,path=$path/net/ctl"
		-device "virtserialport,chardev=ctl")
}

# The cables and machine b; then pair_words is set for a.
pair_start()
{
	local build=${BUILD:-build} net

	[ -x "$build/lab/cable" ] || { echo "lab/vm: first make lab-build" >&2; exit 1; }
	for net in net control; do
		mkdir -p "$LAB_TMP/$net"
		"$build/lab/cable" "$LAB_TMP/$net" &
		helpers+=" $!"
	done
	while [ ! -S "$LAB_TMP/control/ctl" ] || [ ! -S "$LAB_TMP/net/ctl" ]; do
		sleep 0.05
	done
	mkdir -p "$LAB_TMP/b/share"
	vm_name=b
	vm_prepare "$LAB_TMP/b" "$LAB_TMP/b/share" "$build/lab/remote" serve
	pair_net b
	vm_start "$LAB_TMP/b" "$LAB_TMP/b/share" "${pair_words[@]}" \
		>"$LAB_TMP/b/out" 2>&1 &
	pair_b=$!
	pair_net a
}

# b has no end of its own, unless a has died before it.
pair_end()
{
	local timer

	timer=$(ps -o pid= --ppid $pair_b 2>/dev/null)
	kill $timer $pair_b $helpers 2>/dev/null
	wait $pair_b 2>/dev/null
	helpers=
}
