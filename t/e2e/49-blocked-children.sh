#!/bin/bash
# Threads that block every signal have children while they are traced: the bit
# that is hidden in the parent is hidden in the child, which has no table yet.
. "${0%/*}/lib.sh"

for follow in none all; do
	start t "$bin/victim" blocked
	line t '^ready'
	opts=()
	[ "$follow" = all ] || opts=(-x follow=none)
	# shellcheck disable=SC2016
	dt -q "${opts[@]}" -p "${pid[t]}" -n 'pid$target:a.out:work:entry
	    { @ = count(); } proc:::create /++made == 20/ { exit(0); }'
	is "$follow: status" "$status" 0
	hasnt "$tmp/err" .
	tell t progress
	line t '^progress'
	is "$follow: progress" "$line" 'progress ok wrong 0'
	close_in t
	line t '^done'
	is "$follow: results" "$line" 'done wrong 0'
	end t
	is "$follow: the program's end" "$status" 0
done
finish
