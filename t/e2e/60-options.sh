#!/bin/bash
# Options one by one.
. "${0%/*}/lib.sh"

dt -V
is "-V: status" "$status" 0
has "$tmp/out" '^dtrap: '
is "-V: lines" "$(wc -l <"$tmp/out")" 1

is "-V" "$(cat "$tmp/out")" 'dtrap: D 2.0'
dt -vV
has "$tmp/out" '^This is dtrap [0-9.]*$'
dt -x version=2.0 -e -n BEGIN
is "version: status" "$status" 0
dt -x version=3.0 -n BEGIN
is "version to come: status" "$status" 1
has "$tmp/err" '^dtrap: failed to set -x version: .*not supported'
dt -x strsize=1 -n BEGIN
is "strsize: status" "$status" 1
has "$tmp/err" '^dtrap: failed to set -x strsize: Invalid value'

# A rate that is shorter than it takes to look once: the program goes on.  (A
# number alone is nanoseconds, and scripts say switchrate=10.)
for rate in switchrate=10 aggrate=10 statusrate=10; do
	dt -q -x $rate -n 'syscall::exit_group:entry { printf("%d", ++n); }' -c true
	is "$rate" "$status $(cat "$tmp/out")" "0 1"
done

# Nothing to trace and nothing that could come.
: >"$tmp/empty.d"
dt -x empty -s "$tmp/empty.d"
is "empty: status" "$status" 1
has "$tmp/err" '^dtrap: no probes matched$'
dt -b 0 -n 'BEGIN { exit(0); }'
is "no buffer: status" "$status" 1
has "$tmp/err" 'Enabling exceeds size of buffer; a record of BEGIN takes [0-9]* bytes: -b [0-9]+ or more$'
dt -b 1g -b 2g -e
is "-e alone: status" "$status" 0

# The processor that the tracer, and so BEGIN and END, run on.
first=$(awk '/^Cpus_allowed_list/ { split($2, a, "[-,]"); print a[1] }' \
	/proc/self/status)
dt -q -x cpu="$first" -n 'BEGIN { printf("%d ", cpu); exit(0); } END { printf("%d\n", cpu); }'
has "$tmp/out" "^$first $first$"
# What each processor has added: only one could.
dt -q -x cpu="$first" -x aggpercpu -n 'BEGIN { @a["k"] = sum(2);
	@a["k"] = sum(3); @b = min(7); @c = quantize(1); exit(0); }'
has "$tmp/out" '^  k  *5$'
has "$tmp/out" "^    \[CPU $first\] *5\$"
has "$tmp/out" "^    \[CPU $first\] *7\$"
is "aggpercpu: histograms" "$(grep -c ' 1 |@@@@@@@@@@@@' "$tmp/out")" 2
dt -q -x cpu="$first" -n 'BEGIN { @a = sum(2); exit(0); }'
is "without" "$(grep -c CPU "$tmp/out")" 0

dt -32 -n 'BEGIN { }'
is "-32: status" "$status" 1
has "$tmp/err" '^dtrap: -32: '
dt -64 -q -n 'BEGIN { exit(0); }'
is "-64: status" "$status" 0

# -e compiles and goes no further.
dt -e -n 'BEGIN { printf("no\n"); exit(1); }'
is "-e: status" "$status" 0
hasnt "$tmp/out" no
dt -e -n 'BEGIN { x = ; }'
is "-e of a bad program: status" "$status" 1

# -l lists.
dt -l
is "-l: status" "$status" 0
is "-l: header" "$(head -n 1 "$tmp/out")" \
    "$(printf '%5s %10s %17s %33s %s' ID PROVIDER MODULE FUNCTION NAME)"
has "$tmp/out" "$(printf '^%5d %10s %17s %33s %s$' 1 dtrace '' '' BEGIN)"
has "$tmp/out" "$(printf '^%5d %10s %17s %33s %s$' 2 dtrace '' '' END)"
has "$tmp/out" "$(printf '^%5d %10s %17s %33s %s$' 3 dtrace '' '' ERROR)"
dt -l -n BEGIN -n END
is "-l -n: rows" "$(wc -l <"$tmp/out")" 3
dt -l -P dtrace
is "-l -P: rows" "$(wc -l <"$tmp/out")" 4
dt -l -n nosuch:::
is "-l of nothing: status" "$status" 0
is "-l of nothing: rows" "$(wc -l <"$tmp/out")" 1
has "$tmp/err" '^dtrap: failed to match nosuch:::: No probe matches description$'
# shellcheck disable=SC2016
dt -l -m 'pid$target:libc' -c "$bin/args"
[ "$(wc -l <"$tmp/out")" -gt 1000 ] || wrong "-m libc lists $(wc -l <"$tmp/out")"
# shellcheck disable=SC2016
dt -l -f 'pid$target:a.out:negative' -c "$bin/args"
has "$tmp/out" ' negative entry$'
has "$tmp/out" ' negative return$'
# shellcheck disable=SC2016
# With the places of 300,000 probes it takes its time.
LIMIT=400 dt -l -v -n 'pid$target:libc::' -c "$bin/args"
is "-l -v: status" "$status" 0

# -i by number, -P -m -f with actions.
dt -q -i '1 { printf("one\n"); exit(0); }'
has "$tmp/out" '^one$'
dt -q -P 'dtrace /probename == "BEGIN"/ { printf("P\n"); exit(0); }'
has "$tmp/out" '^P$'
dt -i 0
is "-i 0: status" "$status" 1
has "$tmp/err" '^dtrap: invalid probe specifier 0: invalid probe identifier 0'

# The lines that count.
dt -n 'BEGIN { exit(0); }'
is "matched" "$(cat "$tmp/err")" "dtrap: description 'BEGIN ' matched 1 probe"
dt -n 'BEGIN,END { exit(0); }'
is "matched" "$(cat "$tmp/err")" "dtrap: description 'BEGIN,END ' matched 2 probes"
dt -n 'BEGIN/1/{ exit(0); }' -n END
is "matched" "$(cat "$tmp/err")" "$(printf "dtrap: description '%s' matched 1 probe\n" BEGIN END)"
dt -q -n 'BEGIN { exit(0); }'
is "matched, quiet" "$(cat "$tmp/err")" ""
dt -Z -n nosuch:::probe -n 'BEGIN { exit(0); }'
has "$tmp/err" "^dtrap: description 'nosuch:::probe' matched 0 probes\$"

# -o appends.
echo first >"$tmp/file"
dt -q -o "$tmp/file" -n 'BEGIN { printf("second\n"); exit(0); }'
dt -q -o "$tmp/file" -n 'BEGIN { printf("third\n"); exit(0); }'
is "-o" "$(sed '/^$/d' "$tmp/file" | tr '\n' ' ')" "first second third "
[ ! -s "$tmp/out" ] || wrong "-o: output elsewhere"

# -x, its values, and the order of things.
dt -n 'BEGIN { s = "abcdefgh"; printf("%s\n", s); exit(0); }' -x strsize=4 -q
has "$tmp/out" '^abcd$'
dt -x quiet -n 'BEGIN { printf("q\n"); exit(0); }'
is "-x quiet" "$(cat "$tmp/err")" ""
dt -x quiet=yes -x strsize=1k -n 'BEGIN { s = "x"; printf("%d\n", sizeof(s)); exit(0); }'
has "$tmp/out" '^1024$'

# The environment of what is launched; ours is not changed.
# shellcheck disable=SC2016
dt -q -x setenv=ONE=1 -x setenv=TWO=a=b -x setenv=LC_ALL=POSIX -x unsetenv=TZ \
    -x setenv=NONE -w -n 'BEGIN { system("echo own $LC_ALL $TZ"); }' \
    -c '/usr/bin/env'
has "$tmp/out" '^ONE=1$'
has "$tmp/out" '^TWO=a=b$'
has "$tmp/out" '^NONE=$'
is "LC_ALL" "$(grep -c '^LC_ALL=' "$tmp/out")" 1
has "$tmp/out" '^LC_ALL=POSIX$'
hasnt "$tmp/out" '^TZ='
has "$tmp/out" '^own C UTC$'
dt -q -x setenv=PATH="$bin" -n 'BEGIN { }' -c 'argv found'
has "$tmp/out" '^\[found\]$'

# A processor that there is not: clauses of the target do not run.
# shellcheck disable=SC2016
cpu='BEGIN { n = 0; } pid$target:a.out:work:entry { n++; } END { printf("n %d\n", n); }'
dt -q -x cpu=100000 -n "$cpu" -c "$bin/threads 100"
is "-x cpu=100000" "$(grep '^n ' "$tmp/out")" "n 0"
# shellcheck disable=SC2016
dt -q -x cpu=0 -n 'pid$target:a.out:work:entry /cpu != 0/ { printf("other\n"); }' \
    -n "$cpu" -c "taskset -c 0 $bin/threads 100"
hasnt "$tmp/out" other

# Destructive actions need -w.
dt -n 'BEGIN { system("true"); exit(0); }'
is "without -w: status" "$status" 1
has "$tmp/err" '^dtrap: could not enable tracing: Destructive actions not allowed; -w allows system\(\)$'
dt -w -n 'BEGIN { exit(0); }'
is "-w: status" "$status" 0
has "$tmp/err" '^dtrap: allowing destructive actions$'

# Operands anywhere; $target without a target.
# shellcheck disable=SC2016
{
dt one -q -n 'BEGIN { printf("%s %d\n", $$1, $2); exit(0); }' 22
has "$tmp/out" '^one 22$'
dt -q -n 'BEGIN { printf("%d\n", $target); exit(0); }'
has "$tmp/out" '^0$'
dt -q -n 'BEGIN { printf("%d\n", $target == $1); exit(0); }' -p $$ $$
}
has "$tmp/out" '^1$'
kill -0 $$ || fail "dead"

# -v: how long a process stood still.  Its first stop is that of the attaching.
start sleeper sleep 1000
dt -v -n 'BEGIN { exit(0); }' -p "${pid[sleeper]}"
is "-v: status" "$status" 0
is "-v: longest stop" \
    "$(grep -cE '^dtrap: longest stop: [0-9]+\.[0-9]{3} ms$' "$tmp/err")" 1
hasnt "$tmp/err" 'longest stop: 0\.000 ms'
dt -n 'BEGIN { exit(0); }' -p "${pid[sleeper]}"
hasnt "$tmp/err" 'longest stop'

# -v: what is promised of each probe.
dt -l -v -n BEGIN
is "-l -v: status" "$status" 0
has "$tmp/out" '^	Probe Description Attributes$'
has "$tmp/out" '^		Identifier Names: Stable$'
# Where the user wants the tracer it stays, also when it has printed.
while read -r n; do
	taskset -c "$n" true 2>/dev/null || continue
	dt -q -x cpu="$n" -x switchrate=1ms -n 'tick-5ms { n++; @[cpu] = count(); }
		tick-5ms /n == 4/ { exit(0); } BEGIN { n = 0; }'
	is "ticks on processor $n" "$(awk 'NF { print $1, $2 }' "$tmp/out")" "$n 4"
done < <(awk '/^processor/ { print $3 }' /proc/cpuinfo)
finish
