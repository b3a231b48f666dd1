#!/bin/bash
# PostgreSQL as Debian builds it: its static probes, with readable arguments.
. "${0%/*}/lib.sh"
. t/e2e/pg.sh

pg_init db

cat >"$tmp/q.sql" <<'SQL'
select 1 + 1 as sum;
create table t(a int);
insert into t select generate_series(1, 10);
SQL
cat >"$tmp/q.d" <<'D'
postgresql$target:::query-parse-start { printf("parse %s\n", copyinstr(arg0)); }
postgresql$target:::transaction-commit { commits++; }
postgresql$target:::lwlock-acquire /copyinstr(arg0) == "BufferContent"/
{
	locks++;
}
END { printf("%d commits, locks: %d\n", commits >= 3, locks > 0); }
D
cd "$data" || exit 2
"$DTRAP" -q -Z -s "$tmp/q.d" -o "$tmp/trace" \
    -c "$(quote "${as[@]}" "$pg/postgres" --single -D "$data/db" postgres)" \
    <"$tmp/q.sql" >"$tmp/out" 2>"$tmp/err"
is "status" "$?" 0
has "$tmp/out" 'sum = "2"'
{ sed 's/^/parse /' "$tmp/q.sql"; echo "1 commits, locks: 1"; } >"$tmp/want"
sed '/^$/d' "$tmp/trace" >"$tmp/seen"
same "queries" "$tmp/want" "$tmp/seen"
finish
