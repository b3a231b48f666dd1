#!/bin/bash
# profile-N samples the thread that runs: its pid, its pc, every rate that is
# asked for; tick-N fires in no process.
. "${0%/*}/lib.sh"
each_sampling

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n '
	profile-997 /pid == $target/ { @fast[umod(arg1)] = count(); }
	profile-499 /pid == $target/ { @slow = count(); }
	profile-997 /pid != $target/ { @other = count(); }
	tick-100hz { @tick[pid == $pid] = count(); }
	END {
		printa("fast %A %@d\n", @fast); printa("slow %@d\n", @slow);
		printa("other %@d\n", @other); printa("tick %d %@d\n", @tick);
	}' -c "$bin/hot 1000000000 push"
is "status" "$status" 0
has "$tmp/trace" '^fast hot [1-9][0-9]*$'
has "$tmp/trace" '^slow [1-9][0-9]*$'
has "$tmp/trace" '^tick 1 [1-9][0-9]*$'
hasnt "$tmp/trace" '^other|^tick 0'
# The program does nothing but call its own functions.
awk '$1 == "fast" { all += $3; if ($2 == "hot") own = $3 }
	END { exit !(own > all * 0.9) }' "$tmp/trace" ||
    wrong "samples elsewhere: $(grep ^fast "$tmp/trace")"
finish
