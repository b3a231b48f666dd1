#!/bin/bash
# Goroutines that are interrupted by signals in the middle of an instruction that
# is probed, and go on with it in other threads: each call counts once.
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
	"runtime"
	"sync"
)

//go:noinline
func work(n int) int {
	return n + 1
}

func main() {
	var all sync.WaitGroup
	stop := make(chan bool)
	sums := make([]int, 8)
	for i := range sums {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			for k := 0; k < 3000; k++ {
				sums[i] = work(sums[i])
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

for i in 1 2; do
	# shellcheck disable=SC2016
	dt -q -o "$tmp/seen" -c "$tmp/moves" -n '
	    pid$target:a.out:main.work:entry,pid$target:a.out:main.work:return {
		@[probename] = count(); }'
	is "$i: status" "$status" 0
	is "$i: calls" "$(awk 'NF { print $1, $2 }' "$tmp/seen" | sort |
	    tr '\n' ' ')" 'entry 24000 return 24000 '
	has "$tmp/out" '^\[3000 3000 3000 3000 3000 3000 3000 3000\]$'
	rm -f "$tmp/seen"
done
finish
