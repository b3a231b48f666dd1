#!/bin/bash
# How often one has to ask: a second SIGTERM loses nothing; a second SIGINT
# gives up what nobody reads, and nothing else, and the target lives on.
# shellcheck disable=SC2016 # D, not shell
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

# taken PID: no signal is waiting for it any more, or it has ended.
taken() {
	until grep -q '^ShdPnd:[^0-9a-f]*0*$' "/proc/$1/status" 2>/dev/null; do
		kill -0 "$1" 2>/dev/null || return
	done
}

# A signal of a sender of its own.
another() {
	env kill "$@"
}

# Two of one sender at once are one, and lose nothing: that is a race, which is
# run a few times.
for i in $(seq 20); do
	start_dt dt -q \
	    -n 'pid$target:a.out:work:entry { @ = count(); }' \
	    -n 'BEGIN { hit = 0; }' \
	    -n 'pid$target:a.out:work:entry /!hit/ { hit = 1; printf("hit\n"); }' \
	    -n 'END { printf("the end\n"); }' -p "${pid[busy]}"
	line dt '^hit$'
	kill -INT "${pid[dt]}"
	taken "${pid[dt]}"
	kill -INT "${pid[dt]}" 2>/dev/null
	end dt
	is "SIGINT twice ($i): status" "$status" 0
	has "$tmp/dt.out" '^the end$'
	has "$tmp/dt.out" '^ +[1-9][0-9]*$'
done
check "SIGINT twice"

# The same of different senders, and more of them: what is read is there.
for i in 1 2 3; do
	rm -f "$tmp/read"
	start_dt dt -q -w -x bufsize=256k \
	    -n 'BEGIN { n = 0; freopen("'"$tmp/read"'"); }' \
	    -n 'pid$target:a.out:work:entry { printf("%1000d\n", n++); }' \
	    -n 'pid$target:a.out:work:entry /n == 2000/ { exit(0); }' \
	    -n 'END { printf("the end\n"); }' -p "${pid[busy]}"
	for _ in 1 2 3; do
		another -INT "${pid[dt]}" 2>/dev/null
	done
	end dt
	is "read ($i): status" "$status" 0
	is "read ($i): end" "$(grep . "$tmp/read" | tail -n 1)" "the end"
	hasnt <(grep -v 'drops\? on CPU' "$tmp/dt.err") .
done
check "read"

# The first lets the target go and waits for the reader, the second does not,
# and says so.
start_dt dt -q -x bufsize=256k \
    -n 'pid$target:a.out:work:entry { printf("%1000d\n", arg0); }' \
    -p "${pid[busy]}"
dt=${pid[dt]}
blocked "$dt"
kill -INT "$dt"
untraced "${pid[busy]}"
taken "$dt"
another -INT "$dt"
timeout 30 tail --pid="$dt" -f /dev/null || fail "two SIGINT do not end it"
wait "$dt"
is "nobody reads: status" "$?" 0
unset 'pid[dt]'
hasnt <(grep -Ev 'drops? on CPU|discarded: nobody reads' "$tmp/dt.err") .
has "$tmp/dt.err" '^dtrap: the rest of the output is discarded: nobody reads it$'
check "nobody reads"

# A signal to the whole group while the program of -c is started ends that, too:
# the trace was interrupted, and the program has not failed.
cat >"$tmp/early.c" <<'END'
#define _GNU_SOURCE
#include <signal.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In dtrap's child that is to become the program: its tracer first. */
int
execvp(const char *file, char *const argv[])
{
	const char *to = getenv("EARLY");

	if (strcmp(program_invocation_short_name, "dtrap") != 0)
		return execvpe(file, argv, environ);
	if (strchr(to, 't') != NULL)
		kill(getppid(), SIGINT);
	signal(SIGINT, SIG_DFL);
	raise(SIGINT);
	_exit(1);
}
END
${CC:-cc} -shared -fPIC -o "$tmp/early.so" "$tmp/early.c" ||
    fail "early.c does not compile"
early() {
	EARLY=$1 LD_PRELOAD=$tmp/early.so dt -q -n 'BEGIN { printf("begun\n"); }' \
	    -n 'END { printf("ended\n"); }' -c ls
	is "early, $1: status" "$status" 1
	is "early, $1: output" "$(cat "$tmp/out")" ""
}
early tracer
is "early: errors" "$(cat "$tmp/err")" "dtrap: interrupted before tracing began"
early alone
is "alone: errors" "$(cat "$tmp/err")" \
    "dtrap: failed to execute ls: the process ended before the program started"

# The same where the run-time linker waits for what nobody writes.
mkfifo "$tmp/fifo"
start_null dt "$DTRAP" -q -x setenv="LD_PRELOAD=$tmp/fifo" \
    -n 'BEGIN { printf("begun\n"); }' -c "$bin/argv x"
until child=$(pgrep -P "${pid[dt]}" -x argv) && [ "$(tracer "$child")" != 0 ] &&
    grep -q '^257 \|^2 ' "/proc/$child/syscall"; do
	alive dt
done
kill -STOP "${pid[dt]}"
kill -INT "$child"
kill -INT "${pid[dt]}"
kill -CONT "${pid[dt]}"
end dt
is "in the linker: status" "$status" 1
is "in the linker: errors" "$(cat "$tmp/dt.err")" \
    "dtrap: interrupted before tracing began"
is "in the linker: output" "$(cat "$tmp/dt.out")" ""
finish
