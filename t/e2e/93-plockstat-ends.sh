#!/bin/bash
# timeout: 300
# What plockstat does to those it looks at: nothing to a lock that nobody waits
# for; children are theirs; and however it ends, they live on.
. "${0%/*}/lib.sh"
LIMIT=100

# 100,000 free locks: a tracepoint would stop the thread each time.
"$PLOCKSTAT" -C "$bin/contend" free 100000 >"$tmp/out" 2>"$tmp/err" ||
    wrong "free: status $?"
n=$(sed -n 's/^switches //p' "$tmp/out")
[ "${n:-100000}" -lt 100 ] || wrong "stopped $n times"
hasnt "$tmp/out" 'cold_lock'

# By fork and by exec; two libraries in one run.
"$PLOCKSTAT" sh -c "'$bin/contend' mutex 3; '$bin/contend-static' wr 2; :" \
    >"$tmp/out" 2>"$tmp/err" || wrong "children: status $?"
# shellcheck disable=SC2016 # module`name
has "$tmp/out" '^ +24 +[0-9]+ [0-9]+/contend`hot_lock +contend`victim\+0x'
# shellcheck disable=SC2016 # module`name
has "$tmp/out" \
    '^ +16 +[0-9]+ [0-9]+/contend-static`hot_lock +contend-static`victim\+0x'

# Until a thread of the process sleeps in a futex call (202).
asleep() {
	until cat "/proc/$1/task/"*/syscall 2>/dev/null | grep -q '^202 '; do
		:
	done
}

# By every door, while threads wait: also by the emergency exit.  The lock of the
# last round is held until we say so, or it might end before we have looked.
for signal in INT TERM ABRT SEGV; do
	for what in -C -A; do
		start contend "$bin/contend" mutex 30 last
		line contend ready
		p=${pid[contend]}
		text_kept "$p" >"$tmp/before"
		# shellcheck disable=SC2016 # the shell's own
		start_null plock sh -c 'exec "$0" "$1" -v -p "$2" 2>&1' \
		    "$PLOCKSTAT" "$what" "$p"
		line plock 'tracing enabled'
		tell contend go
		asleep "$p"
		kill -$signal "${pid[plock]}"
		end plock
		is "$what $signal: tracer" "$(tracer "$p")" 0
		# What displaced instructions ran in stays after an emergency.
		text_kept "$p" >"$tmp/after"
		same "$what $signal: text" "$tmp/before" "$tmp/after"
		line contend ready
		tell contend on
		line contend '^count 240'
		end contend
		is "$what $signal: status of contend" "$status" 0
	done
done
finish
