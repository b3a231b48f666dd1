#!/bin/bash
# timeout: 900
# A program that blocks every signal is launched, and dtrap and its guardian are
# killed: before its libraries are there, with the first of the text restored; at
# each of the first hits, among which are the calls by which it blocks them; and
# in the middle of those.  It lives on.
. "${0%/*}/lib.sh"

# killed POINT OPTION...: both at this point, if dtrap gets there.
killed() {
	local point=$1
	shift
	DTRAP_KILL=$point DTRAP_FAIL=guardian:1 start t "$DTRAP" -q -Z "$@" -c \
	    "/bin/sh -c 'exec $bin/victim blocked alone'"
	line t '^ready'
	tell t progress
	line t '^progress ok'
	close_in t
	line t '^done'
	wait "${pid[t]}" 2>/dev/null
	[ $? != 137 ] || deaths=$((deaths + 1))
	unset 'pid[t]'
	fd=${out[t]}
	exec {fd}<&-
	unset 'out[t]'
}

deaths=0
# shellcheck disable=SC2016
killed restore-run:1 -x evaltime=exec -n 'pid$target:a.out:crowd_*:entry
    { @ = count(); } proc:::exec-success /execname == "victim"/ { exit(0); }'
is "deaths" "$deaths" 1
for point in hit-moved:{1..40} go-on-{regs,mask,back}:{1..4}; do
	# shellcheck disable=SC2016
	killed "$point" -n 'pid$target:a.out:crowd_0x00*:entry { @ = count(); }'
done
[ "$deaths" -ge 30 ] || wrong "$deaths deaths only"
finish
