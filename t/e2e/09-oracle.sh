#!/bin/bash
# timeout: 600
# Who returns, in programs that others have made: dtrap's entries and returns
# against an oracle that waits where each call comes back to (t/oracle).  And
# the same by what the programs say themselves.
. "${0%/*}/lib.sh"
export ORACLE=$PWD/$B/oracle/returns DTRAP PYTHONHASHSEED=0 \
    PYTHONDONTWRITEBYTECODE=1 LIMIT=250

# compare MODULE COMMAND...: no function differs.
compare() {
	WORK=$tmp t/oracle/compare "$@" >"$tmp/differ" ||
	    wrong "$(head -n 20 "$tmp/differ")"
	echo "$* : $(tail -n 1 "$tmp/differ")"
}

GLOB='[!o]*' compare a.out "$bin/split"
GLOB='[!o]*' compare a.out "$bin/split-stripped"
compare a.out "$bin/unwinds"
compare a.out "$bin/unwinds-stripped"
compare 'libstdc*' "$bin/unwinds"
compare 'libgcc*' "$bin/unwinds"

if [ -x /usr/bin/python3 ]; then
	cat >"$tmp/prog.py" <<'P'
import decimal, json, re
print(json.loads(json.dumps({"b": [1, 2.5, None], "a": "x"}, sort_keys=True)))
print(re.sub(r"(\d+)", lambda m: str(int(m[1]) * 2), "a1 b22 c333"))
print(decimal.Decimal(2).sqrt())
for i in range(7):
    try:
        __import__("no_such_module_%d" % i)
    except ImportError as e:
        print(e)
P
	compare a.out /usr/bin/python3 -I -S "$tmp/prog.py"
	# An import that fails returns NULL, from the seldom part.
	# shellcheck disable=SC2016
	dt -q -n 'pid$target:a.out:PyImport_ImportModuleLevelObject:entry
	    { @e = count(); n++; }
	    pid$target:a.out:PyImport_ImportModuleLevelObject:return
	    { @r = count(); n--; }
	    pid$target:a.out:PyImport_ImportModuleLevelObject:return
	    /arg1 == 0/ { @failed = count(); }
	    END { printa("failed %@d\n", @failed); printf("left %d\n", n); }' \
	    -c "/usr/bin/python3 -I -S $tmp/prog.py"
	has "$tmp/out" '^failed 7$'
	has "$tmp/out" '^left 0$'
	# shellcheck disable=SC2016
	DTRAP_DEBUG=pid dt -l \
	    -n 'pid$target:a.out:_PyEval_EvalFrameDefault:return' \
	    -c "/usr/bin/python3 -c 0"
	has "$tmp/err" '_PyEval_EvalFrameDefault: .* of which 0 are told'
fi

if command -v sqlite3 >/dev/null; then
	compare libsqlite3 sqlite3 :memory: 'create table t(a, b);
	    insert into t values(1, "x"), (2, "y"), (3, "z");
	    create index i on t(b); update t set a = a + 1 where b > "x";
	    select sum(a), max(b) from t group by a % 2; drop table t;'
	# shellcheck disable=SC2016
	dt -q -n 'pid$target:libsqlite3:sqlite3_mutex_enter:entry { n++; m++; }
	    pid$target:libsqlite3:sqlite3_mutex_enter:return { n--; }
	    END { printf("%s %d\n", m > 100 ? "many" : "few", n); }' \
	    -c "sqlite3 :memory: 'create table t(a)'"
	has "$tmp/out" '^many 0$'
fi
# Debian's git has no symbols.
if command -v git >/dev/null; then
	mkdir "$tmp/repo"
	git -C "$tmp/repo" init -q
	for i in 1 2 3 4; do
		seq $((i * 3)) 100 >"$tmp/repo/a"
		git -C "$tmp/repo" add a
		git -C "$tmp/repo" -c user.name=n -c user.email=e commit -qm "$i"
	done
	GLOB='sub_*' compare a.out git -C "$tmp/repo" --no-pager log -p --stat
fi

# Threads, exceptions; a function that ends in a jump into the unwinder, and so
# never comes back (__rust_start_panic).
if command -v rustc >/dev/null; then
	rustc -O -g -o "$tmp/rust" t/oracle/work.rs 2>"$tmp/err" ||
	    fail "work.rs does not compile"
	compare a.out "$tmp/rust"
fi

# Goroutines that are stopped anywhere, and go on in other threads; panics.  The
# run time itself does not return where it changes stacks.
if command -v go >/dev/null; then
	GOCACHE=$PWD/$B/gocache GOPROXY=off GOTOOLCHAIN=local GOFLAGS=-mod=mod \
	    GOPATH=$tmp/gopath go build -o "$tmp/go" t/oracle/work.go \
	    2>"$tmp/err" || fail "work.go does not compile"
	GLOB='[!r_]*' compare a.out "$tmp/go"
fi
finish
