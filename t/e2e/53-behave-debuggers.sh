#!/bin/bash
# Programs that look for a tracer, or trace by themselves; others that want to
# trace what we do; text that must not be written to.  What they notice is
# known, and neither they nor the program come to harm.
# shellcheck source=SCRIPTDIR/behave.sh
. "${0%/*}/behave.sh"
need_attach

# Its own text shows to who reads it there, while it is traced and no longer.
for name in sums-itself asks-tracer; do
	case $name in
	sums-itself) alone=same seen=differs ;;
	asks-tracer) alone='traced 0' seen='traced 1' ;;
	esac
	start one "$behave" -m $name
	line one '^ready'
	start_dt dt -q -n "$hot { @ = count(); }" -Z -p "${pid[one]}"
	tell one go
	line one
	is "$name: traced" "$line" "$seen"
	end one
	is "$name: status" "$status" 0
	end dt
	start one "$behave" -m $name
	line one '^ready'
	start_dt dt -q -n "$hot { @ = count(); }" -Z -p "${pid[one]}"
	kill -INT "${pid[dt]}"
	end dt
	tell one go
	line one
	is "$name: let go" "$line" "$alone"
	end one
	is "$name: let go: status" "$status" 0
done

# Text that is the file's own is left alone.
start one "$behave" -m shared-text
line one '^ready'
# shellcheck disable=SC2016
start_dt dt -q -Z -n 'pid$target:behave-shared*::entry,pid$target:libdlo*::entry,
    pid$target:a.out:work:entry { @ = count(); }' -p "${pid[one]}"
tell one go
line one '^file'
is "shared text" "$line" "file as it was"
end one
end dt

# One that traces its own child: without -x follow=none the child is ours.
for name in traces-child seizes-child; do
	"$behave" $name >"$tmp/plain" 2>&1 </dev/null
	echo "status $?" >>"$tmp/plain"
	timeout -k 5 60 "$DTRAP" -Z -x follow=none -o "$tmp/trace" \
	    -n "$wide { @ = count(); }" -c "$behave $name" \
	    >"$tmp/traced" 2>"$tmp/dtrap.err" </dev/null
	echo "status $(ended "$tmp/dtrap.err")" >>"$tmp/traced"
	same "$name, follow=none" "$tmp/plain" "$tmp/traced"
	dt -q -Z -o "$tmp/trace" -n "$wide { @ = count(); }" -c "$behave $name"
	is "$name, followed: status of dtrap" "$status" 0
	case $name in
	traces-child) want='child: exited 91' ;;
	seizes-child) want='seize -1 Operation not permitted' ;;
	esac
	has "$tmp/out" "^$want"
done

# Others who come while we are there are refused, and nobody minds.
start busy "$bin/busy" 2
line busy ready
# shellcheck disable=SC2016
start_dt dt -q -n 'pid$target:a.out:work: { @ = count(); }' -p "${pid[busy]}"
if command -v strace >/dev/null; then
	timeout 60 strace -o /dev/null -p "${pid[busy]}" 2>"$tmp/strace.err" &&
	    wrong "strace attached"
	has "$tmp/strace.err" 'Operation not permitted'
fi
if command -v gdb >/dev/null; then
	timeout 60 gdb -nx -batch -p "${pid[busy]}" >"$tmp/gdb.out" 2>&1
	has "$tmp/gdb.out" 'already traced|not permitted'
fi
dt -n 'BEGIN { exit(0); }' -p "${pid[busy]}"
is "another dtrap: status" "$status" 1
has "$tmp/err" "^dtrap: .*${pid[busy]}.*traced"
tell busy hello
line busy '^alive wrong 0'
kill -INT "${pid[dt]}"
end dt
close_in busy
end busy
is "status of the target" "$status" 0
finish
