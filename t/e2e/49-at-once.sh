#!/bin/bash
# timeout: 200
# The tracer and its guardian are killed together, with thousands of int3s in
# functions that run all the time, and the next one comes at once: most threads
# are in the handler that was left.  Nothing is lost, and nothing left.
. "${0%/*}/lib.sh"

own_memory() {
	grep -E '^Sig(Blk|Ign|Cgt)' "/proc/$1/status"
	awk '$2 ~ /x/ { print $2, $6 }' "/proc/$1/maps"
}

start t "$bin/victim" alone
line t '^ready'
own_memory "${pid[t]}" >"$tmp/before"
# shellcheck disable=SC2016
many='pid$target:a.out:crowd_*:entry { @ = count(); }'
for round in 1 2 3 4; do
	start_dt dt -q -p "${pid[t]}" -n "$many"
	guardian=$(guardian_of "${pid[dt]}") || exit 1
	kill -KILL "$guardian" "${pid[dt]}"
	end dt
	end='tick-20ms { exit(0); }'
	[ $((round % 2)) = 0 ] || end='BEGIN { exit(0); }'
	dt -q -p "${pid[t]}" -n "$many" -n "$end"
	is "round $round: status" "$status" 0
	own_memory "${pid[t]}" >"$tmp/after"
	same "round $round: before and afterwards" "$tmp/before" "$tmp/after"
	(trap '' PIPE; tell t progress) 2>/dev/null # it may have gone
	line t '^progress'
	is "round $round: progress" "$line" 'progress ok wrong 0'
done
close_in t
line t '^done'
is "results" "$line" 'done wrong 0'
end t
is "the program's end" "$status" 0
finish
