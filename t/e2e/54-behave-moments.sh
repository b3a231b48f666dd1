#!/bin/bash
# timeout: 1800
# The same behaviours, attached to and let go at any moment, with their children,
# again and again for a while.  With TORTURE, all of them and for longer.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach

# children PID: those that it has now.
children() {
	local list=
	read -r list 2>/dev/null <"/proc/$1/task/$1/children"
	echo "$list"
}

# once PID: attach to it, and to the children that it has, for a moment.
once() {
	local p named=(-p "$1")
	for p in $(children "$1"); do
		named+=(-p "$p")
	done
	timeout -k 5 60 "$DTRAP" -Z -q -n "$probes { @hits = count(); }" \
	    -n "tick-$((RANDOM % 20 + 1))ms { exit(0); }" "${named[@]}" \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	# Children may have ended before they were found.
	[ $status -le 1 ] || wrong "$name: dtrap: status $status"
	hasnt "$tmp/err" 'internal|assert|drop'
	cycles=$((cycles + 1))
}

# moments NAME MS
moments() {
	local name=$1 ms=$2 cycles=0 n probes
	"$behave" -r 0 "$name" >"$tmp/round" 2>&1 </dev/null &
	wait $! # what bash starts beside itself ignores SIGINT
	skipped "$tmp/round" >/dev/null && return
	"$behave" -r "$ms" "$name" >"$tmp/traced" 2>&1 </dev/null &
	pid[moments]=$!
	while [[ $(state "${pid[moments]}") == [^Z] ]]; do
		case $((RANDOM % 3)) in
		0) probes=$hot ;;
		1) probes=$wide ;;
		2) probes="$hot,$wide" ;;
		esac
		once "${pid[moments]}"
	done
	wait "${pid[moments]}"
	is "$name: status" "$?" 0
	unset 'pid[moments]'
	n=$(grep -c '^round: ' "$tmp/traced")
	for ((; n > 0; n--)); do cat "$tmp/round"; done >"$tmp/plain"
	same "$name at any moment" "$tmp/plain" "$tmp/traced"
	echo "$name: $cycles cycles"
}

# Who comes more often than a call may last, as we do, keeps it from its end:
# `unheard' is not for us.  Four see that they are traced, each in the one way that
# 53-behave-debuggers.sh knows of.
if [ -n "${TORTURE:-}" ]; then
	not='exec-ed|deleted-child|unheard'
	not="$not|sums-itself|asks-tracer|traces-child|seizes-child"
	# shellcheck disable=SC2046
	set -- $("$behave" -l | grep -vE "^($not)\$")
	ms=10000
else
	set -- blocked realtime altstack storm sigwait signalfd restarts sleeps \
	    own-traps trap-blocked vforks shares-memory thread-exec \
	    leaderless stops cancels conditions coroutines dispatched io-uring
	ms=300
fi
for name; do
	# It may not write into a file that is longer than a megabyte.
	ms_now=$ms
	[ "$name" != limited ] || ms_now=300
	moments "$name" "${MS:-$ms_now}"
done
finish
