#!/bin/bash
# timeout: 14400
# Option fastpath at its ends: a program whose probes fire by jump, many times a
# millisecond, while the tracer, its guardian or both are killed, or the trace ends
# and the next begins, at random moments.  Each time the program lives, its own
# results are right, nobody traces or stops it, and after the next trace its text is
# what it was and no memory of dtrap is left in it.
#
# TORTURE=1, or make torture-fast: 1,000 rounds.  ROUNDS= of them, SEED= for another
# row of moments.
. "${0%/*}/lib.sh"
need_attach
rounds=${ROUNDS:-${torture:+1000}}
rounds=${rounds:-6}

# What fires all the time, what fires by trap beside it, what a signal's handler
# calls on a stack of its own, and one that needs the tracer for its actions.
# shellcheck disable=SC2016
probes='pid$target:a.out:work:entry,pid$target:a.out:work:return,
    pid$target:a.out:steps:entry,pid$target:libc:mem*:entry,
    pid$target:libc:malloc:return { @[probefunc] = count(); }
    pid$target:a.out:steps:return { n++; }
    pid$target:a.out:work:entry /arg0 % 50000 == 7/ { @s[ustack(2)] = count(); }'

# Mappings that are dtrap's: of its file, or executable memory without one.
mappings() {
	awk '$6 ~ "^/memfd:dtrap" || ($2 ~ /^r-x/ && $6 == "") { n++ }
		END { print n + 0 }' "/proc/$1/maps"
}

text_now() {
	text_of "$1" | grep -v ' (anonymous) '
}

lives() {
	if ! kill -0 "$target" || [ "$(state "$target")" = Z ]; then
		fail "$what: the target is dead"
	fi
}

# The results of the program itself, since it began.  (It also finds out that the
# action of SIGTRAP is not its own, which is so after a kill until the next trace.)
check() {
	tell rest check
	line rest '^ok'
	is "$what" "$line" 'ok wrong 0 sem 0'
	let_go "$target"
}

# Nothing is left but what a thread needed when the next trace ended; the one after
# that takes it away.
clean() {
	local left
	for _ in 1 2 3 4 5; do
		dt -q -n 'BEGIN { exit(0); }' -p "$target"
		is "$what: the next trace" "$status" 0
		hasnt "$tmp/err" .
		left=$(mappings "$target")
		[ "$left" != 0 ] || break
	done
	is "$what: mappings left" "$left" 0
	text_now "$target" >"$tmp/after"
	same "$what: text" "$tmp/before" "$tmp/after"
	dispositions "$target" >"$tmp/signals.after"
	same "$what: signals" "$tmp/signals" "$tmp/signals.after"
}

start rest "$bin/restless" 24 plain
line rest ready
target=${pid[rest]}
text_now "$target" >"$tmp/before"
[ -s "$tmp/before" ] || fail "no text"
dispositions "$target" >"$tmp/signals"
is "mappings before" "$(mappings "$target")" 0

ways=(tracer both end guardian tracer both)
hits=0
for ((i = 0; i < rounds; i++)); do
	way=${ways[i % ${#ways[@]}]}
	random 200
	ms=$random
	what="seed $SEED, round $i, $way, $ms ms"
	[ -z "${VERBOSE:-}" ] || echo "$what"
	# With nobody to end it, it ends by itself.
	ends=()
	[ "$way" != guardian ] || ends=(-n 'tick-1s { exit(0); }')
	start_null dt "$DTRAP" -q -v -x fastpath=on -x switchrate=10ms -n "$probes" \
	    -n 'BEGIN { printf("armed\n"); }' "${ends[@]}" -p "$target"
	# Every third time at some moment of the attach.
	[ $((i % 3)) = 2 ] || line dt '^armed'
	pause "0.$(printf %03d "$ms")"
	children_of "${pid[dt]}" # its guardian
	# A shell that has yet to become dtrap ignores SIGINT.
	case $way in
	tracer) kill -KILL "${pid[dt]}" ;;
	both) kill -KILL "${pid[dt]}" "${children[@]}" 2>/dev/null ;;
	guardian) kill -KILL "${children[@]}" 2>/dev/null ;;
	end) kill -TERM "${pid[dt]}" ;;
	esac
	end dt
	case $way:$status in
	tracer:137 | both:137 | guardian:0 | end:0) ;;
	end:143) ;; # before its handler was there
	end:1) has "$tmp/dt.err" 'interrupted before tracing began' ;;
	*) wrong "$what: status $status: $(cat "$tmp/dt.err")" ;;
	esac
	hasnt "$tmp/dt.err" 'internal|assert'
	n=$(sed -n 's/^dtrap: \([0-9]*\) hits by jump.*/\1/p' "$tmp/dt.err")
	hits=$((hits + ${n:-0}))
	lives
	let_go "$target"
	# Now and then what a killed tracer has left stays for one that makes jumps.
	if [ $((i % 4)) != 3 ]; then
		clean
		check
	fi
	[ "$failures" -lt 5 ] || fail "it goes on like this"
done
what="seed $SEED, at the end"
clean
check
[ "$hits" -gt 1000 ] || wrong "only $hits hits by jump"
echo "seed $SEED: $rounds rounds, $hits hits by jump in those that ended"
close_in rest
end rest
is "status" "$status" 0
finish
