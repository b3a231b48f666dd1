#!/bin/bash
# System calls that are interrupted: by a signal, which shows; by the tracer,
# which does not.  Attaching to a thread that is in one.
. "${0%/*}/lib.sh"

dt -q -o "$tmp/signals" -n '
	syscall::rt_sigaction:return { self->on = 1; }
	syscall::read:entry /self->on/ { @n["again"] = count(); }
	syscall::read:return /self->on && errno == 512/
	{ @n["interrupted"] = count(); }
	syscall::read:return /self->on && arg0 == 1/ { @n["read"] = count(); }
	syscall::rt_sigreturn:entry { @n["handled"] = count(); }
	END { printa("%s %@d\n", @n); }' -c "$bin/syscalls signals 20"
is "status" "$status" 0
hasnt "$tmp/err" 'exited with'
is "reads under signals" "$(grep . "$tmp/signals" | sort | tr '\n' ',')" \
    "again 21,handled 20,interrupted 20,read 1,"

# The tracer stops everybody each time a library comes.
# shellcheck disable=SC2016
dt -q -Z -o "$tmp/loads" -n '
	syscall::pipe2:return { on = 1; }
	syscall::read:entry /on && arg2 == 1/ { @n["read entry"] = count(); }
	syscall::read:return /on && errno >= 512/ { @n["wrong"] = count(); }
	syscall::read:return /on && arg0 == 1/ { @n["read return"] = count(); }
	syscall::clock_nanosleep: { @n["sleep"] = count(); }
	syscall::poll:entry { @n["poll entry"] = count(); }
	syscall::poll:return /arg0 == 1/ { @n["poll return"] = count(); }
	syscall::restart_syscall: { @n["restart"] = count(); }
	pid$target:libdlo.so::entry { @n["lib"] = count(); }
	END { printa("%s %@d\n", @n); }' -c "$bin/syscalls loads 10 $bin/libdlo.so"
is "status" "$status" 0
hasnt "$tmp/err" 'exited with'
is "calls under stops of the tracer" \
    "$(grep -v '^lib' "$tmp/loads" | grep . | sort | tr '\n' ',')" \
    "poll entry 1,poll return 1,read entry 1,read return 1,sleep 1,"

# The exec that the program was launched by returns; it was not entered in its
# place.  An exec by another thread: the call returns in the leader, and what follows
# is not taken the wrong way round.  (In a static program nothing else stops the
# thread between exec and the end of the call.)
cat >"$tmp/exec.d" <<-'EOF'
	syscall::execve:entry { printf("entry %d\n", pid == tid); }
	syscall::execve:return
	{ printf("return %d %d %d\n", pid == tid, arg0, errno); }
	syscall::getppid:entry { @n["getppid entry"] = count(); }
	syscall::getppid:return /arg0 == $pid/ { @n["getppid return"] = count(); }
	syscall::exit_group: { @n[probename] = count(); }
	END { printa("%s %@d\n", @n); }
EOF
dt -q -o "$tmp/exec" -s "$tmp/exec.d" \
    -c "$bin/syscalls exec $bin/syscalls"
is "exec by a thread" "$(grep . "$tmp/exec" | sort | tr '\n' ',')" \
    "entry 0,entry 1,getppid entry 10,getppid return 10,return 1 0 0,return 1 0 0,"
dt -q -o "$tmp/static" -s "$tmp/exec.d" \
    -c "$bin/syscalls exec $bin/shape-static"
is "exec of a static program" "$(grep . "$tmp/static" | sort | tr '\n' ',')" \
    "entry 0,entry 1,return 1 0 0,return 1 0 0,"

need_attach
start target "$bin/syscalls" blocked
line target '^ready'
until read -r nr _ <"/proc/${pid[target]}/syscall" && [ "$nr" = 0 ]; do :; done
# shellcheck disable=SC2016
start_dt trace -q -n '
	syscall:::entry { printf("entry %s\n", probefunc); }
	syscall:::return { printf("return %s %d\n", probefunc, arg0); }' \
    -p "${pid[target]}"
tell target x
end target
is "status of the target" "$status" 0
end trace
is "attached in the middle of read()" \
    "$(grep . "$tmp/trace.out" | tail -n +2 | tr '\n' ',')" \
    "return read 1,entry exit_group,"
finish
