#!/bin/bash
# What a sample of the stack costs, 997 times a second: the time of a processor that
# the tracer takes for it, how long the program stands still at most by its own
# clock, and how far the shares of its functions are from the threads' own clocks, in
# percent points.  Half of its time is in the kernel, in system calls and page faults;
# an ordinary user sees it as [kernel], so there the last figure is for compute() alone.
. "${0%/*}/lib.sh"

MS=${MS:-600}
spends=$PWD/$B/e2e/spends

# attached TRACER...: run the program with a tracer attached to it, which says
# what it has seen in "$tmp/folded", a line for each stack and the number of samples
# at its end.  Sets cost, gap and off.
attached() {
	rm -f "$tmp/in" "$tmp/folded"
	mkfifo "$tmp/in"
	"$spends" "$MS" 2 <"$tmp/in" >"$tmp/spent" &
	local it=$!
	exec 9>"$tmp/in"
	beside=$it
	until grep -q ready "$tmp/spent" 2>/dev/null; do :; done
	TIMEFORMAT='%U %S'
	{ time "$@" "$it" >"$tmp/log" 2>&1; } 2>"$tmp/time" &
	local tracer=$!
	# It is attached when it says so, or as soon as it has had time to be.
	until grep -q attached "$tmp/log" 2>/dev/null ||
	    [ "$(awk '/^TracerPid/ { print $2 }' "/proc/$it/status")" != 0 ] ||
	    [ -s "$tmp/perf.data" ]; do
		kill -0 "$tracer" 2>/dev/null || break
	done
	echo go >&9
	exec 9>&-
	wait "$it"
	wait "$tracer"
	beside=
}

# measure NAME TRACER...
measure() {
	local name=$1 i best="" cost gap off
	shift
	for ((i = 0; i < RUNS; i++)); do
		rm -f "$tmp/perf.data"
		attached "$@"
		folded
		read -r cost gap off < <(awk -v t="$(cat "$tmp/time")" '
		NR == FNR { if ($1 == "gap") gap = $2
			else if (NF == 2 && $1 != "ready") own[$1] = $2
			next }
		{ n = $NF; all += n
			kernel += /\[kernel\]/ ? n : 0
			for (f in own) if (index($0, f)) { seen[f] += n; break } }
		END {
			split(t, s, " ")
			for (f in own) {
				if (kernel && f != "compute") continue
				d = 100 * seen[f] / (all ? all : 1) - own[f]
				if (d < 0) d = -d
				if (d > most) most = d
			}
			printf "%.1f %d %.2f\n", all ? (s[1] + s[2]) * 1e6 / all : -1,
			    gap, most
		}' "$tmp/spent" "$tmp/folded")
		[ -z "$best" ] || awk -v a="$cost" -v b="${best%% *}" \
		    'BEGIN { exit !(a < b) }' || continue
		best="$cost $gap $off"
	done
	# shellcheck disable=SC2086 # words
	row "$name" $best
}

by_dtrap() {
	"$DTRAP" -q -x stackformat=folded -o "$tmp/folded" "${@:1:$# - 1}" \
	    -n 'profile-997 { @[ustack()] = count(); }' -p "${*: -1}"
}

by_perf() {
	perf record -q -e cpu-clock -F 997 --call-graph dwarf,16384 \
	    -o "$tmp/perf.data" -p "$1"
}

by_bpftrace() {
	bpftrace -e 'BEGIN { printf("attached\n"); }
	    profile:hz:997 /pid == '"$1"'/ { @[ustack] = count(); }' \
	    >"$tmp/bpf"
}

# What the tracer has written, as lines of stack and number.
folded() {
	[ ! -s "$tmp/perf.data" ] || perf script -i "$tmp/perf.data" -F ip,sym \
	    2>"$tmp/err" | awk 'NF == 0 { if (s != "") print s, 1; s = ""; next }
		{ s = s ";" $2 }' >"$tmp/folded"
	[ ! -s "$tmp/bpf" ] || awk '/^@\[/ { s = "" }
	    /^\]: / { print s, $2; next } { s = s ";" $1 }' "$tmp/bpf" \
	    >"$tmp/folded"
	rm -f "$tmp/bpf"
}

table 'a sample of a stack, 997 a second' 'us' 'longest gap, us' 'points off'
"$spends" "$MS" 2 <<<go >"$tmp/spent"
base 0 "$(awk '$1 == "gap" { print $2 }' "$tmp/spent")" 0
measure 'dtrap' by_dtrap
measure 'dtrap, ordinary user' by_dtrap -x sampling=user
measure 'dtrap -x sampling=stops' by_dtrap -x sampling=stops
have perf && measure 'perf record, copies of stacks' by_perf
have bpftrace root && measure bpftrace by_bpftrace
echo
