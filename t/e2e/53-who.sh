#!/bin/bash
# Who may trace: an ordinary user his own processes; the root of a container of
# his, inside it, with a process table of its own too; and whom nobody may.
. "${0%/*}/lib.sh"
need_attach

as=()
if [ "$(id -u)" = 0 ]; then
	need setpriv
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
	"${as[@]}" test -x "$DTRAP" -a -x "$bin/hotcool" ||
	    skip "another user cannot run $DTRAP"
fi

# What is traced in each surrounding, by -c and by -p: functions, their stacks
# and results, system calls, samples.  Written for a shell inside of it; $1 is
# dtrap, $2 the program.
# shellcheck disable=SC2016
inside='
set -e
script="pid\$target:a.out:cool:entry { @[ustack(1)] = count(); }
    pid\$target:a.out:cool:return { @r = sum(arg1 - arg1 + 1); }
    syscall::write:entry { @w = count(); } profile-97 { @p = count(); }"
"$1" -q -n "$script" -c "\"$2\" 20 30"
coproc T { exec "$2"; }
exec 5<&"${T[0]}" 6>&"${T[1]}"
read -r _ pid _ <&5
"$1" -q -n "$script" -n "BEGIN { printf(\"armed\\n\"); }" -x switchrate=5ms \
    -p "$pid" | {
	while read -r line && [ "$line" != armed ]; do :; done
	echo cool 30 >&6
	read -r line <&5
	[ "$line" = cool ]
	kill "$pid"
	cat
}
'

# in_it WHAT COMMAND...
in_it() {
	local what=$1
	shift
	if ! "${as[@]}" "$@" true 2>"$tmp/err"; then
		echo "no $what here: $(tail -n 1 "$tmp/err")"
		return
	fi
	(cd / && timeout 60 "${as[@]}" "$@" bash -c "$inside" - "$DTRAP" \
	    "$bin/hotcool") >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$what: status" "$?" 0
	is "$what: hits" "$(grep -cE '^ +30$' "$tmp/out")" 4
	hasnt "$tmp/err" .
	echo "$what: traced"
}
in_it "an ordinary user"
in_it "a container" unshare -Ur
in_it "a container with processes of its own" \
    unshare -Ur --pid --fork --mount-proc

# refused REGEX WHO: by -p, with one message.
refused() {
	dt -n 'BEGIN { exit(0); }' -p "$2"
	is "$1: status" "$status" 1
	has "$tmp/err" "^dtrap: .*$2.*$1"
	is "$1: messages" "$(grep -c '^dtrap: ' "$tmp/err")" 1
}
[ "$(cat /proc/2/comm 2>/dev/null)" != kthreadd ] ||
    refused 'kernel thread' 2
# shellcheck disable=SC2016 # $0 and $$ are the inner shell's
self=$(bash -c 'exec "$0" -n "BEGIN { exit(0); }" -p $$ 2>&1' "$DTRAP")
is "itself: status" "$?" 1
has <(echo "$self") '^dtrap: process [0-9]+ is the tracer itself'

# Who traces it already is named with his number.
start t "$bin/hotcool"
line t ready
# shellcheck disable=SC2016
start_dt first -n 'pid$target:a.out:cool:entry' -p "${pid[t]}"
refused "already traced by dtrap \\(pid ${pid[first]}\\)" "${pid[t]}"
kill -INT "${pid[first]}"
end first

# Whoever waits for us is traced without harm: he goes on when we have ended.
# shellcheck disable=SC2016
parent=$(bash -c '"$0" -qn "syscall:::entry { @ = count(); }" -n "tick-20hz { exit(0); }" -p $$ >/dev/null; echo "$? and on"' "$DTRAP")
is "parent" "$parent" "0 and on"

# A container of one's own, from outside: who made the namespace has all rights
# in it.
if "${as[@]}" unshare -Ur true 2>/dev/null; then
	start in "${as[@]}" unshare -Ur "$bin/hotcool"
	line in ready
	# shellcheck disable=SC2016
	timeout 60 "${as[@]}" "$DTRAP" -q -p "${pid[in]}" \
	    -n 'pid$target:a.out:hot:entry { printf("hit\n"); exit(0); }' \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	is "container, from outside: status" "$?" 0
	has "$tmp/out" '^hit$'
	alive in
	is "container, from outside: tracer" "$(tracer "${pid[in]}")" 0
fi
finish
