#!/bin/bash
# dtrap -H: whatever breaks between here and a host, the host's dtrap ends, and
# its process goes on untraced: a key, the death of either side, of ssh, of sshd,
# and a network that is dropped, not closed.
# timeout: 900
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_attach
# shellcheck source=t/e2e/sshd.sh
. "$(dirname "$0")/sshd.sh"
LIMIT=200

cp "$(command -v sleep)" "$tmp/busy"
host_start one 1 "$tmp/busy" 100000
host_start two 2 "$tmp/busy" 100000

# The program of a host, as we see it: a child of its first process.
declare -A busy=() tracer=()
for h in one two; do
	read -r first _ <"/proc/${pid[$h]}/task/${pid[$h]}/children"
	while [ "$(cat "/proc/$first/comm")" != sshd ]; do
		read -r first _ <"/proc/$first/task/$first/children"
	done
	read -ra children <"/proc/$first/task/$first/children"
	for child in "${children[@]}"; do
		[ "$(cat "/proc/$child/comm")" = busy ] && busy[$h]=$child
	done
	[ -n "${busy[$h]}" ] || fail "$h: no program"
done

# ask [OPTION...]: trace both, until both are.
ask() {
	local h
	start_null dt "$DTRAP" -x "rdtrap=$DTRAP" -q -H one,two \
	    -x "rsh=ssh -F $tmp/ssh_config %h" -x snaprate=100ms "$@" -n '
		BEGIN { @up[vmname] = count(); }
		tick-100ms { printa("up %s\n", @up); }' -p @busy
	line dt '^up one$'
	line dt '^up two$'
	for h in one two; do
		tracer[$h]=$(tracer "${busy[$h]}")
		[ "${tracer[$h]}" != 0 ] || wrong "$h: not traced"
	done
}

# free WHAT HOST...: the dtraps there end, and the programs are traced no more, and
# live.
free() {
	local what=$1 h
	shift
	for h in "$@"; do
		timeout "$LIMIT" tail --pid="${tracer[$h]}" -f /dev/null ||
		    wrong "$what: $h: dtrap does not end"
		is "$what: $h: tracer" "$(tracer "${busy[$h]}")" 0
		is "$what: $h: state" "$(state "${busy[$h]}")" S
	done
}

# the_ssh HOST: the client that reaches it, a child of our dtrap.
the_ssh() {
	local child children
	read -ra children <"/proc/$1/task/$1/children"
	for child in "${children[@]}"; do
		grep -qz "^$2\$" "/proc/$child/cmdline" && echo "$child"
	done
}
# dtrap itself: under timeout and a shell.
the_dtrap() {
	local p=${pid[dt]}
	while [ "$(cat "/proc/$p/comm")" != dtrap ]; do
		read -r p _ <"/proc/$p/task/$p/children"
	done
	echo "$p"
}

ask
kill -INT "$(the_dtrap)"
end dt
is "a key: status" "$status" 0
free "a key" one two

ask
kill -KILL "$(the_dtrap)"
end dt 2>/dev/null
free "our dtrap was killed" one two

ask
kill -KILL "$(the_ssh "$(the_dtrap)" one)"
free "ssh was killed" one
alive dt
kill -INT "$(the_dtrap)"
end dt
has "$tmp/dt.err" '^dtrap: one: ended without its last line'
free "ssh was killed" two

# The sshd of the session, and what it has started.
ask
session=${tracer[one]}
while [ "$(cat "/proc/$session/comm")" != sshd ]; do
	session=$(sed -n 's/^PPid:[^0-9]*//p' "/proc/$session/status")
done
kill -KILL "$session"
free "sshd was killed" one
kill -INT "$(the_dtrap)"
end dt
free "sshd was killed" two

# Nothing is closed, and nothing comes any more.
ask -x heartbeat=3s
ip link set lo down
free "the network was dropped" one two
ip link set lo up
kill -INT "$(the_dtrap)"
end dt
has "$tmp/dt.err" 'nothing comes from it any more|ended without its last line|no heartbeat'

finish
