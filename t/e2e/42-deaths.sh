#!/bin/bash
# timeout: 300
# Targets that die, are killed, or exec while they are traced or attached to.
. "${0%/*}/lib.sh"

# Killed under our hands.
# shellcheck disable=SC2016
d='pid$target:a.out::entry,pid$target:libc::entry { @ = count(); }'
start busy "$bin/busy" 8
line busy ready
start_dt dt -n "$d" -p "${pid[busy]}"
kill -KILL "${pid[busy]}"
end busy
end dt
is "killed: status" "$status" 0
has "$tmp/dt.err" '^dtrap: pid [0-9]+ terminated by SIGKILL$'

# Ended by a signal it does not handle.
start busy "$bin/busy" 8
line busy ready
start_dt dt -n "$d" -p "${pid[busy]}"
kill -TERM "${pid[busy]}"
end busy
is "terminated: target" "$status" 143
end dt
is "terminated: status" "$status" 0
has "$tmp/dt.err" '^dtrap: pid [0-9]+ terminated by SIGTERM$'

# Killed at some moment of the attaching: whatever is met first, dtrap ends by
# itself, with the summary or with one clear line.
for i in $(seq 1 20); do
	start busy "$bin/busy" 8
	line busy ready
	start_null dt "$DTRAP" -q -n "$d" -p "${pid[busy]}"
	for _ in $(seq 1 $((i * 20))); do :; done
	kill -KILL "${pid[busy]}"
	end busy
	end dt
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "round $i: status $status"
	if [ "$status" = 1 ]; then
		is "round $i: lines" "$(grep -c '^dtrap: ' "$tmp/dt.err")" 1
	fi
	hasnt "$tmp/dt.err" 'internal|assert'
done

# One that execs all the time, attached to at any moment.
cat >"$tmp/again" <<'EOF'
#!/bin/bash
[ "$1" = 0 ] && exit 0
exec "$0" $(($1 - 1))
EOF
chmod +x "$tmp/again"
for _ in 1 2 3 4 5; do
	start_null again "$tmp/again" 30
	# shellcheck disable=SC2016
	dt -Z -q -n 'pid$target:libc::entry { @ = count(); }' -p "${pid[again]}"
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "exec: status $status"
	end again
	is "exec: target" "$status" 0
done
finish
