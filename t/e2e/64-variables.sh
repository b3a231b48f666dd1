#!/bin/bash
# Built-in variables of a hit, against the system's own answers.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
dt -q -o "$tmp/trace" -n 'pid$target:a.out:work:entry
	{
		printf("pid %d\n", pid == $target);
		printf("tid %d\n", tid == pid);
		printf("ppid %d\n", ppid == $pid);
		printf("uid %d %d\n", uid, gid);
		printf("execname %s\n", execname);
		printf("probe %s:%s:%s:%s\n", probeprov == strjoin("pid", $$target) ?
		    "pid" : probeprov, probemod, probefunc, probename);
		printf("rdi %d\n", uregs[R_RDI] == arg0);
		printf("rip %d\n", uregs[R_RIP] > 0 && uregs[R_RSP] > 0);
		printf("cpu %d\n", cpu >= 0);
		printf("time %d %d\n", timestamp > 0, walltimestamp > 0);
		self->v = vtimestamp;
		exit(0);
	}' -c "$bin/shape-pie"
is "status" "$status" 0
cat >"$tmp/want" <<EOF
pid 1
tid 1
ppid 1
uid $(id -u) $(id -g)
execname shape-pie
probe pid:shape-pie:work:entry
rdi 1
rip 1
cpu 1
time 1 1
EOF
sed '/^$/d' "$tmp/trace" >"$tmp/seen"
same "variables" "$tmp/want" "$tmp/seen"

# Strings of the target; an address that is not there is an error, and tracing
# goes on.
# shellcheck disable=SC2016
dt -q -o "$tmp/trace2" -n '
	pid$target:a.out:text:entry { printf("%s\n", copyinstr(arg0)); }
	pid$target:a.out:negative:entry { trace(copyinstr(arg0 + 4096)); }
	pid$target:a.out:branches:entry { @ = count(); }
	END { printa("%@d\n", @); }' -c "$bin/args"
is "status" "$status" 0
has "$tmp/trace2" '^xhello$'
has "$tmp/trace2" '^3$'
has "$tmp/err" '^dtrap: error in dt_clause_1 for probe ID [0-9]+ \(pid[0-9]+:args:negative:entry\): invalid address \(0x1[0-9a-f]*\) at DIF'
finish
