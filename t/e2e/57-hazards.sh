#!/bin/bash
# timeout: 600
# Option fastpath: what may go wrong where a jump replaces instructions.  doc/safety.md
# has a table of these hazards, with the tests of each.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need_attach
export LD_LIBRARY_PATH=$bin

# Of what the run says: so many hits by jump, at least.
jumped() {
	local n
	n=$(sed -n 's/^dtrap: \([0-9]*\) hits by jump.*/\1/p' "$1")
	[ "${n:-0}" -ge "$2" ] || wrong "only ${n:-no} hits by jump"
}

# with WHAT [N]: that hazard, ready.
with() {
	start h "$bin/hazards" "$@"
	line h ready
}

# ask: have one answer of it; the line before "ok" is in $answer.
ask() {
	tell h x
	answer=
	while line h . && [ "$line" != ok ]; do
		answer=$line
	done
}

# ended: nothing was wrong in it.
ended_well() {
	close_in h
	end h
	is "$1: status" "$status" 0
	has "$tmp/h.out" '^calls [0-9]* wrong 0$'
}

# traced ARGS...: begin a trace of it by jump.
traced() {
	start_dt dt -q -v -x fastpath=on "$@" -p "${pid[h]}"
}

let_go() {
	kill -INT "${pid[dt]}"
	end dt
	is "$1: status of dtrap" "$status" 0
}

# counts NUMBER: what the trace says.
counts() {
	is "$1: hits" "$(grep -E '^ *[0-9]+$' "$tmp/dt.out" | tr -d ' ')" "$2"
}

# shellcheck disable=SC2016
counted='pid$target:a.out:counted:entry { @ = count(); }'

# ---- H13: restartable sequences ----

# The jump of a return would take the last instruction of the sequence along.
# shellcheck disable=SC2016
commits='pid$target:a.out:commits:return { @ = count(); }'
dt -l -v -x fastpath=on -n "$commits" -c "$bin/hazards sequence 1"
has "$tmp/out" '1 by trap: it is in a restartable sequence'
dt -q -x fastpath=on -n "$commits" -c "$bin/hazards sequence 2000"
has "$tmp/out" '^calls 0 wrong 0$'
if ! grep -q '^skip' "$tmp/out"; then
	has "$tmp/out" '^ *8000$'
fi

# ---- H4: words that lead between the instructions ----

# shellcheck disable=SC2016
d='pid$target:a.out:first:,pid$target:a.out:second:entry,
    pid$target:a.out:second:return,pid$target:a.out:third:entry,
    pid$target:a.out:yields:entry,pid$target:a.out:yields:return,
    pid$target:libc:swapcontext:entry { @ = count(); }'
with tight
for _ in $(seq "${ROUNDS:-50}"); do
	dt -q -v -x fastpath=on -n "$d" -n 'tick-5ms { exit(0); }' -p "${pid[h]}"
	is "tight: status" "$status" 0
done
dt -q -v -x fastpath=on -n "$d" -n 'tick-500ms { exit(0); }' -p "${pid[h]}"
jumped "$tmp/err" 1
ask
ended_well tight

# ---- H5: stacks that the program itself looks at; H3: all of the C library ----

# An unwind entry begins a byte before __restore_rt, by whose bytes unwinders know the
# frame of a signal.
with profile
# shellcheck disable=SC2016
traced -n "$counted" -n 'pid$target:libc::entry,
    pid$target:a.out:counted:return { @all = count(); }'
ask
ask
let_go profile
jumped "$tmp/dt.err" 1
ask
ended_well profile

# ---- H7: no memory within reach; H15: none at all ----

with crowded
text_kept "${pid[h]}" >"$tmp/before"
traced -n "$counted"
ask
let_go crowded
counts crowded 1000
has "$tmp/dt.err" '1 places by trap, with 1000 hits: no room within reach'
# The tail of the text has room.  If code of a site lay there, and dtrap were
# killed, the next trace would not find it.
traced -n "$counted"
ask
kill -KILL "${pid[dt]}"
end dt
dt -q -n 'BEGIN { exit(0); }' -p "${pid[h]}"
is "crowded, after a kill: status" "$status" 0
ask
text_kept "${pid[h]}" >"$tmp/after"
same "crowded: text" "$tmp/before" "$tmp/after"
ended_well crowded

with filtered
if ! grep -q '^skip' "$tmp/h.out"; then
	dt -q -x fastpath=on -n "$counted" -p "${pid[h]}"
	is "filtered: status" "$status" 1
	has "$tmp/err" 'cannot be protected .*seccomp'
	traced -x unprotected -n "$counted"
	ask
	let_go filtered
	counts filtered 1000
	has "$tmp/dt.err" '1 places by trap, with 1000 hits: '
fi
ended_well filtered

# ---- H8: a fault that the tracer raises in place of its own stop ----

# The SIGTRAP of the stop never reaches the program, also if the tracer dies when
# the fault is set.
# shellcheck disable=SC2016
d='pid$target:a.out:leaps: { @ = count(); }'
with leaps
for n in 1 2; do
	DTRAP_KILL=signal-instead:$n start_dt dt -q -x fastpath=on -n "$d" \
	    -p "${pid[h]}"
	for _ in $(seq "$n"); do
		ask
	done
	end dt
	is "leaps: status of dtrap" "$status" 137
done
# shellcheck disable=SC2016
traced -n 'pid$target:a.out:leaps:entry { @ = count(); }'
ask
let_go leaps
counts leaps 1
ended_well leaps

# ---- H10: forks in handlers, shared memory, libraries, another program ----

# shellcheck disable=SC2016
dt -q -v -Z -x fastpath=on -n "$counted" -n 'pid$target:libdlo*:from_ctor:entry {
    @lib = count(); }' -o "$tmp/trace" -c "$bin/hazards forks"
is "forks: status" "$status" 0
has "$tmp/out" '^calls [0-9]* wrong 0$'
is "forks: hits" "$(grep -E '^ *[0-9]+$' "$tmp/trace" | head -n 1 | tr -d ' ')" \
    "$(sed -n 's/^calls \([0-9]*\) .*/\1/p' "$tmp/out")"
jumped "$tmp/err" 1

# ---- H16: many threads with little memory ----

# A group of its own for memory, where one may make it.
group=/sys/fs/cgroup/memory$(sed -n 's/^[0-9]*:memory://p' /proc/self/cgroup)/dtrap-$$
if mkdir "$group" 2>/dev/null; then
	# shellcheck disable=SC2016
	start h sh -c 'echo $$ >"$0/cgroup.procs"; exec "$1" many 2000' \
	    "$group" "$bin/hazards"
	line h ready
	read -r used <"$group/memory.usage_in_bytes"
	echo $((used + (64 << 20))) >"$group/memory.limit_in_bytes"
else
	with many 2000
fi
traced -n "$counted"
ask
ask
let_go many
counts many 80000
jumped "$tmp/dt.err" 1
if [ -d "$group" ]; then
	is "many: what the group was refused" \
	    "$(cat "$group/memory.failcnt")" 0
fi
ended_well many
[ ! -d "$group" ] || rmdir "$group"

# ---- H12: entries that indirect jumps may lead to ----

# endbr64 is a nop, because Linux does not check programs for it: the jump takes its
# place.  It comes back.
with marked
ask
own=$answer
# shellcheck disable=SC2016
traced -n 'pid$target:a.out:marked:entry { @ = count(); }'
for _ in 1 2 3; do
	ask
done
let_go marked
jumped "$tmp/dt.err" 2
counts marked 3
ask
is "marked: its bytes afterwards" "$answer" "$own"
ended_well marked
finish
