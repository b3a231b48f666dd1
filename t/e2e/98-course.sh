#!/bin/bash
# timeout: 200
# The one-liners of doc/course.md that no other test has, each with what is known
# beforehand.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh

# d1 WHAT EXPECTED COMMAND PROGRAM: the output, its lines as words.
d1() {
	dt -q -o "$tmp/trace" -n "$4" -c "$3"
	is "$1: status" "$status" 0
	is "$1" "$(xargs <"$tmp/trace")" "$2"
	rm -f "$tmp/trace"
}

dd='dd if=/dev/zero of=/dev/null count=3 status=none'
head -c 100 /dev/zero >"$tmp/there"

# Module 1: a script on standard input, with a string argument.
printf 'syscall::write:entry /execname == $$1/ { printf("%%d\\n", arg2); }\n' |
    "$DTRAP" -q -s /dev/fd/0 -o "$tmp/trace" -c "$dd" dd 2>"$tmp/err"
is "from standard input" "$? $(xargs <"$tmp/trace")" "0 512 512 512"
rm -f "$tmp/trace"
dt -l -P fbt
has "$tmp/err" 'No probe matches'
dt -x dynvarsize=4k -q -n 'int t[int]; int n;
	tick-1ms /n < 1000/ { n++; t[timestamp] = n; } tick-1ms /n == 1000/ { exit(0); }'
is "drops: status" "$status" 0
has "$tmp/err" '^dtrap: [0-9]+ dynamic variable drops$'
# The address is a descriptor; the other firings go on.
dt -q -o "$tmp/trace" -c "$dd" -n 'syscall::write:entry { n++; }
	syscall::write:entry { trace(*(int *)arg0); }
	END { printf("%d firings\n", n); }'
is "bad address: errors" "$(grep -c 'invalid address (0x1)' "$tmp/err")" 3
has "$tmp/trace" '^3 firings$'
rm -f "$tmp/trace"

# Module 2.
d1 "no provider" "syscall syscall syscall" "$dd" \
    '::write:entry { printf("%s\n", probeprov); }'
d1 "types of arguments" "1 1 2 2" "$bin/work-calls 2" \
    'pid$target:a.out:slow:entry { printf("%d %d\n", args[0], (int)arg0); }'
d1 "children" "echo /bin/echo b 0 1 sh sh -c echo a; /bin/echo b; : 1 1" \
    'sh -c "echo a; /bin/echo b; :"' 'syscall::write:entry /progenyof($target)/ {
	@[execname, curpsinfo->pr_psargs, pid == $target] = count(); }'
d1 "a variable of the program" "entry 0 return 1" "$bin/work-handoff 0 1" \
    'pid$target:a.out:put:entry, pid$target:a.out:put:return {
	printf("%s %d\n", probename, a.out`no_more); }'
d1 "clause-local and global" "1 1 1 2 1 3" "$dd" \
    'int global; this int local; syscall::write:entry { this->local++; global++;
	printf("%d %d\n", this->local, global); }'
d1 "thread-local" "1 -> 512 1 -> 512 1 -> 512" "$dd" \
    'self int fd; syscall::write:entry { self->fd = arg0; }
     syscall::write:return { printf("%d -> %d\n", self->fd, arg1); }'
dt -q -w -c 'echo cat' -n 'syscall::write:entry /arg0 == 1/ {
	this->c = (char *)alloca(1); *this->c = 77; copyout(this->c, arg1, 1); }'
is "copyout" "$(head -n 1 "$tmp/out")" Mat
d1 "an associative array" "read write" "$dd" 'string last[int, int];
	syscall::read:entry, syscall::write:entry { last[pid, (int)arg0] = probefunc; }
	syscall::exit_group:entry { printf("%s %s\n", last[pid, 0], last[pid, 1]); }'
# 2, 5 and 10 bytes; the squares have the mean 43, the root of 43 - 5 * 5 is 4.
d1 "aggregating functions" "3 17 5 2 10 4" \
    'sh -c "echo a; echo abcd; echo abcdefghi"' 'syscall::write:entry {
	@n = count(); @s = sum(arg2); @a = avg(arg2); @m = min(arg2);
	@M = max(arg2); @d = stddev(arg2); }
	END { printa("%@d %@d %@d %@d %@d %@d\n", @n, @s, @a, @m, @M, @d); }'
d1 "normalize" "1 17" "sh -c 'echo abcdefghijklmnop'" \
    'syscall::write:entry { @s = sum(arg2); } END { normalize(@s, 10);
	printa("%@d\n", @s); denormalize(@s); printa("%@d\n", @s); }'
d1 "a speculation" "$tmp/missing" "cat $tmp/there $tmp/missing" \
    'syscall::openat:entry /dirname(copyinstr(arg1)) == "'"$tmp"'"/ {
	self->id = speculation(); speculate(self->id);
	printf("%s\n", copyinstr(arg1)); }
     syscall::openat:return /self->id && errno != 0/ { commit(self->id); self->id = 0; }
     syscall::openat:return /self->id/ { discard(self->id); self->id = 0; }'

# Module 3: one call of open, that fails; a tree; time waited, not worked.
d1 "open" "=> $(id -u) $tmp/missing <= -2 2 1" "cat $tmp/missing" \
    'syscall::open*:entry /copyinstr(arg1) == "'"$tmp/missing"'"/ {
	self->t = timestamp; printf("=> %d %s\n", uid, copyinstr(arg1)); }
     syscall::open*:return /self->t/ {
	printf("<= %d %d %d\n", arg1, errno, timestamp > self->t); self->t = 0; }'
dt -o "$tmp/trace" -x flowindent -c "$bin/work-calls 1" -n '
    pid$target:a.out:outer:entry, pid$target:a.out:outer:return,
    pid$target:a.out:slow:entry, pid$target:a.out:slow:return'
is "a tree" "$(awk '/(->|<-)/ { sub(/^ *[0-9]+ /, ""); sub(/ +$/, ""); print }' \
    "$tmp/trace" | tr '\n' ,)" " -> outer,   -> slow,   <- slow, <- outer,"
rm -f "$tmp/trace"
d1 "who calls" "work-calls\`outer" "$bin/work-calls 1" \
    'pid$target:a.out:slow:entry { ufunc(ucaller); }'
d1 "no stack of a kernel" 0 "$dd" \
    'syscall::write:entry { stack(); } END { printf("%d", stackdepth); }'
d1 "where time is waited" clock_nanosleep 'sleep 0.1' \
    'syscall:::entry { self->t = timestamp; self->v = vtimestamp; }
     syscall:::return /self->t/ {
	@off[probefunc] = sum(timestamp - self->t - (vtimestamp - self->v)); }
     END { trunc(@off, 1); printa("%s\n", @off); }'

# Module 4.
d1 "descriptors" "READ 0: stat on /proc (proc)" \
    'dd if=/proc/self/stat of=/dev/null count=1 status=none' \
    'syscall::read:entry /fds[arg0].fi_fs == "proc"/ {
	printf("READ %d: %s on %s (%s)\n", arg0, fds[arg0].fi_name,
	    fds[arg0].fi_mount, fds[arg0].fi_fs); }'
d1 "mkdir" "$tmp/made" "mkdir $tmp/made" \
    'syscall::mkdir:entry { printf("%s\n", copyinstr(arg0)); }'
[ -d "$tmp/made" ] || wrong "mkdir made nothing"

# Module 5: what main() is called by, and what a mutex is called.
dt -q -o "$tmp/trace" -c "$bin/work-calls 0" \
    -n 'pid$target:a.out:main:entry { ustack(); }'
is "main" "$(sed 's/+.*//; s/^ *//' "$tmp/trace" | sed -n '/./p' | sed '1p;$p;d' |
    xargs -d '\n')" 'work-calls`main work-calls`_start'
rm -f "$tmp/trace"
dt -q -o "$tmp/trace" -c "$bin/work-handoff 5 3" \
    -n 'plockstat$target:::mutex-acquire { @[usym(arg0)] = count(); }'
# Six times put(), eight times take(), and as often as a worker has waited.
is "a mutex by name" "$(awk '/queue_lock/ { print $1, ($2 >= 14) }' "$tmp/trace")" \
    'work-handoff`queue_lock 1'
rm -f "$tmp/trace"

# A static probe of one's own, in all steps.
mkdir "$tmp/usdt"
printf 'provider my_prog { probe input__val(int); probe process__val(int); };\n' \
    >"$tmp/usdt/provider.d"
cat >"$tmp/usdt/myprog.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/sdt.h>
#include "provider.h"
int
main(void)
{
	int val;
	if (scanf("%d", &val) != 1)
		return 1;
	if (MY_PROG_INPUT_VAL_ENABLED()) {
		int magnitude = abs(val);
		MY_PROG_INPUT_VAL(magnitude);
	}
	DTRACE_PROBE1(my_prog, process__val, val * 2);
	return 0;
}
C
include=$PWD/include
(cd "$tmp/usdt" && "$DTRAP" -C -h -s provider.d -o provider.h &&
    ${CC:-cc} -I"$include" -c myprog.c &&
    "$DTRAP" -C -G -s provider.d -o provider.o myprog.o &&
    ${CC:-cc} -o myprog myprog.o provider.o) >"$tmp/err" 2>&1 ||
    fail "the program with probes is not built"
for probe in 'my_prog$target:::input-val' input-val; do
	echo -21 | "$DTRAP" -q -o "$tmp/trace" -n "$probe"' {
	    printf("%s:%s:%s %d %d\n", probemod, probefunc, probename, arg0, args[0]); }' \
	    -c "$tmp/usdt/myprog" 2>"$tmp/err"
	is "$probe" "$? $(xargs <"$tmp/trace")" "0 myprog:main:input-val 21 21"
	rm -f "$tmp/trace"
done

# The quick start and the lectures.
dt -qn 'BEGIN { printf("Hello world"); exit(0); }'
has "$tmp/out" '^Hello world$'
d1 "commands" "$(id -u) $(id -g) /bin/true $(id -u) $(id -g) /bin/true" \
    'sh -c "/bin/true; /bin/true; :"' \
    'proc:::exec { printf("%u %u %s\n", uid, gid, stringof(args[0])); }'
dt -S -n 'BEGIN /execname == "ls"/ { trace(arg0); }' -n 'BEGIN { exit(0); }'
has "$tmp/err" '29011801 +ldgs DT_VAR\(280\), %r1.*"execname"'
finish
