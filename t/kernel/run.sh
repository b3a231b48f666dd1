#!/bin/bash
# Boot kernels that Debian ships in qemu and run tests there, with this tree and
# the programs of this machine.  `make check-kernel' calls it.
#
#	t/kernel/run.sh KERNEL... <TESTS
#
# KERNEL is the Debian suite whose newest linux-image-amd64 is meant:
# bookworm, bookworm-backports, bullseye, trixie.  TESTS are paths as t/run takes
# them, a line each.
#
# Packages are downloaded and unpacked in $B/kernel; nothing is installed and
# nothing needs root.  The root file system of the virtual machine is that of
# this machine, by 9p and read only, below a tmpfs that takes what is written.
#
# The last lines are a line for each kernel: its version, the count of tests,
# where the whole output is.  The status is 1 when a test failed or a kernel gave
# no count, and when no kernel could be had.
#
# Environment: B, the build directory; PROG and PLOCKSTAT, the programs under test,
# as paths from here; ACCEL, kvm or tcg; CPUS, MEMORY (in MiB),
# LIMIT, the seconds that one kernel may take; SLOW, what time limits of tests
# are multiplied by; NICE, as nice(1) takes it; MIRROR,
# where Debian's packages are; APPEND, more words for the kernel's command line.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build} NICE=${NICE:-10}
CPUS=${CPUS:-2} MEMORY=${MEMORY:-3072} LIMIT=${LIMIT:-10800}
MIRROR=${MIRROR:-http://deb.debian.org}
dir=$PWD/$B/kernel
keys=/usr/share/keyrings/debian-archive-keyring.gpg

# Virtualisation in hardware: what calls itself KVM without that (a virtual
# machine in which the host runs guests of its own kind only) boots no kernel of
# somebody else.
if [ -z "${ACCEL:-}" ]; then
	ACCEL=tcg
	[ -w /dev/kvm ] && grep -qE '^flags.*\<(vmx|svm)\>' /proc/cpuinfo &&
	    ACCEL=kvm
fi
case $ACCEL in
kvm) cpu=host SLOW=${SLOW:-2} ;;
*) cpu=max SLOW=${SLOW:-10} ;;
esac

# apt WHERE COMMAND...: with lists and sources of its own, in WHERE/apt.
apt() {
	local at=$1/apt
	shift
	"$@" -q -o Dir::Etc::SourceList="$at/sources.list" \
	    -o Dir::Etc::SourceParts=/dev/null -o Dir::State="$at" \
	    -o Dir::State::status=/dev/null -o Dir::Cache="$at" \
	    -o APT::Sandbox::User= -o Debug::NoLocking=1
}

# sources WHERE SUITE: look there for packages from now on.
sources() {
	local at=$1/apt suite=$2
	mkdir -p "$at/lists/partial" "$at/archives/partial"
	{
		echo "deb [signed-by=$keys] $MIRROR/debian $suite main"
		case $suite in
		*-backports | sid) ;;
		*) echo "deb [signed-by=$keys] $MIRROR/debian-security $suite-security main" ;;
		esac
	} >"$at/sources.list"
	apt "$1" apt-get update >"$at/log" 2>&1
}

# package WHERE NAME: download it; its file is then $deb.
package() {
	local newest=
	(cd "$1" && apt "$1" apt-get download "$2" >>"$1/apt/log" 2>&1) ||
	    return 1
	for deb in "$1/$2"_*.deb; do
		[ "$deb" -nt "$newest" ] && newest=$deb
	done
	deb=$newest
}

# kernel SUITE: the newest of it in $where/boot and $where/lib; its version is
# $version.  What was had before is used where the source cannot be reached.
kernel() {
	local image deb
	where=$dir/$1
	if sources "$where" "$1"; then
		image=$(apt "$where" apt-cache depends linux-image-amd64 |
		    sed -n 's/^ *Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
		[ -n "$image" ] && package "$where" "$image" &&
		    unpack "$where" "$deb"
	fi
	version=$(cd "$where/boot" 2>/dev/null && echo vmlinuz-*)
	version=${version#vmlinuz-}
	[ -n "$version" ]
}

# Only the modules that lead to the root file system.
unpack() {
	[ "$1/unpacked" -nt "$2" ] && return
	rm -rf "${1:?}/boot" "${1:?}/lib"
	dpkg-deb --fsys-tarfile "$2" | tar -x -C "$1" --wildcards \
	    './boot/vmlinuz-*' './lib/modules/*/modules.builtin' \
	    './lib/modules/*/modules.order' \
	    './lib/modules/*/kernel/drivers/virtio/*' \
	    './lib/modules/*/kernel/net/9p/*' './lib/modules/*/kernel/fs/9p/*' \
	    './lib/modules/*/kernel/fs/netfs/*' \
	    './lib/modules/*/kernel/fs/fscache/*' \
	    './lib/modules/*/kernel/fs/overlayfs/*' 2>/dev/null
	[ -e "$1/boot" ] && touch "$1/unpacked"
}

# A shell and modprobe that need nothing else, for before the root is there.
busybox() {
	busybox=$dir/busybox/bin/busybox
	[ -x "$busybox" ] && return
	sources "$dir/busybox" bookworm &&
	    package "$dir/busybox" busybox-static &&
	    dpkg-deb -x "$deb" "$dir/busybox"
}

# initramfs WHERE VERSION
initramfs() {
	local root=$1/initramfs
	rm -rf "$root"
	mkdir -p "$root/bin" "$root/lib"
	cp "$busybox" "$root/bin" && cp t/kernel/init "$root" &&
	    cp -r "$1/lib/modules" "$root/lib" || return
	find "$root/lib" -name '*.xz' -exec xz -d {} +
	"$busybox" depmod -b "$root" "$2" &&
	    (cd "$root" && find . | "$busybox" cpio -o -H newc) \
		>"$1/initramfs.cpio" 2>/dev/null
}

# boot SUITE VERSION: run the tests.
boot() {
	local at=$dir/$1
	printf '%s\n' "${tests[@]}" >"$at/tests"
	initramfs "$at" "$2" || return
	timeout -k 5 "$LIMIT" nice -n "$NICE" qemu-system-x86_64 \
	    -accel "$ACCEL" -cpu $cpu -smp "$CPUS" -m "$MEMORY" \
	    -nodefaults -display none -serial stdio -no-reboot \
	    -virtfs local,path=/,mount_tag=root,security_model=none,readonly=on,multidevs=remap \
	    -kernel "$at/boot/vmlinuz-$2" -initrd "$at/initramfs.cpio" \
	    -append "console=ttyS0 quiet panic=-1 no_timer_check tree=$PWD B=$B tests=$B/kernel/$1/tests PROG=${PROG:-dtrap} PLOCKSTAT=${PLOCKSTAT:-plockstat} SLOW=$SLOW CPUS=$CPUS ${APPEND:-}" \
	    </dev/null 2>&1 | sed -u 's/\r//' | tee "$at/log"
}

mkdir -p "$dir"
mapfile -t tests
[ ${#tests[@]} != 0 ] || { echo "t/kernel/run.sh: no tests" >&2; exit 2; }
busybox || { echo "t/kernel/run.sh: Debian's busybox-static cannot be had from $MIRROR" >&2; exit 1; }

bad=0 counted=0 summary=
for suite in "$@"; do
	if ! kernel "$suite"; then
		summary+="$suite: its kernel cannot be had from $MIRROR"$'\n'
		continue
	fi
	echo "==== $suite: Linux $version, by $ACCEL"
	boot "$suite" "$version"
	count=$(grep -E '^[0-9]+ passed, [0-9]+ failed(, [0-9]+ skipped)?$' \
	    "$dir/$suite/log" | tail -n 1)
	case $count in
	*' 0 failed'*) counted=$((counted + 1)) ;;
	*) bad=1 ;;
	esac
	summary+="$suite: Linux $version, ${count:-ended before the tests did} ($B/kernel/$suite/log)"$'\n'
done
printf '\n%s' "$summary"
[ $bad = 0 ] && [ $counted != 0 ]
