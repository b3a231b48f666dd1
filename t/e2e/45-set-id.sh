#!/bin/bash
# Programs that get rights from their file do not get them while somebody
# without rights looks on: they are let go, and have them then.  32-bit programs
# are let go as well.
. "${0%/*}/lib.sh"

# shellcheck disable=SC2016
count='syscall::write:entry { @[execname] = count(); }
	END { printa("%s %@d\n", @); }'

# A child, then the target itself.
if "$bin/m32" </dev/null >/dev/null 2>&1; then
	dt -n "$count" -c "sh -c '$bin/m32 </dev/null; exec $bin/m32 </dev/null'"
	is "32-bit: status" "$status" 0
	is "32-bit: let go" "$(grep -c ' executed a 32-bit program, which cannot be traced: detached from it$' "$tmp/err")" 2
	hasnt "$tmp/out" 'm32 [0-9]'
	hasnt "$tmp/err" 'has exited'
fi

[ "$(id -u)" = 0 ] || skip "not root: no set-id programs can be made"
need setpriv
# Where others may come by: TMPDIR may be anyone's.
rm -rf "$tmp"
tmp=$(mktemp -d /tmp/dtrap-e2e.XXXXXX) || exit 2
chmod 755 "$tmp"
cp "$(command -v id)" "$tmp/uid"
cp "$(command -v id)" "$tmp/gid"
cp "$(command -v id)" "$tmp/dark"
cp "$(command -v grep)" "$tmp/caps"
chmod 4755 "$tmp/uid"
chmod 2755 "$tmp/gid"
chmod 711 "$tmp/dark"
if ! "${nobody[@]}" test -x "$DTRAP" ||
    [ "$("${nobody[@]}" "$tmp/uid" -u)" != 0 ]; then
	skip "set-id programs do not work here"
fi

# dt_nobody ARGS...
dt_nobody() {
	"${nobody[@]}" timeout -k 5 60 "$DTRAP" "$@" >"$tmp/out" \
	    2>"$tmp/err" </dev/null
	status=$?
}
let_go() {
	grep -cE "^dtrap: pid [0-9]+ exec'd a set-id or unobservable program$" \
	    "$tmp/err"
}

# By an absolute path, a relative one, by vfork; the environment and the
# arguments are kept.
dt_nobody -n "$count" -c "sh -c 'cd $tmp; $tmp/uid -u; ./gid -g; echo no more'"
is "children: status" "$status" 0
is "children: let go" "$(let_go)" 2
is "children: ids" "$(grep -xc 0 "$tmp/out")" 2
has "$tmp/out" 'END sh 1$'
hasnt "$tmp/out" '[ug]id [0-9]'
has "$tmp/err" '^dtrap: pid [0-9]+ has exited$'

# Not followed, and in the parent's memory until it is executed.
if command -v python3 >/dev/null; then
	dt_nobody -x follow=none -n "$count" -c "python3 -c '
import os
pid = os.posix_spawn(\"$tmp/uid\", [\"anything\", \"-u\"], {\"A\": \"b\"})
os.waitpid(pid, 0)'"
	is "not followed: status" "$status" 0
	is "not followed: let go" "$(let_go)" 0
	has "$tmp/out" '^0$'
fi

# The target itself: nothing is left to trace.
mkdir -m 777 "$tmp/open"
mkfifo -m 666 "$tmp/open/end"
exec 9<>"$tmp/open/end"
dt_nobody -n "$count" -c "sh -c 'exec $tmp/uid -u >$tmp/open/end'"
is "target: status" "$status" 0
is "target: let go" "$(let_go)" 1
hasnt "$tmp/err" 'has exited'
IFS= read -r -t 60 -u 9 line || wrong "the target that was let go said nothing"
is "target: id" "$line" 0

# One whose file may not be read has no more rights, but hides its memory.
dt_nobody -n "$count" -c "sh -c '$tmp/dark -u; :'"
is "unreadable: let go" "$(let_go)" 1
has "$tmp/out" '^65534$'

if command -v setcap >/dev/null && setcap cap_chown+ep "$tmp/caps"; then
	dt_nobody -n "$count" \
	    -c "sh -c '$tmp/caps CapPrm /proc/self/status; :'"
	is "capabilities: let go" "$(let_go)" 1
	has "$tmp/out" '^CapPrm:.*0001$'
fi

# Rights that nobody withholds are no reason: without new privileges, and by
# root.
dt_nobody -n "$count" -c "setpriv --no-new-privs sh -c '$tmp/uid -u; :'"
is "no_new_privs: let go" "$(let_go)" 0
has "$tmp/out" 'END uid 1$'
dt -n "$count" -c "$(quote "${nobody[@]}" sh -c "$tmp/uid -u; :")"
is "root: let go" "$(let_go)" 0
has "$tmp/out" 'END uid 1$'
has "$tmp/out" '^0$'

# Launched, such a program is not run at all.
dt_nobody -n "$count" -c "$tmp/uid -u"
is "launched: status" "$status" 1
has "$tmp/err" '^dtrap: failed to trace .*: it is a set-id program'
hasnt "$tmp/out" '65534'

# Made to be such a program itself, it does nothing at all.
refuses() {
	"${nobody[@]}" timeout -k 5 60 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
	is "$*: status" $? 1
	is "$*: output" "$(cat "$tmp/out")" ""
	has "$tmp/err" '^[a-z]*: refusing to run with privileges that the user does not have'
	is "$*: messages" "$(wc -l <"$tmp/err")" 1
}
cp "$DTRAP" "$tmp/dtrap"
cp "$PLOCKSTAT" "$tmp/plockstat"
for mode in 4755 2755; do
	chmod $mode "$tmp/dtrap" "$tmp/plockstat"
	refuses "$tmp/dtrap" -V
	refuses "$tmp/dtrap" -qn 'BEGIN { trace(uid); exit(0); }'
	refuses "$tmp/plockstat" -V
done
chmod 755 "$tmp/dtrap"
if command -v setcap >/dev/null && setcap cap_sys_ptrace+ep "$tmp/dtrap"; then
	refuses "$tmp/dtrap" -V
	setcap -r "$tmp/dtrap"
fi
"${nobody[@]}" "$tmp/dtrap" -V >"$tmp/out" || wrong "without rights: refused"
finish
