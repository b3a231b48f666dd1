#!/bin/bash
# Processes that may not be traced: each is refused by name, with its reason,
# and lives on.
. "${0%/*}/lib.sh"

# refused REGEX NAME
refused() {
	dt -n 'BEGIN { exit(0); }' -p "${pid[$2]}"
	is "$2: status" "$status" 1
	is "$2: messages" "$(grep -c '^dtrap: ' "$tmp/err")" 1
	grep -qE "^dtrap: .*${pid[$2]}.*($1)" "$tmp/err" || {
		wrong "$2: expected pid ${pid[$2]} and '$1' in:"
		cat "$tmp/err"
	}
	alive "$2"
}

# Traced by another already.
start traced "$bin/guarded" traced
line traced ready
held=${line#ready }
dt -n 'BEGIN { exit(0); }' -p "$held"
is "traced: status" "$status" 1
has "$tmp/err" "^dtrap: process $held is already traced by guarded \(pid ${pid[traced]}\); end that first$"
close_in traced
end traced

# Of another word size.
if "$bin/m32" </dev/null >/dev/null 2>&1; then
	start m32 "$bin/m32"
	line m32 ready
	refused '32-bit' m32
	close_in m32
	end m32
	is "m32: status" "$status" 0
	dt -n 'BEGIN { exit(0); }' -c "$bin/m32"
	is "m32 launched: status" "$status" 1
	has "$tmp/err" '^dtrap: .*32-bit'
else
	echo "no 32-bit programs here"
fi

# A thread is taken for its process, which is said.
start threads "$bin/busy" 2
line threads ready
for tid in "/proc/${pid[threads]}/task/"*; do
	tid=${tid##*/}
	[ "$tid" = "${pid[threads]}" ] || break
done
[ "$tid" != "${pid[threads]}" ] || fail "busy has one thread"
# shellcheck disable=SC2016 # $target is D's
dt -n 'BEGIN { printf("%d\n", $target); exit(0); }' -q -p "$tid"
is "thread: status" "$status" 0
is "thread: target" "$(cat "$tmp/out")" "${pid[threads]}"
is "thread, quiet" "$(cat "$tmp/err")" ""
dt -n 'BEGIN { exit(0); }' -p "$tid"
has "$tmp/err" "^dtrap: $tid is a thread of process ${pid[threads]}, of which all threads are traced; the predicate /tid == $tid/ selects"
alive threads

# No process, a kernel thread.
dt -n 'BEGIN { exit(0); }' -p 99999999
is "no process: status" "$status" 1
has "$tmp/err" '^dtrap: no process with pid 99999999; if it is in a container, use its pid as seen from here$'
if [ "$(cat /proc/2/comm 2>/dev/null)" = kthreadd ]; then
	dt -n 'BEGIN { exit(0); }' -p 2
	is "kernel thread: status" "$status" 1
	has "$tmp/err" '^dtrap: kthreadd \(pid 2\) is a kernel thread; only processes can be traced, '
fi

# Where a filter refuses ptrace, as containers have it.
start plain "$bin/guarded" ready
line plain ready
timeout 60 "$bin/older" -p "$DTRAP" -n BEGIN -p "${pid[plain]}" \
    >"$tmp/out" 2>"$tmp/err" </dev/null
is "seccomp: status" "$?" 1
has "$tmp/err" '^dtrap: ptrace is refused by the seccomp filter of this container: start it with --cap-add=SYS_PTRACE'

# Ourselves: refused.
dt -n 'BEGIN { exit(0); }' -p 0
is "pid 0: status" "$status" 1
has "$tmp/err" '^dtrap: '

# A zombie.
start zombie "$bin/zombie"
line zombie '^zombie '
dt -n 'BEGIN { exit(0); }' -p "${line#zombie }"
is "zombie: status" "$status" 1
has "$tmp/err" "^dtrap: process ${line#zombie } \([a-z]+\) has ended and waits for its parent ${pid[zombie]} to notice \(a zombie\); it cannot be traced, trace that parent$"

# As another user: root's process, and one that is not dumpable.
if [ "$(id -u)" != 0 ] || ! command -v setpriv >/dev/null; then
	echo "not root: other users' processes not tried"
elif ! "${nobody[@]}" test -x "$DTRAP" -a -x "$bin/guarded"; then
	echo "another user cannot run $DTRAP: not tried"
else
	start root "$bin/guarded" ready
	line root ready
	start nodump "${nobody[@]}" "$bin/guarded" nodump
	line nodump ready
	for name in root nodump; do
		timeout 60 "${nobody[@]}" "$DTRAP" -n 'BEGIN { exit(0); }' \
		    -p "${pid[$name]}" >"$tmp/out" 2>"$tmp/err" </dev/null
		is "$name: status" "$?" 1
		is "$name: messages" "$(grep -c '^dtrap: ' "$tmp/err")" 1
		has "$tmp/err" "^dtrap: .*${pid[$name]}"
		case $name in
		root) has "$tmp/err" 'user|owner|uid' ;;
		nodump) has "$tmp/err" 'dumpable' ;;
		esac
		alive $name
	done
	# pid 1 is root's, but in a container of one's own.
	if [ "$(stat -c %u /proc/1)" = 0 ]; then
		timeout 60 "${nobody[@]}" "$DTRAP" -n BEGIN -p 1 \
		    >"$tmp/out" 2>"$tmp/err" </dev/null
		is "pid 1: status" "$?" 1
		has "$tmp/err" '^dtrap: process 1 \(.*\) belongs to user 0, you are 65534: run as that user or as root'
	fi
	close_in nodump
	end nodump

	# A /proc that shows others nothing.
	if unshare -m mount -t proc -o hidepid=2 proc /proc 2>/dev/null; then
		# shellcheck disable=SC2016 # the shell there
		timeout 60 unshare -m sh -c \
		    'mount -t proc -o hidepid=2 proc /proc && exec "$@"' - \
		    "${nobody[@]}" "$DTRAP" -n BEGIN -p "${pid[root]}" \
		    >"$tmp/out" 2>"$tmp/err" </dev/null
		is "hidepid: status" "$?" 1
		has "$tmp/err" "^dtrap: process ${pid[root]} is not visible in /proc, which is mounted with hidepid or .*: run as its user or as root"
	else
		echo "no mounts here: hidepid and ptrace_scope not tried"
		close_in root
		end root
		finish
	fi

	# What Yama forbids: the file says that it does, and the refusal is made.
	start other "${nobody[@]}" "$bin/guarded" ready
	line other ready
	for scope in 1 2 3; do
		# shellcheck disable=SC2016 # the shell there
		timeout 60 unshare -m sh -c 'mount -t tmpfs none /proc/sys/kernel &&
		    mkdir /proc/sys/kernel/yama &&
		    echo $1 >/proc/sys/kernel/yama/ptrace_scope && shift &&
		    exec "$@"' - $scope "${nobody[@]}" "$bin/older" -p \
		    "$DTRAP" -n BEGIN -p "${pid[other]}" \
		    >"$tmp/out" 2>"$tmp/err" </dev/null
		is "ptrace_scope $scope: status" "$?" 1
		case $scope in
		1) has "$tmp/err" "^dtrap: process ${pid[other]}: kernel.yama.ptrace_scope is 1: only launched programs may be traced \(-c\); run as root, or sysctl kernel.yama.ptrace_scope=0$" ;;
		2) has "$tmp/err" "^dtrap: process ${pid[other]}: kernel.yama.ptrace_scope is 2: run as root, or " ;;
		3) has "$tmp/err" '^dtrap: no process may be traced on this system: kernel.yama.ptrace_scope is 3 \(until reboot\)$' ;;
		esac
	done
	close_in other
	end other
	close_in root
	end root
fi
finish
