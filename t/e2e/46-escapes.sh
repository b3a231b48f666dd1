#!/bin/bash
# Names and strings of a target are not what a terminal is told: no control
# character of theirs reaches it, whatever prints them.
. "${0%/*}/lib.sh"
need_attach
need python3 objcopy

odd=$tmp/$'a\e]0;path\a.out'
turn=$'\nFAKE\xe2\x80\xaename'
objcopy --redefine-sym odd=$'odd\e]0;title\a\xc2\x9b31mname' \
    --redefine-sym turn="turn$turn" --redefine-sym turn_back="turn_back$turn" \
    "$bin/odd" "$odd"
# In debug information, where nothing may move.
cat >"$tmp/rename.py" <<'END'
import re, sys
data = open(sys.argv[1], "rb").read()
evil = b"\x1b]0;x\x07\nFAKE\xe2\x80\xae\xc2\x9b"
new, n = re.subn(rb"(odd_(?:tag|enumerator|struct|member)_)(a+)(?=\0)",
    lambda m: m[1] + (evil + m[2])[:len(m[2])], data)
open(sys.argv[1], "wb").write(new)
sys.exit(n < 4)
END
python3 "$tmp/rename.py" "$odd" || fail "the debug information has no such names"
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
# No line is one that a name has made.
on_terminal() {
	SEEN=$tmp/seen timeout 60 python3 "$tmp/terminal.py" \
	    "${PROG:-$DTRAP}" "$@" </dev/null
	status=$?
	sed -e 's/\r$//' -e $'s/\e\\[0m//' "$tmp/seen" >"$tmp/text"
	! LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae|^FAKE' \
	    "$tmp/text" >"$tmp/bad" || {
		wrong "${PROG:-dtrap} $1 $2 ...: controls on the terminal:"
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

# Names in records, trees, tables and errors.
: >"$tmp/seen"
(
	until grep -q armed "$tmp/seen"; do :; done
	for _ in 1 2 3 4; do tell t go; done
) &
teller=$!
# shellcheck disable=SC2016
on_terminal -p "$p" -x switchrate=5ms -n 'BEGIN { printf("armed\n"); }
    pid$target:a.out:turn*:entry { printf("%a %A", uregs[R_PC], uregs[R_PC]);
	usym(uregs[R_PC]); ufunc(uregs[R_PC]); ustack(); }
    pid$target:a.out:turn?FAKE*:entry { print(*args[0]); print(&args[0]->tag);
	@["k"] = count(); @s[usym(uregs[R_PC])] = sum(1); }
    pid$target:a.out:turn?FAKE*:entry { trace(*(int *)8); }
    pid$target:a.out:turn*:return /++n == 6/ { printa(@s);
	setopt("agghist"); printa(@s); exit(0); }'
wait "$teller"
is "names: status" "$status" 0
has "$tmp/text" 'turn\\nFAKE\\342\\200\\256name:entry'
has "$tmp/text" '\(const struct odd_struct_\\033\]0;x\\a\\n'
has "$tmp/text" '\.odd_member_\\033\]0;x\\a\\n.* = \(int\)1,'
has "$tmp/text" '\(enum odd_tag_\\033\]0;x\\a\\n.*\)odd_enumerator_\\033'
has "$tmp/text" '\.call = .*`turn_back\\nFAKE'
has "$tmp/text" 'dtrap: error in .*:turn\\nFAKE'

# Lists and messages.
# shellcheck disable=SC2016
on_terminal -l -p "$p" -n 'pid$target:::entry'
has "$tmp/text" 'odd\\033\]0;title\\a'
# shellcheck disable=SC2016
on_terminal -l -v -p "$p" -n 'pid$target:a.out:odd*:'
has "$tmp/text" 'odd\\033\]0;title\\a'
# shellcheck disable=SC2016
on_terminal -l -v -p "$p" -n 'pid$target:a.out:turn*:entry'
has "$tmp/text" ' turn\\nFAKE\\342\\200\\256name entry$'
has "$tmp/text" 'args\[0\]: .*struct odd_struct_\\033\]0;x\\a\\n'
# shellcheck disable=SC2016
on_terminal -e -v -p "$p" -n 'pid$target:a.out:turn*:entry'
has "$tmp/text" ':turn\\nFAKE\\342\\200\\256name:entry$'
# shellcheck disable=SC2016
on_terminal -e -p "$p" -n 'pid$target:a.out:turn?FAKE*:entry { trace(args[0]->no); }'
has "$tmp/text" 'odd_struct_\\033\]0;x\\a\\n'
# shellcheck disable=SC2016
on_terminal -F -S -x debug -p "$p" -n 'pid$target:a.out:turn*:entry { exit(0); }
    BEGIN { exit(0); }'
has "$tmp/text" 'DEBUG.*a\\033\]0;path\\a'
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

# freopen(), to a terminal and away from it.
mkfifo "$tmp/begun"
# shellcheck disable=SC2016
on_terminal -qw -o "$tmp/file" -p "$p" -x switchrate=5ms -n '
    syscall::write:entry { printf("%s\n", execname);
	freopen("/dev/tty"); printf("tty %s\n", execname);
	freopen(""); printf("%s\n", execname); exit(0); }
    BEGIN { system("echo begun >'"$tmp/begun"'"); }' &
teller=$!
read -r -t 60 line <"$tmp/begun" || fail "freopen(): it never began"
tell t go
wait "$teller"
is "freopen(): the file" "$(grep -c $'\e' "$tmp/file")" 2
has "$tmp/seen" 'tty \\033\]0;x\\ay'

# dwatch, whose output goes through a pipe first.
: >"$tmp/seen"
DTRAP=$DTRAP PROG=scripts/dwatch on_terminal -N 2 -r '\[' -p "$p" \
    syscall::write:entry &
teller=$!
until grep -q probes "$tmp/seen" && [ "$(tracer "$p")" != 0 ]; do :; done
# Nothing says when its probes are there.
for _ in {1..1000}; do
	kill -0 "$teller" 2>/dev/null || break
	tell t go
	state "$p" >/dev/null
done
wait "$teller"
has "$tmp/seen" '\?\]0;x\?y\[[0-9]+\]: write'

# Threads that wait for what they have.
start w python3 -c 'import ctypes, threading
libc = ctypes.CDLL(None)
lock = ctypes.create_string_buffer(256)
libc.prctl(15, b"\x1b]0;x\x07\nFAKE")
print("ready", flush=True)
libc.pthread_mutex_lock(lock)
libc.pthread_mutex_lock(lock)'
line w ready
while [ "$(sed 's/ .*//' "/proc/${pid[w]}/syscall")" != 202 ]; do :; done
PROG=$PLOCKSTAT on_terminal -d -p "${pid[w]}"
has "$tmp/text" 'thread [0-9]+ \(\\033\]0;x\\a\\nFAKE\) waits for mutex'
PROG=$PLOCKSTAT on_terminal -d -j -p "${pid[w]}"
has "$tmp/text" '"name": "\\u001b\]0;x\\u0007\\u000aFAKE"'
kill -KILL "${pid[w]}"

# A pipe gets what the target has.
# shellcheck disable=SC2016
start_dt dt -q -n 'syscall::write:entry {
    printf("%s\n", execname); exit(0); }' -p "$p"
tell t go
line dt 'x'
is "to a pipe" "$line" $'\e]0;x\ay'
end dt
finish
