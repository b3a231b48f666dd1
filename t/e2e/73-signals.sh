#!/bin/bash
# proc: every signal is sent once, and what becomes of it is seen.
. "${0%/*}/lib.sh"

cat >"$tmp/signals.d" <<'D'
proc:::signal-send {
	printf("send %d by %d to %d\n", args[2], pid, args[1]->pr_pid);
}
proc:::signal-handle
/args[1]->si_code <= 0/
{
	printf("handle %d by %d from %d\n", args[0], pid, args[1]->si_pid);
}
proc:::signal-handle
/args[1]->si_code > 0/
{
	printf("handle %d by %d code %d\n", args[0], pid, args[1]->si_code);
}
proc:::signal-discard { printf("discard %d by %d\n", args[2], pid); }
proc:::signal-clear { printf("clear %d by %d\n", args[0], pid); }
proc:::fault { printf("fault %d at 0x%p\n", args[0], args[1]->si_addr); }
D

dt -q -o "$tmp/trace" -s "$tmp/signals.d" -c "$bin/sending"
is "status" "$status" 0
# The sender and who gets the signal run at the same time.
grep -v '^$' "$tmp/trace" | sort >"$tmp/seen"
sort "$tmp/out" >"$tmp/want"
same "the signals that were sent and those that were seen" \
    "$tmp/want" "$tmp/seen"

# From a process that is not traced: seen when it arrives, where it arrives.
need_attach
start target "$bin/sending" wait
line target '^ready ([0-9]+)$'
to=${pid[target]}
start_dt dt -q -p "${pid[target]}" -s "$tmp/signals.d"
tell target go
kill -USR1 "${pid[target]}"
end dt
end target
grep -E '^(send|handle)' "$tmp/dt.out" >"$tmp/seen"
printf 'send 10 by %d to %d\nhandle 10 by %d from %d\n' "$to" "$to" "$to" $$ >"$tmp/want"
same "a signal from outside" "$tmp/want" "$tmp/seen"
finish
