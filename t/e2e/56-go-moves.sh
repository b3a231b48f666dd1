#!/bin/bash
# Goroutines that are interrupted by signals in the middle of an instruction that
# is probed, and go on with it in other threads: each call counts once, by trap and by
# jump.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need go
go_offline "$PWD/$B/gocache"
export GOMAXPROCS=4
mkdir "$tmp/go"
printf 'module moves\n\ngo 1.18\n' >"$tmp/go/go.mod"
cat >"$tmp/go/main.go" <<'GO'
package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

//go:noinline
func work(n int) int {
	return n + 1
}

// The jump at its return begins before that.
//
//go:noinline
func framed(n int) int {
	var room [64]byte
	room[n%64] = byte(n)
	return work(n) + int(room[(n+1)%64])&0
}

func main() {
	var all sync.WaitGroup
	stop := make(chan bool)
	calls, _ := strconv.Atoi(os.Args[1])
	sums := make([]int, 8)
	for i := range sums {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < calls; k++ {
				sums[i] = framed(sums[i])
			}
		}(i)
	}
	go func() {
		all.Wait()
		close(stop)
	}()
	for {
		// The collector interrupts all of them.
		runtime.GC()
		select {
		case <-stop:
			fmt.Println(sums)
			return
		default:
		}
	}
}
GO
(cd "$tmp/go" && go build -o "$tmp/moves" .) >"$tmp/err" 2>&1 ||
    fail "cannot compile Go"

# calls PATH NUMBER: eight goroutines call so often.
calls() {
	local n=$2
	# shellcheck disable=SC2016
	dt -q -v -x "fastpath=$1" -o "$tmp/seen" -c "$tmp/moves $n" -n '
	    pid$target:a.out:main.work:entry,pid$target:a.out:main.work:return {
		@[probename] = count(); }'
	is "$1: status" "$status" 0
	is "$1: calls" "$(awk 'NF == 2 && $2 ~ /^[0-9]+$/ { print $1, $2 }' "$tmp/seen" | sort |
	    tr '\n' ' ')" "entry $((8 * n)) return $((8 * n)) "
	has "$tmp/out" "^\\[$n $n $n $n $n $n $n $n\\]\$"
	rm -f "$tmp/seen"
}

for _ in 1 2; do
	calls off 3000
	calls on 40000
	[ "$(awk '/ hits by jump, / { print ($2 > 0) }' "$tmp/err")" = 1 ] ||
		wrong "on: $(grep ' hits by jump' "$tmp/err")"
done

# All functions, the handler of Go's signals among them, and jumps that come and go
# while goroutines are interrupted at the instructions that they replace.
# shellcheck disable=SC2016
dt -q -x fastpath=on -x bufsize=16m -o "$tmp/seen" -c "$tmp/moves 1000" -n '
    pid$target:::entry,pid$target:::return { trace(arg0); }'
is "all: status" "$status" 0
has "$tmp/out" '^\[1000 1000 1000 1000 1000 1000 1000 1000\]$'
hasnt "$tmp/err" 'SIGSEGV|panic'
rm -f "$tmp/seen"
finish
