#!/bin/bash
# Bad input gets one clear error that begins with "dtrap: ", and a status.
. "${0%/*}/lib.sh"

# bad STATUS REGEX ARGS...: dtrap says one thing, on its first line.
bad() {
	local want=$1 regex=$2
	shift 2
	dt "$@"
	is "dtrap $*: status" "$status" "$want"
	[ ! -s "$tmp/out" ] || wrong "dtrap $*: output: $(head -n 3 "$tmp/out")"
	head -n 1 "$tmp/err" | grep -qE "^dtrap: .*($regex)" || {
		wrong "dtrap $*: expected '$regex' in:"
		head -n 5 "$tmp/err"
	}
	is "dtrap $*: messages" "$(grep -c '^dtrap: ' "$tmp/err")" 1
}

# the place and a caret under it
caret() {
	has "$tmp/err" '^[[:blank:]]*\^~*$'
}

bad 1 'No such process|no process with pid 99999999' -n 'BEGIN { exit(0); }' -p 99999999
bad 1 'invalid pid: abc' -n 'BEGIN { exit(0); }' -p abc
bad 1 'invalid pid: -3' -n 'BEGIN { exit(0); }' -p -3
bad 1 'invalid pid: 2147483648' -n 'BEGIN { exit(0); }' -p 2147483648
bad 1 'no process with pid 2147483647' -n 'BEGIN { exit(0); }' -p 2147483647
bad 1 'does not match any probes' -n 'nosuch:::probe { exit(0); }'
# shellcheck disable=SC2016
bad 1 'nosuchfunction' -n 'pid$target:a.out:nosuchfunction:entry { exit(0); }' \
    -c "$bin/args"
bad 1 'failed to open .*missing.d: No such file or directory' -s "$tmp/missing.d"
bad 1 'directory' -s "$tmp"
if [ "$(id -u)" != 0 ]; then
	echo 'BEGIN { exit(0); }' >"$tmp/unreadable.d"
	chmod 0 "$tmp/unreadable.d"
	bad 1 'Permission denied' -s "$tmp/unreadable.d"
fi
bad 1 'No such file or directory' -n 'BEGIN { exit(0); }' -c "$tmp/nosuch"
bad 1 'No such file or directory|not found' -n 'BEGIN { exit(0); }' -c no-such-command
echo data >"$tmp/data"
bad 1 'Permission denied' -n 'BEGIN { exit(0); }' -c "$tmp/data"
bad 1 'Permission denied|directory' -n 'BEGIN { exit(0); }' -c "$tmp"
bad 1 'quot' -n 'BEGIN { exit(0); }' -c "echo 'unfinished"
bad 1 'empty|command' -n 'BEGIN { exit(0); }' -c ' '

printf 'BEGIN\n{\n\tx = 1 + ;\n}\n' >"$tmp/syntax.d"
bad 1 "failed to compile script $tmp/syntax.d: line 3: " -s "$tmp/syntax.d"
caret
has "$tmp/err" 'x = 1 \+ ;'
bad 1 'syntax error' -n 'BEGIN { x = ; }'
caret
printf 'BEGIN\n{\n\ttrace(nosuch);\n}\n' >"$tmp/undefined.d"
bad 1 'line 3: .*nosuch' -s "$tmp/undefined.d"
caret
bad 1 'nosuch' -n 'BEGIN { nosuch(1); }'
bad 1 'nosuch' -n 'BEGIN { trace(nosuch); }'
bad 1 'Invalid option name|nosuch' -x nosuch -n 'BEGIN { exit(0); }'
bad 1 'strsize' -x strsize=many -n 'BEGIN { exit(0); }'
bad 1 "extraneous argument" -n 'BEGIN { exit(0); }' operand
bad 1 'No such file or directory' -o "$tmp/no/such/folder" -n 'BEGIN { exit(0); }'

# The usage goes to standard error, with status 2.
dt
is "no arguments: status" "$status" 2
has "$tmp/err" '^Usage: dtrap '
[ ! -s "$tmp/out" ] || wrong "usage on standard output"
dt -@
is "unknown option: status" "$status" 2
has "$tmp/err" '^Usage: dtrap '
dt -n
is "missing argument: status" "$status" 2
dt -h -l -n BEGIN
is "-h and -l: status" "$status" 2

# Errors do not harm: two bad clauses and a good target.
start busy "$bin/busy" 2
line busy ready
text_of "${pid[busy]}" >"$tmp/before"
# shellcheck disable=SC2016
dt -n 'pid$target:a.out:work:entry { x = ; }' -p "${pid[busy]}"
is "status" "$status" 1
# shellcheck disable=SC2016
dt -n 'pid$target:a.out:work:entry { @ = count(); }' \
    -n 'pid$target:a.out:nosuch:entry { trace(1); }' -p "${pid[busy]}"
is "status" "$status" 1
alive busy
is "tracer" "$(tracer "${pid[busy]}")" 0
text_of "${pid[busy]}" >"$tmp/after"
same "text" "$tmp/before" "$tmp/after"
finish
