#!/bin/bash
# What a stack of ten frames costs at a hit, beside other tracers; and how long
# it takes to be attached to a Java program and to name the first stack of it,
# with the memory for that.
. "${0%/*}/lib.sh"

N=${N:-50000}

untraced() {
	per_call "$hot" 20000000 stack
}

# by_dtrap ACTIONS
by_dtrap() {
	# shellcheck disable=SC2016
	per_call "$DTRAP" -q -o "$tmp/out" \
	    -n 'pid$target:a.out:hot_push:entry '"{ $1 }" -c "$hot $N stack"
}

by_bpftrace() {
	per_call bpftrace -e "uprobe:$hot:hot_push { $1 }" -c "$hot $N stack"
}

# by_gdb COMMAND: at each stop.
by_gdb() {
	printf '%s\n' 'set pagination off' 'break hot_push' commands silent \
	    "$1" continue end 'run 1000 stack' >"$tmp/gdb"
	per_call gdb -q -nx -batch -x "$tmp/gdb" "$hot"
}

table 'ns per hit' ''
base "$(untraced)"
row 'dtrap, count()' "$(by_dtrap '@ = count();')"
row 'dtrap, @[ustack(10)] = count()' "$(by_dtrap '@[ustack(10)] = count();')"
row 'dtrap, ustack(10)' "$(by_dtrap 'ustack(10);')"
# shellcheck disable=SC2016
row 'dtrap, @ = max(ustackdepth)' "$(by_dtrap '@ = max(ustackdepth);')"
if have bpftrace root; then
	row 'bpftrace, count()' "$(by_bpftrace '@ = count();')"
	row 'bpftrace, ustack: frame pointers' \
	    "$(by_bpftrace '@[ustack(10)] = count();')"
fi
if have gdb; then
	row 'gdb, breakpoint' "$(by_gdb 'echo')"
	row 'gdb, bt 10' "$(by_gdb 'bt 10')"
fi

have java || exit 0
cat >"$tmp/Waits.java" <<'END'
public class Waits {
	public static void main(String[] args) throws Exception {
		System.out.println("ready");
		while (true)
			Thread.sleep(1);
	}
}
END
mkfifo "$tmp/ready"
java "$tmp/Waits.java" >"$tmp/ready" 2>&1 &
beside=$!
read -r said <"$tmp/ready"
[ "$said" = ready ] || { echo "java: $said, skipped"; exit 0; }

# Peak memory in MB as VmHWM says in "$tmp/out", after `took'.
peak() {
	awk '/VmHWM/ { printf "%.1f", $2 / 1024; exit }' "$tmp/out"
}

# first ACTIONS
first() {
	# shellcheck disable=SC2016
	took "$DTRAP" -w -q -n 'syscall::futex:entry { '"$1"'
		system("grep VmHWM /proc/%d/status", $pid); exit(0); }' \
	    -p "$beside"
}

table 'a Java program, attaching' ms MB
ms=$(first '@ = count();')
row 'dtrap, a system call' "$ms" "$(peak)"
ms=$(first 'ustack();')
row 'dtrap, its stack, with names' "$ms" "$(peak)"
if have gdb; then
	# shellcheck disable=SC2016
	ms=$(took gdb -q -nx -batch -p "$beside" -ex bt \
	    -ex 'shell grep VmHWM /proc/$PPID/status')
	row 'gdb, bt' "$ms" "$(peak)"
fi
