#!/bin/bash
# A flat profile of a busy program of eight threads is what the threads' own
# clocks say: to four in a hundred, and what chance makes of that many samples.
# (On a busy machine there are fewer.)
. "${0%/*}/lib.sh"
each_sampling

# shellcheck disable=SC2016
start dt "$DTRAP" -q -o "$tmp/trace" -n '
	profile-997 /pid == $target/ { @[ufunc(arg1)] = count(); @t[tid] = count(); }
	END { printa("at %A %@d\n", @); printa("thread %d %@d\n", @t); }' \
    -c "$bin/shares"
line dt ready
tell dt go
end dt
is "status" "$status" 0
sed 's/shares`//' "$tmp/trace" | awk '
	NR == FNR && NF == 2 && $1 != "ready" { own[$1] = $2 }
	NR != FNR && $1 == "at" { seen[$2] = $3; all += $3 }
	NR != FNR && $1 == "thread" && $3 > all / 100 { threads++ }
	END {
		for (f in own) {
			n++
			share = 100 * seen[f] / (all ? all : 1)
			diff = share - own[f]
			chance = 3 * sqrt(own[f] * (100 - own[f]) / (all ? all : 1))
			printf "%s %.1f, by its clock %.1f\n", f, share, own[f]
			bad += diff > 4 + chance || diff < -4 - chance
		}
		print all, "samples,", threads, "threads"
		exit !(n == 3 && bad == 0 && all >= 200 && threads >= 8)
	}' "$tmp/dt.out" - || wrong "the profile is not what the clocks say"
finish
