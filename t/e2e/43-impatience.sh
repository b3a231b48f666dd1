#!/bin/bash
# How often one has to ask: a second SIGTERM loses nothing; a second SIGINT
# gives up an output that nobody reads, and the target lives on.
. "${0%/*}/lib.sh"
need_attach

start busy "$bin/busy" 4
line busy ready
text_of "${pid[busy]}" >"$tmp/before"

check() {
	alive busy
	is "$1: tracer" "$(tracer "${pid[busy]}")" 0
	text_of "${pid[busy]}" >"$tmp/after"
	same "$1: text" "$tmp/before" "$tmp/after"
	tell busy hello
	line busy '^alive wrong'
	is "$1: target" "$line" "alive wrong 0"
}

# As timeout(1) does: to the process, then to its group.
# shellcheck disable=SC2016
for i in 1 2 3 4 5; do
	start_dt dt -q -n 'pid$target:a.out:work:entry { @ = count(); }' \
	    -n 'BEGIN { hit = 0; }' \
	    -n 'pid$target:a.out:work:entry /!hit/ { hit = 1; printf("hit\n"); }' \
	    -n 'END { printf("the end\n"); }' -p "${pid[busy]}"
	line dt '^hit$'
	kill -TERM "${pid[dt]}"
	kill -TERM "${pid[dt]}" 2>/dev/null
	end dt
	is "SIGTERM twice ($i): status" "$status" 0
	has "$tmp/dt.out" '^the end$'
	has "$tmp/dt.out" '^ +[1-9][0-9]*$'
done
check "SIGTERM twice"

# blocked PID: some thread of it waits in write(2), for a reader who does not
# come.
blocked() {
	until cat "/proc/$1/task/"*/syscall 2>/dev/null | grep -q '^1 '; do
		kill -0 "$1" || fail "dtrap is gone"
	done
}

# untraced PID: nobody traces it any more.
untraced() {
	until [ "$(tracer "$1")" = 0 ]; do
		alive busy
	done
}

# taken PID: no signal is waiting for it any more.
taken() {
	until grep -q '^ShdPnd:[^0-9a-f]*0*$' "/proc/$1/status"; do
		kill -0 "$1" || fail "dtrap is gone"
	done
}

# The first lets the target go and waits for the reader, the second does not.
# shellcheck disable=SC2016
start_dt dt -q -x bufsize=256k \
    -n 'pid$target:a.out:work:entry { printf("%1000d\n", arg0); }' \
    -p "${pid[busy]}"
dt=${pid[dt]}
blocked "$dt"
kill -INT "$dt"
untraced "${pid[busy]}"
taken "$dt"
kill -INT "$dt"
timeout 30 tail --pid="$dt" -f /dev/null || fail "two SIGINT do not end it"
wait "$dt"
is "nobody reads: status" "$?" 0
unset 'pid[dt]'
hasnt <(grep -v 'drops\? on CPU' "$tmp/dt.err") .
check "nobody reads"
finish
