#!/bin/bash
# timeout: 300
# Fifty times attached to and let go of a busy process of eight threads: it
# lives, its results are right, and its text is the same byte for byte.
. "${0%/*}/lib.sh"

start busy "$bin/busy" 8
line busy ready
text_of "${pid[busy]}" >"$tmp/before"
[ -s "$tmp/before" ] || fail "no text"

for i in $(seq 1 50); do
	# shellcheck disable=SC2016
	case $((i % 3)) in
	0) what='pid$target:a.out:work:,pid$target:a.out:recurse:' ;;
	1) what='pid$target:a.out::entry,pid$target:libc:*alloc:entry,pid$target:libc:free:return' ;;
	2) what='pid$target:libc:mem*:,pid$target:libc:strtoull*:,pid$target:libc:*printf:entry' ;;
	esac
	dt -q -n "$what { @ = count(); }" -n 'tick-20ms { exit(0); }' \
	    -p "${pid[busy]}"
	[ "$status" = 0 ] || fail "cycle $i: status $status"
	alive busy
	[ "$(tracer "${pid[busy]}")" = 0 ] || fail "cycle $i: still traced"
	text_of "${pid[busy]}" >"$tmp/after"
	cmp -s "$tmp/before" "$tmp/after" || {
		same "cycle $i: text" "$tmp/before" "$tmp/after"
		finish
	}
	# It still works, and has seen nothing wrong.
	tell busy hello
	line busy '^alive wrong'
	[ "$line" = "alive wrong 0" ] || fail "cycle $i: $line"
done
close_in busy
end busy
is "status of the target" "$status" 0
has "$tmp/busy.out" '^done wrong 0$'
finish
