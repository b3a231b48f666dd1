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

# client NAME ARGS...: pgbench, until its input ends, as if its time were over:
# that is what SIGALRM tells it.
client() {
	local name=$1
	shift
	start "$name" bash -c '"$@" 2>&1 & read -r _; kill -ALRM $!; wait $!' - \
	    "$pg/pgbench" -h "$data/db" -U postgres -n -T 100000 -P 1 "$@" \
	    postgres
	# Its handler is there.
	line "$name" '^progress: '
}

# Sessions that outlast the other load, which makes a connection for each
# transaction: those are forked while their server is traced.
client clients -c 4 -j 2
sessions() {
	pgrep -P "$server" -f 'postgres: postgres postgres .*'
}
until mapfile -t backends < <(sessions) && [ ${#backends[@]} = 4 ]; do
	alive clients
done
client load -S -C -c 1
under_load postgres 'pid$target:a.out:Exec*:entry,pid$target:a.out:Exec*:return,pid$target:a.out:heap_*:entry,pid$target:a.out:LWLock*:,postgresql$target:::query-*,pid$target:libc:mem*:entry' \
    "$server" "${backends[@]}"
close_in clients
for name in load clients; do
	end $name
	is "$name: status" "$status" 0
	has "$tmp/$name.out" '^number of failed transactions: 0 '
	hasnt "$tmp/$name.out" 'error|aborted|FATAL'
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
