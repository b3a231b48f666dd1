#!/bin/bash
# timeout: 3600
# redis under redis-benchmark: its replies, and what it stores.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need redis-benchmark redis-cli redis-check-rdb
need_attach
# One file is both programs; Debian's redis-tools has it under this name only.
ln -s "$(command -v redis-check-rdb)" "$tmp/redis-server"
sock=$tmp/sock

cli() {
	timeout 300 redis-cli -s "$sock" "$@"
}

client() {
	cli flushall
	timeout "$LIMIT" redis-benchmark -s "$sock" -q --csv -c 8 -n 2000 \
	    -t set,get,incr,lpush,lpop,sadd,hset,zadd,lrange_100,mset | cut -d, -f1
	cli get counter:__rand_int__
	cli llen mylist
	cli debug set-active-expire 0
	cli eval 'local s = 0 for i = 1, 10000 do s = s + i % 7 end return s' 0
	cli debug digest
}

start redis "$tmp/redis-server" --port 0 --unixsocket "$sock" --save '' \
    --appendonly no --dir "$tmp" --daemonize no --enable-debug-command yes
line redis 'ready to accept connections'
server_load redis "${pid[redis]}"
cli shutdown nosave
end redis
is "status of the server" "$status" 0
finish
