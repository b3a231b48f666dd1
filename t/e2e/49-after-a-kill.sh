#!/bin/bash
# timeout: 200
# The tracer is killed; the next one finds the program's own action for SIGTRAP
# behind the handler that was left, and takes that and all memory away.
. "${0%/*}/lib.sh"

# left_in PID: what tells that somebody has been here.
left_in() {
	grep -E '^Sig(Blk|Ign|Cgt)' "/proc/$1/status"
	awk '$2 ~ /x/ { print $2, $6 }' "/proc/$1/maps"
}

# ends_at WHAT POINT OPTION...: dtrap is killed at POINT while it traces t.
ends_at() {
	local what=$1 point=$2
	shift 2
	DTRAP_KILL=$point timeout 60 "$DTRAP" -q "$@" -p "${pid[t]}" \
	    >/dev/null 2>&1 </dev/null
	is "$what, $point: the tracer's end" $? 137
}

# ends_well WHAT: victim or busy, as t, comes to its own end.
ends_well() {
	close_in t
	line t '^done'
	is "$1: results" "$line" 'done wrong 0'
	end t
	is "$1: the program's end" "$status" 0
}

# shellcheck disable=SC2016
hot='pid$target:a.out:work:entry,pid$target:a.out:work:return { @ = count(); }'

# `found h' handles SIGTRAP itself.
for what in threads found; do
	case $what in
	threads) start t "$bin/busy" 4 ;;
	found) start t "$bin/trapmask" found h ;;
	esac
	line t '^ready'
	p=${pid[t]}
	left_in "$p" >"$tmp/before"
	for point in commit-end:1 hit-regs:20 commit-end:1; do
		[ "$what" = threads ] || point=commit-end:1
		ends_at "$what" "$point" -n "$hot"
	done
	left_in "$p" >"$tmp/left"
	cmp -s "$tmp/before" "$tmp/left" &&
		wrong "$what: nothing was left that could be taken away"
	dt -q -n "$hot tick-50ms { exit(0); }" -p "$p"
	is "$what: status" "$status" 0
	left_in "$p" >"$tmp/after"
	same "$what: before and afterwards" "$tmp/before" "$tmp/after"
	case $what in
	threads) ends_well "$what" ;;
	found)
		tell t go
		line t '^ready'
		has "$tmp/t.out" '^raised: .* traps 1$'
		tell t go
		end t
		is "$what: the program's end" "$status" 0
		;;
	esac
done

# One whose threads get signals all the time stands still while what was left is
# taken away; the guardian has come to its end by then.
start t "$bin/restless" 8
line t '^ready'
p=${pid[t]}
left_in "$p" >"$tmp/before"
text_of "$p" >"$tmp/text.before"
for _ in 1 2 3 4; do
	ends_at signals commit-end:1 -n 'BEGIN { n = 1; }'
	until text_of "$p" | grep -v ' (anonymous) ' |
	    cmp -s - "$tmp/text.before"; do
		:
	done
	dt -q -n 'BEGIN { exit(0); }' -p "$p"
	is "signals: status" "$status" 0
	left_in "$p" >"$tmp/after"
	same "signals: before and afterwards" "$tmp/before" "$tmp/after"
done
close_in t
end t
is "signals: the program's end" "$status" 0

# A stack that has old frames of signals where nothing has been written since: what
# they lead to is needed by nobody.
start t "$bin/stale"
line t '^ready'
p=${pid[t]}
left_in "$p" >"$tmp/before"
ends_at stale clean-restored:1 -n "$hot tick-50ms { exit(0); }"
tell t fill
line t '^filled'
is "stale: mappings that were left" "$line" 'filled 2'
dt -q -n 'BEGIN { exit(0); }' -p "$p"
is "stale: status" "$status" 0
left_in "$p" >"$tmp/after"
same "stale: before and afterwards" "$tmp/before" "$tmp/after"
ends_well stale

# Threads that sleep in slots, or are about to run one, when these are unmapped:
# they are out of them by then.  The rest is what a slot has no use for.
for point in clean-handler clean-end clean-end clean-end clean-end; do
	start t "$bin/victim"
	line t '^ready'
	# shellcheck disable=SC2016
	ends_at slots "$point:1" -n 'pid$target:a.out:work:,
	    pid$target:a.out:checked_call:,pid$target:a.out:recurse:
	    { @ = count(); } tick-50ms { exit(0); }'
	tell t progress
	line t '^progress'
	is "slots, $point: progress" "$line" 'progress ok wrong 0'
	ends_well "slots, $point"
done

# Threads that block every signal, SIGTRAP with it: no handler would help one
# whose int3 is raised while the kernel has it blocked.  They never touch their
# mask, as somebody does in fork(): what that leaves open is in doc/safety.md.
# shellcheck disable=SC2016
all_blocked=(perl -MPOSIX=:signal_h -e 'my $all = POSIX::SigSet->new;
    $all->fillset; sigprocmask(SIG_BLOCK, $all); exec { $ARGV[0] } @ARGV')
for point in hit-regs:50 hit-moved:200 resume-set:300 clean-begin:1; do
	ends=
	[ "$point" != clean-begin:1 ] || ends='tick-50ms { exit(0); }'
	start t "${all_blocked[@]}" "$bin/busy" 4
	line t '^ready'
	grep -q '^SigBlk:.*fffe7ffbfeff' "/proc/${pid[t]}/status" ||
		wrong "blocked: nothing is"
	ends_at blocked "$point" -n "$hot $ends"
	ends_well "blocked, $point"
done

# The same, killed when all int3s are gone: the next trace finds who blocks what.
masks_of() {
	grep -h '^SigBlk' "/proc/$1/task/"*/status
}
for point in clean-restored:1 clean-handler:1 detach-thread:2; do
	start t "${all_blocked[@]}" "$bin/busy" 4
	line t '^ready'
	# A thread that has just been made blocks the C library's own signals, too.
	while masks_of "${pid[t]}" | grep -q 'fffffffffffb'; do :; done
	masks_of "${pid[t]}" >"$tmp/before"
	ends_at masks "$point" -n "$hot tick-50ms { exit(0); }"
	dt -q -n 'BEGIN { exit(0); }' -p "${pid[t]}"
	is "masks, $point: status" "$status" 0
	masks_of "${pid[t]}" >"$tmp/after"
	same "masks, $point: before and afterwards" "$tmp/before" "$tmp/after"
	ends_well "masks, $point"
done

# A signal that comes to be ignored is thrown away where it is pending: killed at
# any call that dtrap makes for that.
for n in {6..13} 1000000; do
	start t "$bin/discards"
	line t '^ready'
	DTRAP_KILL=remote-back:$n dt -q -n "$hot tick-200ms { exit(0); }" \
	    -p "${pid[t]}"
	tell t end
	line t '^done'
	is "thrown away, $n: results" "$line" 'done wrong 0'
	end t
	is "thrown away, $n: the program's end" "$status" 0
done

# A call that waits is made again after a stop, and the instruction has a probe
# by then.  After a signal's handler the kernel would end it.
for point in hit-fired hit-regs; do
	start t "$bin/polls"
	line t '^ready'
	while [[ $(state "${pid[t]}") != S ]]; do :; done
	# shellcheck disable=SC2016
	ends_at again "$point:1" -n 'pid$target:a.out:poll_once: { @ = count(); }'
	(trap '' PIPE; tell t go) 2>/dev/null # it may have gone
	line t '^poll'
	is "again, $point: the call" "$line" 'poll 1 changed 0'
	end t
	is "again, $point: the program's end" "$status" 0
done

# A call that blocks SIGTRAP is never the kernel's to make, though system calls are
# traced: if dtrap were killed before it has seen the entry, the int3 that comes next
# would kill the program.  The guardian is stopped and helps nobody.
for n in {3..8} 1000; do
	start t "$bin/blocks"
	line t '^ready'
	# shellcheck disable=SC2016
	DTRAP_KILL=syscall-seen:$n start_dt dt -q -n 'pid$target:a.out:main:entry {}
	    syscall::rt_sigprocmask: { @[probename, arg0 == 0] = count(); }' \
	    -p "${pid[t]}"
	guardian=$(guardian_of "${pid[dt]}")
	kill -STOP "$guardian"
	tell t go
	line t '^done'
	is "blocks, $n: results" "$line" 'done wrong 0'
	end t
	is "blocks, $n: the program's end" "$status" 0
	kill -CONT "$guardian"
	end dt
done
is "blocks: the tracer's end" "$status" 0
has "$tmp/dt.out" '^ +entry +0 +20$'
has "$tmp/dt.out" '^ +entry +1 +10$'
has "$tmp/dt.out" '^ +return +1 +30$'

# A child that nobody had come to clean, of any thread: the guardian does.
start t "$bin/bears"
line t '^ready'
# shellcheck disable=SC2016
DTRAP_KILL=follow-keep:1 start_dt dt -q \
    -n 'pid$target:a.out:work:entry { @ = count(); }' -p "${pid[t]}"
tell t go
end dt
is "a child: the tracer's end" "$status" 137
line t '^text'
is "a child" "$line" 'text as before'
end t
is "a child: the program's end" "$status" 0
finish
