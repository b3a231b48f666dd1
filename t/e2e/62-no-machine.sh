#!/bin/bash
# Where nobody has written the machine's code, dtrap is built all the same: it
# compiles D, runs what needs no process, and refuses to trace one.
# timeout: 1800
. "${0%/*}/lib.sh"

none=$B/none
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -j2 MACHINE=none B="$none" \
	CFLAGS=-O0 WERROR=-Werror "$none/dtrap" "$none/libdtrap-sdt.a" >"$tmp/make" 2>&1 ||
	fail "$(tail -n 20 "$tmp/make")"
DTRAP=$PWD/$none/dtrap

# Programs go on without the probes that they would make.
"${CC:-cc}" -Iinclude -o "$tmp/bar" doc/examples/bar.c "$none/libdtrap-sdt.a" ||
    fail "bar.c does not compile"
"$tmp/bar" bar tea >"$tmp/out"
has "$tmp/out" '^no probes: no provider can be made on this machine$'
has "$tmp/out" '^the bar is open$'

dt -V
is "-V: status" "$status" 0
dt -l
is "-l: status" "$status" 0
has "$tmp/out" 'BEGIN'
hasnt "$tmp/out" ' read .*entry' # no table of system calls
dt -e -n 'BEGIN { trace(uregs[R_PC]); @[arg0] = count(); }'
is "-e: status" "$status" 0
dt -q -n 'BEGIN { printf("%d\n", 6 * 7); exit(0); }'
is "BEGIN: status" "$status" 0
has "$tmp/out" '^42$'

why='cannot trace processes: dtrap was built without code for this machine$'
dt -n 'BEGIN { exit(0); }' -c /bin/true
is "-c: status" "$status" 1
has "$tmp/err" "failed to execute /bin/true: $why"
sleep 1000 &
pid[sleeper]=$!
dt -n 'BEGIN { exit(0); }' -p "${pid[sleeper]}"
is "-p: status" "$status" 1
has "$tmp/err" "$why"
# And it has done nothing to that one.
kill "${pid[sleeper]}"
wait "${pid[sleeper]}"
is "what was not traced" "$?" 143

# A machine that has not even an empty folder.
env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make MACHINE=vax >"$tmp/make" 2>&1
is "unknown machine: status" "$?" 2
has "$tmp/make" 'there is no port to vax, see doc/porting.md'
finish
