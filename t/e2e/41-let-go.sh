#!/bin/bash
# timeout: 300
# Told to end by SIGINT, SIGTERM or SIGHUP, or by the end of the pipe it writes
# to: END runs once, the target lives on with its own text.
. "${0%/*}/lib.sh"

start busy "$bin/busy" 8
line busy ready
text_of "${pid[busy]}" >"$tmp/before"

check() {
	alive busy
	is "$1: tracer" "$(tracer "${pid[busy]}")" 0
	text_of "${pid[busy]}" >"$tmp/after"
	same "$1: text" "$tmp/before" "$tmp/after"
	tell busy hello
	line busy '^alive wrong'
	is "$1: target" "$line" "alive wrong 0"
}

# shellcheck disable=SC2016
d='pid$target:a.out:work:entry,pid$target:libc:malloc:return { @ = count(); }'
# shellcheck disable=SC2016
for sig in INT TERM HUP; do
	start_dt dt -q -x switchrate=5ms -n "$d" -n 'BEGIN { hit = 0; }' \
	    -n 'pid$target:a.out:work:entry /!hit/ { hit = 1; printf("hit\n"); }' \
	    -n 'END { printf("the end\n"); }' -p "${pid[busy]}"
	line dt '^hit$'
	kill -$sig "${pid[dt]}"
	end dt
	is "$sig: status" "$status" 0
	is "$sig: END" "$(grep -c '^the end$' "$tmp/dt.out")" 1
	# The count is printed at the end.
	has "$tmp/dt.out" '^ +[1-9][0-9]*$'
	check $sig
done

# The reader of its output goes away.  That END ran, and once, shows in the
# status.
# shellcheck disable=SC2016
start_null dt "$DTRAP" -q -x switchrate=5ms \
    -n 'pid$target:a.out:work:entry { printf("%d\n", arg0); }' \
    -n 'END { ends++; exit(40 + ends); }' -p "${pid[busy]}"
line dt .
fd=${out[dt]}
exec {fd}<&-
unset 'out[dt]'
end dt
is "closed pipe: status" "$status" 41
check "closed pipe"

# Twice in a row, and while it is still busy with the first.
# shellcheck disable=SC2016
start_dt dt -q -n "$d" -p "${pid[busy]}"
kill -INT "${pid[dt]}"
kill -INT "${pid[dt]}" 2>/dev/null
end dt
[ "$status" -lt 128 ] || wrong "two SIGINT: killed by signal $((status - 128))"
check "two SIGINT"

# A target that we started lives on as well.
# shellcheck disable=SC2016
start dt "$DTRAP" -q -x switchrate=5ms -o "$tmp/trace" -n "$d" \
    -n 'BEGIN { printf("armed\n"); } END { printf("end of %d\n", $target); }' \
    -c "$bin/busy 2"
line dt ready
target=${line#ready }
kill -TERM "${pid[dt]}"
wait "${pid[dt]}"
is "TERM, own target: status" "$?" 0
unset 'pid[dt]'
is "own target: END" "$(grep -c "^end of $target\$" "$tmp/trace")" 1
is "own target: tracer" "$(tracer "$target")" 0
tell dt hello
line dt '^alive wrong 0'
close_in dt
line dt '^done wrong 0'
finish
