#!/bin/bash
# Static probes in processes that nobody named: they are found by the probe.
. "${0%/*}/lib.sh"
need_attach
need "${CC:-cc}"
cd "$tmp" || exit 2

# A provider that no other process on this machine has.
name=found${$}x
cat >p.d <<D
provider $name { probe line(char *text); };
D
cat >p.c <<C
#include <stdio.h>
#include <sys/prctl.h>
#include "p.h"
int
main(void)
{
	char line[80];
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin) != NULL) {
		FOUND${$}X_LINE(line);
		printf("done\n");
	}
	return 0;
}
C
dt -h -s p.d
"${CC:-cc}" -o p p.c || fail "cannot compile"

start one ./p
start two ./p
line one ready
line two ready

dt -l -P "$name*"
is "rows" "$(grep -c " main line$" "$tmp/out")" 2
for p in one two; do
	has "$tmp/out" " $name${pid[$p]} +p +main line$"
	is "$p: traced by" "$(tracer "${pid[$p]}")" 0
done

# By a glob, and by the name alone; dtrap itself and its parents are left alone.
for d in "$name*" "$name"; do
	start_dt dt -q -n "$d:::line { printf(\"%d %s\", pid, copyinstr(arg0)); }"
	is "tracer of dtrap" "$(tracer "${pid[dt]}")" 0
	is "tracer of this shell" "$(tracer $$)" 0
	for p in one two; do
		tell $p "from $p"
		line $p 'done'
		line dt "from $p"
		is "$d: line" "$line" "${pid[$p]} from $p"
	done
	kill -INT "${pid[dt]}"
	end dt
	is "$d: status" "$status" 0
done

# With a process named, only that one is meant.
dt -l -P "$name*" -p "${pid[one]}"
is "rows with -p" "$(grep -c " main line$" "$tmp/out")" 1

for p in one two; do
	close_in $p
	end $p
	is "$p: status" "$status" 0
done
dt -l -P "$name*"
has "$tmp/err" '^dtrap: failed to match '"$name"'\*:::: No probe matches'
finish
