#!/bin/bash
# -x syscallfilter: the same system calls are seen, in children too; those that
# nobody names do not stop; nobody is left behind whose calls would fail.
. "${0%/*}/lib.sh"

filters() {
	sed -n 's/^Seccomp_filters:[^0-9]*//p' "$1"
}
[ -n "$(filters /proc/self/status)" ] ||
    skip "the kernel does not count seccomp filters"

dt -q -x syscallfilter -n 'syscall::getppid:entry { @ = count(); }' \
    -c 'cat /proc/self/status'
is "status" "$status" 0
if grep -q 'syscallfilter: not' "$tmp/err"; then
	skip "$(cat "$tmp/err")"
fi
is "filters" "$(filters "$tmp/out")" $(($(filters /proc/self/status) + 1))

# With and without it.
# shellcheck disable=SC2016
cat >"$tmp/tree.d" <<-'EOF'
	syscall::execve:, syscall::write:, syscall::wait4:, syscall::dup2:,
	syscall::getppid:
	{ @[probefunc, probename] = count(); }
	END { printa("%s %s %@d\n", @); }
EOF
for program in "sh -c 'ls; (true; exec true); echo x >/dev/null'" \
    "$bin/syscalls threads 50" "$bin/syscalls exec $bin/syscalls"; do
	rm -f "$tmp/without" "$tmp/with"
	dt -q -o "$tmp/without" -s "$tmp/tree.d" -c "$program"
	mv "$tmp/out" "$tmp/out.without"
	dt -q -o "$tmp/with" -x syscallfilter -s "$tmp/tree.d" -c "$program"
	sort -o "$tmp/without" "$tmp/without"
	sort -o "$tmp/with" "$tmp/with"
	same "$program: system calls" "$tmp/with" "$tmp/without"
	same "$program: output" "$tmp/out" "$tmp/out.without"
	has "$tmp/with" '^(execve|getppid) return [0-9]+$'
done

# The tracer's own stops, and its own system calls in the program.
# shellcheck disable=SC2016
dt -q -Z -o "$tmp/loads" -x syscallfilter -n '
	syscall::read:entry /arg2 == 1/ { @n["read entry"] = count(); }
	syscall::read:return /errno >= 512/ { @n["wrong"] = count(); }
	syscall::read:return /arg0 == 1/ { @n["read return"] = count(); }
	syscall::clock_nanosleep: { @n["sleep"] = count(); }
	syscall::poll:entry { @n["poll entry"] = count(); }
	syscall::poll:return /arg0 == 1/ { @n["poll return"] = count(); }
	syscall::mmap:return /arg0 < 0/ { @n["map failed"] = count(); }
	pid$target:libdlo.so::entry { @n["lib"] = count(); }
	END { printa("%s %@d\n", @n); }' -c "$bin/syscalls loads 10 $bin/libdlo.so"
is "status" "$status" 0
hasnt "$tmp/err" 'exited with'
is "calls under stops of the tracer" \
    "$(grep -v '^lib' "$tmp/loads" | grep . | sort | tr '\n' ',')" \
    "poll entry 1,poll return 1,read entry 1,read return 1,sleep 1,"

# A thread is at such a stop when the tracer wants a call made in it.
for x in temporal syscallfilter; do
	rm -f "$tmp/busy"
	# shellcheck disable=SC2016
	dt -q -Z -o "$tmp/busy" -x $x -n '
		syscall::getppid: { @n[probename] = count(); }
		pid$target:libdlo.so::entry { @n["lib"] = count(); }
		END { printa("%s %@d\n", @n); }' \
	    -c "$bin/syscalls busyloads 50 $bin/libdlo.so"
	is "status" "$status" 0
	hasnt "$tmp/err" 'exited with|terminated'
	calls=$(sed -n 's/^getppid //p' "$tmp/out")
	is "$x: calls of a busy thread" \
	    "$(grep -E '^(entry|return)' "$tmp/busy" | sort | tr '\n' ',')" \
	    "entry $calls,return $calls,"
done

# Who would be left without a tracer is not left.
start_null trace "$DTRAP" -x switchrate=5ms -x syscallfilter \
    -n 'syscall::getppid:entry { printf("in %d end\n", pid); exit(0); }' \
    -c "$bin/syscalls threads 1000000000"
line trace 'in [0-9]+ end'
left=${line##*in }
left=${left% end*}
end trace
is "status" "$status" 0
has "$tmp/trace.err" "^dtrap: pid $left cannot continue .*killed$"
[ ! -e "/proc/$left" ] || [ "$(state "$left")" = Z ] ||
    wrong "process $left was left: $(state "$left")"

# When dtrap is killed: who runs under a filter of its ends with it, in time for
# no call to fail; everybody else never notices.
for x in temporal syscallfilter; do
	start trace "$DTRAP" -q -x $x -n 'syscall::write:entry { @ = count(); }' \
	    -c "sh -c 'echo pid \$\$ && read -r x && echo got \$x && sh -c \"echo too\"'"
	line trace '^pid [0-9]+$'
	kill -KILL "${pid[trace]}"
	wait "${pid[trace]}"
	if [ $x = temporal ]; then
		tell trace hello
		line trace '^got hello$'
		line trace '^too$'
	fi
	end trace
	is "$x: all that was written" \
	    "$(sed 's/ [0-9]*$//' "$tmp/trace.out" | tr '\n' ',')" \
	    "pid,$([ $x = syscallfilter ] || echo 'got hello,too,')"
done

# A filter of the program's own is as good as before.  What it refuses does not
# stop any more: the stricter of two filters decides.
for x in temporal syscallfilter; do
	rm -f "$tmp/seen"
	# shellcheck disable=SC2016
	dt -q -o "$tmp/seen" -x $x -n 'syscall::getppid:, syscall::getuid:
		{ @[probefunc, probename, errno] = count(); }
		END { printa("%s %s %d %@d\n", @); }' -c "$bin/syscalls refused 5"
	has "$tmp/out" '^refused 5$'
	want='getuid entry 0 1,getuid return 0 1,'
	[ $x = syscallfilter ] ||
	    want="getppid entry 0 5,getppid return 1 5,$want"
	is "$x: calls seen beside the program's own filter" \
	    "$(grep . "$tmp/seen" | sort | tr '\n' ',')" "$want"
done

# Not for those that were there before.
need_attach
start target "$bin/syscalls" blocked
line target '^ready'
start_dt trace -x syscallfilter -n 'syscall::read:return { trace(arg0); }' \
    -p "${pid[target]}"
tell target x
end target
is "status of the target" "$status" 0
end trace
has "$tmp/trace.err" '^dtrap: syscallfilter: not used for process [0-9]+: it was not launched'
finish
