#!/bin/bash
# timeout: 400
# A busy redis-server: the same answers traced and untraced, started by us and
# attached to, with redis-benchmark's clients at work all the time.
. "${0%/*}/lib.sh"
need redis-benchmark redis-cli redis-check-rdb
need_attach
LIMIT=150

# One file is both programs; Debian's redis-tools has it under this name only.
ln -s "$(command -v redis-check-rdb)" "$tmp/redis-server"
sock=$tmp/sock
server=("$tmp/redis-server" --port 0 --unixsocket "$sock" --save '' --appendonly no
    --dir "$tmp" --daemonize no)
cli() {
	timeout 60 redis-cli -s "$sock" "$@"
}

# Answers that depend on nothing but the questions.
questions() {
	cli set greeting "hello world"
	cli append greeting "!"
	cli strlen greeting
	for i in 1 2 3 4 5; do cli rpush list "item $i" "again $i"; done
	cli lrange list 0 -1
	cli zadd z 3 c 1 a 2.5 b
	cli zrange z 0 -1 withscores
	cli eval 'local s = 0 for i = 1, 1000 do s = s + i end return s' 0
	cli hset h f1 v1 f2 v2
	cli hgetall h
	cli incrbyfloat f 3.25
	cli object encoding f
	cli nosuchcommand
	cli del greeting list z h f
}

bench() {
	timeout 120 redis-benchmark -s "$sock" -q --csv -c 4 -n "$1" \
	    -t set,get,incr,lpush,lrange_100,mset | cut -d, -f1
}

start plain "${server[@]}"
line plain 'ready to accept connections'
questions >"$tmp/plain.answers" 2>&1
bench 200 >"$tmp/plain.bench"
cli shutdown nosave
end plain
plain=$status

# shellcheck disable=SC2016
start_null dt "$DTRAP" -o "$tmp/trace" -n '
	pid$target:libc:mem*:entry,pid$target:libc:read:,pid$target:libc:write:,
	pid$target:libc:epoll_wait:entry,pid$target:libc:epoll_wait:return
	{ @ = count(); }' -c "$(quote "${server[@]}")"
line dt 'ready to accept connections'
questions >"$tmp/traced.answers" 2>&1
bench 200 >"$tmp/traced.bench"
cli shutdown nosave
end dt
is "status of dtrap" "$status" 0
is "status of the server" "$(ended "$tmp/dt.err")" "$plain"
same "answers, launched" "$tmp/plain.answers" "$tmp/traced.answers"
same "benchmarks, launched" "$tmp/plain.bench" "$tmp/traced.bench"

# Attached to and let go in the middle of the load, with its own functions.
start redis "${server[@]}"
line redis 'ready to accept connections'
text_of "${pid[redis]}" >"$tmp/text.before"
start load redis-benchmark -s "$sock" -q -c 4 -n 20000 -t set,get
for _ in 1 2 3; do
	# shellcheck disable=SC2016
	start_dt dt -q -n 'pid$target:libc:read:,pid$target:a.out:*Command:entry,
	    pid$target:libc:mem*:entry { @n = count(); }
	    pid$target:libc:read:entry /++n == 200/ { exit(0); }' \
	    -p "${pid[redis]}"
	questions >"$tmp/traced.answers" 2>&1
	kill -INT "${pid[dt]}" 2>/dev/null
	end dt
	is "status of dtrap" "$status" 0
	same "answers, attached" "$tmp/plain.answers" "$tmp/traced.answers"
done
end load
is "status of redis-benchmark" "$status" 0
text_of "${pid[redis]}" >"$tmp/text.after"
same "the server's text" "$tmp/text.before" "$tmp/text.after"
cli ping >"$tmp/pong"
is "ping" "$(cat "$tmp/pong")" PONG
cli shutdown nosave
end redis
is "status of the server" "$status" "$plain"
finish
