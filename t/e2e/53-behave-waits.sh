#!/bin/bash
# Attached to and let go while its threads sleep in every call that waits: each
# ends as if nobody had come.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach

"$behave" waiting-calls >"$tmp/plain" || fail "plain: status $?"
echo "status 0" >>"$tmp/plain"
launched waiting-calls "$wide"

# shellcheck disable=SC2016
for probes in "$hot" 'pid$target:libc:*wait*:entry,syscall:::' "$hot,syscall:::"; do
	start calls "$behave" -m waiting-calls
	line calls '^ready'
	for _ in 1 2 3 4 5; do
		start_dt dt -Z -q -n "$probes { @hits = count(); }" \
		    -p "${pid[calls]}"
		kill -INT "${pid[dt]}"
		end dt
		is "status of dtrap" "$status" 0
	done
	start_dt dt -Z -q -n "$probes { @hits = count(); }" -p "${pid[calls]}"
	tell calls go
	end calls
	echo "status $status" >>"$tmp/calls.out"
	end dt
	grep -v '^ready' "$tmp/calls.out" >"$tmp/traced"
	same "calls" "$tmp/plain" "$tmp/traced"
done
finish
