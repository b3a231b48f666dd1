#!/bin/bash
# PostgreSQL as Debian builds it: its static probes, with readable arguments.
. "${0%/*}/lib.sh"
for pg in /usr/lib/postgresql/*/bin; do :; done
[ -x "$pg/postgres" ] || skip "postgresql is not installed"
readelf -n "$pg/postgres" 2>/dev/null | grep -q query__parse__start ||
    skip "postgresql has no static probes here"

# It refuses to be root, and has to get at its files.
as=()
data=$(mktemp -d "/tmp/dtrap-pg.XXXXXX") || fail "no directory"
# shellcheck disable=SC2154 # assigned in the trap
trap 's=$?; rm -rf "$data"; (exit $s); cleanup' EXIT
if [ "$(id -u)" = 0 ]; then
	need setpriv
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chown 65534:65534 "$data"
fi
(cd "$data" && "${as[@]}" "$pg/initdb" -D "$data/db" -U postgres) \
    >"$tmp/initdb.out" 2>"$tmp/initdb.err" || fail "initdb"

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
