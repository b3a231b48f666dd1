#!/bin/bash
# timeout: 200
# Scripts about PostgreSQL, on a server that is told two statements.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
need_attach
# shellcheck source=t/e2e/pg.sh
. t/e2e/pg.sh
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh

here=$PWD
pg_init one
pg_start one
cd "$here" || exit 2

# two NAME SCRIPT: the script beside two statements, the second of which has
# more to do.
two() {
	start "$1" "$2" -p "${pid[one]}"
	line "$1" "$3"
	pg_session sql one
	tell sql 'select 6 * 7;'
	line sql '^42$'
	tell sql 'select length(repeat(md5(g::text), 10))
	    from generate_series(1, 20000) g where g = 17;'
	line sql '^320$'
	close_in sql
	end sql
	line "$1" 'g = 17;'
	kill -INT "${pid[$1]}"
	end "$1"
	is "$1: status" "$status" 0
}

two snoop scripts/pgsnoop.d 'QUERY$'
has "$tmp/snoop.out" '^ *[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ select 6 \* 7;$'
is "pgsnoop, parts are less than the whole" \
    "$(awk '/ select / { print ($2 >= $3 + $4) }' "$tmp/snoop.out" | sort -u)" 1
is "pgsnoop, both" "$(grep -c ' select ' "$tmp/snoop.out")" 2
is "pgsnoop, distribution" \
    "$(awk '/\|/ { n += $NF } END { print n }' "$tmp/snoop.out")" 2

pg_stop one
finish
