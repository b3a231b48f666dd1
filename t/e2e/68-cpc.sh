#!/bin/bash
# The cpc provider: a clock of the kernel's, which every machine has, fires as often as
# the program's own clock says; a counter fires, or dtrap says what is lacking.
. "${0%/*}/lib.sh"

dt -q -n 'cpc:::cpu_clock-user-1000000 { exit(0); }' -c true
grep -q 'cpc:::cpu_clock-user-1000000 does not fire: ' "$tmp/err" &&
	skip "$(cat "$tmp/err")"

# A loop that is in user code all the time, in a function that is known.
# shellcheck disable=SC2016
dt -q -n 'cpc:::cpu_clock-user-1000000 { @n = count(); @f[ufunc(arg1)] = count();
	@k = sum(arg0); } END { printa("n %@d\n", @n); printa("in %A %@d\n", @f);
	printa("kernel %@d\n", @k); }' -c "$bin/hot 300000000 push"
is "status" "$status" 0
has "$tmp/out" '^kernel 0$'
awk '$1 == "n" { n = $2 } $2 ~ /^hot`/ { own += $3 }
    END { exit !(n > 20 && own > n / 2) }' "$tmp/out" ||
	wrong "$(cat "$tmp/out")"

# What the machine has is counted, and what it lacks is said.
for event in cycles instructions branch_misses; do
	dt -q -n "cpc:::$event-user-1000000 { @ = count(); }" \
	    -c "$bin/hot 100000000 push"
	is "$event: status" "$status" 0
	if grep -qE '^ *[0-9]+$' "$tmp/out"; then
		is "$event: messages" "$(cat "$tmp/err")" ''
	else
		has "$tmp/err" "cpc:::$event-user-1000000 does not fire: this machine"
	fi
done

dt -n 'cpc:::turns-user-1000000 { }' -c true
is "status" "$status" 1
has "$tmp/err" 'cpc has EVENT-MODE-COUNT, as cycles-user-1000000'
finish
