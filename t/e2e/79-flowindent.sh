#!/bin/bash
# -F: calls and returns by arrows and blanks, what is neither by its name.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

flow='pid$target:a.out:branches:entry,pid$target:a.out:negative:entry { }
    pid$target:a.out:negative:entry { trace(arg0); }
    pid$target:a.out:negative:return,pid$target:a.out:branches:return { }'
dt -F -o "$tmp/trace" -n "$flow" -c "$bin/args"
is "status" "$status" 0
head -n 1 "$tmp/trace" >"$tmp/head"
printf '%3s %-41s\n' CPU FUNCTION >"$tmp/want"
same "the header" "$tmp/want" "$tmp/head"
# Without the processor; branches(-1) is the fourth call of all.
sed -n 's/ *$//; s/:entry  */:entry /; s/^ *[0-9]* //p' "$tmp/trace" | sed '1,/  *-> branches/{/branches/!d}' |
    head -n 5 >"$tmp/seen"
cat >"$tmp/want" <<EOD
 -> branches
   -> negative
    | negative:entry -1
   <- negative
 <- branches
EOD
same "the calls" "$tmp/want" "$tmp/seen"
# A system call's arrows are double.
dt -F -o "$tmp/calls" -n 'syscall::write:entry,syscall::write:return
	/pid == $target/ { }' -c "$bin/argv word"
has "$tmp/calls" '^ *[0-9]+  => write *$'
has "$tmp/calls" '^ *[0-9]+  <= write *$'
finish
