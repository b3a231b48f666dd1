#!/bin/bash
# A script that collects without end takes what the options allow, and no more.
. "${0%/*}/lib.sh"

# A hundred thousand keys, variables, and lines.
# shellcheck disable=SC2016 # $target and $PPID are not ours
dt -qw -x aggmax=1m -x dynvarsize=1m -x aggsize=1m -x nspec=16 -n '
    pid$target:a.out:hot_push:entry {
	@[arg0] = count(); @q[arg0] = quantize(arg0);
	self->x[arg0] = arg0; a[arg0, "text"] = arg0; }
    pid$target:a.out:hot_push:entry {
	self->s = speculation(); speculate(self->s); trace(arg0); }
    pid$target:a.out:hot_push:entry { printf("%100d\n", arg0); }
    END { trunc(@); trunc(@q);
	system("grep VmHWM /proc/$PPID/status"); }' \
    -c "$(quote "$bin/hot" 100000 push)"
is "status" "$status" 0
has "$tmp/err" ' aggregation drops beyond aggmax$'
has "$tmp/err" ' dynamic variable drops$'
hwm=$(awk '$1 == "VmHWM:" { print $2 }' "$tmp/out")
echo "$hwm kB"
[ "${hwm:-1000000}" -lt 60000 ] || wrong "dtrap took $hwm kB"
finish
