#!/bin/bash
# Children of every kind are followed where the description says $target, and
# left alone where it names a process by its number or `follow=none' is set.
. "${0%/*}/lib.sh"

# calls ARGS...: what dtrap prints, without empty lines, to $tmp/seen
calls() {
	rm -f "$tmp/calls"
	dt -q -o "$tmp/calls" "$@"
	is "status" "$status" 0
	sed '/^$/d' "$tmp/calls" >"$tmp/seen"
}

# every call of work() in t/e2e/src/forks.c, whoever makes it
all_calls() { { seq 0 999; printf '%s\n' 1 2 4 5 10 10 11 11 13; } | sort -n; }

# shellcheck disable=SC2016
{
all_calls >"$tmp/want"
calls -n 'pid$target:a.out:work:entry { printf("%d\n", arg0); }' \
    -c "$bin/forks"
sort -n -o "$tmp/seen" "$tmp/seen"
same "calls of all" "$tmp/want" "$tmp/seen"

# Returns, in children that executed a program anew: the offsets are theirs.
calls -n 'pid$target:a.out:work:return { printf("%d\n", arg1); }' \
    -c "$bin/forks"
sort -n -o "$tmp/seen" "$tmp/seen"
awk '{ print $1 * 3 + 1 }' "$tmp/want" >"$tmp/wantret"
same "returns of all" "$tmp/wantret" "$tmp/seen"

printf '1\n2\n' >"$tmp/own"
calls -x follow=none \
    -n 'pid$target:a.out:work:entry /pid == $target/ { printf("%d\n", arg0); }' \
    -c "$bin/forks"
same "calls with follow=none" "$tmp/own" "$tmp/seen"

# What means nothing in the program that was launched may mean something in the
# one that its child executes.
calls -Z -n 'pid$target:a.out:work:entry { printf("%d\n", arg0); }' \
    -c "sh -c '$bin/forks; :'"
sort -n -o "$tmp/seen" "$tmp/seen"
same "calls of a child's program" "$tmp/want" "$tmp/seen"

# And what means probes that fire in no process does not begin to follow when an
# object comes.
cat >"$tmp/child.pl" <<'END'
require POSIX;
my $pid = fork();
if ($pid == 0) {
	open(my $f, '<', '/proc/self/status');
	while (<$f>) { print "tracer $1\n" if /^TracerPid:\s+(\d+)/; }
	exit 0;
}
waitpid($pid, 0);
END
dt -q -n 'prof*:::tick-1s {}' -c "perl $tmp/child.pl"
is "child beside a tick" "$(grep -c '^tracer 0$' "$tmp/out")" 1
dt -q -n 'pid$target:a.out:main:entry {}' -c "perl $tmp/child.pl"
is "child of a family" "$(grep -c '^tracer 0$' "$tmp/out")" 0

# Nothing that a followed child says or does changes.
same_traced 'pid$target:a.out::entry,pid$target:libc::entry' "$bin/forks"

# A shell's commands, each a program of its own.
calls -n 'pid$target:libc:__libc_start_main:entry { @[execname] = count(); }
	END { printa("%s %@d\n", @); }' \
    -c "sh -c 'env true; true | cat; (exec env true)'"
sort -o "$tmp/seen" "$tmp/seen"
printf '%s\n' 'cat 1' 'env 2' 'sh 1' 'true 2' >"$tmp/progs"
same "programs" "$tmp/progs" "$tmp/seen"

# Many, one after another and at once.
calls -n 'pid$target:a.out:work:entry { @ = count(); }
	END { printa("%@d\n", @); }' -c "$bin/manyforks 500 8"
is "calls of many" "$(cat "$tmp/seen")" 4000
}

# By number: only the process itself.
start forks "$bin/manyforks" wait
line forks ready
start_dt tracer -q -n "BEGIN { printf(\"go\\n\"); }
	pid${pid[forks]}:a.out:work:entry { printf(\"own %d\\n\", pid == ${pid[forks]}); }"
line tracer go
tell forks go
line forks 'done 0'
end forks
line tracer 'own 1'
line tracer 'own 1'
kill -INT "${pid[tracer]}"
end tracer
hasnt "$tmp/tracer.out" 'own 0'
finish
