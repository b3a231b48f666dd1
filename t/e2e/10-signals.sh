#!/bin/bash
# Signals, timers, restarted system calls, stops of children: the same
# transcript traced and untraced, with own code and libc probed.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
{
same_traced 'pid$target:a.out:work:' "$bin/signals"
same_traced 'pid$target:a.out::entry,pid$target:libc::entry' "$bin/signals"
# Every instruction that a handler or its return passes through.
same_traced 'pid$target:a.out:on_info:,pid$target:a.out:on_alarm:,pid$target:libc:raise:,pid$target:libc:kill:,pid$target:libc:sigprocmask:' \
    "$bin/signals"
}
finish
