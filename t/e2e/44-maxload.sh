#!/bin/bash
# -x maxload: probes that take too much of the time are taken out, the worst
# first, and dtrap says which; the others go on as if nothing had been.
. "${0%/*}/lib.sh"
need_attach

# dtrap beside us with its messages in its output, which is waited for.
# shellcheck disable=SC2016 # $@ is for the inner shell
begin() {
	start_null dt bash -c 'exec "$@" 2>&1' - "$DTRAP" -x fastpath=off -x maxload=10% \
	    -x switchrate=5ms -q -n 'BEGIN { printf("armed\n"); }' "$@" \
	    -p "${pid[t]}"
	line dt '^armed$'
}

# The byte at hot().
byte() {
	perl -e 'open(my $m, "<", "/proc/$ARGV[0]/mem") or die;
	    sysseek($m, hex($ARGV[1]), 0); sysread($m, my $b, 1) == 1 or die;
	    printf("%02x\n", ord($b));' "${pid[t]}" "$addr"
}

stop_dt() {
	kill -INT "${pid[dt]}"
	end dt
	is "$1: status" "$status" 0
}

start t "$bin/hotcool"
line t ready
addr=${line##* }
text_of "${pid[t]}" >"$tmp/before"
was=$(byte)

# The hot one goes, text and all, also for a child; the cool one counts on.
# shellcheck disable=SC2016
begin -n 'pid$target:a.out:hot:entry { @["hot"] = count(); }
    pid$target:a.out:cool:entry { @["cool"] = count(); }'
tell t 'cool 7'
line t '^cool'
line dt 'disabled'
has <(echo "$line") "^dtrap: pid${pid[t]}:hotcool:hot:entry disabled: it took [0-9]+% of the time, maxload is 10%\$"
tell t 'spin 100000'
line t '^spun'
is "the byte at hot()" "$(byte)" "$was"
tell t 'cool 1000'
line t '^cool'
tell t fork
line t '^child'
is "child" "$line" "child 0"
stop_dt "two probes"
# 1000 of them in the child.
has "$tmp/dt.out" '^ +cool +2007$'
has "$tmp/dt.out" '^ +hot +[1-9][0-9]*$'
has "$tmp/dt.out" '^dtrap: 1 probe disabled by maxload$'
is "disabled" "$(grep -c 'disabled:' "$tmp/dt.out")" 1

# A system call: as long as one is probed every call stops, and then none.
# shellcheck disable=SC2016
begin -x droptags -n 'syscall::getsid:entry { @["getsid"] = count(); }
    pid$target:a.out:cool:entry { @["cool"] = count(); }'
line dt 'disabled'
has <(echo "$line") '^dtrap: \[DTRACEDROP_MAXLOAD\] syscall:vmlinux:getsid:entry disabled: '
tell t 'spin 100000'
line t '^spun'
tell t 'cool 5'
line t '^cool'
stop_dt "a call"
has "$tmp/dt.out" '^ +cool +5$'

# A probe that samples too often.
# shellcheck disable=SC2016
begin -n 'profile-4999 { @[ustack(50), jstack(50)] = count(); }
    pid$target:a.out:hot:entry { @h = count(); }'
line dt 'disabled'
stop_dt "two that are hot"

text_of "${pid[t]}" >"$tmp/after"
same "text" "$tmp/before" "$tmp/after"
is "tracer" "$(tracer "${pid[t]}")" 0
alive t

# Without it both count.
# shellcheck disable=SC2016
dt -q -n 'pid$target:a.out:hot:entry { @["hot"] = count(); }
    pid$target:a.out:cool:entry { @["cool"] = count(); }' \
    -c "$(quote "$bin/hotcool" 400000 30)"
is "no limit: status" "$status" 0
has "$tmp/out" '^ +hot +400000$'
has "$tmp/out" '^ +cool +30$'
hasnt "$tmp/err" .
finish
