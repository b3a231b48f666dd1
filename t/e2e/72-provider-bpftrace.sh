#!/bin/bash
# bpftrace sees the probes that a program makes while it runs, raises their semaphores,
# and agrees with dtrap about their arguments and the number of hits.
# timeout: 300
. "${0%/*}/lib.sh"
# shellcheck source=SCRIPTDIR/bpftrace.sh
. "${0%/*}/bpftrace.sh"
need bpftrace
need_attach
[ "$(id -u)" = 0 ] || skip "bpftrace is for root"
timeout 60 bpftrace -e 'uprobe:/proc/self/exe:main { } BEGIN { exit(); }' \
    >"$tmp/try" 2>&1 || skip "bpftrace does not work here"
export LIMIT=120

start app "$bin/provider"
line app ready
tell app load
line app 'load: no error'
for fd in /proc/"${pid[app]}"/fd/*; do
	case $(readlink "$fd") in /memfd:shop.so*) file=$fd ;; esac
done
bpftrace -l "usdt:$file:*" >"$tmp/list" 2>"$tmp/list.err"
has "$tmp/list" "^usdt:$file:shop:idle__time$"

# It is ready when it tells of a hit of what it attaches last.
start_null bpf bpftrace -B line -p "${pid[app]}" -e "
	usdt:$file:shop:all12 {
		printf(\"%d %d %d %d %d %u\\n\", arg0, arg1, arg2, arg3, arg4, arg5); }
	usdt:$file:shop:sold { @hits = count(); @sum = sum((int64)arg0);
		if ((int64)arg0 == -24999) { @last[str(arg1)] = count(); } }
	usdt:$file:shop:idle__time { printf(\"armed\\n\"); }"
heard 200 armed all '^all '
tell app "fire 25000 4"
line app 'fired, watched 1'
end_bpftrace
has "$tmp/bpf.out" '^-128 255 -32768 65535 -2147483648 4294967295$'
for t in 0 1 2 3; do
	has "$tmp/bpf.out" "^@last.$t-24999.: 1$"
done
has "$tmp/bpf.out" '^@hits: 100000$'
has "$tmp/bpf.out" '^@sum: -1249950000$'

# When it has gone nobody watches.
tell app "fire 1 1"
line app 'fired, watched'
is "watched afterwards" "${line##* }" 0
# shellcheck disable=SC2016 # D
start_dt dt -q -p "${pid[app]}" \
    -n 'shop$target:::sold { @ = count(); @s = sum(args[0]); }'
tell app "fire 25000 4"
line app 'fired, watched 1'
kill -INT "${pid[dt]}"
end dt
has "$tmp/dt.out" '^ *100000$'
has "$tmp/dt.out" '^ *-1249950000$'
close_in app
end app
finish
