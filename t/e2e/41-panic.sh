#!/bin/bash
# timeout: 200
# The tracer dies in the middle of a hit (a clause keeps it there): the thread
# that is stopped for it has not run the instruction yet, and does when it is
# let go.
. "${0%/*}/lib.sh"

for probe in entry return; do
	start threads "$bin/threads" 1000 wait
	line threads ready
	p=${pid[threads]}
	# shellcheck disable=SC2016
	start_dt dt -w -n 'pid$target:a.out:work:'$probe' { chill(500000000); }' \
	    -p "$p"
	tell threads go
	# Until a thread is stopped by its tracer.
	until cat "/proc/$p/task/"*/stat 2>/dev/null | grep -q ') t '; do :; done
	kill -ABRT "${pid[dt]}"
	end dt
	line threads '^calls'
	is "$probe: $line" "$line" 'calls 1000'
	end threads
	is "$probe: status of the target" "$status" 0
done

# At whatever moment: also between the wait that brings a hit and the note that
# is taken of it.
for round in 1 2 3 4 5 6 7 8 9 10 11 12; do
	start threads "$bin/threads" 20000 wait
	line threads ready
	p=${pid[threads]}
	# shellcheck disable=SC2016
	start_dt dt -n 'pid$target:a.out:work:entry { @ = count(); }' -p "$p"
	tell threads go
	until cat "/proc/$p/task/"*/stat 2>/dev/null | grep -q ') t '; do :; done
	kill -ABRT "${pid[dt]}"
	end dt
	line threads '^calls'
	is "round $round: $line" "$line" 'calls 20000'
	end threads
	is "round $round: status of the target" "$status" 0
done
finish
