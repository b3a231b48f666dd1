#!/bin/bash
# timeout: 180
# Stacks at odd places: in stubs and in the kernel's functions, in code without
# rules, of threads that wait and threads that are born, in a library's
# callback, deep in python3 and perl, and where there is no stack at all.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
# shellcheck source=t/e2e/stacks.sh
. t/e2e/stacks.sh
cc=${CC:-cc}
need gdb "$cc" objdump nm
need_gdb_python
"$cc" -O2 -Wl,-z,lazy -o "$tmp/places" t/e2e/src/stacks/places.c -pthread -ldl ||
    fail "cannot compile"
p=$tmp/places

# Every instruction of every stub.  (gdb has names for them.)
FUNCTIONS=$(objdump -d --section=.plt "$p" |
    sed -n 's/^ *\([0-9a-f]*\):.*/*0x\1/p' | tr '\n' ' ')
export FUNCTIONS
NOT='.' LEAST=15 WHAT=stubs same_stacks "$p" plt

# The kernel's functions are mapped, and have rules.
FUNCTIONS=clock_gettime MODULE=linux-vdso.so.1 dt_stacks "$p" vdso
awk -v RS= '!/^[^\n]*clock_gettime[^\n]*\nlibc.so.6`clock_gettime.*\nplaces`ask_time.*\nplaces`main/ {
	print; exit 1 }' "$tmp/names" || wrong "in the kernel's functions"
[ "$(grep -c '^linux-vdso' "$tmp/names")" -gt 10 ] ||
    wrong "too few instructions of the kernel's"

# Assembly without rules, with a frame pointer and without.  Here gdb sees the
# caller only where that is on top of the stack, and an address 6.
export FUNCTIONS='bare_framed bare_frameless here'
dt_stacks "$p" asm
for f in framed frameless; do
	n=$(grep -c "bare_$f" "$tmp/names")
	[ "$n" -gt 10 ] || wrong "$f: $n stacks"
	is "$f" "$(awk -v RS= "/bare_$f/" "$tmp/names" |
	    grep -c "call_$f")" "$n"
done
is "main()" "$(grep -c 'places.main+' "$tmp/names")" \
    "$(grep -c '^$' "$tmp/names")"
GDB_EDIT='/bare_frameless\+0x[^c]/d' FUNCTIONS=bare_framed LEAST=8 \
    WHAT=assembly same_stacks "$p" asm

# A library's callback, and the library is gone when the stack is printed.
cat >"$tmp/each.c" <<'END'
int
each(int (*f)(int))
{
	int s = 0;

	for (int i = 0; i < 3; i++)
		s += f(i) + 1;
	return s;
}
END
"$cc" -O2 -fPIC -shared -o "$tmp/libeach.so" "$tmp/each.c" ||
    fail "cannot compile the library"
FUNCTIONS=here LEAST=20 WHAT=dlopen same_stacks "$p" dlopen "$tmp/libeach.so"
has "$tmp/names" '^libeach.so`each\+0x'

# Where a life begins.  A thread's first frame is its only one.
dt -q -x stackformat=folded -o "$tmp/born" -n '
	proc:::create,proc:::start,proc:::lwp-create,proc:::lwp-start {
		@[probename, pid == $target, ustack()] = count();
	}' -c "$p born"
# What the C library exports has its name on every machine, the rest only where
# its debug information is installed.
sed -E 's/[^ ;]*`//g; s/__libc_start_(call_)?main(_impl)?|create_thread|__clone_internal|clone3|0x[0-9a-f]+/?/g; s/_start;(\?;)+/_start;/; s/  */ /g' \
    "$tmp/born" | grep . | sort >"$tmp/got"
sort >"$tmp/want" <<'END'
_start;main;forks;fork;_Fork create 1 1
_start;main;forks;fork;_Fork lwp-start 0 1
_start;main;forks;fork;_Fork start 0 1
_start;main;threads;pthread_create;?;?;? lwp-create 1 1
_start;main;vforks;vfork create 1 1
_start;main;vforks;vfork lwp-start 0 1
_start;main;vforks;vfork start 0 1
? lwp-start 1 1
END
same "births" "$tmp/want" "$tmp/got"

# Threads that wait, by gdb and when their calls return.
start waiter "$p" futex
line waiter '^ready'
for task in /proc/"${pid[waiter]}"/task/*; do
	until read -r number _ <"$task/syscall" &&
	    { [ "$number" = 202 ] || [ "$number" = 0 ]; }; do
		[ $SECONDS -lt 100 ] || fail "$task does not wait"
	done
done
ATTACH=${pid[waiter]} gdb_stacks "$p"
sed -n 's/\(:0x[^ ]*\).*/\1/p' "$tmp/gdb" | sort >"$tmp/gdb.frames"
start_dt dt -q -x ustackframes=90 -x noresolve -x stackindent=0 \
    -n 'syscall::futex:return,syscall::read:return /!seen[tid]++/ {
	printf("thread %d", tid); ustack(); }' -p "${pid[waiter]}"
tell waiter go
end waiter
end dt
grep '^[a-z].*:0x' "$tmp/dt.out" | sort >"$tmp/dt.frames"
is "threads" "$(grep -c '^thread' "$tmp/dt.out")" 4
same "waiting threads" "$tmp/gdb.frames" "$tmp/dt.frames"

# No stack: an end, with the frames that can be.  The first two lead from frame
# to frame, one for ever, one up.
lost=$(nm "$p" | awk '$3 == "lost" { print $1 }')
dt -q -x stackindent=0 -o "$tmp/wild" -n 'pid$target:a.out:-:'"$lost"' {
	printf("depth %d", ustackdepth); ustack(); }' -c "$p wild"
is "wild: status" "$status" 0
is "wild: stacks" "$(grep -c '^depth' "$tmp/wild")" 7
is "wild: first frames" "$(grep -c '^places.astray+0xa$' "$tmp/wild")" 7
hasnt "$tmp/wild" '^0x'

# Real programs: a system call from far down.
interpreters() {
	local how=$1
	shift
	command -v "$1" >/dev/null || { echo "$1 is not installed"; return; }
	BEGIN=entry FUNCTIONS=getppid MODULE=libc.so.6 DEPTH=400 NOT='.' LEAST=2 \
	    WHAT=$how same_stacks "$@"
	[ "$(awk -v RS= -F '\n' '{ print NF; exit }' "$tmp/dt")" -gt 15 ] ||
	    wrong "$how: the stack is short"
}
interpreters python /usr/bin/python3 -S -E -c 'import os
def deep(n):
    return os.getppid() if n == 0 else max([n], key=lambda x: deep(n - 1))
deep(8)'
interpreters perl /usr/bin/perl -e '
	sub deep { my $n = shift; return getppid() if $n == 0;
	    my @v = sort { deep($n - 1); $a <=> $b } 2, 1; $v[0] } deep(3)'
finish
