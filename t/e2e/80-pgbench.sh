#!/bin/bash
# timeout: 300
# The static probes of PostgreSQL servers under pgbench: what they count is what
# pgbench did and what the server's log says, in backends that are forked while
# the server is traced.
. "${0%/*}/lib.sh"
need_attach
need readelf perl
. t/e2e/pg.sh
LIMIT=100

pg_init one
cp -a "$data/one" "$data/two"
cat >"$tmp/commit.sql" <<'SQL'
begin;
select 6 * 7;
end;
SQL
cat >"$tmp/abort.sql" <<'SQL'
begin;
rollback;
SQL

# What the probes say, written as the log lets us expect it.
cat >"$tmp/bench.d" <<'D'
postgresql$target:::transaction-start { @["start", ""] = count(); }
postgresql$target:::transaction-commit { @["commit", ""] = count(); }
postgresql$target:::transaction-abort { @["abort", ""] = count(); }
postgresql$target:::query-start { @["query", copyinstr(arg0)] = count(); }
postgresql$target:::query-parse-start { @["parse", copyinstr(arg0)] = count(); }
postgresql$target:::query-done { @["done", copyinstr(arg0)] = count(); }
postgresql$target:::query-execute-start { @["execute", ""] = count(); }
postgresql$target:::transaction-start { @pids[pid] = count(); }
END {
	printa("%s %s %@d\n", @);
	printa("pid %d %@d\n", @pids);
}
D

# 20 transactions of each of 2 clients, 7 that are rolled back; one connection
# for each client and one that pgbench opens first: each is a transaction, too.
bench() {
	pg_bench one -t 20 -c 2 -f "$tmp/commit.sql"
	pg_bench one -t 7 -c 1 -f "$tmp/abort.sql"
}

# expect LOG: the log is what the server itself says.
expect() {
	local s n
	n=$(grep -c 'connection authorized' "$1")
	is "connections" "$n" 5
	printf '%s\n' "start  $((47 + n))" "commit  $((40 + n))" 'abort  7' \
	    'execute  134'
	for s in 'begin;:47' 'select 6 * 7;:40' 'end;:40' 'rollback;:7'; do
		is "log of ${s%:*}" \
		    "$(grep -cF "statement: ${s%:*}" "$1")" "${s#*:}"
		printf '%s\n' "query ${s%:*} ${s#*:}" "parse ${s%:*} ${s#*:}" \
		    "done ${s%:*} ${s#*:}"
	done
	awk '/connection authorized/ { n[$1] = 0; authorized[$1] }
	    /LOG:  statement: begin/ { n[$1]++ }
	    END { for (p in authorized) print "pid", p, n[p] + 1 }' "$1"
}

# counted WHAT TRACE LOG
counted() {
	expect "$3" >"$tmp/expected"
	grep '^WRONG' "$tmp/expected" && wrong "$1: the log"
	sort "$tmp/expected" >"$tmp/want"
	sed -n '/^[a-z]* .*[0-9]$/p' "$2" | sort >"$tmp/seen"
	same "$1" "$tmp/want" "$tmp/seen"
}

# Attached to.
pg_start one
one=${pid[one]}
is "raised before" "$(raised "$one" "$pg/postgres" postgresql)" 0
start_dt dt -q -s "$tmp/bench.d" -p "$one"
is "raised while traced" "$(raised "$one" "$pg/postgres" postgresql)" 7
bench
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.err" .
is "raised afterwards" "$(raised "$one" "$pg/postgres" postgresql)" 0
is "tracer afterwards" "$(tracer "$one")" 0
pg_stop one
counted "attached" "$tmp/dt.out" "$tmp/one.out"

# Launched: another user's id and another program come before the server.
pg_server one
start_null dt bash -c 'exec "$@" 2>&1' - "$DTRAP" -q -Z -s "$tmp/bench.d" \
    -o "$tmp/trace" -c "$(quote "${server[@]}")"
line dt 'ready to accept connections'
bench
kill -INT "$(head -n 1 "$data/one/postmaster.pid")"
end dt
is "status" "$status" 0
hasnt "$tmp/dt.out" 'dtrap: .*error|drops'
counted "launched" "$tmp/trace" "$tmp/dt.out"

# Two of them by number, and a session that was there before.
ask() {
	local s
	for s in "$@"; do
		tell "$s" "select '$s', $n;"
		line "$s" "^$s.$n\$"
	done
}
pg_start one
pg_start two
pg_session early one
tell early 'select pg_backend_pid();'
line early
early=$line
n=0
backend=()
start_dt dt -q -p "${pid[one]}" -p "${pid[two]}" -p "$early" -n 'postgresql*:::query-start
    { printf("%s %d %s\n", probeprov, pid, copyinstr(arg0)); }'
pg_session first one
pg_session second two
for s in first second; do
	tell $s 'select pg_backend_pid();'
	line $s
	backend[${#backend[@]}]=$line
done
ask early first second
is "raised in a backend" \
    "$(raised "${backend[0]}" "$pg/postgres" postgresql)" 1
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
for s in "${backend[@]}" "$early" "${pid[one]}" "${pid[two]}"; do
	is "raised in $s" "$(raised "$s" "$pg/postgres" postgresql)" 0
	is "tracer of $s" "$(tracer "$s")" 0
done
cat >"$tmp/want" <<WANT
postgresql${pid[one]} ${backend[0]} select pg_backend_pid();
postgresql${pid[two]} ${backend[1]} select pg_backend_pid();
postgresql$early $early select 'early', 0;
postgresql${pid[one]} ${backend[0]} select 'first', 0;
postgresql${pid[two]} ${backend[1]} select 'second', 0;
WANT
grep '^postgresql' "$tmp/dt.out" >"$tmp/seen"
same "two servers" "$tmp/want" "$tmp/seen"

# Found: by whom they belong to where that is nobody else, else by number.
n=1
found='postgresql*'
if [ ${#as[@]} = 0 ]; then
	found=
	for s in "${pid[one]}" "${pid[two]}" "$early" "${backend[@]}"; do
		found+=${found:+:::query-start,}postgresql$(pattern_of "$s")
	done
fi
cp "$DTRAP" "$data/dtrap"

start_null dt "${as[@]}" "$data/dtrap" -x switchrate=5ms -q \
    -n 'BEGIN { printf("armed\n"); }' -n "$found:::query-start
    { printf(\"%s %d %s\n\", probeprov, pid, copyinstr(arg0)); }"
line dt armed
pg_session late two
tell late 'select pg_backend_pid();'
line late
late=$line
ask early first second late
kill -INT "${pid[dt]}"
end dt
is "status" "$status" 0
cat >"$tmp/want" <<WANT
postgresql${pid[two]} $late select pg_backend_pid();
postgresql$early $early select 'early', 1;
postgresql${backend[0]} ${backend[0]} select 'first', 1;
postgresql${backend[1]} ${backend[1]} select 'second', 1;
postgresql${pid[two]} $late select 'late', 1;
WANT
grep '^postgresql' "$tmp/dt.out" >"$tmp/seen"
same "servers that are found" "$tmp/want" "$tmp/seen"
for s in early first second late; do
	close_in $s
	end $s
	is "$s: status" "$status" 0
done
pg_stop one
pg_stop two
finish
