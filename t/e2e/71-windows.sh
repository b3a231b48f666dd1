#!/bin/bash
# timeout: 600
# Option fastpath where a jump begins before the return that it stands for, or ends with
# a call, or is shared by the entry and the return of a short function: exact counts
# under signals, faults and single steps, the program's own pc in its handlers, and
# nothing left by a tracer that is killed at any step.
. "${0%/*}/lib.sh"
LIMIT=200
ROUNDS=${ROUNDS:-4}

d=
for name in pops adds frames branches loads outer gets_it sets_it seven sums keeps \
    reads reads_late empty landed shorts skips spins; do
	d+="${d:+,}pid\$target:a.out:$name:entry,pid\$target:a.out:$name:return"
done
# shellcheck disable=SC2016
d+=',pid$target:a.out:copies:entry,pid$target:a.out:jumps_in:entry'

# Of what the run says: so many hits by jump, at least.
jumped() {
	local n
	n=$(sed -n 's/^dtrap: \([0-9]*\) hits by jump.*/\1/p' "$tmp/err")
	[ "${n:-0}" -ge "$1" ] || wrong "only ${n:-no} hits by jump"
}

# ---- counts ----

for signals in "" 1000 step; do
	for way in off on; do
		n=2000
		[ $way = off ] || n=100000
		[ "$signals" != step ] || n=200
		rm -f "$tmp/trace"
		dt -q -v -o "$tmp/trace" -x fastpath=$way \
		    -n "$d { @[probefunc, probename] = count(); }
		    END { printa(\"%s %s %@d\n\", @); }" \
		    -c "$bin/backs 4 $n $signals"
		is "$way: status" "$status" 0
		has "$tmp/out" '^wrong 0$'
		has "$tmp/out" "^faults $((4 * 4 * ((n + 992) / 1000)))\$"
		[ "$signals" != step ] || has "$tmp/out" '^steps 1$'
		grep -E ' (entry|return) ' "$tmp/out" | sort >"$tmp/want"
		grep -E '^[a-z_]+ (entry|return) [0-9]+$' "$tmp/trace" |
		    sort >"$tmp/got"
		same "$way, ${signals:-no} signals" "$tmp/want" "$tmp/got"
	done
	# All, as far as no signal comes in between and no thread is in the way
	# of the last ones.  At a fault in the middle of its window
	# reads_late() loses its jump for a while.
	[ -n "$signals" ] || has "$tmp/err" '^dtrap: (3[6-9]|40) places by jump'
	[ "$signals" = step ] || jumped 100000
done

# ---- detached, killed ----

nothing_left() {
	local left
	for _ in 1 2 3 4 5; do
		left=$(grep -c '/memfd:dtrap' "/proc/${pid[backs]}/maps")
		[ "$left" != 0 ] || break
		dt -q -n 'BEGIN { exit(0); }' -p "${pid[backs]}"
	done
	is "mappings left" "$left" 0
}

start backs "$bin/backs" 4 0 1000
line backs ready
for i in $(seq "$ROUNDS"); do
	dt -q -x fastpath=on -n "$d { @ = count(); }" \
	    -n "tick-$((i * 20))ms { exit(0); }" -p "${pid[backs]}"
	is "round $i: status" "$status" 0
done
nothing_left
for i in $(seq "$ROUNDS"); do
	start_null dt "$DTRAP" -q -x fastpath=on -x switchrate=10ms \
	    -n "$d { @ = count(); }" -n 'BEGIN { printf("armed\n"); }' \
	    -p "${pid[backs]}"
	line dt armed
	for _ in $(seq $((i * i * 20))); do :; done
	kill -KILL "${pid[dt]}"
	end dt
	alive backs
done
for step in arm-begin arm-run commit-armed commit-end stubs-written jumps-begin \
    boards-written jump-raised restore-unshared restore-run clean-begin \
    clean-restored clean-boards clean-handler \
    fast-release fast-released clean-end; do
	DTRAP_KILL=$step:1 dt -q -x fastpath=on -n "$d { @ = count(); }" \
	    -n 'tick-50ms { exit(0); }' -p "${pid[backs]}"
	is "killed at $step: status" "$status" 137
	alive backs
done
# A signal waits for the end of a firing and then comes in place of a SIGTRAP.
for n in 1 2 5; do
	DTRAP_KILL=signal-instead:$n dt -q -x fastpath=on -n "$d { @ = count(); }" \
	    -n 'tick-100s { exit(0); }' -p "${pid[backs]}"
	is "killed at signal-instead:$n: status" "$status" 137
	alive backs
done
# The next tracer restores what these have left.
for step in leftover-jumps leftover-mended leftover-boards; do
	start_null dt "$DTRAP" -q -x fastpath=on -n "$d { @ = count(); }" \
	    -n 'BEGIN { printf("armed\n"); }' -p "${pid[backs]}"
	line dt armed
	kill -KILL "${pid[dt]}"
	end dt
	DTRAP_KILL=$step:1 dt -q -x fastpath=on -n "$d { @ = count(); }" \
	    -n 'tick-50ms { exit(0); }' -p "${pid[backs]}"
	is "killed at $step: status" "$status" 137
	alive backs
done
dt -q -v -x fastpath=on -n "$d { @ = count(); }" -n 'tick-1s { exit(0); }' \
    -p "${pid[backs]}"
is "after kills: status" "$status" 0
jumped 10000
nothing_left
close_in backs
end backs
is "status of the target" "$status" 0
has "$tmp/backs.out" '^done wrong 0'
finish
