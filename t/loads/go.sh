#!/bin/bash
# timeout: 3600
# A Go program with 10,000 goroutines that end, while stacks grow and the collector
# runs.
# shellcheck source=SCRIPTDIR/lib.sh
. "${0%/*}/lib.sh"
need go
go_module ending
cat >"$tmp/go/main.go" <<'GO'
package main

import (
	"fmt"
	"runtime"
	"sync"
)

//go:noinline
func deep(n int) int {
	var room [64]byte
	if n == 0 {
		return 0
	}
	room[n%64] = byte(n)
	return deep(n-1) + int(room[n%64])&1
}

//go:noinline
func recovered(p *int) (n int) {
	defer func() {
		if recover() != nil {
			n = 1
		}
	}()
	return *p
}

func main() {
	var all sync.WaitGroup
	sums := make(chan int, 100)
	for i := 0; i < 10000; i++ {
		all.Add(1)
		go func(i int) {
			defer all.Done()
			n := deep(i % 50)
			if i%10 == 0 {
				n += recovered(nil)
			}
			if i%100 == 0 {
				runtime.Goexit()
			}
			sums <- n
		}(i)
	}
	go func() {
		all.Wait()
		close(sums)
	}()
	total, got := 0, 0
	for n := range sums {
		total += n
		got++
		if got%5000 == 0 {
			runtime.GC()
		}
	}
	fmt.Println(got, total)
}
GO
(cd "$tmp/go" && go build -o "$tmp/ending" .) >"$tmp/build" 2>&1 ||
	fail "go build: $(cat "$tmp/build")"
command_load go "$tmp/ending"
finish
