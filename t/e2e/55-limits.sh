#!/bin/bash
# Limits of the shell that starts the tracer: on the size of files, and on
# address space.
. "${0%/*}/lib.sh"
need_attach

start t "$bin/busy" 2
line t '^ready'
p=${pid[t]}

# limited LIMIT... ARGS...: dtrap under it; ulimit's units are KB.
limited() {
	(ulimit "$1" "$2" && shift 2 && exec timeout -k 5 60 "$DTRAP" "$@") \
	    >"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
}

# Memory of ours is no file that anybody meant.
limited -f 4 -qn 'BEGIN { @a["x"] = count(); printf("here\n"); exit(0); }'
is "small files: status" "$status" 0
has "$tmp/out" '^here$'
has "$tmp/out" '^  x  *1$'

# What is too long for its file: an error, and nobody's end.
# shellcheck disable=SC2016
limited -f 8 -q -o "$tmp/long" -p "$p" -n 'pid$target:a.out:work:entry {
    printf("%200d\n", arg0); }'
is "a long file: status" "$status" 1
is "a long file: messages" "$(cat "$tmp/err")" \
    'dtrap: cannot write output: File too large'
is "a long file: size" "$(stat -c %s "$tmp/long")" 8192
alive t
is "a long file: tracer" "$(tracer "$p")" 0
limited -f 1 -q -x report="$tmp/r.svg" -n 'BEGIN { exit(0); }' -o /dev/null
is "report: status" "$status" 1
has "$tmp/err" "failed to write report '$tmp/r.svg': File too large"
is "report: left over" "$(find "$tmp" -name '*report-*')" ""

# A program that is launched meets the signal as it would without us, and so do
# commands.
cat >"$tmp/look" <<'END'
ignored=$(sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/$$/status)
echo "$1 $((0x$ignored >> 24 & 1))"
END
limited -f 100 -qw -n "BEGIN { system(\"bash $tmp/look command\"); }" \
    -c "bash $tmp/look program"
is "signals: status" "$status" 0
is "ignored" "$(grep . "$tmp/out" | sort | paste -sd ' ')" \
    'command 0 program 0'

# Little address space.
for kb in 60000 200000 540000; do
	# shellcheck disable=SC2016
	limited -v $kb -q -p "$p" -n 'pid$target:a.out:work:entry {
	    @[probefunc] = count(); } pid$target:a.out:work:return
	    /++n == 100/ { exit(0); }'
	is "$kb KB: status" "$status" 0
	has "$tmp/out" '^  work  *[1-9]'
	is "$kb KB: messages" "$(cat "$tmp/err")" ""
done
limited -v 60000 -q -b 100m -x bufresize=manual -n 'BEGIN { exit(0); }'
is "a large buffer: status" "$status" 1
has "$tmp/err" 'not enough address space \(ulimit -v\)$'
alive t
close_in t
line t '^done'
is "results" "$line" 'done wrong 0'
finish
