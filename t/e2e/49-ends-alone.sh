#!/bin/bash
# Once the target is let go, dtrap waits for no other thread or process of its
# own to get a processor: with hundreds of threads that want one, each such wait
# takes its time.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
need strace
need_attach

start busy "$bin/busy" 4
line busy ready

# waits: the system calls behind the last detaching that wait for somebody, but
# for what is written.  Two threads may meet at a lock: not each time.
waits() {
	awk '/PTRACE_DETACH/ { n = 0; next }
	    /^(futex\(.*FUTEX_WAIT|wait4|waitid|nanosleep|clock_nanosleep)/ {
		line[++n] = $0 }
	    END { for (i = 1; i <= n; i++) print line[i] }' "$tmp/strace"
}
for _ in 1 2 3 4 5; do
	(apart strace -qq -o "$tmp/strace" -e \
	    trace=ptrace,futex,wait4,waitid,nanosleep,clock_nanosleep "$DTRAP" -q \
	    -x switchrate=5ms -p "${pid[busy]}" -n '
	    pid$target:a.out:work:entry { @ = count(); }
	    pid$target:a.out:work:entry /!n++/ { printf("hit\n"); }
	    tick-10ms /n/ { printf("tick\n"); }
	    tick-10ms /i++ == 20/ { exit(0); }
	    END { printf("the end\n"); }') >"$tmp/out" 2>"$tmp/err" </dev/null
	grep -q PTRACE_DETACH "$tmp/strace" || skip "strace does not work here"
	has "$tmp/out" '^the end$'
	has "$tmp/out" '^ +[1-9][0-9]*$'
	[ -n "$(waits)" ] || finish
done
waits
fail "it waits after it has let go"
