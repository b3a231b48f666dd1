#!/bin/bash
# SIGTRAP blocked, ignored or handled in the target: a hit survives it, and the
# target finds everything as it was.
. "${0%/*}/lib.sh"

# In the place of the program's action stands ours, for the case that we are
# killed: /proc says that the signal is caught.  The program is never shown it.
# Nor that SIGTRAP is not blocked where all is: in a handler, here.
FILTER='/library:/s/ignored [01] caught [01]/ours/; s/^(in handler: .*) blocked [01] ours/\1/'
export FILTER

# shellcheck disable=SC2016
{
work='pid$target:a.out:work:entry,pid$target:a.out:work:return'
all='pid$target:a.out:work:,pid$target:a.out:say:entry,pid$target:a.out:on_*:'

for how in default block ignore; do
	same_traced "$work" "$bin/sigtrap" $how
	is "$how: hits" "$hits" 400
done
same_traced "$all" "$bin/trapmask" waiting
same_traced "$work" "$bin/trapmask" toggling
is "toggling: hits" "$hits" 1800
same_traced "$work" "$bin/trapmask" busily
is "busily: hits" "$hits" 6004
same_traced "$all" "$bin/trapmask" actions
same_traced "$all" "$bin/trapmask" handlers
same_traced "$work" "$bin/trapmask" everything
same_traced "$all" "$bin/trapmask" everything
# Where the bit is hidden no hit takes our handler, and none puts it back: that
# is a system call in the thread.
same_traced "$work" "$bin/trapmask" quiet
is "quiet: hits" "$hits" 400
DTRAP_DEBUG="trap" "$DTRAP" -q -n "$work { @ = count(); }" \
    -c "$bin/trapmask quiet" >"$tmp/out" 2>"$tmp/err"
n=$(grep -c ' our action: ' "$tmp/err")
[ "$n" -gt 0 ] || wrong "it is not said when the handler is set"
[ "$n" -lt 20 ] || wrong "the handler is set $n times"
same_traced "$work" "$bin/trapmask" threads
# A thread that has met an int3 is stopped for another reason before it says so.
same_traced "$work,profile-997" "$bin/trapmask" two
same_traced "$work" "$bin/trapmask" children
# Programs without a run-time linker, one of another C library.
for lib in static musl; do
	[ -x "$bin/trapmask-$lib" ] || continue
	same_traced "$work" "$bin/trapmask-$lib" toggling
	same_traced "$all" "$bin/trapmask-$lib" actions
	same_traced "$all" "$bin/trapmask-$lib" handlers
done
# At a nop, whose hit leaves the registers alone: the repair does not.
for how in default ignore; do
	case $how in
	ignore) trap '' TRAP ;;
	esac
	FILTER="s,^.* ns per,N ns per," same_traced 'hot$target:::here' "$bin/hot" 500 sdt
	is "$how, a static probe: hits" "$hits" 500
	trap - TRAP
done
# The library's own functions, those that change masks among them.
same_traced "$work"',pid$target:libc:*sig*:,pid$target:libc:raise:' \
    "$bin/trapmask" actions
# What a process that is attached to does already.
for how in h b i bi; do
	start plain "$bin/trapmask" found $how
	line plain '^ready'
	tell plain go
	line plain '^ready'
	tell plain go
	end plain
	start found "$bin/trapmask" found $how
	line found '^ready'
	start_dt dt -q -n "$work { @hits = count(); }" -p "${pid[found]}"
	tell found go
	line found '^ready'
	kill -INT "${pid[dt]}"
	end dt
	has "$tmp/dt.out" '^ *(46|52)$'
	tell found go
	end found
	is "found $how: status" "$status" 0
	grep -v '^ready' "$tmp/plain.out" | sed -E "/^let go/!{$FILTER}" >"$tmp/a"
	grep -v '^ready' "$tmp/found.out" | sed -E "/^let go/!{$FILTER}" >"$tmp/b"
	same "found $how: output" "$tmp/a" "$tmp/b"
done
}
finish
