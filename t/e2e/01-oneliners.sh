#!/bin/bash
# The two command lines that say what dtrap is for.
. "${0%/*}/lib.sh"
need python3

# shellcheck disable=SC2016
dt -n 'pid$target:libc:malloc:entry /arg0 > 64/ { @[probefunc] = quantize(arg0); }' \
    -c 'python3 -c "print(sum(range(1000)))"'
is "status" "$status" 0
has "$tmp/out" '^499500$'
has "$tmp/out" '^  malloc {44} *$'
has "$tmp/out" '^ {11}value  ------------- Distribution ------------- count {4}$'
# Nothing of 64 bytes or less passed the predicate: no count below 64.
awk '$2 ~ /^\|/ && $1 < 64 && $NF != 0 { bad = 1 } END { exit bad }' "$tmp/out" ||
    wrong "sizes below the predicate were counted"
[ "$(awk '$2 ~ /^\|/ { n += $NF } END { print n + 0 }' "$tmp/out")" -gt 50 ] ||
    wrong "too few calls of malloc"
has "$tmp/err" "^dtrap: description 'pid.target:libc:malloc:entry ' matched 1 probe\$"
has "$tmp/err" '^dtrap: pid [0-9]+ has exited$'

start busy "$bin/busy" 2
line busy ready
# shellcheck disable=SC2016
start_null dt "$DTRAP" -x switchrate=5ms \
    -n 'pid$target::work:return { printf("%d\n", arg1); }' -p "${pid[busy]}"
line dt ':work|work:return'
for _ in 1 2 3 4 5 6 7 8 9 10; do
	line dt 'work:return -?[0-9]+$'
done
close_in busy
end busy
is "status of the target" "$status" 0
has "$tmp/busy.out" '^done wrong 0$'
end dt
is "status" "$status" 0
has "$tmp/dt.err" "^dtrap: description 'pid.target::work:return ' matched 1 probe\$"
has "$tmp/dt.err" '^dtrap: pid [0-9]+ has exited$'
finish
