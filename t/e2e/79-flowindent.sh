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

# Recursion, tail calls, threads that run in turns, and a function that was left
# by longjmp(): each return is where its entry was.
cc=${CC:-cc}
command -v "$cc" >/dev/null || { echo "no $cc: no more"; finish; }
"$cc" -O1 -w -fno-optimize-sibling-calls -o "$tmp/stacks" \
    t/e2e/src/stacks/stacks.c -pthread || fail "cannot compile"
# tree PROBES COMMAND: arrow, blanks and function of the first thread, one call
# a line, as "DEPTH ARROW FUNCTION"; the other threads' behind it.
tree() {
	rm -f "$tmp/flow"
	dt -F -o "$tmp/flow" -n "$1"' { trace(tid == pid); }' -c "$2"
	awk '/[<-][->] / { match($0, /^ *[0-9]+ */); n = RLENGTH
	    match($0, /^ *[0-9]+/); blanks = n - RLENGTH - 2
	    print $NF, blanks / 2, $2, $3 }' "$tmp/flow" | sort -s -r -n -k1,1 |
	    sed 's/^[01] //' | tr '\n' ' '
}

flow='pid$target:a.out:jumped:entry,pid$target:a.out:jumped:return,
    pid$target:a.out:thrower:entry,pid$target:a.out:thrower:return,
    pid$target:a.out:sorted:entry,pid$target:a.out:sorted:return'
want='0 -> sorted 0 <- sorted 0 -> jumped '
for i in 1 2 3 4 5 6; do want+="$i -> thrower "; done
is "longjmp" "$(tree "$flow" "$tmp/stacks sorted jumped")" "${want}0 <- jumped "
is "tail calls" "$(tree 'pid$target:a.out:tail*:' "$tmp/stacks tail" |
    sed 's/[0-9]* | [^ ]* //g')" \
    '0 -> tail 1 -> tail2 2 -> tail3 2 <- tail3 1 <- tail2 0 <- tail '
is "threads" "$(tree 'pid$target:a.out:thread*:entry,
    pid$target:a.out:thread*:return,pid$target:a.out:plain:entry,
    pid$target:a.out:plain:return' "$tmp/stacks thread")" \
    '0 -> thread 0 <- thread 0 -> threaded 1 -> plain 1 <- plain 0 <- threaded '
tree 'pid$target:a.out:deep:entry,pid$target:a.out:deep:return,
    pid$target:a.out:plain:entry,pid$target:a.out:plain:return' \
    "$tmp/stacks recursion" >"$tmp/deep"
{
	for ((i = 0; i <= 40; i++)); do printf '%s ' "$i -> deep"; done
	printf '%s ' '41 -> plain' '41 <- plain'
	for ((i = 40; i >= 0; i--)); do printf '%s ' "$i <- deep"; done
} >"$tmp/want"
same "recursion" "$tmp/want" "$tmp/deep"
finish
