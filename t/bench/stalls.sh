#!/bin/bash
# How long a client waits for an answer of its server at most, when that is
# attached to, 10,000 probes are put into it, and it is let go again: threads
# that sleep until they are asked, and some that get a signal each millisecond.  On a busy machine the client waits for others,
# too: AHEAD='nice -n -20' or the like has client and server go ahead of them, but
# not the tracer.
. "${0%/*}/lib.sh"

TURNS=${TURNS:-7}
stalls=$PWD/$B/e2e/stalls
mkfifo "$tmp/in" "$tmp/out" "$tmp/said"

# client THREADS [signals]: it and its server run, $server is the latter's number.
client() {
	# shellcheck disable=SC2086 # words
	${AHEAD:-} "$stalls" "$@" <"$tmp/in" >"$tmp/out" &
	beside=$!
	exec 3>"$tmp/in" 4<"$tmp/out"
	read -r _ server <&4
}

client_ends() {
	exec 3>&- 4<&-
	wait "$beside"
	beside=
}

# longest: ms, since it was asked last.
longest() {
	local us
	echo >&3
	read -r _ us <&4
	awk -v us="$us" 'BEGIN { printf "%.2f ", us / 1000 }'
}

# turns COMMAND...: the medians of what it says, so many times.
turns() {
	local i
	for ((i = 0; i < TURNS; i++)); do
		longest >/dev/null
		"$@"
		echo
	done | awk '{ for (i = 1; i <= NF; i++) v[i, NR] = $i }
	    END {
		for (i = 1; i <= NF; i++) {
			for (j = 1; j <= NR; j++)
				for (k = j; k > 1 && v[i, k] < v[i, k - 1]; k--) {
					t = v[i, k]
					v[i, k] = v[i, k - 1]
					v[i, k - 1] = t
				}
			printf "%s ", v[i, int((NR + 1) / 2)]
		}
	    }'
}

untouched() {
	read -r -t 0.5 _ <>"$tmp/said"
	longest
}

passing_by() {
	"$DTRAP" -q -n 'BEGIN { exit(0); }' -p "$server" >/dev/null
	longest
}

by_gdb() {
	gdb -q -nx -batch -p "$server" >/dev/null 2>&1
	longest
}

by_strace() {
	strace -f -e trace=none -o "$tmp/trace" -p "$server" 2>"$tmp/said" &
	local tracer=$!
	read -r _ <"$tmp/said"
	kill -TERM $tracer
	wait $tracer
	longest
}

# probed [OPTION...]: the probes and back: two values.
probed() {
	# shellcheck disable=SC2016
	"$DTRAP" "$@" -q -x switchrate=5ms -p "$server" \
	    -n 'pid$target:a.out:site_*:entry { @ = count(); }' \
	    -n 'tick-50ms { printf("armed\n"); }' >"$tmp/said" 2>/dev/null &
	local tracer=$!
	exec 5<"$tmp/said"
	read -r _ <&5
	longest
	kill -TERM $tracer
	cat <&5 >/dev/null
	wait $tracer
	exec 5<&-
	longest
}

for n in 8 300; do
	client $n
	# shellcheck disable=SC2046 # two words
	{
	table "ms a client of $n threads waits" ''
	row 'untraced' $(turns untouched)
	row 'dtrap, attach and let go' $(turns passing_by)
	have strace && row 'strace -f, the same' $(turns by_strace)
	have gdb && row 'gdb, the same' $(turns by_gdb)
	table "10,000 probes, $n threads" in out
	row 'dtrap' $(turns probed)
	row 'dtrap, by jump' $(turns probed -x fastpath=on)
	}
	client_ends
done
client 8 signals
# shellcheck disable=SC2046
{
table '8 threads that get signals' in out
row 'dtrap, 10,000 probes' $(turns probed)
}
client_ends
