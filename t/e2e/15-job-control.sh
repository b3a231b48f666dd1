#!/bin/bash
# SIGSTOP and SIGCONT from outside: a traced process stops and goes on as an
# untraced one does, and is seen to be stopped.
. "${0%/*}/lib.sh"
need_attach

# until_state NAME LETTER: wait until every thread is in that state (T: group
# stop, t: ptrace-stop of a stopped process).
until_state() {
	local tries=0
	while ! grep -qE "^State:[[:space:]]*[$2]" "/proc/${pid[$1]}/status"; do
		tries=$((tries + 1))
		[ $tries -lt 20000 ] || fail "$1 never was in state $2"
	done
}

start busy "$bin/busy"
line busy ready
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:work: { @ = count(); }' -p "${pid[busy]}"
for _ in 1 2 3; do
	kill -STOP "${pid[busy]}"
	until_state busy Tt
	kill -CONT "${pid[busy]}"
	tell busy hello
	line busy '^alive wrong 0'
done

# ours: what is mapped executable without a file, and so by the tracer.
ours() {
	awk '$2 ~ /x/ && $6 == ""' "/proc/${pid[busy]}/maps" >"$tmp/ours"
	wc -l <"$tmp/ours"
}

# Stopped when the trace ends: it stays stopped, and goes on when continued.
# The memory of the slots is given back all the same.
[ "$(ours)" -gt 0 ] || wrong "no slots were mapped"
kill -STOP "${pid[busy]}"
until_state busy Tt
kill -INT "${pid[dt]}"
end dt
is "status of dtrap" "$status" 0
is "tracer" "$(tracer "${pid[busy]}")" 0
is "memory left" "$(ours)" 0
until_state busy T
kill -CONT "${pid[busy]}"
tell busy hello
line busy '^alive wrong 0'

# Stopped when the trace begins: the same.
kill -STOP "${pid[busy]}"
until_state busy T
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:work: { @ = count(); }' -p "${pid[busy]}"
until_state busy Tt
[ "$(ours)" -gt 0 ] || wrong "no slots were mapped in a stopped process"
kill -CONT "${pid[busy]}"
tell busy hello
line busy '^alive wrong 0'
close_in busy
end busy
is "status of the target" "$status" 0
end dt
is "status of dtrap" "$status" 0
finish
