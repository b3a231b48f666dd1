#!/bin/bash
# A thread that waits for its vfork child sleeps in a slot of ours, and comes
# back there: the slot outlives the trace, and its tracer, who does not wait.
# The next tracer gives its memory back, unless it is still needed.
. "${0%/*}/lib.sh"
need_attach

# ours: executable memory that has no file.
ours() {
	awk '$2 ~ /x/ && $6 == ""' "/proc/${pid[vforked]}/maps" >"$tmp/ours"
	wc -l <"$tmp/ours"
}

begin() {
	# shellcheck disable=SC2016
	start_dt dt -q -n 'pid$target:libc:*vfork: { @ = count(); }' \
	    -p "${pid[vforked]}"
}

finish_dt() {
	kill -INT "${pid[dt]}"
	end dt
	is "$what: status" "$status" 0
	is "$what: tracer" "$(tracer "${pid[vforked]}")" 0
}

# in_slot: the parent sleeps in a slot that was left to it.
in_slot() {
	begin
	tell vforked go
	line vforked '^child'
	finish_dt
	is "$what: tracer of the child" "$(tracer "${line#child }")" 0
	is "$what: state" "$(state "${pid[vforked]}")" D
	is "$what: memory left" "$(ours)" 1
}

for stack in own alt; do
	# shellcheck disable=SC2046 # a word or none
	start vforked "$bin/vforked" $([ $stack = own ] || echo alt)
	line vforked ready

	what="asleep, $stack"
	in_slot
	tell vforked on
	line vforked '^parent'
	is "$what" "$line" "parent 7"
	begin
	finish_dt
	is "$what: memory given back" "$(ours)" 0

	what="traced again, $stack"
	in_slot
	begin
	finish_dt
	[ "$(ours)" -gt 0 ] || wrong "$what: the memory is needed"
	tell vforked on
	line vforked '^parent'
	is "$what" "$line" "parent 7"

	# A signal is delivered while it is still in the slot.
	what="in a handler, $stack"
	in_slot
	kill -USR1 "${pid[vforked]}"
	tell vforked on
	line vforked '^handler'
	begin
	finish_dt
	[ "$(ours)" -gt 0 ] || wrong "$what: the memory is needed"
	tell vforked back
	line vforked '^parent'
	is "$what" "$line" "parent 7"
	begin
	finish_dt
	is "$what: memory given back" "$(ours)" 0

	close_in vforked
	end vforked
	is "$stack: status of the target" "$status" 0
done
finish
