#!/bin/bash
# What stands at the end when more is recorded than the buffer holds.
. "${0%/*}/lib.sh"

# A record of arg0 is 32 bytes: the buffer holds eight.
# shellcheck disable=SC2016
clause='pid$target:a.out:hot_push:entry { printf("%d\n", arg0); }'
want() {
	seq "$@" >"$tmp/want"
	sed '/^$/d' "$tmp/trace" >"$tmp/seen"
}

# ring: the last ones; the first were given up, which is no loss to report.
dt -q -o "$tmp/trace" -x bufpolicy=ring -b 256 -n "$clause" \
	-c "$bin/hot 1000 push"
is "ring: status" "$status" 0
want 992 999
same "ring" "$tmp/want" "$tmp/seen"
hasnt "$tmp/err" drop
has "$tmp/out" 'ns per call$'

# What END records belongs to the last ones.
rm "$tmp/trace"
dt -q -o "$tmp/trace" -x bufpolicy=ring -b 256 -n "$clause" \
	-n 'END { printf("end %d\n", pid > 0); }' -c "$bin/hot 1000 push"
want 993 999
echo "end 1" >>"$tmp/want"
same "ring with END" "$tmp/want" "$tmp/seen"

# fill: the first ones.  The hit that finds no room is a drop and ends tracing;
# the program runs on and is none the worse.
rm "$tmp/trace"
dt -q -o "$tmp/trace" -x bufpolicy=fill -b 256 -n "$clause" \
	-n 'END { printf("end\n"); }' -c "$bin/hot 1000 push"
is "fill: status" "$status" 0
# END has its 24 bytes, which leaves seven.
want 0 6
echo end >>"$tmp/want"
same "fill" "$tmp/want" "$tmp/seen"
has "$tmp/err" '^dtrap: 1 drop on CPU 0$'

# A clause that has no room for its record does nothing else either.
rm "$tmp/trace"
# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -x bufpolicy=fill -b 256 \
	-n 'pid$target:a.out:hot_push:entry { @n = count(); trace(1); }' \
	-c "$bin/hot 1000 push"
has "$tmp/trace" '^ *8$'

# switch: everything, however small the buffer.
rm "$tmp/trace"
dt -q -o "$tmp/trace" -b 256 -n "$clause" -c "$bin/hot 1000 push"
want 0 999
same "switch" "$tmp/want" "$tmp/seen"
hasnt "$tmp/err" drop
finish
