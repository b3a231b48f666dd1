#!/bin/bash
# Entries and returns of system calls: how many, with which arguments, results
# and errors; calls of other tables are not given names of this one.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n '
	syscall::getppid:entry { @n["getppid entry"] = count(); }
	syscall::getppid:return /arg0 == $pid && arg1 == $pid && errno == 0/
	{ @n["getppid return"] = count(); }
	syscall::read:entry /arg0 == 0xffffffff && arg2 == 7/
	{ @n["read entry"] = count(); }
	syscall::read:entry /args[0] == -1 && args[1] == NULL && args[2] == 7/
	{ @n["read args"] = count(); }
	syscall::read:return /(int)arg0 == -9 && errno == 9/
	{ @n["read return"] = count(); }
	syscall::mmap:entry
	/arg1 == 1 && arg2 == 2 && arg3 == 3 && (int)arg4 == -1 &&
	    arg5 == 0x12345678/
	{ @n["mmap entry"] = count(); }
	syscall::openat:entry /copyinstr(arg1) == "/nonexistent"/
	{ self->open = 1; }
	syscall::openat:return /self->open/
	{
		@n["open return"] = count(); self->open = 0;
		printf("%s:%s:%s:%s %d %d\n", probeprov, probemod, probefunc,
		    probename, arg0, errno);
	}
	syscall::writev: { @n["writev"] = count(); }
	syscall::exit_group:entry { @n["exit"] = count(); }
	syscall::exit_group:return { @n["exit returns"] = count(); }
	END { printa("%s %@d\n", @n); }' -c "$bin/syscalls calls"
is "status" "$status" 0
cat >"$tmp/expected" <<-END
	exit 1
	getppid entry 10
	getppid return 10
	int80 N
	mmap entry 1
	open return 1
	read args 3
	read entry 3
	read return 3
	syscall:vmlinux:openat:return -2 2
END
{
	sed 's/^int80 [01]$/int80 N/' "$tmp/out"
	grep . "$tmp/trace"
} | sort >"$tmp/got"
same "what fired" "$tmp/got" "$tmp/expected"

# Threads, by entries and returns of each.
dt -q -o "$tmp/threads" -n '
	syscall::getppid:entry { self->in = 1; @n["entry"] = count(); }
	syscall::getppid:return /self->in/
	{ self->in = 0; @n["return"] = count(); @t[tid] = count(); }
	END {
		printa("%s %@d\n", @n); printa("thread %@d\n", @t); }' \
    -c "$bin/syscalls threads 50"
is "entries and returns of threads" \
    "$(grep . "$tmp/threads" | sort | uniq -c | tr -s ' ' | tr '\n' ',')" \
    " 1 entry 400, 1 return 400, 8 thread 50,"

# All of the system calls that strace sees, as often.
need strace
but_chance() { grep -vE "^(${SKIP:-none}) "; }
# count COMMAND: with SKIP, the names of those that chance has a part in.
count() {
	local sum
	strace -f -qq -e signal=none -o "$tmp/strace" "$@" >"$tmp/out" 2>"$tmp/err"
	# The first is what strace itself starts the program with.
	sum=$(grep -v 'resumed>' "$tmp/strace" | sed -E -e 1d \
	    -e 's/^[0-9]+ +//; /^\+\+\+/d; s/\(.*//' | sort | uniq -c |
	    awk '{ print $2, $1 }' | sort)
	dt -x evaltime=exec -q -o "$tmp/all" \
	    -n 'syscall:::entry { @[probefunc] = count(); }
	    END { printa("%s %@d\n", @); }' -c "$(quote "$@")"
	is "system calls of $*" "$(grep . "$tmp/all" | sort | but_chance)" \
	    "$(but_chance <<<"$sum")"
	rm -f "$tmp/all"
}
count ls -lR "$PWD/t/d"
count true
# One child after another: how often a shell wakes for several is chance.
count sh -c 'ls; (true; exec true); ls >/dev/null; exec ls'
SKIP=rt_sigreturn count sh -c 'ls -l / | sort | uniq -c | wc -l'
# One thread: with several, how many arenas malloc() makes is chance.
if command -v git >/dev/null; then
	export GIT_OPTIONAL_LOCKS=0 GIT_CONFIG_NOSYSTEM=1 HOME=$tmp
	git init -q "$tmp/repo" 2>/dev/null
	touch "$tmp"/repo/{one,two,three}
	git -C "$tmp/repo" add one two
	count git -C "$tmp/repo" -c core.preloadIndex=false \
	    -c index.threads=1 status
	has "$tmp/out" 'three'
fi
# The program itself: what is called python3 may be a script that chooses one.
# Into how many pieces its arenas' index falls is a matter of their addresses.
command -v python3 >/dev/null &&
    python=$(python3 -c 'import sys; print(sys.executable)') &&
    SKIP=mmap PYTHONHASHSEED=0 count "$python" -c '
import json, subprocess
subprocess.run(["ls", "/"])
print(json.dumps({}))'
# No child is followed where that is not wanted.
# shellcheck disable=SC2016 # $target is D's
dt -x follow=none -q -n 'syscall::: /pid != $target/ { exit(9); }' \
    -c "sh -c 'true; /bin/true; exit 0'"
is "status without followed children" "$status" 0
# Nobody to trace: it is said, as the habit is to trace the whole system.
dt -n 'syscall::write:entry { } tick-10ms { exit(3); }'
is "status without a process" "$status" 3
has "$tmp/err" '^dtrap: no process is traced: syscall probes fire only in processes given with -p'
dt -n 'syscall::write:entry { } BEGIN { exit(3); }'
hasnt "$tmp/err" 'no process'
finish
