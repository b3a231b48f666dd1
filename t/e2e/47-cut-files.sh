#!/bin/bash
# Files that change while we read them: a library that was cut short when it
# had been mapped costs names, not the tracer, and not the target.
. "${0%/*}/lib.sh"
need_attach

cp "$bin/libctor.so" "$tmp/libcut.so"
start t "$bin/odd" "$tmp/libcut.so"
line t ready

# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:plain:entry {
    printf("%A\n", arg0); usym(arg0); ustack(); }' -p "${pid[t]}"
truncate -s 4096 "$tmp/libcut.so"
tell t go
line t '^called'
line dt 'libcut\.so'
has <(echo "$line") 'libcut\.so[`:]0x'
tell t go
line t '^called'
kill -INT "${pid[dt]}"
end dt
is "cut short: status" "$status" 0
has "$tmp/dt.err" '^dtrap: a file was truncated while dtrap read it: symbol names may be missing$'
hasnt "$tmp/dt.err" 'internal error'

# And one that is there, but not all of it, from the start.
# shellcheck disable=SC2016
dt -q -n 'pid$target:::entry { @ = count(); }' -n 'tick-20hz { exit(0); }' \
    -p "${pid[t]}"
is "short: status" "$status" 0
hasnt "$tmp/err" 'internal error'

# A pipe, a device, a directory under the name of a deleted library.
for what in fifo device dir; do
	rm -rf "$tmp/libcut.so"
	case $what in
	fifo) mkfifo "$tmp/libcut.so" ;;
	device) ln -s /dev/zero "$tmp/libcut.so" ;;
	dir) mkdir "$tmp/libcut.so" ;;
	esac
	# shellcheck disable=SC2016
	dt -q -n 'pid$target:a.out:plain:entry { printf("%A\n", arg0); exit(0); }' \
	    -n 'BEGIN { printf("armed\n"); }' -n 'tick-20hz { exit(0); }' \
	    -p "${pid[t]}"
	is "$what: status" "$status" 0
	hasnt "$tmp/err" 'internal error'
done
tell t go
line t '^called'
alive t
is "tracer" "$(tracer "${pid[t]}")" 0
finish
