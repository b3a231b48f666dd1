# shellcheck shell=bash disable=SC2154,SC2034 # lib.sh assigns and reads them
# PostgreSQL servers of our own, as Debian builds them; read after lib.sh.
#
# "${as[@]}" runs a command as whom they run: PostgreSQL refuses to be root.
# "$data" is a directory of theirs, "$pg" that of their programs.

for pg in /usr/lib/postgresql/*/bin; do :; done
[ -x "$pg/postgres" ] || skip "postgresql is not installed"
carries "$pg/postgres" query__parse__start ||
    skip "postgresql has no static probes here"

as=()
data=$(mktemp -d "/tmp/dtrap-pg.XXXXXX") || fail "no directory"
# shellcheck disable=SC2154 # assigned in the trap
trap 's=$?; pg_kill; rm -rf "$data"; (exit $s); cleanup' EXIT
if [ "$(id -u)" = 0 ]; then
	need setpriv
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	chown 65534:65534 "$data"
fi

# A server ends its children only when it is told to, and not if it is killed.
pg_kill() {
	local f
	for f in "$data"/*/postmaster.pid; do
		[ -f "$f" ] && kill -QUIT "$(head -n 1 "$f")" 2>/dev/null
	done
}

# pg_init DIR: an empty cluster that logs who connects and every statement, and
# has nothing to do of its own accord.
pg_init() {
	(cd "$data" && "${as[@]}" "$pg/initdb" -N -A trust -D "$data/$1" \
	    -U postgres) >"$tmp/initdb.out" 2>"$tmp/initdb.err" ||
	    fail "initdb"
	cat >>"$data/$1/postgresql.conf" <<-CONF
		listen_addresses = ''
		fsync = off
		autovacuum = off
		max_logical_replication_workers = 0
		log_connections = on
		log_statement = all
		log_line_prefix = '%p '
		logging_collector = off
	CONF
}

# The command of the server on DIR, whose socket is there, too; its log is its
# output.
pg_server() {
	server=("${as[@]}" "$pg/postgres" -D "$data/$1"
	    -c "unix_socket_directories=$data/$1")
}

# pg_start DIR: "start" it under this name; returns when it can be connected to.
pg_start() {
	local server
	pg_server "$1"
	cd "$data" || exit 2
	start "$1" bash -c 'exec "$@" 2>&1' - "${server[@]}"
	line "$1" 'ready to accept connections'
}

pg_stop() {
	kill -INT "${pid[$1]}"
	end "$1"
	is "$1: status of the server" "$status" 0
}

# A client of the server on DIR: pg_bench DIR ARGS...; pg_session NAME DIR is a
# psql that is told statements.
pg_bench() {
	local dir=$1
	shift
	(apart "$pg/pgbench" -h "$data/$dir" -U postgres -n "$@" postgres) \
	    >"$tmp/bench.out" 2>"$tmp/bench.err" </dev/null ||
	    fail "pgbench $*"
}

pg_session() {
	start "$1" "$pg/psql" -X -A -t -q -h "$data/$2" -U postgres postgres
}
