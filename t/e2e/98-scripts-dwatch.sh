#!/bin/bash
# dwatch: what it shows, of whom, and what it leaves out.
# shellcheck disable=SC2016 # D, not shell
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh

# What the run-time linker opens is not counted here.
export DTRACE_OPT_EVALTIME=preinit

mkdir "$tmp/d"
head -c 1000 /dev/zero >"$tmp/d/there"
files="$bin/work-files $tmp/d 2 1 1 1"
me="$(id -u)\.$(id -g)"

# The date, the user and group, the program and the process; text and numbers.
script dwatch -c "$files" open,openat
is "lines" "$(grep -cE "^20[0-9]{2} [A-Z][a-z]{2} [ 0-9]{2} [0-9:]{8} $me work-files\[[0-9]+\]: openat\(-100, \"$tmp/d/[a-z]+\", [0-9]+, [0-9]+\)\$" "$tmp/out")" 5
has "$tmp/err" '^dwatch: [0-9]+ probes$'
script dwatch -q -c "$files" openat:return
is "returns" "$(sed 's/.*: //' "$tmp/out" | grep . | sort | uniq -c | xargs)" \
    "1 openat = -1 ENOENT 4 openat = 3"
hasnt "$tmp/err" 'probes'
script dwatch -c "echo known" write
has "$tmp/out" ': write\(1, "known\\n", 6\)$'

# Functions: of any module, of one, of the program; by name and by pattern.  The
# size is a number where the debug information of the C library is installed.
script dwatch -c "$bin/work-memory 2 1" malloc
is "malloc" "$(grep -cE ': malloc\((0x(64|bb8|a)|100|3000|10)\)$' "$tmp/out")" 4
script dwatch -c "$bin/work-memory 2 1" 'libc:mallo*,a.out:grown,a.out:kept:return'
is "mallo*" "$(grep -cE ': malloc\((0x(64|bb8|a)|100|3000|10)\)$' "$tmp/out")" 4
is "grown" "$(grep -cE ': grown\(.*\)$' "$tmp/out")" 1
is "kept" "$(grep -cE ': kept (= |returns)' "$tmp/out")" 1
script dwatch -x -c "$bin/work-memory 0 0" 'pid$target:a.out:grown:entry'
has "$tmp/out" ': <pid[0-9]+:[^:]*:grown:entry> grown\('

script dwatch -X exec -c "sh -c '/bin/true a b; $tmp/none; :'"
is "-X exec" "$(sed -n 's/.*\]: //p' "$tmp/out" | sort | xargs)" \
    "exec-failure ENOENT exec-success /bin/true a b"
for p in open rw proc signal net sleep malloc lock; do
	timeout 60 scripts/dwatch -d -X $p -c "$files" >"$tmp/$p.d" 2>"$tmp/$p.err"
	is "-X $p" "$?" 0
	timeout 60 "$DTRAP" -e -q -s "$tmp/$p.d" -c "$files" >"$tmp/e.out" 2>"$tmp/e.err"
	is "-X $p compiles" "$?" 0
done

# Fewer lines: by number, by text, by a predicate, by program, by user.
script dwatch -N 2 -c "$files" openat
is "-N" "$(grep -c openat "$tmp/out")" 2
script dwatch -r 'missing' -c "$files" openat
is "-r" "$(grep -c . "$tmp/out")" 1
script dwatch -t 'arg2 & O_CREAT' -c "$files" openat
is "-t" "$(grep -c written "$tmp/out") $(grep -c there "$tmp/out")" "1 0"
two="sh -c '$files; cat $tmp/d/there >/dev/null'"
script dwatch -e cat -c "$two" openat
is "-e" "$(sed -n 's/.* \([a-z-]*\)\[.*/\1/p' "$tmp/out" | sort -u)" cat
script dwatch -u "$(id -un)" -g "$(id -gn)" -c "$files" openat
is "-u -g" "$(grep -c openat "$tmp/out")" 5
if [ "$(id -u)" = 0 ]; then
	script dwatch -u nobody -c "$files" openat
	is "-u nobody" "$(grep -c openat "$tmp/out")" 0
fi
script dwatch -E 'printf("fd %d", (int)arg0);' -c "$files" close
is "-E" "$(grep -cE ': fd [0-9]+$' "$tmp/out")" 4
script dwatch -s 3 -c "$bin/work-memory 1 0" a.out:kept
has "$tmp/out" '^ +work-memory`main\+'
script dwatch -o "$tmp/file" -c "$files" openat
is "-o" "$(grep -c openat "$tmp/file")" 5

# Names of the process are no D, whatever they look like.
need objcopy
# shellcheck disable=SC2016
objcopy --redefine-sym grown='grown entry
 1 BEGIN{printf("INJECTED");}pid$target work-memory main' \
    --redefine-sym kept='kept"%s\$1' "$bin/work-memory" "$tmp/work-memory"
script dwatch -c "$tmp/work-memory 1 1" 'a.out:grown*,a.out:kept*'
hasnt "$tmp/out" INJECTED
is "kept" "$(grep -cF ': kept??s??1(' "$tmp/out")" 1
script dwatch -d -c "$tmp/work-memory 1 1" 'a.out:grown*'
hasnt "$tmp/out" 'BEGIN\{'

# Chosen by its command line among those that are there: its child, too.
need_attach
start chosen sh -c "echo ready; read x; cat $tmp/d/there >/dev/null; exec sleep 1000" "dwatch-$$"
line chosen ready
start watch scripts/dwatch -T 30 -r d/there -z "dwatch-$$\$" -t 'execname == "cat"' openat
until [ "$(sed -n 's/^TracerPid:\t//p' "/proc/${pid[chosen]}/status")" != 0 ] &&
    grep -q probes "$tmp/watch.err"; do
	alive watch
done
tell chosen go
line watch "cat\[[0-9]+\]: openat\(-100, \"$tmp/d/there\""
kill -INT "$(sed -n 's/^TracerPid:\t//p' "/proc/${pid[chosen]}/status")"
end watch
alive chosen

# What there is not.
for a in '' '-X nosuch' '-u nosuchuser open' '-g nosuchgroup open'; do
	# shellcheck disable=SC2086 # words are wanted
	if timeout 60 scripts/dwatch $a >"$tmp/out" 2>"$tmp/err" ||
	    [ ! -s "$tmp/err" ]; then
		wrong "dwatch $a is taken"
	fi
done
timeout 60 scripts/dwatch -c "$files" libc:no_such_function >"$tmp/out" 2>"$tmp/err"
is "nothing matches" "$? $(cat "$tmp/err")" \
    "1 dwatch: nothing matches 'libc:no_such_function'"
finish
