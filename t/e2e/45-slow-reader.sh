#!/bin/bash
# Whoever reads what dtrap writes, and does not: the target goes on, what finds
# no room is counted, and what is left is written when it is read after all.
. "${0%/*}/lib.sh"
need_attach

start t "$bin/hotcool"
line t ready

# So many hits, each with a thousand bytes of text.
goes_on() {
	tell t 'spin 60000'
	line t '^spun'
}

# blocked: some thread of dtrap waits in write(2), for a reader who does not
# come.
blocked() {
	until cat "/proc/${pid[dt]}/task/"*/syscall 2>/dev/null |
	    grep -q '^1 '; do
		alive dt
	done
}

untraced() {
	until [ "$(tracer "${pid[t]}")" = 0 ]; do alive t; done
}

# Every hit is in the text or among the drops.
# shellcheck disable=SC2016
start_dt dt -q -x bufsize=512k -n '
    pid$target:a.out:hot:entry { @hits = count(); }
    pid$target:a.out:hot:entry { printf("%1000d\n", arg0); }
    END { printf("end\n"); printa("hits %@d\n", @hits); }' -p "${pid[t]}"
goes_on
kill -INT "${pid[dt]}"
untraced
goes_on
end dt
is "fifo: status" "$status" 0
hits=$(sed -n 's/^hits //p' "$tmp/dt.out")
lines=$(grep -cE '^ +[0-9]+$' "$tmp/dt.out")
drops=$(awk '/drops? on CPU/ { n += $2 } END { print n + 0 }' "$tmp/dt.err")
is "fifo: hits" $((lines + drops)) "$hits"
[ "$drops" -gt 0 ] || wrong "fifo: no drops among $hits"
[ "$hits" -ge 60000 ] || wrong "fifo: only $hits hits"
has "$tmp/dt.out" '^end$'

# Messages that nobody reads.
mkfifo "$tmp/messages"
exec {fd}<>"$tmp/messages"
# shellcheck disable=SC2016 # $@ is for the inner shell
start_null dt bash -c 'm=$1; shift; exec "$@" 2>"$m"' - "$tmp/messages" \
    "$DTRAP" -x switchrate=5ms -qw -n 'BEGIN { printf("armed\n"); }
    pid$target:a.out:hot:entry { freopen("/nowhere/at/all"); }' \
    -p "${pid[t]}"
line dt '^armed$'
goes_on
kill -INT "${pid[dt]}"
untraced
exec {rd}<"$tmp/messages" {fd}>&-
cat <&"$rd" >"$tmp/messages.out" &
cat=$!
end dt
wait "$cat"
exec {rd}<&-
is "messages: status" "$status" 0
has "$tmp/messages.out" '^dtrap: error in dt_clause_1 .*nowhere/at/all'
has "$tmp/messages.out" '^dtrap: [0-9]+ bytes of messages dropped: nobody read them$'

# A list that nobody reads keeps nobody.
# shellcheck disable=SC2016
start_null dt "$DTRAP" -l -n 'pid$target:libc*::entry' -p "${pid[t]}"
blocked
untraced
end dt
is "list: status" "$status" 0
lines=$(wc -l <"$tmp/dt.out")
[ "$lines" -gt 1000 ] || wrong "list: only $lines lines"

# freopen() to a fifo without a reader is an error at once.
mkfifo "$tmp/fifo"
dt -qw -n "BEGIN { freopen(\"$tmp/fifo\"); printf(\"still here\n\"); exit(0); }"
has "$tmp/out" '^still here$'
has "$tmp/err" 'No such device or address'

# A terminal that shows nothing.
if command -v python3 >/dev/null; then
	cat >"$tmp/terminal.py" <<'END'
import os, pty, sys
master, slave = pty.openpty()
os.dup2(slave, 1)
os.set_inheritable(master, True)
os.execv(sys.argv[1], sys.argv[1:])
END
	# shellcheck disable=SC2016
	start_null dt python3 "$tmp/terminal.py" "$DTRAP" -q -n '
	    pid$target:a.out:hot:entry { printf("%1000d\n", arg0); }' \
	    -p "${pid[t]}"
	blocked
	goes_on
	kill -INT "${pid[dt]}"
	untraced
	# Of another sender: two of one at once are one.
	env kill -INT "${pid[dt]}"
	end dt
	is "terminal: status" "$status" 0
fi
alive t
finish
