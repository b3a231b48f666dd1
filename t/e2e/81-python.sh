#!/bin/bash
# timeout: 200
# The static probes of CPython as Debian builds it, against a program that is
# known to the last call.
. "${0%/*}/lib.sh"
need_attach
need readelf perl
py=$(readlink -f /usr/bin/python3)
[ -x "$py" ] || skip "python3 is not installed"
carries "$py" function__entry || skip "python3 has no static probes here"
# Nothing of the machine's own modules; the same bytecode each time.
run=("$py" -I -S -B)

cat >"$tmp/known.py" <<'PY'
import gc, sys

def leaf(n):
    return n + 1

def rec(n):
    return leaf(n) if n == 0 else rec(n - 1) + 1

class Known:
    def method(self):
        return leaf(3)

def gen():
    yield 1
    yield 2

def boom():
    raise ValueError("x")

def größe():
    return 1

def all():
    for i in range(10):
        rec(3)
    Known().method()
    list(gen())
    größe()
    try:
        boom()
    except ValueError:
        pass

gc.disable()
all()
gc.collect(1)
sys.audit("known.event", 1)
try:
    import this_is_not_there
except ImportError:
    pass
PY

# The file and the function's name, the line of each entry; of returns as well.
# shellcheck disable=SC2016
functions='python$target:::function-entry /basename(copyinstr(arg0)) == "known.py"/ {
	@["entry", copyinstr(arg1), arg2] = count();
}
python$target:::function-return /basename(copyinstr(arg0)) == "known.py"/ {
	@["return", copyinstr(arg1), arg2] = count();
}
END { printa("%s %s %d %@d\n", @); }'
want_functions() {
	cat <<'WANT'
entry Known 9 1
entry all 23 1
entry boom 17 1
entry gen 13 1
entry gen 14 1
entry gen 15 1
entry größe 20 1
entry leaf 3 11
entry method 10 1
entry rec 6 40
return Known 10 1
return all 32 1
return boom 18 1
return gen 14 1
return gen 15 2
return größe 21 1
return leaf 4 11
return method 11 1
return rec 7 40
WANT
}
functions_seen() {
	grep -aE '^(entry|return) ' "$1" | grep -v '<module>' | sort
}

# Launched; with everything else that it has to say.
# shellcheck disable=SC2016
dt -q -n "$functions" -c "$(quote "${run[@]}" "$tmp/known.py")" -n '
python$target:::line /copyinstr(arg1) == "rec" &&
    basename(copyinstr(arg0)) == "known.py"/ { @l["line", arg2] = count(); }
python$target:::gc-start /arg0 == 1/ { self->gc = 1; }
python$target:::gc-done /self->gc/ { @g["gc", arg0 >= 0] = count(); self->gc = 0; }
python$target:::audit /strstr(copyinstr(arg0), "known.") != NULL/ {
	@e[copyinstr(arg0), arg1 != 0] = count();
}
python$target:::import-find-load-start /strstr(copyinstr(arg0), "this_") != NULL/ {
	@i[copyinstr(arg0), -1] = count();
}
python$target:::import-find-load-done /strstr(copyinstr(arg0), "this_") != NULL/ {
	@i[copyinstr(arg0), args[1]] = count();
}
END { printa("other %s %d %@d\n", @l); printa("other %s %d %@d\n", @g);
    printa("other %s %d %@d\n", @e); printa("other %s %d %@d\n", @i); }'
is "status" "$status" 0
hasnt "$tmp/err" 'error|drop'
want_functions | sort >"$tmp/want"
functions_seen "$tmp/out" >"$tmp/seen"
same "functions" "$tmp/want" "$tmp/seen"
cat >"$tmp/want" <<'WANT'
other gc 1 1
other known.event 1 1
other line 7 40
other this_is_not_there -1 1
other this_is_not_there 0 1
WANT
grep '^other' "$tmp/out" | sort >"$tmp/seen"
same "other probes" "$tmp/want" "$tmp/seen"

# Attached to: it waits at a line of its input, in readline().
sed '/^all()$/,$d' "$tmp/known.py" >"$tmp/known"
cat >>"$tmp/known" <<'PY'
print("ready", flush=True)
for line in sys.stdin:
    all() if line == "all\n" else leaf(0)
    print("done", line.strip(), flush=True)
PY
mkdir "$tmp/served"
mv "$tmp/known" "$tmp/served/known.py"
for p in one two; do
	start $p "${run[@]}" "$tmp/served/known.py"
	line $p ready
	is "$p: raised before" "$(raised "${pid[$p]}" "$py" python)" 0
done
start_dt dt -q -n "$functions" -p "${pid[one]}"
# Of line as well where function-entry needs it.
n=2
[[ $py == *3.11 ]] && n=3
is "raised while traced" "$(raised "${pid[one]}" "$py" python)" $n
is "raised in the other" "$(raised "${pid[two]}" "$py" python)" 0
tell one all
line one 'done all'
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.err" .
is "raised afterwards" "$(raised "${pid[one]}" "$py" python)" 0
want_functions | sed '/ Known /d' | sort >"$tmp/want"
functions_seen "$tmp/dt.out" >"$tmp/seen"
same "attached" "$tmp/want" "$tmp/seen"

in_two python "$py" 'function-entry /copyinstr(arg1) == "leaf"/' \
    'copyinstr(arg1)' leaf
end_two

# A child that it forks while it is traced has the probes, too.
cat >"$tmp/forks.py" <<'PY'
import os
def child():
    return 3
def parent():
    return 4
for i in range(3):
    pid = os.fork()
    if pid == 0:
        os._exit(child())
    os.waitpid(pid, 0)
parent()
PY
# shellcheck disable=SC2016
dt -q -n 'python$target:::function-entry /basename(copyinstr(arg0)) == "forks.py" &&
    copyinstr(arg1) != "<module>"/ { @[copyinstr(arg1), pid == $target] = count(); }
END { printa("%s %d %@d\n", @); }' -c "$(quote "${run[@]}" "$tmp/forks.py")"
is "status" "$status" 0
printf '%s\n' 'child 0 3' 'parent 1 1' >"$tmp/want"
sort "$tmp/out" | sed '/^$/d' >"$tmp/seen"
same "forks" "$tmp/want" "$tmp/seen"
finish
