#!/bin/bash
# What tracing system calls costs one call: of all calls, each counted; and when
# another call is asked for than those that the program makes.
. "${0%/*}/lib.sh"

N=${N:-30000}
go="$hot $N getppid"
many="$hot $((N * 10)) getppid"

# dtrap COMMAND ARGUMENTS...
by_dtrap() {
	local c=$1
	shift
	per_call "$DTRAP" -q -o "$tmp/out" "$@" -c "$c"
}

# shellcheck disable=SC2086 # words
by_strace() {
	local c=$1
	shift
	per_call strace -o "$tmp/out" "$@" $c
}

table 'ns per system call' 'all counted' 'another one'
# shellcheck disable=SC2086
plain=$(per_call $many)
base "$plain" "$plain"
row dtrap "$(by_dtrap "$go" -n 'syscall:::entry { @[probefunc] = count(); }')" \
    "$(by_dtrap "$go" -n 'syscall::getuid:entry { @ = count(); }')"
row 'dtrap -x syscallfilter' \
    "$(by_dtrap "$go" -x syscallfilter \
	-n 'syscall::getppid:entry { @ = count(); }')" \
    "$(by_dtrap "$many" -x syscallfilter \
	-n 'syscall::getuid:entry { @ = count(); }')"
if have strace; then
	row 'strace' "$(by_strace "$go" -c)" "$(by_strace "$go" -e trace=getuid)"
	row 'strace --seccomp-bpf -f' \
	    "$(by_strace "$go" --seccomp-bpf -f -c -e trace=getppid)" \
	    "$(by_strace "$many" --seccomp-bpf -f -e trace=getuid)"
fi
if have bpftrace root; then
	row bpftrace "$(per_call bpftrace \
	    -e 'tracepoint:raw_syscalls:sys_enter { @[args->id] = count(); }' \
	    -c "$many")" "$(per_call bpftrace \
	    -e 'tracepoint:syscalls:sys_enter_getuid { @ = count(); }' -c "$many")"
fi
