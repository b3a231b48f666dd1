#!/bin/bash
# timeout: 3600
# PostgreSQL under pgbench, with the backends that it forks: as many transactions as
# asked for, and what they leave in the tables agrees.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need readelf
need_attach
# shellcheck source=SCRIPTDIR/../e2e/pg.sh
. t/e2e/pg.sh

sql() {
	(apart "$pg/psql" -X -A -t -h "$data/load" -U postgres postgres -c "$1") \
	    </dev/null
}

client() {
	sql 'truncate pgbench_history' >/dev/null
	pg_bench load -c 4 -j 2 -t 50
	grep -E 'number of (transactions|failed)' "$tmp/bench.out"
	# With a connection for each transaction.
	pg_bench load -c 2 -C -S -t 10
	grep -E 'number of (transactions|failed)' "$tmp/bench.out"
	sql 'select count(*) from pgbench_history;
	    select (select sum(tbalance) from pgbench_tellers) =
	    (select sum(bbalance) from pgbench_branches), (select sum(abalance)
	    from pgbench_accounts) = (select sum(tbalance) from pgbench_tellers);
	    select md5(string_agg(n::text, $$,$$ order by n)) from
	    generate_series(1, 2000) n'
}

here=$PWD
pg_init load
sed -i '/^log_/d' "$data/load/postgresql.conf"
pg_start load
cd "$here" || exit 2
(apart "$pg/pgbench" -h "$data/load" -U postgres -i -q -s 1 postgres) \
    </dev/null >"$tmp/init.out" 2>&1 || fail "pgbench -i"
server_load postgres "${pid[load]}"
pg_stop load
finish
