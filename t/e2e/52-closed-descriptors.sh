#!/bin/bash
# timeout: 600
# Standard descriptors that are closed: nothing of ours comes to lie there, what
# is traced is protected as ever, and a program that is launched has them as
# they were.
. "${0%/*}/lib.sh"
need python3

# without FDS COMMAND...: run it, these descriptors closed.
cat >"$tmp/without" <<'END'
case $1 in *0*) exec <&- ;; esac
case $1 in *1*) exec >&- ;; esac
case $1 in *2*) exec 2>&- ;; esac
shift
exec "$@"
END
without() {
	bash "$tmp/without" "$@"
}

# What the program that is launched has there, and its parent: dtrap.
look='import os, sys
def at(p, n):
    try:
        return "%d %s\n" % (n, os.readlink("/proc/%d/fd/%d" % (p, n)))
    except FileNotFoundError:
        return "%d closed\n" % n
for end, p in (".own", os.getpid()), (".dtrap", os.getppid()):
    text = "".join(at(p, n) for n in range(3))
    open(sys.argv[1] + end, "w").write(text)'
# No script that stands for it, and is opened first.
python=$(python3 -c 'import sys; print(sys.executable)')
mkfifo "$tmp/armed"
exec 8<>"$tmp/armed"

for fds in 0 1 2 01 02 12 012; do
	without $fds timeout 60 "$DTRAP" -qn BEGIN \
	    -c "$(quote "$python" -c "$look" "$tmp/look")" \
	    </dev/null >"$tmp/out" 2>"$tmp/err"
	got=$?
	# There is an empty line that cannot be written.
	case $fds in *1*) want=1 ;; *) want=0 ;; esac
	is "$fds closed: status" "$got" $want
	for ((i = 0; i < ${#fds}; i++)); do
		has "$tmp/look.own" "^${fds:i:1} closed\$"
		has "$tmp/look.dtrap" "^${fds:i:1} /\$"
	done
	is "$fds closed: the launched" "$(grep -c closed "$tmp/look.own")" ${#fds}
	is "$fds closed: of ours" "$(grep -cE 'memfd|socket' "$tmp/look.dtrap")" 0

	# Nobody but the guardian comes to a child that nobody had cleaned.
	start t "$bin/bears"
	line t '^ready'
	# shellcheck disable=SC2016
	start_null dt bash "$tmp/without" $fds env DTRAP_KILL=follow-keep:1 "$DTRAP" -qw \
	    -x switchrate=5ms -n "BEGIN { system(\"echo armed >$tmp/armed\"); }" \
	    -n 'pid$target:a.out:work:entry { @ = count(); }' -p "${pid[t]}"
	read -r -t 60 -u 8 armed || fail "$fds closed: it never began"
	is "$fds closed" "$armed" armed
	tell t go
	end dt
	is "$fds closed: the tracer's end" "$status" 137
	line t '^text'
	is "$fds closed: a child" "$line" 'text as before'
	end t
	is "$fds closed: the program's end" "$status" 0
done

without 1 timeout 60 "$DTRAP" -qn 'BEGIN { printf("x\n"); exit(0); }' \
    2>"$tmp/err"
is "output to nowhere: status" $? 1
has "$tmp/err" '^dtrap: cannot write output: Bad file descriptor$'

start t "$bin/busy" 2
line t '^ready'
without 02 timeout 60 "$PLOCKSTAT" -d -p "${pid[t]}" >"$tmp/out"
is "plockstat: status" $? 0
has "$tmp/out" '^process [0-9]+: '
finish
