#!/bin/bash
# timeout: 7200
# A busy program attached to and let go, at random moments and in every way:
# it lives, nobody waits, its text is what it was, nothing is left in it.
#
# TORTURE=1: 1,000 cycles with 24 threads, 200 with 500, 20 with 1,000;
# CYCLES= of each instead; SEED= for another row of moments.
. "${0%/*}/lib.sh"
need_attach

# What is traced: entries and returns, every instruction, the C library with
# its system calls, a static probe with a semaphore, all calls, samples.
# shellcheck disable=SC2016
probes=(
	'pid$target:a.out:work:entry,pid$target:a.out:work:return'
	'pid$target:a.out:steps:,pid$target:a.out:work:'
	'pid$target:libc:nanosleep:,pid$target:libc:clock_nanosleep*:,pid$target:libc:read:,pid$target:libc:poll:,pid$target:libc:epoll_wait:,pid$target:libc:*vfork:,pid$target:libc:syscall:'
	'pid$target:libc:mem*:entry,pid$target:libc:strtoull*:,pid$target:libc:*printf:entry,pid$target:libc:*alloc:return,pid$target:libc:pthread_*:entry'
	'restless$target:::turn,pid$target:a.out:turn:'
	'syscall:::entry,pid$target:a.out:on_tick:'
	'profile-997,pid$target:a.out:short_life:,pid$target:libc:pthread_create:'
	'pid$target:a.out:be_vfork:,pid$target:a.out:sleep_*:'
)

# kept PID: how many KiB of executable memory have no file: it is ours.
kept() {
	awk '$2 ~ /^r-x/ && $6 == "" { split($1, a, "-"); print a[1], a[2] }' \
	    "/proc/$1/maps" | (n=0; while read -r from to; do
		n=$((n + (16#$to - 16#$from) / 1024)); done; echo $n)
}

# The text of what has a file.
text_now() {
	text_kept "$1"
}

# trace WAY: run dtrap on the target up to the end that WAY says.
trace() {
	local way=$1 stop='' d=$clause end='END { ends++; }' begin status=0
	random $((spread + 1))
	local ms=$random
	case $way in
	INT | TERM | HUP) stop=$way ;;
	tick) d+=" tick-$((ms + 1))ms { exit(0); }" ;;
	probe) d+=" ${probe%%,*} /++hits > $((ms * 4))/ { exit(0); }
		tick-500ms { exit(0); }" ;;
	error) d+=" tick-$((ms + 1))ms { exit(0); }"
		end='END { trace(*(int *)8); }' ;;
	pipe) d+=" ${probe%%,*} { printf(\"%d\n\", arg0); }
		tick-2ms { printf(\"tick\n\"); }" ;;
	esac
	if [ "$way" = pipe ]; then
		"$DTRAP" -q -x switchrate=2ms -n "$d $end" -p "$target" \
		    2>"$tmp/err" | head -n 1 >/dev/null
		status=${PIPESTATUS[0]}
	else
		(apart "$DTRAP" -q -n "$d $end" -p "$target") \
		    >"$tmp/out" 2>"$tmp/err" &
		pid[dt]=$!
		if [ -n "$stop" ]; then
			# A shell on its way to be dtrap may lose a signal.
			until [ "/proc/${pid[dt]}/exe" -ef "$DTRAP" ] ||
			    [ ! -e "/proc/${pid[dt]}/exe" ]; do
				:
			done
			pause "0.$(printf %03d $((ms * 3)))"
			now_us
			begin=$now_us
			kill -"$stop" "${pid[dt]}" 2>/dev/null
			wait "${pid[dt]}" 2>/dev/null
			status=$?
			now_us
			took=$((now_us - begin))
			[ $took -le $longest ] || longest=$took
		else
			wait "${pid[dt]}"
			status=$?
		fi
		unset 'pid[dt]'
	fi
	# Before its handlers are there a signal ends it; END's error is 1.
	case $way:$status in
	*:0 | error:1 | INT:130 | TERM:143 | HUP:129) ;;
	*) wrong "$what: status $status"; cat "$tmp/err" ;;
	esac
	if grep -vE 'error on enabled probe|invalid address|drop|interrupted before tracing began' "$tmp/err"; then
		wrong "$what: messages"
	fi
}

# cycles THREADS COUNT SPREAD
cycles() {
	local threads=$1 count=$2 spread=$3 i way probe clause longest=0 most=0 took left
	local ways=(tick INT probe TERM error HUP pipe tick INT) stopped stopper what
	start rest "$bin/restless" "$threads"
	line rest ready
	target=${pid[rest]}
	text_now "$target" >"$tmp/before"
	[ -s "$tmp/before" ] || fail "no text"
	dispositions "$target" >"$tmp/signals"
	for ((i = 0; i < count; i++)); do
		probe=${probes[i % ${#probes[@]}]}
		clause="$probe { @[tid % 8] = count(); }"
		way=${ways[i % ${#ways[@]}]}
		what="$threads threads, cycle $i, $way, ${probe%%,*}"
		random 8
		stopped=$random
		case $stopped in
		0) kill -STOP "$target" ;; # before it is attached to
		1) (pause 0.0"$((i % 90 + 10))"; kill -STOP "$target") &
			stopper=$! ;;
		esac
		trace "$way"
		if [ "$stopped" = 1 ]; then
			wait "$stopper"
		fi
		[ "$stopped" -gt 1 ] || kill -CONT "$target"
		if ! kill -0 "$target" || [ "$(state "$target")" = Z ]; then
			fail "$what: the target is dead"
		fi
		tell rest check
		line rest '^ok'
		is "$what" "$line" 'ok wrong 0 sem 0'
		let_go "$target"
		text_now "$target" >"$tmp/after"
		same "$what: text" "$tmp/before" "$tmp/after"
		dispositions "$target" >"$tmp/signals.after"
		same "$what: signals" "$tmp/signals" "$tmp/signals.after"
		# Two threads may have slept in a slot, and one cycle's pieces
		# are still needed when the next comes.
		left=$(kept "$target")
		[ "$left" -le 512 ] || wrong "$what: $left KiB are left"
		[ "$left" -le "$most" ] || most=$left
		[ "$failures" -lt 5 ] || fail "it goes on like this"
		[ -z "${VERBOSE:-}" ] || echo "$i $way $stopped ${took:-} left $left"
	done
	echo "$threads threads: $count cycles, longest end $((longest / 1000)) ms," \
	    "at most $most KiB left, $left KiB in the end"
	close_in rest
	end rest
	is "$threads threads: status" "$status" 0
}

# ends COUNT: the target ends by itself at some moment of the trace.
ends() {
	local i
	for ((i = 0; i < $1; i++)); do
		what="end $i"
		start rest "$bin/restless" 20
		line rest ready
		start_null dt "$DTRAP" -q -n "${probes[i % ${#probes[@]}]} { @ = count(); }" \
		    -n 'tick-40ms { exit(0); }' -p "${pid[rest]}"
		random 60
		pause "0.$(printf %03d "$random")"
		close_in rest
		end rest
		is "$what: target" "$status" 0
		hasnt "$tmp/rest.err" .
		end dt
		# Gone before it was attached to, or on the way.
		if [ "$status" = 1 ]; then
			is "$what: messages" "$(grep -c '^dtrap: ' "$tmp/dt.err")" 1
		else
			is "$what: status" "$status" 0
		fi
		hasnt "$tmp/dt.err" 'internal|assert'
	done
	echo "$1 targets ended while they were traced"
}

if [ -n "$torture" ]; then
	ends 100
	cycles 24 "${CYCLES:-1000}" 60
	cycles 500 "${CYCLES:-200}" 200
	cycles 1000 "${CYCLES:-20}" 300
else
	ends 5
	cycles 20 "${CYCLES:-40}" 30
fi
finish
