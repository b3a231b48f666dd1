#!/bin/bash
# SIGTRAP blocked or ignored in the target: a hit survives it, and the target
# finds it as it was.
. "${0%/*}/lib.sh"

for how in default block ignore; do
	# shellcheck disable=SC2016
	same_traced 'pid$target:a.out:work:entry,pid$target:a.out:work:return' \
	    "$bin/sigtrap" $how
	is "$how: hits" "$hits" 400
done
finish
