#!/bin/bash
# How targets end: exit, signal, exec; the line that tells, and the status.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
d='pid$target:a.out:work:entry { trace(arg0); }'

dt -n "$d" -c "$bin/ending exit 0"
is "exit 0: status" "$status" 0
has "$tmp/err" '^dtrap: pid [0-9]+ has exited$'
dt -n "$d" -c "$bin/ending exit 7"
is "exit 7: status" "$status" 0
has "$tmp/err" '^dtrap: pid [0-9]+ exited with status 7$'
dt -n "$d" -c "$bin/ending signal 9"
is "SIGKILL: status" "$status" 0
has "$tmp/err" '^dtrap: pid [0-9]+ terminated by SIGKILL$'
dt -n "$d" -c "$bin/ending signal 11"
has "$tmp/err" '^dtrap: pid [0-9]+ terminated by SIGSEGV$'
dt -n "$d" -c "$bin/ending signal 5"
has "$tmp/err" '^dtrap: pid [0-9]+ terminated by SIGTRAP$'
dt -q -n "$d" -c "$bin/ending exit 7"
hasnt "$tmp/err" .

# exec: the probes go with the old image; what follows runs clean.
dt -n "$d" -c "$bin/ending exec $bin/argv one two"
is "exec: status" "$status" 0
has "$tmp/out" '^\[one\]$'
has "$tmp/out" '^\[two\]$'
has "$tmp/err" '^dtrap: pid [0-9]+ has exited$'
dt -n "$d" -c "$bin/ending exec $bin/ending exit 3"
has "$tmp/err" '^dtrap: pid [0-9]+ exited with status 3$'

# exit() in a clause ends the trace; a target of ours runs on to its end.
# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n 'pid$target:a.out:work:entry { exit(4); }
	END { printf("end\n"); }' -c "$bin/threads 1000"
is "exit(4): status" "$status" 4
is "END" "$(grep -c '^end$' "$tmp/trace")" 1
finish
