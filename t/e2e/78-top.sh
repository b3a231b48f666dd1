#!/bin/bash
# dtrap top: what is on the screen of a terminal, and after it; lines elsewhere.
# timeout: 600
. "${0%/*}/lib.sh"
need_attach
# Debian's package is for Debian's python.
python=/usr/bin/python3
"$python" -c 'import pyte' 2>/dev/null || skip "python3-pyte is not installed"

"$python" t/e2e/top.py "$DTRAP" "$bin/named" "$bin/busy" "$tmp" ||
    fail "on a terminal"

# Into a pipe: what dtrap prints.
start named "$bin/named"
line named ready
# shellcheck disable=SC2016
prog='pid$target:a.out:named:entry { @calls[copyinstr(arg0)] = count(); }'
start_null top "$DTRAP" top -q -x switchrate=5ms -p "${pid[named]}" \
    -n "$prog"' BEGIN { printf("armed\n"); } tick-20ms { printa("%s %@u\n", @calls); }
	END { printf("the end\n"); }'
line top armed
tell named '3 1 alpha'
line top '^alpha 3$'
kill -INT "${pid[top]}"
end top
is "status into a pipe" "$status" 0
is "the last line" "$(grep . "$tmp/top.out" | tail -n 1)" 'the end'
hasnt "$tmp/top.out" $'\e'

# All aggregations, again and again.
start_null top "$DTRAP" top -q -x toprate=20ms -p "${pid[named]}" \
    -n "$prog"' BEGIN { printf("armed\n"); }'
line top armed
tell named '5 1 beta'
line top '^ *beta +5$'
tell named '1 1 beta'
line top '^ *beta +6$'
kill -INT "${pid[top]}"
end top
is "status of all" "$status" 0
hasnt "$tmp/top.out" $'\e'

# Into a file.
dt top -o "$tmp/file" -c "$bin/args" -n 'BEGIN { @[1] = count(); }'
is "status with -o" "$status" 0
has "$tmp/file" '^ *1 +1$'
dt top
is "status without anything" "$status" 2
dt top -x oformat=json -c true -n 'BEGIN { exit(3); }'
is "status with another format" "$status" 3
has "$tmp/out" '"'
finish
