#!/bin/bash
# A launched program is traced from its exec on, whatever else the script asks
# for, and nobody notices that it has begun twice for that.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"

# All of the system calls that strace sees, as often; also beside pid probes of a
# library that is not there yet.
need strace
strace -qq -e signal=none -o "$tmp/strace" /bin/true
# The first is what strace itself starts the program with.
sed -E -e 1d -e '/^\+\+\+/d; s/\(.*//' "$tmp/strace" | sort | uniq -c |
    awk '{ print $2, $1 }' >"$tmp/want"
for beside in '' 'pid$target:libc:exit:entry { @["(exit)"] = count(); }'; do
	dt -q -n "syscall:::entry { @[probefunc] = count(); } $beside
	    END { printa(\"%s %@d\n\", @); }" -c /bin/true
	grep . "$tmp/out" | grep -v '(exit)' | sort >"$tmp/got"
	same "system calls beside '$beside'" "$tmp/want" "$tmp/got"
	[ -z "$beside" ] || has "$tmp/out" '^\(exit\) 1$'
done

# BEGIN is first, then the exec.
dt -q -n 'proc:::exec-success, proc:::exit, BEGIN { printf("%s\n", probename); }
    pid$target:a.out:early:entry, pid$target:a.out:work:entry,
    pid$target:libc:write:entry { printf("%s\n", probefunc); }' -c "$bin/early"
printf '%s\n' BEGIN exec-success early work write exit >"$tmp/want"
grep -v '^plain 3$' "$tmp/out" | grep . >"$tmp/got"
same "order" "$tmp/want" "$tmp/got"
is "ran once" "$(grep -c '^plain 3$' "$tmp/out")" 1

# A library that is not found: which, and what the program says of it, once.
cc=${CC:-cc}
need "$cc"
echo 'int there(void) { return 0; }' >"$tmp/there.c"
echo 'int there(void); int main(void) { return there(); }' >"$tmp/needs.c"
"$cc" -shared -fPIC -o "$tmp/libthere.so" "$tmp/there.c" &&
    "$cc" -o "$tmp/needs" "$tmp/needs.c" -L "$tmp" -lthere ||
    fail "no program can be built"
for beside in '' 'pid$target:libthere:there:entry { @ = count(); }'; do
	dt -n "syscall::open*:entry { self->f = copyinstr(arg1); }
	    syscall::open*:return /errno/ { printf(\"[%s]\", self->f); }
	    $beside" -c "$tmp/needs"
	is "missing: status" "$status" 0
	has "$tmp/out" '\[.*/libthere\.so\]'
	is "missing: said" "$(grep -c "libthere.so: cannot open" "$tmp/err")" 1
	has "$tmp/err" '^dtrap: pid [0-9]+ exited with status 127$'
done
# One that is there all the same has its probe.
LD_LIBRARY_PATH=$tmp dt -q -n 'pid$target:libthere:there:entry { @ = count(); }' \
    -c "$tmp/needs"
is "found" "$(tr -d ' \n' <"$tmp/out")" 1
# What is not there when its libraries are is an error, and nothing has run.
LD_LIBRARY_PATH=$tmp dt -n 'syscall:::entry { trace(1); }' \
    -n 'pid$target:libthere:nowhere:entry' -c "$tmp/needs"
is "no such function: status" "$status" 1
has "$tmp/err" "failed to lookup 'nowhere' in module 'libthere'"
hasnt "$tmp/out" .

# The arguments of a script and of its interpreter, the environment, and what the
# linker itself writes.
printf '#!/bin/sh -u\necho "$0" "$#" "$1" "$2" "${MARK}"\n' >"$tmp/script"
chmod +x "$tmp/script"
printf 'echo "plain" "$0" "$#" "$1" "${MARK}"\n' >"$tmp/plain"
chmod +x "$tmp/plain"
for c in "$tmp/script one 'two words'" "$tmp/plain 'a b'" "env" \
    "/bin/sh -c 'echo \$0 \$1' zero one"; do
	rm -f "$tmp/trace"
	dt -q -o "$tmp/trace" -x unsetenv=_ -x setenv=MARK=seen \
	    -n 'proc:::exec-success /pid == $target/ { @ = count(); }' -c "$c"
	is "$c: begun" "$(tr -d ' \n' <"$tmp/trace")" 1
	env -u _ MARK=seen PATH="$PATH" bash -c "${c/#$tmp\/plain/sh $tmp\/plain}" |
	    grep -v '^_=\|^SHLVL=' | sort >"$tmp/want"
	grep -v '^_=\|^SHLVL=' "$tmp/out" | sort >"$tmp/got"
	same "$c" "$tmp/want" "$tmp/got"
done
dt -q -o "$tmp/trace" -x setenv=LD_DEBUG=libs -n 'BEGIN { }' -c /bin/true
LD_DEBUG=libs /bin/true 2>"$tmp/want"
is "the linker's own lines" "$(wc -l <"$tmp/err")" "$(wc -l <"$tmp/want")"

# Two that are launched, and one that is static.
dt -q -n 'proc:::exec-success { @[execname] = count(); }
    syscall::execve:return { @["execve"] = count(); }' \
    -c /bin/true -c /bin/echo -c "$bin/tree-static"
for n in true echo tree-static; do
	has "$tmp/out" "^ +$n +1\$"
done
has "$tmp/out" '^ +execve +3$'
finish
