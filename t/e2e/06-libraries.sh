#!/bin/bash
# A library's constructor makes its first call before main(): it is seen.  A
# library loaded later is seen, too, and again after it has been unloaded.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n 'pid$target:libctor.so:from_ctor:entry
	{ printf("%d\n", arg0); }' -c "$bin/ctor"
is "status" "$status" 0
has "$tmp/out" '^calls 2$'
sed '/^$/d' "$tmp/trace" >"$tmp/seen"
printf '14\n1\n' >"$tmp/want"
same "calls of from_ctor" "$tmp/want" "$tmp/seen"

# shellcheck disable=SC2016
dt -Z -q -o "$tmp/trace2" -n 'pid$target:libdlo.so:from_ctor:entry
	{ printf("in %d\n", arg0); }
	pid$target:libdlo.so:from_ctor:return { printf("out %d\n", arg1); }' \
    -c "$bin/dlo $bin/libdlo.so"
is "status" "$status" 0
has "$tmp/out" '^sum 603$'
sed '/^$/d' "$tmp/trace2" >"$tmp/seen"
printf 'in %d\nout %d\n' 14 42 100 300 14 42 101 303 >"$tmp/want"
same "calls in a library loaded twice" "$tmp/want" "$tmp/seen"
finish
