#!/bin/bash
# Where the kernel lets nobody, or nobody but a tracer, write to read-only memory
# through /proc/PID/mem (proc_mem.force_override, Linux 6.12), nobody could put
# text back after a sudden end of dtrap: probes in text are refused, the reason is
# named, and -x unprotected traces all the same.  `make check-kernel
# KERNELS=bookworm-backports T=58-f APPEND=proc_mem.force_override=never' boots
# such a kernel.
. "${0%/*}/lib.sh"
need_attach
need perl

# Of a page of its own, which is what the kernel decides by.
perl -e '
	open(my $maps, "<", "/proc/self/maps") or die;
	my ($at) = map { /^([0-9a-f]+)-\S+ r--p/ ? hex($1) : () } <$maps>;
	open(my $mem, "+<", "/proc/self/mem") or die;
	sysseek($mem, $at, 0);
	sysread($mem, my $byte, 1) == 1 or die;
	sysseek($mem, $at, 0);
	exit(defined(syswrite($mem, $byte, 1)) ? 77 : 0);'
case $? in
0) ;;
77) skip "this kernel allows forced writes" ;;
*) fail "it cannot be found out" ;;
esac

start t "$bin/hotcool"
line t ready
p=${pid[t]}
text_kept "$p" >"$tmp/before"

# shellcheck disable=SC2016
hot='pid$target:a.out:hot:entry { @ = count(); }
    pid$target:a.out:hot:entry /n++ > 5/ { exit(0); }'
dt -q -n "$hot" -p "$p"
is "refused: status" "$status" 1
has "$tmp/err" "^dtrap: could not enable tracing: pid $p cannot be protected .*proc_mem.force_override"

dt -q -n 'syscall::: { @ = count(); } tick-10ms { exit(0); }' -p "$p"
is "no text: status" "$status" 0
is "no text: words" "$(cat "$tmp/err")" ''

dt -q -x unprotected -n "$hot" -p "$p"
is "unprotected: status" "$status" 0
has "$tmp/err" "^dtrap: pid $p is traced without protection: .*proc_mem.force_override"
has "$tmp/out" '^ +[1-9][0-9]*$'

text_kept "$p" >"$tmp/after"
same text "$tmp/before" "$tmp/after"
alive t
finish
