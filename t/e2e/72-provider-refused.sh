#!/bin/bash
# A program that may not make probes goes on, and where a memfd is refused they are in
# a file.
. "${0%/*}/lib.sh"
[ "$(id -u)" = 0 ] || skip "not root: a limit of the kernel is set in a namespace"
unshare --pid --fork --mount-proc sh -c 'echo 2 >/proc/sys/vm/memfd_noexec' \
    2>/dev/null || skip "the kernel has no vm.memfd_noexec"
mkdir "$tmp/run" "$tmp/noexec"

# refused DIR COMMAND...: in a namespace in which no memfd may hold code.
refused() {
	local dir=$1
	shift
	# shellcheck disable=SC2016 # by the other shell
	unshare --mount --pid --fork --mount-proc sh -c '
		echo 2 >/proc/sys/vm/memfd_noexec || exit
		mount -t tmpfs -o noexec none "$1" || exit
		export XDG_RUNTIME_DIR=$2
		shift 2
		exec "$@"' sh "$tmp/noexec" "$dir" "$@" >"$tmp/out" 2>"$tmp/err"
	status=$?
}

words='no executable mapping is allowed: neither a memfd, nor a file in XDG_RUNTIME_DIR'
for dir in "$tmp/noexec" "$tmp/nowhere" ''; do
	refused "$dir" "$bin/provider" load "fire 3 1" load all
	is "in '$dir': status" "$status" 0
	is "in '$dir': words" "$(grep -c "^load: $words\$" "$tmp/out")" 2
	has "$tmp/out" '^fired, watched 0$'
done

# shellcheck disable=SC2016 # D
d='provider shop { probe sold(int, string); };
    shop$target::sell:sold { printf("%s %d %s\n", probemod, args[0], args[1]); }'
refused "$tmp/run" "$DTRAP" -q -Z -n "$d" \
    -c "$bin/provider load 'fire 3 1' 'many 10' unload"
is "in a file: status" "$status" 0
has "$tmp/out" '^load: no error$'
has "$tmp/out" '^shop-[0-9]+-[A-Za-z0-9]+.so -2 0-2$'
has "$tmp/out" '^left: 0 mappings, 0 descriptors, '
is "files that are left" "$(ls -A "$tmp/run")" ''
finish
