#!/bin/bash
# While hits are frequent the tracer changes its own policy and processors; what
# it starts meanwhile does not see that.
. "${0%/*}/lib.sh"

# Field 41 of stat is the policy; the name before it is "sh" or the like.
# shellcheck disable=SC2016
look='grep Cpus_allowed_list /proc/self/status; cut -d" " -f41 /proc/self/stat'
sh -c "$look" >"$tmp/want"
start busy "$bin/busy" 1
line busy ready
# shellcheck disable=SC2016
dt -q -w -x argref -n 'BEGIN { t = 0; } pid$target:a.out::entry { n++; }' \
    -n 'tick-20ms { system("%s", $$1); } tick-20ms /++t == 20/ { exit(0); }' \
    -p "${pid[busy]}" "$look"
is "status" "$status" 0
sed '/^$/d' "$tmp/out" | paste - - | sort -u >"$tmp/got"
paste - - <"$tmp/want" >"$tmp/one"
same "policy and processors" "$tmp/one" "$tmp/got"
finish
