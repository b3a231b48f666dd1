#!/bin/bash
# How long it takes from SIGTERM to the end of a tracer whose probes are hit all
# the time: with threads that run, that sleep, and that cannot be woken.
. "${0%/*}/lib.sh"

mkfifo "$tmp/in" "$tmp/armed"

# target COMMAND...: it says "ready".
target() {
	"$@" <"$tmp/in" >"$tmp/said" 2>/dev/null &
	beside=$!
	exec 3>"$tmp/in"
	until grep -q '^ready' "$tmp/said" 2>/dev/null; do
		kill -0 "$beside" || exit 1
	done
}

target_ends() {
	exec 3>&-
	wait "$beside"
	beside=
}

# leaves PROBES: ms, the best of ten and the worst.
leaves() {
	local i from to tracer
	for ((i = 0; i < 10; i++)); do
		"$DTRAP" -q -x switchrate=5ms -n "$1 { @ = count(); }" \
		    -n 'BEGIN { printf("armed\n"); }' -p "$beside" \
		    >"$tmp/armed" 2>/dev/null &
		tracer=$!
		exec 4<"$tmp/armed"
		read -r _ <&4
		from=$(date +%s%N)
		kill -TERM $tracer
		cat <&4 >/dev/null
		wait $tracer
		to=$(date +%s%N)
		exec 4<&-
		echo $(((to - from) / 10000))
	done | sort -n | sed -n '1p;$p' | awk '{ printf "%.1f ", $1 / 100 }'
}

# shellcheck disable=SC2016
work='pid$target:a.out:work:,pid$target:libc:nanosleep:'
table 'ms from SIGTERM to the end' best worst
target "$PWD/$B/e2e/busy" 8
# shellcheck disable=SC2046 # two words
{
row '8 threads that run' $(leaves "$work")
kill -STOP "$beside"
row '8 threads, stopped by SIGSTOP' $(leaves "$work")
kill -CONT "$beside"
target_ends
# shellcheck disable=SC2016
target "$PWD/$B/e2e/vforked"
echo >&3
until grep -q '^child' "$tmp/said"; do :; done
# shellcheck disable=SC2016
row 'a parent in vfork' $(leaves 'pid$target:libc:*vfork:')
echo >&3
target_ends
for n in 20 500; do
	target "$PWD/$B/e2e/restless" "$n"
	row "$n threads in every state" $(leaves "$work")
	target_ends
done
}
