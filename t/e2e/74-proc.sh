#!/bin/bash
# proc: what it says of processes and threads is what they say of themselves.
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

cat >"$tmp/lives.d" <<'D'
proc:::create {
	printf("create %d by %d\n", args[0]->pr_pid, args[0]->pr_ppid);
}
proc:::lwp-create {
	printf("lwp-create %d of %d\n", args[0]->pr_lwpid, args[1]->pr_pid);
}
proc:::start { printf("start %d\n", pid); }
proc:::lwp-start, proc:::lwp-exit { printf("%s %d\n", probename, tid); }
proc:::exec { printf("exec %s\n", args[0]); }
proc:::exec-success { printf("exec-success %d %s\n", pid, execname); }
proc:::exec-failure { printf("exec-failure %d %d\n", pid, args[0]); }
proc:::exit { printf("exit %d %d\n", pid, args[0]); }
D

rm -f "$tmp/trace"
dt -q -o "$tmp/trace" -s "$tmp/lives.d" -c "$bin/lives"
is "status" "$status" 0
grep -v '^$' "$tmp/trace" >"$tmp/all"
is "the first" "$(sed -n '1s/ [0-9]* / /p' "$tmp/all")" "exec-success lives"
sed 1d "$tmp/all" >"$tmp/seen"
has "$tmp/seen" "^exec /proc/self/exe$"
same "what happened and what was seen" "$tmp/out" "$tmp/seen"

# Not followed, children are only created; and the target exits.
rm -f "$tmp/trace"
dt -q -x follow=none -o "$tmp/trace" -n '
	proc:::create, proc:::start, proc:::exit { @[probename] = count(); }' \
    -c "$bin/lives"
is "status, not followed" "$status" 0
awk 'NF { print $1, $2 }' "$tmp/trace" | sort >"$tmp/seen"
printf 'create 7\nexit 1\n' >"$tmp/want"
same "counts without children" "$tmp/want" "$tmp/seen"

# A pipeline of three programs: each is forked, executed, and ends well.
rm -f "$tmp/trace"
dt -q -o "$tmp/trace" -n '
	proc:::create, proc:::start, proc:::exec-success { @[probename] = count(); }
	proc:::exit { @reasons[probename] = sum(args[0]); }' \
    -c "/bin/sh -c 'echo x | cat | wc -c; :'"
is "output of the pipeline" "$(tr -d ' ' <"$tmp/out")" 2
awk 'NF { print $1, $2 }' "$tmp/trace" | sort >"$tmp/seen"
printf 'create 3\nexec-success 3\nexit 4\nstart 3\n' >"$tmp/want"
same "a pipeline's counts" "$tmp/want" "$tmp/seen"

# The launched program's own exec belongs to the trace that begins there.
dt -q -x evaltime=exec -n 'proc:::exec-success /pid == $target/ {
	printf("%s\n", execname); }' -c /bin/true
is "the first exec" "$(grep -v '^$' "$tmp/out")" true

# Children that are kept, with copies of the tracepoints: nothing differs.
same_traced 'pid$target:a.out:work:,proc:::' "$bin/forks"

# When the trace ends, a child that was kept is let go as its parent is.
need_attach
start sh /bin/sh -c 'read -r x; (read -r y; echo "child got $y"); echo "end"'
start_dt dt -q -p "${pid[sh]}" -n 'proc:::start { printf("child %d\n", pid); }
	proc:::start { exit(0); }'
tell sh fork
line dt '^child ([0-9]+)$'
child=${line#child }
end dt
is "status of a trace that ends" "$status" 0
is "tracer of the parent" "$(tracer "${pid[sh]}")" 0
is "tracer of the child" "$(tracer "$child")" 0
tell sh hello
line sh '^child got hello$'
end sh
is "the shell's status" "$status" 0

# Three hundred processes, two at a time: none is missed, none told twice.
rm -f "$tmp/trace"
dt -q -o "$tmp/trace" -n 'proc:::create { @ = count(); }
	proc:::start { seen[pid] = 1; @starts = count(); }
	proc:::exit /seen[pid]/ { @ends = count(); }
	END { printa("create %@d\n", @); printa("start %@d\n", @starts);
	printa("exit %@d\n", @ends); }' \
    -c "/bin/bash -c 'for ((i = 0; i < 150; i++)); do (:) & (:); wait; done'"
grep . "$tmp/trace" >"$tmp/seen"
printf 'create 300\nstart 300\nexit 300\n' >"$tmp/want"
same "300 processes" "$tmp/want" "$tmp/seen"

# The same program under strace: as many forks, and execs of either outcome.
need strace
cat >"$tmp/busy.sh" <<'S'
for i in 1 2 3; do ls / | sort | uniq -c | head -n 1 >/dev/null; (exit $i); done
no-such-program 2>/dev/null
find / -maxdepth 1 -exec true {} +
exit 0
S
strace -f -qq -e trace=clone,clone3,fork,vfork,execve -e signal=none \
    -o "$tmp/strace" /bin/bash "$tmp/busy.sh" 2>/dev/null ||
    skip "strace does not work here"
calls() { # NAMES RESULT
	grep -cE "($1)(\(| resumed).*= $2" "$tmp/strace"
}
rm -f "$tmp/trace"
dt -q -x evaltime=exec -o "$tmp/trace" -n 'proc:::create, proc:::exec-success,
	proc:::exec-failure { @[probename] = count(); }' \
    -c "/bin/bash $tmp/busy.sh"
awk 'NF { print $1, $2 }' "$tmp/trace" | sort >"$tmp/seen"
printf 'create %d\nexec-failure %d\nexec-success %d\n' \
    "$(calls 'clone3?|v?fork' '[1-9]')" "$(calls execve -1)" \
    "$(calls execve 0)" >"$tmp/want"
same "what strace counts and what was seen" "$tmp/want" "$tmp/seen"
finish
