#!/bin/bash
# What it costs to see each switch of a thread: two threads hand a byte to each other,
# which takes two switches a turn.  For dtrap also how far the time without a
# processor is from what the threads say of themselves, in percent.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"

N=${N:-20000}
switches=$PWD/$B/e2e/switches
go="$switches turns $N"

# turn COMMAND...: ns for a turn, best of $RUNS.  The output of the last is kept.
turn() {
	local i
	for ((i = 0; i < RUNS; i++)); do
		timeout 120 "$@" </dev/null >"$tmp/said" 2>"$tmp/err"
		awk -v n="$N" '$1 == "thread" { d = $4 - $3; if (d > m) m = d }
		    END { if (m) printf "%.0f\n", m / n }' "$tmp/said"
	done | sort -n | head -n 1
}

by_dtrap() {
	turn "$DTRAP" -q -n "$1" -c "$go"
}

# off: the largest difference of a thread, between the moments that it names.
off() {
	"$DTRAP" -q -b 64m -n 'sched:::off-cpu { self->t = timestamp; }
	    sched:::on-cpu /self->t/ {
		printf("off %d %d %d\n", tid, self->t, timestamp); self->t = 0; }' \
	    -c "$switches turns 2000" >"$tmp/said" 2>"$tmp/err" </dev/null
	awk 'NR == FNR {
		if ($1 == "thread") {
			from[$2] = $3; to[$2] = $4; own[$2] = $4 - $3 - $7
		}
		next
	}
	$1 == "off" && $3 >= from[$2] && $4 <= to[$2] { seen[$2] += $4 - $3 }
	END {
		for (t in own) {
			d = 100 * (seen[t] - own[t]) / own[t]
			if (d < 0) d = -d
			if (d > most) most = d
		}
		printf "%.2f", most
	}' "$tmp/said" "$tmp/said"
}

table 'a turn, two switches' 'ns' 'off time, %'
# shellcheck disable=SC2086 # words
plain=$(turn $go)
base "$plain" 0
row 'dtrap, time by thread' "$(by_dtrap 'sched:::off-cpu { self->t = timestamp; }
    sched:::on-cpu /self->t/ { @[tid] = sum(timestamp - self->t); self->t = 0; }')" \
    "$(off)"
row 'dtrap, count' "$(by_dtrap 'sched:::off-cpu { @ = count(); }')"
row 'dtrap, stacks of waits' \
    "$(by_dtrap 'sched:::off-cpu { @[ustack()] = count(); }')"
# shellcheck disable=SC2086
have perf && row 'perf record -e cs' "$(turn perf record -q -e cs -c 1 \
    -o "$tmp/perf.data" $go)"
have bpftrace root && row bpftrace "$(turn bpftrace \
    -e 'tracepoint:sched:sched_switch { @[args->prev_pid] = count(); }' -c "$go")"
echo
