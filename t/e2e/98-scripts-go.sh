#!/bin/bash
# Scripts that pair entry and return, on a program of Go: goroutines that wait in
# a function and come back on other threads.
# shellcheck source=t/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=t/e2e/scripts.sh
. t/e2e/scripts.sh
need go
go_offline "$PWD/$B/gocache"
export GOMAXPROCS=4
cp -r t/e2e/src/typedgo "$tmp/src"
(cd "$tmp/src" && go build -o "$tmp/typed" .) >"$tmp/err" 2>&1 ||
    fail "cannot compile Go"

# 40 goroutines, each of which waits 20 times before it returns.
script functime.d -c "$tmp/typed more" a.out main.wander
is functime "$(awk '$1 == "main.wander" { print $2 }' "$tmp/out")" 40
script latency.d -c "$tmp/typed more" a.out main.wander
has "$tmp/out" '^40 calls, '
script slowfunc.d -c "$tmp/typed more" a.out main.wander 0
for i in $(seq 40); do
	has "$tmp/out" "^main.wander\\($(printf '0x%x' "$i"), 0x14, .*\\) = $(
	    printf '0x%x' $((i * 10))):"
done
finish
