#!/bin/bash
# Names and strings of a target are not what a terminal is told: no control
# character of theirs reaches it, whatever prints them.
. "${0%/*}/lib.sh"
need_attach
need python3 objcopy

odd=$tmp/$'a\e]0;path\a.out'
objcopy --redefine-sym odd=$'odd\e]0;title\a\xc2\x9b31mname' "$bin/odd" "$odd"
lib=$tmp/$'lib\e[31m.so'
cp "$bin/libctor.so" "$lib"

# on_terminal ARGS...: dtrap with its output and its errors on a terminal; what
# that gets is in "$tmp/seen".  A script's own escapes may come: "\e[0m".
cat >"$tmp/terminal.py" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    os.execv(sys.argv[1], sys.argv[1:])
out = open(os.environ["SEEN"], "wb")
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    out.write(data)
    out.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
on_terminal() {
	SEEN=$tmp/seen timeout 60 python3 "$tmp/terminal.py" "$DTRAP" "$@" </dev/null
	status=$?
	sed -e 's/\r$//' -e $'s/\e\\[0m//' "$tmp/seen" >"$tmp/text"
	! LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' \
	    "$tmp/text" >"$tmp/bad" || {
		wrong "dtrap $1 $2 ...: controls on the terminal:"
		head -n 5 "$tmp/bad" | cat -v
	}
}

: >"$tmp/seen"
start t "$odd" "$lib"
line t ready
p=${pid[t]}

# Records in every form, aggregations, stacks, symbols.
(
	until grep -q armed "$tmp/seen"; do :; done
	for _ in 1 2 3 4 5 6 7 8; do tell t go; done
) &
teller=$!
# shellcheck disable=SC2016
on_terminal -p "$p" -x switchrate=5ms -n 'BEGIN { printf("armed\n"); }
    pid$target:a.out:plain:entry { self->a = arg0; }
    pid$target:a.out:odd*:entry {
	printf("\033[0m%s %s %s %s\n", execname, probefunc, probemod,
	    copyinstr(arg1));
	printf("%A %a %S\n", self->a, arg0, copyinstr(arg1));
	trace(execname); trace(probefunc); trace(copyinstr(arg1));
	print(curpsinfo->pr_fname); print(curpsinfo->pr_psargs);
	tracemem(copyin(arg1, 16), 16);
	usym(self->a); umod(self->a); uaddr(self->a); ustack(); jstack();
	@[ustack(), probefunc, execname, usym(self->a), umod(self->a)] = count();
	@q[copyinstr(arg1)] = quantize(1); }
    pid$target:a.out:odd*:entry { trace(*(int *)8); }
    pid$target:a.out:odd*:return /++n == 2/ { printa(@); exit(0); }'
wait "$teller"
is "records: status" "$status" 0
has "$tmp/text" 'odd\\033\]0;title\\a'
has "$tmp/text" 'lib\\033\[31m\.so`from_ctor'
has "$tmp/text" '\\033\]0;x\\ay'

# Lists and messages.
# shellcheck disable=SC2016
on_terminal -l -p "$p" -n 'pid$target:::entry'
has "$tmp/text" 'odd\\033\]0;title\\a'
# shellcheck disable=SC2016
on_terminal -l -v -p "$p" -n 'pid$target:a.out:odd*:'
has "$tmp/text" 'odd\\033\]0;title\\a'
# shellcheck disable=SC2016
on_terminal -F -c "'$odd'" -n 'pid$target:a.out:odd*:entry' -n 'syscall:::'
on_terminal -c "'$odd/not there'" -n BEGIN
has "$tmp/text" 'a\\033\]0;path\\a\.out'
# shellcheck disable=SC2016
on_terminal -p "$p" -n 'pid$target:'$'\e'']0;none:nobody:entry'
# shellcheck disable=SC2016
start_dt other -p "$p" -n 'pid$target:a.out:plain:entry'
on_terminal -p "$p" -n BEGIN
kill -INT "${pid[other]}"
end other

# A pipe gets what the target has.
# shellcheck disable=SC2016
start_dt dt -q -n 'syscall::write:entry {
    printf("%s\n", execname); exit(0); }' -p "$p"
tell t go
line dt 'x'
is "to a pipe" "$line" $'\e]0;x\ay'
end dt
finish
