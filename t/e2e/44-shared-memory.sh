#!/bin/bash
# Processes that share one address space: all are let go before any of them can
# meet an int3 that is not looked after.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
for i in $(seq 10); do
	start dt "$DTRAP" -q -x switchrate=5ms -o "$tmp/trace" \
	    -n 'pid$target:a.out:work: { @[pid] = count(); }' -c "$bin/shared"
	line dt ready
	read -r _ target _ <<<"$line"
	tell dt hello
	line dt '^alive'
	is "traced ($i)" "$line" "alive moves moves 2"
	kill -INT "${pid[dt]}"
	wait "${pid[dt]}"
	is "status ($i)" "$?" 0
	unset 'pid[dt]'
	is "tracer ($i)" "$(tracer "$target")" 0
	tell dt hello
	line dt '^alive'
	is "let go ($i)" "$line" "alive moves moves 2"
	close_in dt
	line dt '^done 5'
done

# Attached to: the others in that memory are found, and traced with it.
# shellcheck disable=SC2016
for i in $(seq 5); do
	start shared "$bin/shared"
	line shared ready
	read -r _ parent child <<<"$line"
	# By the parent, then by a child.
	for target in "$parent" "$child"; do
		start_dt dt -q -n "pid$target:a.out:work: { @[pid] = count(); }"
		tell shared hello
		line shared '^alive'
		is "attached ($i)" "$line" "alive moves moves 2"
		kill -INT "${pid[dt]}"
		end dt
		is "attached ($i): status" "$status" 0
		is "attached ($i): processes seen" \
		    "$(grep -cE '^ +[0-9]+ +[0-9]+$' "$tmp/dt.out")" 3
		tell shared hello
		line shared '^alive'
		is "detached ($i)" "$line" "alive moves moves 2"
	done
	close_in shared
	end shared
	is "shared ($i): status" "$status" 0
done
finish
