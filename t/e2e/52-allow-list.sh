#!/bin/bash
# timeout: 300
# dtrap and its target run under a filter with a list of what is allowed, as in a
# container.  It refuses, or kills for, the number that stands for no call: what
# dtrap answers in the place of the kernel, and what it calls in a thread that is
# about to make a call, must not show such a number to the filter.
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
finish
