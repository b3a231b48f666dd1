#!/bin/bash
# What is easily done wrong on a command line is answered by one line that says
# what, where, and what to do.
# shellcheck disable=SC2016 # $target and $1 are D's
. "${0%/*}/lib.sh"

# answers STATUS TEXT ARGS...: dtrap says TEXT, a pattern of the shell, and
# nothing else but how many probes matched; "Usage:" stands for the line that
# follows a bad option.
answers() {
	local want=$1 text=$2 got
	shift 2
	dt "$@"
	is "dtrap $*: status" "$status" "$want"
	[ ! -s "$tmp/out" ] || wrong "dtrap $*: output: $(head -n 3 "$tmp/out")"
	got=$(grep -v ' matched [0-9]* probes\?$' "$tmp/err" |
	    sed 's/^Usage: dtrap .*--help.*/Usage:/')
	# shellcheck disable=SC2053 # a pattern
	[[ $got == $text ]] ||
	    wrong "dtrap $* says '$got', expected '$text'"
}

# ---- options ----

dt --help
is "--help: status" "$status" 0
is "--help: errors" "$(cat "$tmp/err")" ""
[ "$(wc -l <"$tmp/out")" -le 24 ] || wrong "--help has $(wc -l <"$tmp/out") lines"
[ "$(wc -L <"$tmp/out")" -le 80 ] || wrong "--help is $(wc -L <"$tmp/out") wide"
# Every option is there, and every command that it shows works.
for letter in 3 6 b c C D e f F G h H i I l L m n o p P q s S U v V w x X Z; do
	has "$tmp/out" "(^|[ (,])-$letter"
done
while read -r line; do
	eval "set -- ${line#dtrap }"
	for arg; do
		case $arg in
		1234 | ./program) continue 2 ;;
		esac
	done
	dt "$@"
	is "$line: status" "$status" 0
	[ -s "$tmp/out" ] || wrong "$line: no output"
done < <(grep '^  dtrap ' "$tmp/out")
dt --version
is "--version: status" "$status" 0
has "$tmp/out" '^dtrap [0-9]+\.[0-9.]+$'
for arg in --help --version; do
	"$PLOCKSTAT" $arg >"$tmp/out" 2>"$tmp/err"
	is "plockstat $arg: status" "$?" 0
	is "plockstat $arg: errors" "$(cat "$tmp/err")" ""
	[ "$(wc -l <"$tmp/out")" -le 24 ] || wrong "plockstat $arg is long"
	has "$tmp/out" 'plockstat'
done

usage=$'\nUsage:'
answers 2 "dtrap: unknown option --hepl; did you mean --help?$usage" --hepl
answers 2 "dtrap: unknown option --pid; did you mean -p?$usage" --pid=12
answers 2 "dtrap: unknown option --strsize; did you mean -x strsize?$usage" \
    --strsize=12
answers 2 "dtrap: unknown option --surely-nothing$usage" --surely-nothing
answers 2 "dtrap: --help takes no argument$usage" --help=me
answers 2 "dtrap: unknown option -N; did you mean -n?$usage" -N BEGIN
answers 2 "dtrap: unknown option -@$usage" -@
answers 2 "dtrap: unknown option -33; did you mean -32?$usage" -33
answers 2 "dtrap: option -n needs an argument$usage" -n
invalid='Invalid value for specified option; accepted:'
for row in \
    "strsiz=12|Invalid option name; did you mean strsize\?" \
    "surelynothing|Invalid option name; dtrap(1) lists them under OPTIONS" \
    "strsize=many|$invalid bytes, as 4096, 64k, 4m or 1g, from 2 to *" \
    "strsize=4g|$invalid bytes, as 4096, 64k, 4m or 1g, from 2 to *" \
    "maxframes=x|$invalid a number, from 1 to 65536" \
    "switchrate=often|$invalid a time, as 10ms or 1s, or a rate, as 100hz" \
    "bufpolicy=round|$invalid switch, fill or ring" \
    "follow=some|$invalid all or none" \
    "evaltime=now|$invalid exec, preinit, postinit or main" \
    "quiet=perhaps|$invalid yes or no" \
    "zdefs=1|$invalid zdefs, without a value" \
    "maxload=200|$invalid percent, from 0 to 100" \
    "version=x|$invalid a version, as 2.0" \
    "report|$invalid a text, as in report=TEXT" \
    "version=9.0|Requested version is not supported by compiler; this is D 2.0"
do
	answers 1 "dtrap: failed to set -x ${row%%[=|]*}: ${row#*|}" \
	    -x "${row%%|*}" -n BEGIN
done
answers 1 'dtrap: invalid pid: -3; -p takes a process ID' -p -3 -n BEGIN
answers 1 'dtrap: invalid pid: redis-server; -p takes a process ID: -p $(pgrep -n redis-server)' \
    -p redis-server -n BEGIN

# Options of a command that is not one argument.
answers 1 "dtrap: -a: *; quote the command as one argument: -c 'ls -la'" -c ls -la
dt -c ls -l
is "-c ls -l: status" "$status" 0
is "-c ls -l" "$(cat "$tmp/err")" \
    "dtrap: -l lists probes; quote the command as one argument: -c 'ls -l'"
# What the shell leaves of pid$target in double quotes.
answers 1 '*pid$target, which the shell replaces in double quotes*' \
    -n 'pid:a.out:main:entry' -c ls
# A script says how it is used.
dt -s scripts/opensnoop.d -n 'tick-10ms { exit(0); }'
is "a script, of no process" "$status" 0
has "$tmp/err" '^dtrap: no process is traced: .* given with -p or -c; usage: opensnoop.d -c COMMAND \| -p PID$'
# A quiet program too.
dt -q -n 'syscall::open:entry { exit(0); } tick-10ms { exit(0); }'
is "quiet, of no process" "$status" 0
has "$tmp/err" '^dtrap: no process is traced: syscall probes fire only in processes given with -p or -c'

"$PLOCKSTAT" -k 2>"$tmp/err"
is "plockstat -k: status" "$?" 2
has "$tmp/err" '^plockstat: unknown option -k$'
"$PLOCKSTAT" -x strsiz=12 -p 1 2>"$tmp/err"
is "plockstat -x: status" "$?" 2
has "$tmp/err" '^plockstat: .*Invalid option name; did you mean strsize\?$'
"$PLOCKSTAT" -A 2>"$tmp/err"
is "plockstat -A: status" "$?" 2
has "$tmp/err" '^plockstat: there is nothing to watch: -p PID, or a command$'

# ---- operands ----

unused="extraneous argument '*' (\$* is not referenced);"
answers 1 "dtrap: *$unused -c 'ls /usr' traces that command" \
    -n syscall:::entry ls /usr
answers 1 "dtrap: *$unused -c 'ls /usr' traces that command" \
    -n 'syscall:::entry { @ = count(); }' ls /usr
answers 1 "dtrap: *$unused -c 'grep \"a b\" \"\\\\\$x\"' traces that command" \
    -n syscall:::entry grep 'a b' '$x'
answers 1 "dtrap: *$unused quote the command as one argument: -c 'ls /usr'" \
    -n syscall:::entry -c ls /usr
answers 1 "dtrap: *$unused -p 1234 traces that process" -n syscall:::entry 1234
answers 1 "dtrap: *$unused quote the probe, its predicate and its action together as one argument" \
    -n BEGIN '{ exit(0); }'
answers 1 "dtrap: *: extraneous argument 'no-such-command' (\$1 is not referenced)" \
    -n BEGIN no-such-command
# Those who compare with DTrace's messages get those.
_DTRACE_TESTING=1 answers 1 \
    "dtrap: invalid probe specifier BEGIN: extraneous argument '/usr' (\$2 is not referenced)" \
    -n BEGIN ls /usr
cat >"$tmp/script.d" <<'D'
#!/usr/bin/env -S dtrap -qs
/*
 * script - what it does
 *
 * usage: script.d -c COMMAND | -p PID
 */
pid$target:::entry
{
}
D
answers 1 "dtrap: *; -s $tmp/script.d runs that script*" -n "$tmp/script.d"
answers 1 "dtrap: no probes specified; -s $tmp/script.d runs that script" \
    "$tmp/script.d"
answers 1 "dtrap: no probes specified; -c 'ls /usr' traces that command" ls /usr
answers 1 "dtrap: no probes specified; -p 1234 traces that process" 1234
answers 1 "dtrap: no probes specified; -n 'PROBE { ACTIONS }' or -s SCRIPT names them, *" -q
answers 1 "dtrap: extraneous argument '/usr' (there is no program to use it); quote the command as one argument: -c 'ls /usr'" \
    -c ls /usr

listed="dtrap: extraneous argument '*' (there is no program to use it);"
answers 1 "$listed -l -P python lists the probes of a provider, -l -f python those of a function" \
    -l python
answers 1 "$listed -l -n 'syscall:::' lists the probes" -l syscall:::
answers 1 "$listed -l -p 1234 lists the probes of that process" -l 1234
answers 1 "dtrap: failed to compile script scripts/opensnoop.d: extraneous argument 'no-such-program' (\$1 is not referenced); usage: opensnoop.d -c COMMAND | -p PID" \
    -s scripts/opensnoop.d no-such-program

# ---- no program ----

dt -c "$bin/argv x"
is "-c alone: status" "$status" 0
has "$tmp/out" '^\[x\]$'
has "$tmp/out" '^SYSTEM CALL +CALLS +ERRORS +TIME \(us\)$'
has "$tmp/out" '^write +1 +0 +[0-9]+$'
has "$tmp/out" '^exit_group +1 +0 +0$'
is "-c alone" "$(cat "$tmp/err")" \
    "dtrap: no program given (-n, -s): counting system calls and the time in them, until the end or an interrupt"
# The numbers are those of strace: calls that fail, and the time in a sleep.
dt -q -o "$tmp/counts" -c "sh -c 'cat $tmp/nosuch1 $tmp/nosuch2 2>/dev/null; sleep 0.05'"
is "-q -c alone" "$(cat "$tmp/err")" ""
errors=$(awk '$1 == "openat" { print $3 }' "$tmp/counts")
[ "$errors" -ge 2 ] || wrong "openat failed $errors times, not twice"
slept=$(awk '/^(clock_)?nanosleep/ { print $4 }' "$tmp/counts")
[ "$slept" -ge 50000 ] || wrong "sleep took $slept us, not 50000"
# The largest time first.
sed 1,2d "$tmp/counts" | awk 'NF == 4 { print $4 }' >"$tmp/times"
sort -rn "$tmp/times" | cmp -s - "$tmp/times" || wrong "not by time"
start busy "$bin/busy" 2
line busy ready
start_null counting "$DTRAP" -o "$tmp/counts" -p "${pid[busy]}"
until [ "$(tracer "${pid[busy]}")" = "${pid[counting]}" ]; do
	alive counting
done
kill -INT "${pid[counting]}"
end counting
is "-p alone: status" "$status" 0
has "$tmp/counting.err" '^dtrap: no program given'
has "$tmp/counts" '^SYSTEM CALL'
alive busy

# ---- -w, $target, sizes ----

refused='dtrap: could not enable tracing: Destructive actions not allowed'
answers 1 "$refused; -w allows system()" -n 'BEGIN { system("true"); exit(0); }'
answers 1 "$refused; -w allows chill(), raise()" \
    -n 'BEGIN { chill(1); raise(9); chill(2); }'
answers 1 "$refused; -w allows copyout() and copyoutstr()" \
    -n 'BEGIN { copyout("x", 0, 1); exit(0); }'
_DTRACE_TESTING=1 answers 1 "$refused" -n 'BEGIN { chill(1); }'

neither='$target is the process of -c or -p, and neither is given'
answers 1 "dtrap: *: $neither" -n 'pid$target:libc:malloc:entry'
answers 1 "dtrap: *: $neither; -c 'ls /usr' traces that command" \
    -n 'pid$target:libc:malloc:entry' ls /usr
answers 1 "dtrap: failed to compile script $tmp/script.d: line 7: $neither; usage: script.d -c COMMAND | -p PID*" \
    -s "$tmp/script.d"

# big OPTION ARGS...: the size that OPTION=VALUE or more is said to be needed is
# enough, and no less is accepted.
big() {
	local option=$1 size
	shift
	size=$(grep -oE -e "($option)[= ]?[0-9]+[km]? or more" "$tmp/err" |
	    grep -oE '[0-9]+[km]?')
	[ -n "$size" ] || return
	if [ "$option" = -b ]; then
		dt "$@" -b "$size"
	else
		dt "$@" -x "$option=$size"
	fi
	is "$option=$size: status" "$status" 0
}

small='dtrap: could not enable tracing: Enabling exceeds size of buffer;'
answers 1 "$small a record of BEGIN takes * bytes, where strsize is 256: -b * or more" \
    -b 10 -n 'BEGIN { trace("x"); exit(0); }'
big -b -n 'BEGIN { trace("x"); exit(0); }'
is "it is recorded" "$(grep -c 'x *$' "$tmp/out")" 1
answers 1 "$small a record of BEGIN takes * bytes, where strsize is 1048576: -b *k or more" \
    -x strsize=1m -b 1m -n 'BEGIN { trace(execname); exit(0); }'
big -b -x strsize=1m -n 'BEGIN { trace(execname); exit(0); }'
answers 1 "$small an aggregation needs -x aggsize=* or more" \
    -x aggsize=10 -n 'BEGIN { @[execname] = count(); exit(0); }'
big aggsize -n 'BEGIN { @[execname] = count(); exit(0); }'
answers 1 "$small an associative array or self-> needs -x dynvarsize=* or more" \
    -x dynvarsize=1 -n 'BEGIN { a[execname] = 1; exit(0); }'
big dynvarsize -n 'BEGIN { a[execname] = 1; exit(0); }'
answers 1 'dtrap: could not enable tracing: END enablings exceed size of principal buffer; -b * or more' \
    -x bufpolicy=fill -b 300 -n 'BEGIN { trace(1); exit(0); }' \
    -n 'END { trace(execname); } END { trace(execname); }'

# ---- providers ----

none='does not match any probes; process [0-9]* (argv) has no provider'
answers 1 "dtrap: *: probe description python*:::function-entry $none python: it has no static probes; CPython has it when configured --with-dtrace*; jstack() shows the functions of any" \
    -n 'python$target:::function-entry' -c "$bin/argv"
answers 1 "dtrap: *: probe description python*:::x does not match any probes; process [0-9]* (usdt) has no provider python: its providers of static probes are my-app; CPython *" \
    -n 'python$target:::x' -c "$bin/usdt"
answers 1 "dtrap: *: probe description hotspot*:::x $none hotspot: it has no static probes; OpenJDK has it *: -Z waits for it; jstack() shows the methods of any" \
    -n 'hotspot$target:::x' -c "$bin/argv"
answers 1 'dtrap: *: probe description tcl*:::x does not match any probes; no process that may be traced has a provider tcl; Tcl has it when *' \
    -n 'tcl*:::x'
# In a script that may match nothing.
for prov in python php ruby hotspot node perl; do
	echo "$prov\$target:::something { trace(1); }" >"$tmp/prov.d"
	dt -Zqs "$tmp/prov.d" -c "$bin/argv"
	is "$prov: status" "$status" 0
	has "$tmp/err" "^dtrap: process [0-9]+ \(argv\) has no provider $prov: it has no static probes; [A-Z]"
done
# Not where something is traced, or where probes may still come.
dt -Zqn 'python$target:::x, pid$target:a.out:main:entry' -c "$bin/argv"
is "something is traced" "$(cat "$tmp/err")" ""

# ---- files ----

cannot='dtrap: failed to execute'
answers 1 "dtrap: failed to open $tmp/no.d: No such file or directory" -s "$tmp/no.d"
answers 1 "dtrap: failed to open $tmp: Is a directory" -s "$tmp"
answers 1 "dtrap: failed to open output file '$tmp/no/out': No such file or directory" \
    -o "$tmp/no/out" -n BEGIN
answers 1 "dtrap: failed to open output file '$tmp': Is a directory" \
    -o "$tmp" -n BEGIN
begin=(-n 'BEGIN { exit(0); }' -c)
answers 1 "$cannot no-such-command: No such file or directory; no-such-command was not found in PATH" \
    "${begin[@]}" no-such-command
cp "$bin/argv" "$tmp/hot-here"
pushd "$tmp" >/dev/null || exit
answers 1 "$cannot hot-here: No such file or directory; hot-here was not found in PATH; did you mean ./hot-here\?" \
    "${begin[@]}" 'hot-here 3'
popd >/dev/null || exit
answers 1 "$cannot $tmp/no: No such file or directory" "${begin[@]}" "$tmp/no"
answers 1 "$cannot $tmp: Permission denied; it is a directory" "${begin[@]}" "$tmp"
echo data >"$tmp/data"
answers 1 "$cannot $tmp/data: Permission denied; it is not executable: chmod +x $tmp/data" \
    "${begin[@]}" "$tmp/data"
printf '#!/no/such/interpreter -x\n' >"$tmp/nointerp"
printf '#!/bin/sh\r\n' >"$tmp/dos"
chmod +x "$tmp/nointerp" "$tmp/dos"
there='No such file or directory; the file exists, but the interpreter in its first line,'
answers 1 "$cannot $tmp/nointerp: $there /no/such/interpreter, does not" \
    "${begin[@]}" "$tmp/nointerp"
answers 1 "$cannot $tmp/dos: $there /bin/sh, does not (the line ends with a carriage return)" \
    "${begin[@]}" "$tmp/dos"
# A program for AArch64, and one whose run-time linker is not there.
cp "$bin/argv" "$tmp/arm"
printf '\xb7' | dd of="$tmp/arm" bs=1 seek=18 conv=notrunc status=none
answers 1 "$cannot $tmp/arm: Exec format error; it is a program for AArch64, and this is x86-64" \
    "${begin[@]}" "$tmp/arm"
sed 's,/lib64/ld-,/lib65/ld-,' "$bin/argv" >"$tmp/nolinker"
chmod +x "$tmp/nolinker"
answers 1 "$cannot $tmp/nolinker: No such file or directory; the file exists, but the run-time linker that it names does not*" \
    "${begin[@]}" "$tmp/nolinker"
shell='-c does not start a shell'
answers 1 "$cannot cd: No such file or directory; $shell; -c 'sh -c \"...\"' does" \
    "${begin[@]}" 'cd /'
answers 1 "$cannot A=b: No such file or directory; $shell; -c 'sh -c \"...\"' does" \
    "${begin[@]}" 'A=b ls'
dt "${begin[@]}" "$bin/argv x | wc"
has "$tmp/err" "^dtrap: $shell, so '\|' is an argument of the command; -c 'sh -c \"\.\.\.\"' starts one$"
dt "${begin[@]}" "$bin/argv 'x | wc' \\| 12>"
has "$tmp/err" "'12>' is an argument"
dt "${begin[@]}" "$bin/argv 'x | wc' \\|"
hasnt "$tmp/err" 'does not start a shell'
finish
