#!/bin/bash
# No text is changed before what undoes it is known to work: a process that
# cannot be protected is refused probes in its text, with the reason, unless
# `unprotected' is set.  A guardian that is killed is replaced, and that is said.
. "${0%/*}/lib.sh"
need_attach

start t "$bin/hotcool"
line t ready
p=${pid[t]}
text_kept "$p" >"$tmp/before"

own_text() {
	text_kept "$p" >"$tmp/after"
	same "$1: text" "$tmp/before" "$tmp/after"
}

# Neither memory for the list, nor for the handler.
# shellcheck disable=SC2016
hot='pid$target:a.out:hot:entry { @ = count(); }
    pid$target:a.out:hot:entry /n++ > 5/ { exit(0); }'
lacks=(env DTRAP_FAIL=map:1 "$DTRAP" -q)
"${lacks[@]}" -n "$hot" -p "$p" >"$tmp/out" 2>"$tmp/err" </dev/null
is "refused: status" $? 1
has "$tmp/err" "^dtrap: could not enable tracing: pid $p cannot be protected .*: memory for the list .*; -x unprotected traces it anyway"
is "refused: tracer" "$(tracer "$p")" 0
own_text refused
alive t

# What changes no text is not refused.
"${lacks[@]}" -n 'syscall::: { @ = count(); } tick-10ms { exit(0); }' \
    -p "$p" >"$tmp/out" 2>"$tmp/err" </dev/null
is "no text: status" $? 0
is "no text: words" "$(cat "$tmp/err")" ''

# Asked for.
"${lacks[@]}" -x unprotected -n "$hot" -p "$p" >"$tmp/out" 2>"$tmp/err" </dev/null
is "unprotected: status" $? 0
has "$tmp/err" "^dtrap: pid $p is traced without protection: memory for the list .*: if dtrap is killed, the process dies too"
has "$tmp/out" '^ +[1-9][0-9]*$'
own_text unprotected

# Launched, it is looked at before its libraries are there.
"${lacks[@]}" -n 'syscall::getppid: { @ = count(); }' \
    -c "$bin/hotcool 1 1" >"$tmp/out" 2>"$tmp/err" </dev/null
is "launched: status" $? 0
has "$tmp/err" '^dtrap: pid [0-9]+ cannot be protected .* probes in its code do not fire'

# The guardian is killed while a probe is there.
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:hot:entry { @ = count(); }' -p "$p"
first=$(guardian_of "${pid[dt]}")
kill -KILL "$first"
until second=$(guardian_of "${pid[dt]}") && [ "$second" != "$first" ]; do :; done
until grep -q '^dtrap: the guardian process was killed: a new one was started$' \
    "$tmp/dt.err"; do :; done
# The other one is as good.
kill -KILL "${pid[dt]}"
end dt
while kill -0 "$second" 2>/dev/null &&
    [ "$(state "$second")" != Z ]; do :; done
own_text "after both"
alive t
tell t 'spin 10'
line t '^spun'

# It wakes up when somebody stops it, and the end does not wait for it.
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:hot:entry { @ = count(); }' -p "$p"
kill -STOP "$(guardian_of "${pid[dt]}")"
kill -INT "${pid[dt]}"
end dt
is "stopped guardian: status" "$status" 0
own_text "stopped guardian"

# The only thread waits for its vfork child: no handler can be installed now.
start v "$bin/vforked"
line v ready
tell v go
line v '^child'
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:libc:*vfork:entry { @ = count(); }' -p "${pid[v]}"
until grep -q "^dtrap: pid ${pid[v]} cannot be protected" "$tmp/dt.err"; do :; done
tell v on
line v '^parent'
until grep -q "^dtrap: pid ${pid[v]} is protected again" "$tmp/dt.err"; do :; done
tell v go
line v '^child'
tell v on
line v '^parent'
kill -INT "${pid[dt]}"
end dt
has "$tmp/dt.out" '^ +[1-9][0-9]*$'
close_in v
end v
is "vfork: status" "$status" 0

# A vfork child that was there before us has the handler as well: it is what puts
# the text back when tracer and guardian have been killed.
start v "$bin/vforked" late "$bin/libdlo.so"
line v ready
tell v go
line v '^loaded'
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:libdlo.so:from_ctor:entry { @ = count(); }' \
    -p "${pid[v]}"
guardian=$(guardian_of "${pid[dt]}")
kill -STOP "${pid[dt]}"
kill -KILL "$guardian"
kill -KILL "${pid[dt]}"
end dt
tell v on
line v '^parent'
is "an older vfork child: status" "$line" 'parent 0x700'
close_in v
end v
is "its parent: status" "$status" 0

# Memory that says that somebody else puts it back: he is no guardian, and gets no
# signal of ours.
start other cat
start fake "$bin/fakearea" "${pid[other]}" \
    "$(awk '{ print $22 }' "/proc/${pid[other]}/stat")"
line fake ready
dt -q -n 'BEGIN { exit(0); }' -p "${pid[fake]}"
is "another's number: status" "$status" 0
tell other there
line other there
close_in other
end other
is "another's number: his end" "$status" 0
alive fake

# Memory that looks like ours, but is far too much to be looked through: 64 GiB
# were 100 s, with the process standing still.
start big "$bin/rxmap" 64
line big '^(ready|mmap)'
# shellcheck disable=SC2016
dt -q -n 'pid$target:a.out:work:entry { @ = count(); } tick-1ms { exit(0); }' \
    -p "${pid[big]}"
is "large mapping: status" "$status" 0
tell big on
close_in big
line big '^lines 1'
finish
