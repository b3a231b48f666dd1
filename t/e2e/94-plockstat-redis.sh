#!/bin/bash
# timeout: 300
# A redis-server with I/O threads: it stops them by holding a mutex that each of
# them then waits for, until there is work again.  plockstat finds the mutexes,
# who waits, and, while they are idle, who holds them.
. "${0%/*}/lib.sh"
need redis-benchmark redis-cli redis-check-rdb python3
need_attach
LIMIT=100

# One file is both programs; Debian's redis-tools has it under this name only.
ln -s "$(command -v redis-check-rdb)" "$tmp/redis-server"
sock=$tmp/sock
start redis "$tmp/redis-server" --port 0 --unixsocket "$sock" --save '' \
    --appendonly no --dir "$tmp" --daemonize no --io-threads 3
line redis 'ready to accept connections'
p=${pid[redis]}

# Work wakes the threads; its end stops them.
load() {
	timeout 100 redis-benchmark -s "$sock" -q -c 50 -n 3000 -t set \
	    >"$tmp/bench" 2>&1 || wrong "redis-benchmark: $(cat "$tmp/bench")"
}

# shellcheck disable=SC2016 # the shell's own
start_null plock sh -c 'exec "$0" -C -j -v -p "$1" 2>&1' "$PLOCKSTAT" "$p"
line plock 'tracing enabled'
load
load
load
kill -INT "${pid[plock]}"
end plock
is "status" "$status" 0
sed -n '/^{/,$p' "$tmp/plock.out" >"$tmp/json"
python3 - "$tmp/json" <<'P' || wrong "no culprit"
import json, sys

locks = json.load(open(sys.argv[1]))["locks"]
for l in locks:
    print(l["event"], l["count"], l["average_ns"], l["lock"]["name"],
        l["stack"])
found = [l for l in locks if l["event"] == "mutex_block" and
    "`io_threads_mutex" in l["lock"]["name"] and
    "`IOThreadMain+" in l["stack"][0]]
assert len(found) == 2, locks
P

# Without work the threads wait for the first one, as soon as it has noticed.
until [ "$(grep -c "waits for mutex .*io_threads_mutex.*, held by thread $p " \
    "$tmp/holds" 2>/dev/null)" = 2 ]; do
	"$PLOCKSTAT" -d -p "$p" >"$tmp/holds" 2>"$tmp/err" ||
	    fail "-d: status $?"
done
has "$tmp/holds" "^thread $p .* holds what others wait for"
hasnt "$tmp/holds" DEADLOCK
timeout 60 redis-cli -s "$sock" ping >"$tmp/pong"
is "ping" "$(cat "$tmp/pong")" PONG
timeout 60 redis-cli -s "$sock" shutdown nosave
end redis
finish
