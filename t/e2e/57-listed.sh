#!/bin/bash
# -l -v with option fastpath: which places of a probe would have a jump, and why
# others would not.  No process is changed for that.
. "${0%/*}/lib.sh"

# What is said of the places of a probe.
places() {
	awk -v want="$1 $2" '
	    $2 ~ /^pid/ { is = $4 " " $5 == want; on = 0 }
	    /^\t[^\t]/ { on = is && $0 == "\tPlaces" }
	    on && /^\t\t/ { sub(/^\t\t/, ""); print }' "$tmp/out"
}

# What a trace says of them at its end.
placed() {
	sed -n -e 's/^dtrap: \([1-9][0-9]*\) places by jump,.*/\1 by jump/p' \
	    -e 's/^dtrap: \([0-9]*\) places by trap, with [0-9]* hits: /\1 by trap: /p' \
	    "$tmp/err"
}

# says PROBE ACTION LINE...: the list does, and then a trace.
says() {
	local func=${1%:*} name=${1#*:} action=$2
	shift 2
	printf '%s\n' "$@" >"$tmp/want"
	# shellcheck disable=SC2016 # $target is dtrap's
	set -- -v -x fastpath=on -n 'pid$target:a.out:'"$func:$name $action" \
	    -c "$bin/placed"
	dt -l "$@"
	is "list of $func $name: status" "$status" 0
	places "$func" "$name" >"$tmp/got"
	same "list of $func $name" "$tmp/want" "$tmp/got"
	dt "$@"
	is "trace of $func $name: status" "$status" 0
	placed >"$tmp/got"
	same "trace of $func $name" "$tmp/want" "$tmp/got"
}

short='too few bytes after the function'
says roomy:entry '{ @ = count(); }' '1 by jump'
says roomy:return '{ @ = count(); }' '1 by jump'
says tiny:entry '{ @ = count(); }' "1 by trap: $short"
says tiny:return '{ @ = count(); }' "1 by trap: $short"
says both:return '{ @ = count(); }' '1 by jump' "1 by trap: $short"
# A jump to another function, that is not always taken, and a return.
says leaves:return '{ @ = count(); }' '2 by jump'
# What clauses need counts where the code has room.
says roomy:entry '{ x[1] = 1; }' '1 by trap: for global associative arrays'
says tiny:entry '{ x[1] = 1; }' "1 by trap: $short"
says roomy:entry '/arg0 == 3/ { x[1] = 1; }' '1 by jump'
says roomy:entry '/x[arg0] == 0/ { x[1] = 1; }' \
    '1 by trap: for global associative arrays'
says roomy:entry '{ @ = count(); } ERROR { x[1] = 1; }' \
    '1 by trap: ERROR: for global associative arrays'

# With bufpolicy=ring, records are the tracer's.
# shellcheck disable=SC2016
for d in '{ trace(arg0); }:1 by trap: for its records' \
    '/arg0 == 3/ { trace(arg0); }:1 by jump' \
    '{ @ = count(); }:1 by jump'; do
	dt -l -v -x fastpath=on -x bufpolicy=ring \
	    -n 'pid$target:a.out:roomy:entry '"${d%%:*}" -c "$bin/placed"
	is "ring: ${d%%:*}" "$(places roomy entry)" "${d#*:}"
done

# ---- nothing is said without the option, nothing is changed ----

# shellcheck disable=SC2016
d='pid$target:a.out::,profile:::tick-1s { @ = count(); }'
start placed "$bin/placed"
line placed ready
maps=$(cat "/proc/${pid[placed]}/maps")
dt -l -v -x fastpath=off -n "$d" -p "${pid[placed]}"
is "without: status" "$status" 0
hasnt "$tmp/out" Places
cp "$tmp/out" "$tmp/without"
# The steps that it would be killed at: mapped memory, a jump, int3s other than
# those of the attach.
for step in fast-begin:1 fast-file:1 jumps-begin:1 stubs-written:1 jump-raised:1 \
    arm-begin:2 slot-map:2; do
	DTRAP_KILL=$step dt -l -v -n "$d" -p "${pid[placed]}"
	is "$step: status" "$status" 0
	is "$step: maps" "$(cat "/proc/${pid[placed]}/maps")" "$maps"
done
has "$tmp/out" '^	Places$'
# What has no place has no such lines, and all others are as without.
awk '/^\tPlaces$/ { on = 1 } !on { print } /^$/ { on = 0 }' "$tmp/out" >"$tmp/got"
same "the other lines" "$tmp/without" "$tmp/got"
close_in placed
end placed
is "placed: status" "$status" 0
finish
