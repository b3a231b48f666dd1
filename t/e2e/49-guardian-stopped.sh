#!/bin/bash
# Somebody stops the guardian by SIGSTOP: the tracer hears of it, as its parent,
# and goes on tracing; where it needs an answer, for a child that is followed, it
# wakes it.
. "${0%/*}/lib.sh"

# As soon as it is there: its answer is waited for with the target stopped.
start t "$bin/busy" 4
line t '^ready'
for _ in 1 2 3; do
	# shellcheck disable=SC2016
	start_null dt "$DTRAP" -q -x switchrate=5ms -p "${pid[t]}" \
	    -n 'BEGIN { printf("armed\n"); }' \
	    -n 'pid$target:a.out:work:entry { @ = count(); }'
	until guardian=$(guardian_of "${pid[dt]}" 2>/dev/null) ||
	    [ ! -e "/proc/${pid[dt]}/exe" ]; do
		:
	done
	pid[guardian]=$guardian # a test that fails does not leave it like this
	kill -STOP "$guardian"
	line dt '^armed$'
	hasnt "$tmp/dt.err" .
	kill -INT "${pid[dt]}"
	end dt
	unset 'pid[guardian]'
	is "at its begin: status" "$status" 0
done
close_in t
line t '^done'
end t

start t "$bin/victim"
line t '^ready'
# shellcheck disable=SC2016
start_dt dt -q -p "${pid[t]}" -n 'tick-20ms { printf("tick\n"); }
    pid$target:a.out:work:entry { @ = count(); }'
guardian=$(guardian_of "${pid[dt]}") || exit 1
pid[guardian]=$guardian
kill -STOP "$guardian"
# What was on its way when it was stopped is not meant; there are children all the
# time.
for _ in $(seq 50); do
	line dt '^tick$'
done
kill -STOP "$guardian"
kill -INT "${pid[dt]}"
end dt
unset 'pid[guardian]'
is "status" "$status" 0
hasnt "$tmp/dt.err" .
tell t progress
line t '^progress'
is "progress" "$line" 'progress ok wrong 0'
close_in t
line t '^done'
is "results" "$line" 'done wrong 0'
end t
is "the program's end" "$status" 0
finish
