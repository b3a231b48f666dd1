#!/bin/bash
# A call with a time limit that we stop more than once within a trace is over when
# the limit is, counted from our first stop; and a call that is made later from
# the same place has all of its own.
. "${0%/*}/lib.sh"
need_attach

LIMIT_MS=4000

# Is the thread in epoll_wait()?
until_it_waits() {
	local nr
	until read -r nr _ <"/proc/${pid[target]}/task/$tid/syscall" &&
	    [ "$nr" = 232 ]; do
		alive target
	done
}

# How the calls were made again, of those that we broke off: the results in turn,
# each once.
given() {
	sed -n 's/.*system call 232 was interrupted: //p' "$tmp/dt.err" | uniq |
	    tr '\n' ' '
}

begin() {
	start target "$bin/limited" "$bin/libdlo.so" $LIMIT_MS
	line target '^ready'
	# shellcheck disable=SC2016
	DTRAP_DEBUG=proc start_dt dt -Z -q -p "${pid[target]}" \
	    -n 'pid$target:libdlo.so::entry { @ = count(); }'
	tell target begin
	line target '^waits'
	tid=${line#waits }
	until_it_waits
	# Each stops everybody, for the probes that are put in.  They go on until
	# the kernel's end of the call is clearly later than ours.
	local since=${EPOCHREALTIME/[.,]/}
	until [ $((${EPOCHREALTIME/[.,]/} - since)) -gt 400000 ]; do
		tell target load
		line target '^loaded'
	done
}

finish_it() {
	line target '^got 0'
	end target
	is "$1: status" "$status" 0
	end dt
	is "$1: status of dtrap" "$status" 0
}

# It is given all of its time by the kernel (-514) until we end it.
begin
finish_it "limit"
is "what the call was given" "$(given)" "-514 0 "

# It ends before; what follows is another.
begin
tell target wake
line target '^got 1'
finish_it "another call"
is "what the other call was given" "$(given)" "-514 "
finish
