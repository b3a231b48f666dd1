#!/bin/bash
# timeout: 300
# Eight threads call a function 100,000 times: none is missed, none is counted
# twice, by entry and by return, started by us and attached to.
. "${0%/*}/lib.sh"
LIMIT=140

# shellcheck disable=SC2016
count='
	pid$target:a.out:work:entry { @entry = count(); @tids[tid] = count(); }
	pid$target:a.out:work:return { @return = count(); @sum = sum(arg1); }
	END {
		printa("entry %@d\n", @entry);
		printa("return %@d\n", @return);
		printa("sum %@d\n", @sum);
		printa("thread %@d\n", @tids);
	}'

check() {
	local f=$1 calls sum
	calls=$(sed -n 's/^calls //p' "$f")
	sum=$(sed -n 's/^sum //p' "$2" | head -n 1)
	is "calls" "$calls" 100000
	is "entries" "$(sed -n 's/^entry //p' "$3")" "$calls"
	is "returns" "$(sed -n 's/^return //p' "$3")" "$calls"
	is "sum of what was returned" "$(sed -n 's/^sum //p' "$3")" "$sum"
	is "threads" "$(grep -c '^thread 12500$' "$3")" 8
}

dt -q -o "$tmp/trace" -n "$count" -c "$bin/threads 100000"
is "status" "$status" 0
check "$tmp/out" "$tmp/out" "$tmp/trace"

start threads "$bin/threads" 100000 wait
line threads ready
start_null dt "$DTRAP" -q -x switchrate=5ms -n 'BEGIN { printf("armed\n"); }' \
    -n "$count" -p "${pid[threads]}"
line dt armed
tell threads go
end threads
is "status of the target" "$status" 0
end dt
is "status" "$status" 0
check "$tmp/threads.out" "$tmp/threads.out" "$tmp/dt.out"
finish
