#!/bin/bash
# Scripts about processes, on a shell that starts what we know.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh

mkdir "$tmp/d"
cd_there="cd $tmp/d"
work="sh -c '$cd_there; /bin/true one; /bin/true two words; $tmp/nothing; exit 0'"

script execsnoop.d -c "$work"
expect execsnoop "s/^[0-9]* [0-9]* [0-9]* /UID PID PPID /; s/\(sh -c cd TMP\).*/\1/" <<'END'
UID PID PPID ERR ARGS
UID PID PPID 0 sh -c cd TMP
UID PID PPID 0 /bin/true one
UID PID PPID 0 /bin/true two words
UID PID PPID 2 TMP/nothing
END

# Each in its order; what the processes have to do with each other.
script proc.d -c "sh -c '/bin/true x; exit 0'"
plain | sed 's/^\([0-9]*\)\[ *\([a-z]*\)\]\/ *\([0-9]*\)/\2/; s/\([a-z]*\):[a-z0-9]*:entry$/\1-entry/' >"$tmp/events"
for e in 'sh proc::create' 'sh proc::exec' 'filename: /bin/true' \
    'true proc::exec-success' 'arguments: /bin/true x' 'true proc::exit' \
    'reason: it ended' 'sh syscall-entry'; do
	has "$tmp/events" "^$e\$"
done
plain >"$tmp/flat"
sh=$(sed -n '1s/\[.*//p' "$tmp/flat")
child=$(sed -n 's/^PID: [0-9]* -> \([0-9]*\)$/\1/p' "$tmp/flat")
has "$tmp/flat" "^PID: $sh -> $child\$"
has "$tmp/flat" "^$child\[ true\]/ $sh proc::exit\$"

script proc.d -c "sh -c 'kill -TERM \$\$'"
has "$tmp/out" 'reason: a signal$'
has "$tmp/out" 'signal: SIGTERM to [0-9]+$'

# A sleeping program is known to run that long, and it is a lower bound.
script forktime.d -c "sh -c '/bin/sleep 0.05; /bin/true a; /bin/true a; exit 0'"
plain >"$tmp/flat"
is "forktime, counts" "$(awk 'NR > 1 { print $1, $2, $3 }' "$tmp/flat" |
    sort | xargs)" "/bin/sleep 0.05 1 /bin/true a 2"
is "forktime, sleep runs as long as it says" \
    "$(awk '$1 == "/bin/sleep" { print ($NF >= 50000) }' "$tmp/flat")" 1
is "forktime, all parts are there" "$(awk 'NR > 1 && !($4 > 0 && $5 > 0 && $6 > 0)' \
    "$tmp/flat")" ""

# It waits that long at least, somewhere; a machine without perf events says so.
script offcpu.d -c '/bin/sleep 0.05'
grep -q 'the probes of sched do not fire' "$tmp/err" ||
    is "offcpu, all waits" "$(awk '$1 ~ /^sleep;/ && $NF ~ /^[0-9]+$/ { n += $NF }
	END { print (n >= 50000) }' "$tmp/out")" 1

script dumptask.d -c "sh -c '$cd_there; exec /bin/true a b 5<$tmp/want'"
plain | sed '1,/^psargs: sh/d' | sed -n '/^exec-success/,/^exit/p' | sed 's/[0-9]*\/[0-9]*@[0-9]*/ID/; s/^file5: .*/file5/; /^file[0-2]: /d; /^parent/d; $d' >"$tmp/got"
cat >"$tmp/want" <<'END'
exec-success: task ID true
exe: /bin/true
root: /
cwd: TMP/d
psargs: /bin/true a b
file5
END
same dumptask "$tmp/want" "$tmp/got"

# By what path the command itself was executed nobody has seen.
script dumptask.d -c "/bin/true a b"
hasnt "$tmp/err" 'error'
is "dumptask, the command" "$(plain | sed 's/[0-9]*\/[0-9]*@[0-9]*/ID/' |
    sed -n '/^\(exit\|exe\|root\|psargs\):/p' | xargs)" \
    "exe: <unknown> root: / psargs: /bin/true a b exit: task ID true exe: <unknown> root: / psargs: /bin/true a b"
finish
