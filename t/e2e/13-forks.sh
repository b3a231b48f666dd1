#!/bin/bash
# Children that are not followed, of whatever kind, do not notice.
. "${0%/*}/lib.sh"
OPTS='-x follow=none'

# shellcheck disable=SC2016
{
same_traced 'pid$target:a.out:work:' "$bin/forks"
same_traced 'pid$target:a.out::entry,pid$target:libc::entry' "$bin/forks"

# What is counted is the parent's own: work() in main() twice.  (A child that
# shares our memory may or may not count.)
dt -q -x follow=none -o "$tmp/calls" -n 'pid$target:a.out:work:entry /pid == $target/
	{ printf("%d\n", arg0); }' -c "$bin/forks"
}
sed "/^$/d" "$tmp/calls" >"$tmp/seen"
printf '1\n2\n' >"$tmp/want"
same "calls of the parent" "$tmp/want" "$tmp/seen"
finish
