#!/bin/bash
# timeout: 600
# Option fastpath: the same answers as by trap, exact counts under signals, faults
# and forks, and nothing left by a tracer that is killed.
. "${0%/*}/lib.sh"
LIMIT=200
# More with more time.
ROUNDS=${ROUNDS:-8}

# Of what the run says: so many hits by jump, at least.
jumped() {
	local n
	n=$(sed -n 's/^dtrap: \([0-9]*\) hits by jump.*/\1/p' "$tmp/err")
	[ "${n:-0}" -ge "$1" ] || wrong "only ${n:-no} hits by jump"
}

# ---- exact counts ----

# shellcheck disable=SC2016
count='
	pid$target:a.out:entered:entry,pid$target:a.out:handled:entry,
	pid$target:a.out:loaded:entry,pid$target:a.out:copied:entry {
		@[probefunc] = count();
	}
	END { printa("%s %@d\n", @); }'
for signals in "" 200; do
	rm -f "$tmp/trace"
	dt -q -v -o "$tmp/trace" -x fastpath=on -n "$count" \
	    -c "$bin/fastpath 8 50000 $signals"
	is "status" "$status" 0
	has "$tmp/out" '^wrong 0$'
	grep -v '^wrong' "$tmp/out" | grep -v ' 0$' | sort >"$tmp/want"
	sort <"$tmp/trace" | grep '^[a-z]* [0-9]*$' >"$tmp/got"
	same "calls, with ${signals:-no} signals" "$tmp/want" "$tmp/got"
	jumped 390000
done

# ---- both ways alike ----

# What clauses say of a run that is always the same.
alike() {
	local way
	for way in off on; do
		rm -f "$tmp/$way.trace"
		dt -q -x strsize=32 -x fastpath=$way -o "$tmp/$way.trace" \
		    -n "$1" -c "$bin/threads 8000"
		is "$way: status" "$status" 0
	done
	sort <"$tmp/off.trace" >"$tmp/off"
	sort <"$tmp/on.trace" >"$tmp/on"
	[ -s "$tmp/off" ] || wrong "nothing from $1"
	same "$1" "$tmp/off" "$tmp/on"
}

# shellcheck disable=SC2016 # $target is dtrap's
{
	alike 'pid$target:a.out:work:entry { @ = count(); @s = sum(arg0); }'
	alike 'pid$target:a.out:work:entry { @[arg0 % 10] = count(); }'
	alike 'pid$target:a.out:work:entry { @[probefunc, arg0 & 3] = max(arg0);
	    @m = min(arg0); @a = avg(arg0); @d = stddev(arg0); }'
	alike 'pid$target:a.out:work:entry { @ = quantize(arg0);
	    @l = lquantize(arg0, 0, 8000, 500); }'
	alike 'pid$target:a.out:work:entry /arg0 % 7 == 0/ {
	    printf("%d %s\n", arg0, probename); }'
	alike 'pid$target:a.out:work:entry { self->n++; self->last = arg0; }
	    pid$target:a.out:work:return /self->n % 100 == 0/ {
	    @[self->n, self->last != 0] = count(); }'
	alike 'pid$target:a.out:work:entry { this->x = arg0 * 2; }
	    pid$target:a.out:work:entry { @ = sum(this->x); }'
	alike 'pid$target:a.out:work:return { @ = sum(arg1); }'
	# What cannot be had inside goes by trap.
	alike 'int n; pid$target:a.out:work:entry { n++; }
	    END { printf("%d\n", n); }'
	alike 'pid$target:a.out:work:entry { @[ustackdepth > 1] = count(); }'
	alike 'pid$target:a.out:work:entry { @[arg0 / (arg0 % 2)] = count(); }
	    ERROR { @e = count(); }'
}

# ---- detached, killed ----

# What a thread was in when a trace ended stays; a later trace unmaps it.
nothing_left() {
	local left
	for _ in 1 2 3 4 5; do
		left=$(grep -c '/memfd:dtrap' "/proc/${pid[busy]}/maps")
		[ "$left" != 0 ] || break
		dt -q -n 'BEGIN { exit(0); }' -p "${pid[busy]}"
	done
	is "mappings left" "$left" 0
}

# shellcheck disable=SC2016
d='pid$target:a.out:work*:entry,pid$target:a.out:work*:return,
    pid$target:libc:malloc:,pid$target:libc:memcpy:entry { @ = count(); }'
start busy "$bin/busy" 4
line busy ready
for i in $(seq "$ROUNDS"); do
	dt -q -x fastpath=on -n "$d" -n "tick-$((i * 20))ms { exit(0); }" \
	    -p "${pid[busy]}"
	is "round $i: status" "$status" 0
done
# Nothing of ours stays when no thread needs it.
nothing_left
for i in $(seq "$ROUNDS"); do
	start_null dt "$DTRAP" -q -x fastpath=on -x switchrate=10ms -n "$d" \
	    -n 'BEGIN { printf("armed\n"); }' -p "${pid[busy]}"
	line dt armed
	for _ in $(seq $((i * i * 20))); do :; done
	kill -KILL "${pid[dt]}"
	end dt
done
# At each step of its own, too; t/torture/kill.sh leaves these to us.
for step in fast-begin fast-file fast-closed fast-filled jumps-begin jump-raised \
    stubs-written fast-release fast-released; do
	DTRAP_KILL=$step:1 dt -q -x fastpath=on -n "$d" \
	    -n 'tick-50ms { exit(0); }' -p "${pid[busy]}"
	is "killed at $step: status" "$status" 137
	alive busy
done
dt -q -v -x fastpath=on -n "$d" -n 'tick-1s { exit(0); }' -p "${pid[busy]}"
is "after kills: status" "$status" 0
jumped 1
nothing_left
close_in busy
end busy
is "status of the target" "$status" 0
has "$tmp/busy.out" '^done wrong 0'
finish
