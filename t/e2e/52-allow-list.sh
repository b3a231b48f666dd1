#!/bin/bash
# timeout: 300
# dtrap and its target run under a filter with a list of what is allowed, as in a
# container.  It refuses, or kills for, the number that stands for no call: what
# dtrap answers in the place of the kernel, and what it calls in a thread that is
# about to make a call, must not show such a number to the filter.  Nor must
# detaching from a thread that is about to make one which a signal would end.
. "${0%/*}/lib.sh"
"$bin/older" -l /bin/true || skip "no filter can be had"

real=$DTRAP
# shellcheck disable=SC2016
work='pid$target:a.out:work:entry,pid$target:a.out:work:return'
for how in -l -k; do
	printf '#!/bin/sh\nexec "%s" %s "%s" "$@"\n' "$bin/older" $how "$real" \
	    >"$tmp/dtrap"
	chmod +x "$tmp/dtrap"
	DTRAP=$tmp/dtrap
	for what in answers twice inherits; do
		same_traced "$work,syscall:::entry" "$bin/trapaction" $what
	done
done

# Whether a thread is in front of its call when it is let go is chance.
DTRAP=$real
start entering "$bin/older" -k "$bin/entering" 8
line entering '^ready'
for i in $(seq 20); do
	start_dt dt -q -n 'syscall::epoll_wait:entry { n++; }
	    syscall::epoll_wait:entry /n == 100/ { exit(0); }' \
	    -p "${pid[entering]}"
	end dt
	is "let go ($i): status" "$status" 0
	alive entering
	is "let go ($i): tracer" "$(tracer "${pid[entering]}")" 0
done
close_in entering
end entering
is "let go: status" "$status" 0
has "$tmp/entering.out" '^wrong 0$'
finish
