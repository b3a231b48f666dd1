#!/bin/bash
# timeout: 3600
# A PostgreSQL server under pgbench, its backends and itself attached to and let
# go once a second with probes in what executes queries: no transaction fails,
# and the accounts balance.
#
# TORTURE=1: 60 seconds; SECONDS_EACH= others.
# shellcheck disable=SC2016 # D, not shell
. "${0%/*}/lib.sh"
need_attach
. t/e2e/pg.sh
LIMIT=300

pg_init db
# Nobody reads the log before the end, and a full pipe stops who writes to it.
printf '%s\n' 'log_statement = none' 'log_connections = off' \
    >>"$data/db/postgresql.conf"
pg_start db
server=${pid[db]}
pg_bench db -i -s 1

# Sessions that outlast the other load, which makes a connection for each
# transaction: those are forked while their server is traced.  By so much, as the
# last round may take long, and they are looked at afterwards.
start clients "$pg/pgbench" -h "$data/db" -U postgres -n -c 4 -j 2 \
    -T $((seconds + 20)) postgres
sessions() {
	pgrep -P "$server" -f 'postgres: postgres postgres .*'
}
until mapfile -t backends < <(sessions) && [ ${#backends[@]} = 4 ]; do
	alive clients
done
start load "$pg/pgbench" -h "$data/db" -U postgres -n -S -C -c 1 \
    -T "$seconds" postgres
under_load postgres 'pid$target:a.out:Exec*:entry,pid$target:a.out:Exec*:return,pid$target:a.out:heap_*:entry,pid$target:a.out:LWLock*:,postgresql$target:::query-*,pid$target:libc:mem*:entry' \
    "$server" "${backends[@]}"
for client in load clients; do
	end $client
	is "$client: status" "$status" 0
	has "$tmp/$client.out" '^number of failed transactions: 0 '
	hasnt "$tmp/$client.err" 'error|aborted|FATAL'
done
made=$(awk -F': ' '/actually processed/ { print $2 + 0 }' "$tmp/clients.out")

# Every transaction adds one delta to an account, a teller, a branch and the
# history.
pg_session ask db
tell ask 'select (select sum(abalance) from pgbench_accounts) =
    (select sum(delta) from pgbench_history) and
    (select sum(tbalance) from pgbench_tellers) =
    (select sum(delta) from pgbench_history) and
    (select sum(bbalance) from pgbench_branches) =
    (select sum(delta) from pgbench_history);'
line ask
is "the accounts balance" "$line" t
tell ask 'select count(*) from pgbench_history;'
line ask
is "transactions in the history" "$line" "$made"
close_in ask
end ask
is "raised" "$(raised "$server" "$pg/postgres" postgresql)" 0
pg_stop db
hasnt "$tmp/db.out" 'PANIC|terminated by signal|server process .* (was|exited)'
echo "postgres: $rounds rounds, $hits hits, $made transactions of sessions," \
    "$(awk -F': ' '/actually processed/ { print $2 + 0 }' "$tmp/load.out") with a connection each"
finish
